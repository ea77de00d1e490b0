/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/escape.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The length of the UTF-8 sequence at `text`, 0 when it is not valid (Unicode 15, table 3-7: no
 * overlong forms, no surrogates, nothing above U+10FFFF). *character is its code point. */
static size_t utf8_at(const char *text, uint32_t *character)
{
	const unsigned char *b = (const unsigned char *)text;
	const size_t n = b[0] < 0x80   ? 1
			 : b[0] < 0xc2 ? 0
			 : b[0] < 0xe0 ? 2
			 : b[0] < 0xf0 ? 3
			 : b[0] < 0xf5 ? 4
				       : 0;
	uint32_t value;

	if (n < 2) {
		*character = b[0];
		return n;
	}
	value = b[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((b[i] & 0xc0) != 0x80) /* also stops at NUL */
			return 0;
		value = value << 6 | (b[i] & 0x3fu);
	}
	*character = value;
	if ((n == 3 && value < 0x800) || (n == 4 && value < 0x10000) || value > 0x10ffff ||
	    (value >= 0xd800 && value < 0xe000))
		return 0;
	return n;
}

static int is_hidden(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
	       (c >= 0x180b && c <= 0x180f) || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
	       (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c <= 0xe0fff);
}

static void hidden_write(uint32_t c, char *escape, size_t size)
{
	if (c == '\n')
		snprintf(escape, size, "\\n");
	else if (c == '\t')
		snprintf(escape, size, "\\t");
	else if (c == '\r')
		snprintf(escape, size, "\\r");
	else if (c < 0x80)
		snprintf(escape, size, "\\x%02x", (unsigned int)c);
	else
		snprintf(escape, size, "\\u{%x}", (unsigned int)c);
}

size_t escape_for_terminal(struct output *output, const char *name)
{
	size_t columns = 0;
	char escape[16];

	while (*name) {
		uint32_t c;
		const size_t n = utf8_at(name, &c);

		escape[0] = '\0';
		if (!n)
			snprintf(escape, sizeof(escape), "\\x%02x", (unsigned char)*name);
		else if (is_hidden(c))
			hidden_write(c, escape, sizeof(escape));
		else if (c == '\\' && name[1] && strchr("xuntr\\", name[1]))
			snprintf(escape, sizeof(escape), "\\\\");
		if (escape[0]) {
			output_add(output, escape);
			columns += strlen(escape);
		} else {
			output_add_n(output, name, n);
			columns++;
		}
		name += n ? n : 1;
	}
	return columns;
}

void escape_invalid_utf8(struct output *output, const char *name)
{
	while (*name) {
		uint32_t c;
		const size_t n = utf8_at(name, &c);

		if (n)
			output_add_n(output, name, n);
		else
			output_format(output, "\\x%02x", (unsigned char)*name);
		name += n ? n : 1;
	}
}
