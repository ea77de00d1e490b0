/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/manifest_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_BASE       0x10f700u
#define ESCAPE_UTF8_BYTES 4u

/* The length of the valid UTF-8 sequence at `s`, 0 if there is none; *code is its character. RFC 3629:
 * no overlong forms, no surrogates, nothing above U+10FFFF. The NUL at the end is no continuation. */
static size_t utf8_length(const unsigned char *s, uint32_t *code)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n;

	if (s[0] < 0x80) {
		*code = s[0];
		return 1;
	}
	n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc0 ? 2 : 0;
	if (!n || s[0] > 0xf4)
		return 0;
	*code = s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3fu);
	}
	if (*code < smallest[n] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return n;
}

static int is_escape(uint32_t code)
{
	return code >= ESCAPE_BASE + 0x80 && code <= ESCAPE_BASE + 0xff;
}

char *manifest_text_encode(const char *bytes)
{
	const unsigned char *s = (const unsigned char *)bytes;
	const size_t size = strlen(bytes);
	char *out, *at;

	if (size > SIZE_MAX / ESCAPE_UTF8_BYTES - 1)
		return NULL;
	out = at = malloc(size * ESCAPE_UTF8_BYTES + 1);
	if (!out)
		return NULL;
	while (*s) {
		uint32_t code = 0;
		const size_t n = utf8_length(s, &code);

		if (n && !is_escape(code)) {
			memcpy(at, s, n);
			at += n;
			s += n;
			continue;
		}
		code = ESCAPE_BASE + *s++;
		*at++ = (char)(0xf0 | code >> 18);
		*at++ = (char)(0x80 | (code >> 12 & 0x3f));
		*at++ = (char)(0x80 | (code >> 6 & 0x3f));
		*at++ = (char)(0x80 | (code & 0x3f));
	}
	*at = '\0';
	return out;
}

char *manifest_text_decode(const char *utf8)
{
	const unsigned char *s = (const unsigned char *)utf8;
	char *out = malloc(strlen(utf8) + 1), *at = out;

	if (!out)
		return NULL;
	while (*s) {
		uint32_t code = 0;
		const size_t n = utf8_length(s, &code);

		if (n && is_escape(code)) {
			*at++ = (char)(code - ESCAPE_BASE);
			s += n;
		} else {
			*at++ = (char)*s++;
		}
	}
	*at = '\0';
	return out;
}
