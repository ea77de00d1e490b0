/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/contract_text.h"

#include <math.h>
#include <string.h>

#include "report/contract.h"
#include "report/digits.h"

static bool in_ns(const struct report_contract *contract)
{
	return contract->unit && !strcmp(contract->unit, "ns");
}

static const char *period_words(const struct report_contract *contract, double period, char *text,
				size_t size)
{
	return in_ns(contract) ? digits_duration(period, text, size)
			       : digits_short(period, text, size);
}

/* A drawn interval stays in force for a while, and of short ones more fit into it: a sample comes more
 * often than the mean of what is drawn. What is drawn is told besides. */
static void group_text(const struct report_contract *contract, const struct report_clock *group,
		       const char *each, struct output *out)
{
	char every[32], low[32], high[32], mean[32];

	if (in_ns(contract) && group->hz > 0)
		output_format(out, "%s sample every %s of CPU time on average, ", each,
			      digits_duration(1e9 / group->hz, every, sizeof(every)));
	else
		output_format(out, "%s sample after ", each);
	output_format(out, "%s drawn (%s) from %s-%s of %s%s",
		      in_ns(contract) ? "intervals" : "intervals that are", group->kind,
		      digits_short(group->low, low, sizeof(low)),
		      digits_short(group->high, high, sizeof(high)),
		      period_words(contract, group->mean_period, mean, sizeof(mean)),
		      in_ns(contract) ? "" : " events");
}

/* The canaries beside the randomised clocks, which have fixed intervals. */
static void canaries_text(const struct report_contract *contract, struct output *out)
{
	char period[32];
	bool any = false;

	for (uint32_t g = 0; g < contract->n_groups; g++) {
		const struct report_clock *group = &contract->groups[g];

		if (!group->canary)
			continue;
		output_format(out, "%s a canary with a %s interval of %s%s",
			      any ? " and" : "; beside them", group->kind,
			      period_words(contract, group->mean_period, period, sizeof(period)),
			      in_ns(contract) ? "" : " events");
		any = true;
	}
	if (!any && contract->canary)
		output_add(out, "; beside them a canary with a fixed interval");
}

static void drawn_text(const struct report_contract *contract, struct output *out)
{
	uint32_t n_drawn = 0;

	for (uint32_t g = 0; g < contract->n_groups; g++)
		n_drawn += !contract->groups[g].canary;
	output_format(out, "%u %s%s ", contract->clocks, contract->clocks == 1 ? "clock" : "clocks",
		      n_drawn > 1 ? ":" : ",");
	for (uint32_t g = 0, told = 0; g < contract->n_groups; g++) {
		const struct report_clock *group = &contract->groups[g];
		struct output each;

		if (group->canary)
			continue;
		output_init(&each);
		if (n_drawn == 1)
			output_add(&each, group->n > 1 ? "each a" : "a");
		else
			output_format(&each, "%s%u with a", told++ ? "; " : "", group->n);
		group_text(contract, group, each.text ? each.text : "", out);
		output_release(&each);
	}
	if (!strcmp(contract->redraw, "block") && contract->block)
		output_format(out, ", anew about every %u samples", contract->block);
	else if (!strcmp(contract->redraw, "sample"))
		output_add(out, ", anew for every sample");
	else if (!strcmp(contract->redraw, "none"))
		output_add(out, ", once per epoch");
	if (contract->has_seed)
		output_format(out, "; seed %llu", (unsigned long long)contract->seed);
	canaries_text(contract, out);
}

void contract_clocks_text(const struct report *report, struct output *out)
{
	const struct report_contract *contract = &report->contract;
	char period[32];

	if (contract->randomised && contract->n_groups) {
		drawn_text(contract, out);
		return;
	}
	output_format(out, "%u %s", contract->clocks, contract->clocks == 1 ? "clock" : "clocks");
	if (contract->mean_period > 0)
		output_format(out, ", %s every %s%s", contract->clocks == 1 ? "a sample" : "each",
			      period_words(contract, contract->mean_period, period, sizeof(period)),
			      in_ns(contract) ? "" : " events");
	output_format(out, ", %s: nothing here can show whether it ran in step with the program",
		      !strcmp(contract->kind, "freq") ? "steered by the kernel towards a rate"
						      : "at a fixed interval");
}

void contract_rate_text(const struct report *report, struct output *out)
{
	const struct report_contract *contract = &report->contract;
	char rate[32], first[32], last[32], cost[32], more[32];

	output_format(out, "%s samples per second of CPU time",
		      digits_short(contract->rate_hz, rate, sizeof(rate)));
	if (contract->rate_first_hz > 0)
		output_format(out, " over the whole (it %s from %s to %s, as the budget asked)",
			      contract->rate_last_hz < contract->rate_first_hz ? "fell" : "rose",
			      digits_short(contract->rate_first_hz, first, sizeof(first)),
			      digits_short(contract->rate_last_hz, last, sizeof(last)));
	if (contract->rate_why && *contract->rate_why)
		output_format(out, ": %s", contract->rate_why);
	else if (contract->sample_cost_ns > 0)
		output_format(out, "; a sample costs %s here",
			      digits_duration(contract->sample_cost_ns, cost, sizeof(cost)));
	digits_short(CONTRACT_HALVING, more, sizeof(more));
	if (contract->from_manifest && !contract->faster_is_possible)
		output_format(out,
			      ". A rate that would halve the intervals is not to be had here: "
			      "record %s times as long",
			      more);
	else if (contract->budget > 0)
		output_format(out, ". A budget of %s %% would halve the intervals",
			      digits_short(100 * CONTRACT_HALVING * contract->budget, more,
					   sizeof(more)));
	else
		output_format(out, ". %s times the rate would halve the intervals", more);
}
