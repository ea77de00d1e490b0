/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/minidebug.h"

#include <lzma.h>
#include <stdlib.h>

/* Runs the decoder to the end of the stream into a buffer that doubles. */
static bool unpack(lzma_stream *stream, uint8_t **bytes, size_t *size)
{
	size_t capacity = 256u * 1024;
	lzma_ret result = LZMA_OK;

	*bytes = NULL;
	while (result == LZMA_OK) {
		uint8_t *grown;

		if (stream->avail_out == 0) {
			capacity *= 2;
			if (capacity > MINIDEBUG_MAX_BYTES)
				return false;
			grown = realloc(*bytes, capacity);
			if (!grown)
				return false;
			*bytes = grown;
			stream->next_out = grown + stream->total_out;
			stream->avail_out = capacity - (size_t)stream->total_out;
		}
		result = lzma_code(stream, LZMA_FINISH);
	}
	*size = (size_t)stream->total_out;
	return result == LZMA_STREAM_END;
}

enum symbol_miss minidebug_open(struct elf_file *inner, const struct elf_file *file)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	GElf_Shdr header;
	Elf_Data *data = elf_file_section_data(file, ".gnu_debugdata", &header);
	uint8_t *bytes = NULL;
	size_t size = 0;
	bool good;

	if (!data)
		return SYMBOL_STRIPPED;
	if (lzma_stream_decoder(&stream, MINIDEBUG_MAX_DECODER, 0) != LZMA_OK)
		return SYMBOL_DAMAGED;
	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	good = unpack(&stream, &bytes, &size);
	lzma_end(&stream);
	if (!good) {
		free(bytes);
		return SYMBOL_DAMAGED;
	}
	return elf_file_open_image(inner, bytes, size, true);
}
