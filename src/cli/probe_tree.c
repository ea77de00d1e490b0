/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tree of calls that `assay probe --mode trace` shows: the most expensive callees first, as far as some lines go.
 */
#include <math.h>
#include <stdlib.h>

#include "cli/probe_output.h"
#include "report/escape.h"

#define LINES_SHOWN 40u
#define DEPTH_SHOWN 24u

bool probe_audit(const struct probe_result *result)
{
	bool agrees = !result->sums.records_dropped;

	for (size_t i = 0; agrees && i < result->n_rows; i++)
		agrees = !result->rows[i].disagrees;
	return agrees;
}

struct painter {
	const struct probe_result *result;
	struct output *output;
	unsigned int lines;
};

/* The child of `parent` that comes after `last`, dearer ones first; n_nodes: none. */
static size_t child_next(const struct probe_result *result, uint32_t parent, size_t last)
{
	const struct probe_node *nodes = result->nodes;
	size_t best = result->n_nodes;

	for (size_t i = 0; i < result->n_nodes; i++) {
		if (nodes[i].parent != parent || i == last)
			continue;
		if (last < result->n_nodes &&
		    (nodes[i].inclusive > nodes[last].inclusive ||
		     (i < last && nodes[i].inclusive == nodes[last].inclusive)))
			continue;
		if (best == result->n_nodes || nodes[i].inclusive > nodes[best].inclusive)
			best = i;
	}
	return best;
}

/* Bounded by DEPTH_SHOWN and LINES_SHOWN. */
static void paint(struct painter *painter, uint32_t parent, unsigned int depth)
{
	const struct probe_result *result = painter->result;
	char text[32];
	size_t child = result->n_nodes;

	while (depth < DEPTH_SHOWN && painter->lines < LINES_SHOWN &&
	       (child = child_next(result, parent, child)) < result->n_nodes) {
		const struct probe_node *node = &result->nodes[child];

		painter->lines++;
		output_format(painter->output, "%14llu %13s  %*s", (unsigned long long)node->calls,
			      probe_amount(result, probe_value(result, (double)node->inclusive),
					   text, sizeof(text)),
			      (int)depth * 2, "");
		escape_for_terminal(painter->output, node->name);
		output_add(painter->output, "\n");
		paint(painter, (uint32_t)child, depth + 1);
	}
}

/* Between two powers of 2, how many calls took so long: a digit for the share, 9 for nine tenths and more. */
void probe_distribution(const struct probe_result *result, struct output *output)
{
	unsigned int first = AGENT_BUCKETS, last = 0, rows = 0;
	char from[32], to[32];

	for (size_t i = 0; i < result->n_rows; i++) {
		for (unsigned int b = 0; b < AGENT_BUCKETS; b++) {
			if (!result->rows[i].sums.buckets[b])
				continue;
			first = b < first ? b : first;
			last = b > last ? b : last;
		}
	}
	if (first == AGENT_BUCKETS)
		return;
	output_format(
		output,
		"\nhow long calls took, on a logarithmic scale from %s to %s, each column twice "
		"the one before\n"
		"(tenths of the calls; + less than one tenth)\n",
		probe_amount(result, probe_value(result, first ? ldexp(1, (int)first - 1) : 0),
			     from, sizeof(from)),
		probe_amount(result, probe_value(result, ldexp(1, (int)last)), to, sizeof(to)));
	for (size_t i = 0; i < result->n_rows && rows < LINES_SHOWN; i++) {
		const struct probe_row *row = &result->rows[i];

		if (row->refused || !row->sums.timed)
			continue;
		rows++;
		output_add(output, "  ");
		for (unsigned int b = first; b <= last; b++) {
			const uint64_t n = row->sums.buckets[b];
			const unsigned int tenths =
				(unsigned int)((double)n * 10 / (double)row->sums.timed);

			output_format(output, "%c",
				      !n           ? '.'
				      : !tenths    ? '+'
				      : tenths > 9 ? '9'
						   : (char)('0' + tenths));
		}
		output_add(output, "  ");
		escape_for_terminal(output, row->name);
		output_add(output, "\n");
	}
}

void probe_tree(const struct probe_result *result, struct output *output)
{
	struct painter painter = { .result = result, .output = output };

	output_format(output, "\n%llu records, %llu calls dropped; totals from the records %s\n",
		      (unsigned long long)result->sums.records,
		      (unsigned long long)result->sums.records_dropped,
		      probe_audit(result)                ? "agree with the sums"
		      : result->sums.records_dropped > 0 ? "are those of the others (--buffer)"
							 : "DISAGREE with the sums");
	if (!result->n_nodes)
		return;
	output_format(output, "\n%14s %13s  call tree\n", "calls", "total");
	paint(&painter, PROBE_NO_PARENT, 0);
	if (painter.lines < result->n_nodes)
		output_format(output, "  ... %zu more (--json lists all)\n",
			      result->n_nodes - painter.lines);
}
