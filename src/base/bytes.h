/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A cursor over bytes that somebody else wrote: bounded, either byte order, never unaligned access.
 *
 * Errors are sticky. Reading past the end yields zero and sets `failed`; a parser reads a whole
 * record and asks once at the end. No read ever touches a byte outside [start, end).
 */
#ifndef ASSAY_BASE_BYTES_H
#define ASSAY_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const uint8_t *at;
	const uint8_t *end;
	bool swap;   /* the bytes have the other byte order than this machine */
	bool failed; /* a read went past the end */
};

static inline struct bytes bytes_of(const void *data, size_t size, bool swap)
{
	return (struct bytes){ data, (const uint8_t *)data + size, swap, false };
}

static inline size_t bytes_left(const struct bytes *b)
{
	return (size_t)(b->end - b->at);
}

/* A pointer to the next `size` bytes, which are consumed; NULL (and failed) when there are fewer. */
static inline const void *bytes_take(struct bytes *b, size_t size)
{
	const void *taken = b->at;

	if (size > bytes_left(b)) {
		b->failed = true;
		b->at = b->end;
		return NULL;
	}
	b->at += size;
	return taken;
}

static inline uint16_t bytes_u16(struct bytes *b)
{
	const void *p = bytes_take(b, sizeof(uint16_t));
	uint16_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return b->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t bytes_u32(struct bytes *b)
{
	const void *p = bytes_take(b, sizeof(uint32_t));
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return b->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t bytes_u64(struct bytes *b)
{
	const void *p = bytes_take(b, sizeof(uint64_t));
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return b->swap ? __builtin_bswap64(v) : v;
}

/* The NUL-terminated string at the cursor inside at most `field` bytes, which are consumed. NULL
 * (and failed) when the field is cut or holds no NUL: the caller decides whether to bound or refuse. */
static inline const char *bytes_string(struct bytes *b, size_t field)
{
	const char *s = bytes_take(b, field);

	if (s && !memchr(s, '\0', field)) {
		b->failed = true;
		return NULL;
	}
	return s;
}

#endif
