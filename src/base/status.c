/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Ends a text that was cut inside a UTF-8 sequence before that sequence. */
static void tail_mend(char *text)
{
	const size_t n = strlen(text);
	size_t tail = 0, wanted;
	unsigned char lead;

	while (tail < 3 && tail < n && ((unsigned char)text[n - 1 - tail] & 0xc0) == 0x80)
		tail++;
	if (tail == n)
		return;
	lead = (unsigned char)text[n - 1 - tail];
	wanted = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
	if (tail < wanted)
		text[n - 1 - tail] = '\0';
}

/* Names of files, symbols and events get into messages, and they may hold any byte: what a terminal
 * would act on, newlines included, is shown as '?'. U+0080 to U+009F are control characters too. */
static void controls_mend(char *text)
{
	for (unsigned char *p = (unsigned char *)text; *p; p++)
		if (*p < 0x20 || *p == 0x7f)
			*p = '?';
		else if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
			p[0] = p[1] = '?';
}

/* vsnprintf by way of a buffer of its own, so that an argument may point into `text`. */
static void PRINTF_LIKE(3, 0) text_write(char *text, size_t room, const char *format, va_list args)
{
	char words[sizeof(((struct error *)0)->text)];
	const int n = vsnprintf(words, room, format, args);

	if (n < 0)
		words[0] = '\0';
	else if ((size_t)n >= room)
		tail_mend(words);
	controls_mend(words);
	memcpy(text, words, strlen(words) + 1);
}

static void PRINTF_LIKE(5, 0) error_fill(struct error *error, enum status status, int os_errno,
					 uint64_t offset, const char *format, va_list args)
{
	text_write(error->text, sizeof(error->text), format, args);
	error->status = status;
	error->os_errno = os_errno;
	error->offset = offset;
}

static void PRINTF_LIKE(2, 3) error_append(struct error *error, const char *format, ...)
{
	const size_t used = strlen(error->text);
	va_list args;

	va_start(args, format);
	text_write(error->text + used, sizeof(error->text) - used, format, args);
	va_end(args);
}

enum status error_set(struct error *error, enum status status, const char *format, ...)
{
	va_list args;

	if (!error)
		return status;
	va_start(args, format);
	error_fill(error, status, 0, ERROR_NO_OFFSET, format, args);
	va_end(args);
	return status;
}

enum status error_set_errno(struct error *error, enum status status, int os_errno,
			    const char *format, ...)
{
	char reason[128];
	va_list args;

	if (!error)
		return status;
	va_start(args, format);
	error_fill(error, status, os_errno, ERROR_NO_OFFSET, format, args);
	va_end(args);
	/* GNU strerror_r returns the text, which need not be in the buffer. */
	error_append(error, ": %s", strerror_r(os_errno, reason, sizeof(reason)));
	return status;
}

enum status error_set_corrupt(struct error *error, uint64_t offset, const char *format, ...)
{
	va_list args;

	if (!error)
		return STATUS_CORRUPT;
	va_start(args, format);
	error_fill(error, STATUS_CORRUPT, 0, offset, format, args);
	va_end(args);
	error_append(error, " (at offset %#llx)", (unsigned long long)offset);
	return STATUS_CORRUPT;
}

void error_prefix(struct error *error, const char *format, ...)
{
	char prefix[512], rest[sizeof(error->text)];
	va_list args;

	if (!error)
		return;
	va_start(args, format);
	text_write(prefix, sizeof(prefix), format, args);
	va_end(args);
	memcpy(rest, error->text, sizeof(rest));
	error->text[0] = '\0';
	error_append(error, "%s: ", prefix);
	error_append(error, "%s", rest);
}

enum status status_from_errno(int os_errno)
{
	switch (os_errno) {
	case EPERM:
	case EACCES: return STATUS_PERMISSION;
	case ENOENT:
	case ESRCH: return STATUS_NOT_FOUND;
	case ENOMEM: return STATUS_NO_MEMORY;
	case ENOSYS:
	case EOPNOTSUPP: return STATUS_UNSUPPORTED;
	default: return STATUS_IO;
	}
}
