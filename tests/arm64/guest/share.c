/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Judges one line of a report: share REPORT.json FUNCTION TRUE-SHARE.
 *
 * Ends with 0 when the function's interval for this recording, twice as wide, holds the true share and its
 * estimate is within MAX_ERROR of it: the interval alone could be right by being wide. Twice as wide,
 * because of two dozen 95 % intervals one misses by chance: four standard errors are missed once in 16000.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ERROR 0.06
#define WIDER     2

int main(int argc, char **argv)
{
	json_error_t where;
	json_t *report = argc == 4 ? json_load_file(argv[1], 0, &where) : NULL;
	double truth = argc == 4 ? strtod(argv[3], NULL) : 0;
	json_t *function;
	size_t i;

	if (!report) {
		printf("# %s: no report\n", argc == 4 ? argv[1] : "usage");
		return 2;
	}
	json_array_foreach(json_object_get(report, "functions"), i, function)
	{
		const char *name = json_string_value(json_object_get(function, "name"));
		double share, lo, hi;

		if (!name || strcmp(name, argv[2]) != 0)
			continue;
		if (json_unpack(function, "{s:{s:F,s:F,s:F}}", "self", "share", &share, "lo", &lo,
				"hi", &hi)) {
			printf("# %s has no interval\n", name);
			return 1;
		}
		printf("# %s: share %.4f, interval %.4f..%.4f, true share %.4f\n", name, share, lo,
		       hi, truth);
		json_decref(report);
		return share - WIDER * (share - lo) <= truth &&
				       truth <= share + WIDER * (hi - share) &&
				       fabs(share - truth) <= MAX_ERROR
			       ? 0
			       : 1;
	}
	printf("# no function %s in the report\n", argv[2]);
	return 1;
}
