/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void PRINTF_LIKE(5, 0) error_fill(struct error *error, enum status status, int os_errno,
					 uint64_t offset, const char *format, va_list args)
{
	error->status = status;
	error->os_errno = os_errno;
	error->offset = offset;
	vsnprintf(error->text, sizeof(error->text), format, args);
}

static void PRINTF_LIKE(2, 3) error_append(struct error *error, const char *format, ...)
{
	size_t used = strlen(error->text);
	va_list args;

	va_start(args, format);
	vsnprintf(error->text + used, sizeof(error->text) - used, format, args);
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
	vsnprintf(prefix, sizeof(prefix), format, args);
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
