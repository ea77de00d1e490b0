/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/study.h"

#include <math.h>
#include <stdarg.h>

#define RECORDINGS_MIN  20
#define STANDARD_ERRORS 4.0
#define RECORDINGS_FULL 2000

size_t study_recordings(const struct study *study, size_t full)
{
	const size_t n = full / study->divisor;

	return n > RECORDINGS_MIN ? n : RECORDINGS_MIN;
}

PRINTF_LIKE(3, 0)
static bool claim_print(struct study *study, bool holds, const char *format, va_list args)
{
	study->n_claims++;
	study->n_failed += !holds;
	if (holds && !study->verbose)
		return false;
	fprintf(study->out, "%s ", holds ? "holds:" : "FAILS:");
	vfprintf(study->out, format, args);
	return true;
}

/* The figures are meant for 2000 recordings; of fewer, chance must be allowed for. */
static double slack(const struct study *study, double limit, size_t n)
{
	const double error = sqrt(limit * (1 - limit) / (double)n);

	if (study->brief)
		return STANDARD_ERRORS * error;
	return n < RECORDINGS_FULL ? 2 * error : 0;
}

PRINTF_LIKE(7, 0)
static bool claim_rate(struct study *study, bool holds, double rate, double bound, size_t n,
		       const char *side, const char *format, va_list args)
{
	if (claim_print(study, holds, format, args))
		fprintf(study->out, ": %.2f %% of %zu, %s %.2f\n", 100 * rate, n, side,
			100 * bound);
	return holds;
}

bool study_at_least(struct study *study, size_t hits, size_t n, double limit, const char *format,
		    ...)
{
	const double rate = n ? (double)hits / (double)n : NAN;
	const double bound = limit - slack(study, limit, n ? n : 1);
	const bool holds = rate >= bound;
	va_list args;

	va_start(args, format);
	claim_rate(study, holds, rate, bound, n, "at least", format, args);
	va_end(args);
	return holds;
}

bool study_at_most(struct study *study, size_t hits, size_t n, double limit, const char *format,
		   ...)
{
	const double rate = n ? (double)hits / (double)n : NAN;
	const double bound = limit + slack(study, limit, n ? n : 1);
	const bool holds = rate <= bound;
	va_list args;

	va_start(args, format);
	claim_rate(study, holds, rate, bound, n, "at most", format, args);
	va_end(args);
	return holds;
}

bool study_claim(struct study *study, bool holds, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (claim_print(study, holds, format, args))
		fputc('\n', study->out);
	va_end(args);
	return holds;
}
