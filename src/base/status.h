/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a fallible function returns, and the object in which it explains itself.
 *
 * Every fallible function in assay returns `enum status` and takes a `struct error *`, which may be
 * NULL when the caller does not want words. The status is for code to branch on; the error's text is
 * for the user and complete enough to print as it stands: what failed, on which thing, where (file
 * offset, record, address), why, and what to try.
 *
 * Three outcomes stay apart:
 *   failed    a status other than STATUS_OK: this call did nothing, or undid what it had done
 *   refused   a result with an enumerated reason, defined by the folder that refuses
 *   degraded  STATUS_OK plus a finding in the report: the job was done, but less well than asked
 */
#ifndef ASSAY_BASE_STATUS_H
#define ASSAY_BASE_STATUS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

enum status {
	STATUS_OK = 0,
	STATUS_END,         /* a stream has no further item: not an error, fills no text */
	STATUS_USAGE,       /* the user's words are wrong (exit code 2) */
	STATUS_NOT_FOUND,   /* file, process, event, symbol ... does not exist */
	STATUS_PERMISSION,  /* it exists, but this user or this kernel setting forbids it */
	STATUS_UNSUPPORTED, /* this kernel, CPU or version cannot do it */
	STATUS_CORRUPT,     /* input bytes contradict their own format; see error.offset */
	STATUS_LIMIT,       /* a named maximum of assay was reached */
	STATUS_NO_MEMORY,
	STATUS_IO, /* a system call failed; see error.os_errno */
};

/* No offset is known: the value of error.offset unless a parser set it. */
#define ERROR_NO_OFFSET UINT64_MAX

struct error {
	enum status status;
	int os_errno;    /* errno of the call that failed, 0 when none did */
	uint64_t offset; /* offset in the input at which it went wrong, or ERROR_NO_OFFSET */
	/* One sentence or two, always terminated. Control characters in what was put in (a newline in a
	 * file's name) are shown as '?'; a text that is too long is cut between UTF-8 characters. */
	char text[1024];
};

#define MUST_CHECK             __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* Fills *error (if not NULL) and returns `status`, so that a failing path is one statement:
 *	return error_set(error, STATUS_NOT_FOUND, "no process %d: it may have ended", pid); */
enum status error_set(struct error *error, enum status status, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* The same for a failed system call: keeps os_errno and appends ": <strerror(os_errno)>". */
enum status error_set_errno(struct error *error, enum status status, int os_errno,
			    const char *format, ...) PRINTF_LIKE(4, 5);

/* The same for bad input bytes: STATUS_CORRUPT, keeps the offset and appends " (at offset 0x...)". */
enum status error_set_corrupt(struct error *error, uint64_t offset, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* Puts "<context>: " in front of the text that is already there. */
void error_prefix(struct error *error, const char *format, ...) PRINTF_LIKE(2, 3);

/* STATUS_PERMISSION for EPERM and EACCES, STATUS_NOT_FOUND for ENOENT and ESRCH, STATUS_NO_MEMORY
 * for ENOMEM, STATUS_UNSUPPORTED for ENOSYS and EOPNOTSUPP, else STATUS_IO. */
enum status status_from_errno(int os_errno);

#endif
