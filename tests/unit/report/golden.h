/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Golden outputs: tests/data/FOLDER/NAME. `BLESS=1` before the program writes them anew; read the
 * difference before you commit it.
 */
#ifndef ASSAY_TESTS_UNIT_REPORT_GOLDEN_H
#define ASSAY_TESTS_UNIT_REPORT_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/output.h"
#include "support/test.h"

#define GOLDEN_MAX_BYTES (1u << 20)

static inline void golden_path(char *path, size_t size, const char *folder, const char *name)
{
	const char *source = getenv("ASSAY_SOURCE");
	const char *here = strstr(__FILE__, "/tests/unit/report/");

	if (source)
		snprintf(path, size, "%s/tests/data/%s/%s", source, folder, name);
	else
		snprintf(path, size, "%.*s/tests/data/%s/%s", here ? (int)(here - __FILE__) : 0,
			 __FILE__, folder, name);
}

/* `output` is what tests/data/FOLDER/NAME holds; with BLESS=1 that file is written anew. */
static inline void golden_check(const char *folder, const char *name, const struct output *output)
{
	static char expected[GOLDEN_MAX_BYTES];
	char path[1024];
	FILE *file;
	size_t size = 0;

	golden_path(path, sizeof(path), folder, name);
	if (getenv("BLESS")) {
		file = fopen(path, "w");
		assert_non_null(file);
		assert_int_equal(fwrite(output->text, 1, output->size, file), output->size);
		assert_int_equal(fclose(file), 0);
		return;
	}
	file = fopen(path, "r");
	if (file) {
		size = fread(expected, 1, sizeof(expected) - 1, file);
		fclose(file);
	}
	expected[size] = '\0';
	if (size != output->size || memcmp(expected, output->text, size))
		fail_msg("%s differs:\n--- expected\n%s\n--- got\n%s", name, expected,
			 output->text);
}

#endif
