/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exit codes of every command (record, run and probe otherwise end as their target did).
 */
#ifndef ASSAY_CLI_EXIT_CODE_H
#define ASSAY_CLI_EXIT_CODE_H

#include "base/status.h"

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1, /* one message on stderr: what, on which thing, why, what to try */
	EXIT_USAGE = 2,
	EXIT_GATE = 3, /* a gate that was asked for did not hold */
};

static inline int exit_code_of(enum status status)
{
	return status == STATUS_OK || status == STATUS_END ? EXIT_DONE
	       : status == STATUS_USAGE                    ? EXIT_USAGE
							   : EXIT_FAILED;
}

#endif
