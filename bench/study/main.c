/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * study [--short] [--claims] [PART...]: prints the tables and the claims that fail (--claims: all of
 * them); exit code 1 when one does.
 */
#include <stdlib.h>
#include <string.h>

#include "study/study.h"

static const struct part {
	const char *name;
	void (*run)(struct study *study);
} parts[] = {
	{ "coverage", part_coverage }, { "variance", part_variance },
	{ "lengths", part_lengths },   { "ranks", part_ranks },
	{ "until", part_until },       { "unseen", part_unseen },
	{ "lock", part_lock },         { "ab", part_ab },
	{ "timed", part_timed },       { "stability", part_stability },
	{ "stopped", part_stopped },   { "diff", part_diff },
};

#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

static bool part_wanted(const char *name, int argc, char **argv)
{
	bool any = false;

	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-')
			continue;
		any = true;
		if (!strcmp(argv[i], name))
			return true;
	}
	return !any;
}

int main(int argc, char **argv)
{
	struct study study = { .out = stdout, .divisor = 1 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--short")) {
			study.brief = true;
			study.divisor = 40;
		}
		study.verbose |= !strcmp(argv[i], "--claims");
	}
	for (size_t p = 0; p < N_PARTS; p++)
		if (part_wanted(parts[p].name, argc, argv)) {
			parts[p].run(&study);
			fflush(study.out);
		}
	printf("\n%zu claims, %zu fail\n", study.n_claims, study.n_failed);
	return study.n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
