/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmocka, with the headers that it wants before it (sorted includes would put them after). */
#ifndef ASSAY_TESTS_SUPPORT_TEST_H
#define ASSAY_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Ends the test as skipped; the reason is printed, and counted by tests/run. */
#define SKIP(...)                                     \
	do {                                          \
		print_message("# SKIP " __VA_ARGS__); \
		print_message("\n");                  \
		skip();                               \
	} while (0)

#endif
