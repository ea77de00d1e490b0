/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/finding_code.h"

#include <limits.h>
#include <string.h>

static const struct finding_code codes[] = {
	{ CODE_ALIAS_FLIP, FINDING_BIAS, "a fixed clock ranks the wrong function first" },
	{ CODE_ALIAS_LOCKED, FINDING_BIAS, "a fixed clock is in step with the program" },
	{ CODE_ALIAS_POSSIBLE, FINDING_WARNING, "a fixed clock may be in step with the program" },
	{ CODE_ALIAS_UNCHECKED, FINDING_WARNING,
	  "no clock was randomised, so a lock would not show" },
	{ CODE_NO_SAMPLES, FINDING_WARNING, "there is nothing to judge" },
	{ CODE_LOSS, FINDING_BIAS, "samples were taken and lost" },
	{ CODE_THROTTLE, FINDING_BIAS, "the kernel stopped sampling for some of the time" },
	{ CODE_STARVED, FINDING_WARNING, "the collector came late" },
	{ CODE_UNCOVERED, FINDING_BIAS, "part of the time was not sampled at all" },
	{ CODE_MULTIPLEX, FINDING_BIAS, "the event shared a counter and was not always on it" },
	{ CODE_RETUNE, FINDING_WARNING, "the kernel changed the period while sampling" },
	{ CODE_FIDELITY_INTERVAL, FINDING_WARNING, "intervals differ from those that were drawn" },
	{ CODE_FIDELITY_DRIFT, FINDING_WARNING, "intervals drift away from those that were drawn" },
	{ CODE_FIDELITY_REDRAW, FINDING_WARNING, "periods were redrawn less often than planned" },
	{ CODE_SUBSTITUTION, FINDING_WARNING, "another event was measured than was asked for" },
	{ CODE_SUBSTITUTION_SCOPE, FINDING_WARNING, "the clocks are attached in a weaker way" },
	{ CODE_BUDGET, FINDING_WARNING, "measuring cost more than it should" },
	{ CODE_COVERAGE, FINDING_WARNING, "part of the execution was never seen" },
	{ CODE_SHORT, FINDING_WARNING, "functions too short to be told from their neighbours" },
	{ CODE_SHORT_TASKS, FINDING_BIAS, "tasks ended before a sample could fall on them" },
	{ CODE_SKID_ENTRY, FINDING_WARNING, "samples that belong to the caller" },
	{ CODE_SKID_CALL, FINDING_WARNING, "samples that belong to the callee" },
	{ CODE_SKID_SHADOW, FINDING_WARNING, "samples in the shadow of a slow instruction" },
	{ CODE_SKID_PRECISION, FINDING_INFO, "which precision the kernel granted" },
	{ CODE_REGIME, FINDING_WARNING, "the workload changed while it was recorded" },
	{ CODE_REGIME_MEASUREMENT, FINDING_WARNING, "the measurement changed while it ran" },
	{ CODE_MIGRATION, FINDING_INFO, "threads moved between CPUs" },
	{ CODE_FREQUENCY, FINDING_WARNING, "the CPU did not run at one speed" },
	{ CODE_LOAD, FINDING_WARNING, "other programs competed for the CPUs" },
	{ CODE_STEAL, FINDING_WARNING, "the hypervisor took CPU time away" },
	{ CODE_UNFINISHED, FINDING_WARNING, "the recording was not closed" },
	{ CODE_FILE_DAMAGED, FINDING_WARNING, "only a part of the file could be read" },
	{ CODE_FILE_FOREIGN, FINDING_INFO, "the file comes from another machine" },
};

const struct finding_code *finding_codes(size_t *n)
{
	*n = sizeof(codes) / sizeof(codes[0]);
	return codes;
}

unsigned int finding_code_place(const char *code)
{
	for (unsigned int i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (!strcmp(codes[i].code, code))
			return i;
	return UINT_MAX;
}
