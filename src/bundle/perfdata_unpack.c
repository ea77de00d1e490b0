/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/perfdata_unpack.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "bundle/perfdata_format.h"

/* Two of the largest records: one that is left over and one that completes it. */
#define UNPACK_BYTES (4u * PERFDATA_RECORD_MAX_BYTES)

struct perfdata_unpack {
	ZSTD_DStream *zstd;
	ZSTD_inBuffer in;
	bool pending; /* the last call filled the buffer: zstd may hold more */
	size_t at, end;
	uint64_t bytes[UNPACK_BYTES / sizeof(uint64_t)];
};

struct perfdata_unpack *perfdata_unpack_new(void)
{
	struct perfdata_unpack *unpack = malloc(sizeof(*unpack));

	if (!unpack)
		return NULL;
	unpack->zstd = ZSTD_createDStream();
	if (!unpack->zstd) {
		free(unpack);
		return NULL;
	}
	perfdata_unpack_reset(unpack);
	return unpack;
}

void perfdata_unpack_free(struct perfdata_unpack *unpack)
{
	if (!unpack)
		return;
	ZSTD_freeDStream(unpack->zstd);
	free(unpack);
}

void perfdata_unpack_reset(struct perfdata_unpack *unpack)
{
	ZSTD_DCtx_reset(unpack->zstd, ZSTD_reset_session_only);
	unpack->in = (ZSTD_inBuffer){ 0 };
	unpack->pending = false;
	unpack->at = unpack->end = 0;
}

void perfdata_unpack_feed(struct perfdata_unpack *unpack, const void *payload, size_t size)
{
	unpack->in = (ZSTD_inBuffer){ payload, size, 0 };
	unpack->pending = false;
}

const uint8_t *perfdata_unpack_bytes(const struct perfdata_unpack *unpack, size_t *size)
{
	*size = unpack->end - unpack->at;
	return (const uint8_t *)unpack->bytes + unpack->at;
}

void perfdata_unpack_consume(struct perfdata_unpack *unpack, size_t size)
{
	unpack->at += size;
}

enum perfdata_unpack_result perfdata_unpack_more(struct perfdata_unpack *unpack, const char **why)
{
	uint8_t *bytes = (uint8_t *)unpack->bytes;
	ZSTD_outBuffer out = { 0 };
	const size_t before = unpack->in.pos;
	size_t result;

	memmove(bytes, bytes + unpack->at, unpack->end - unpack->at);
	unpack->end -= unpack->at;
	unpack->at = 0;
	if (unpack->in.pos == unpack->in.size && !unpack->pending)
		return UNPACK_EMPTY;
	out = (ZSTD_outBuffer){ bytes, sizeof(unpack->bytes), unpack->end };
	result = ZSTD_decompressStream(unpack->zstd, &out, &unpack->in);
	if (ZSTD_isError(result)) {
		*why = ZSTD_getErrorName(result);
		return UNPACK_DAMAGED;
	}
	unpack->pending = out.pos == out.size;
	if (out.pos == unpack->end && unpack->in.pos == before && !unpack->pending)
		return UNPACK_EMPTY;
	unpack->end = out.pos;
	return UNPACK_MORE;
}
