/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the records of one process come to: its tree of calls and edges from caller to callee, with the names of
 * rows; and whether they give the totals that the agent summed.
 */
#include <stdlib.h>

#include "base/array.h"
#include "probe/probe_state.h"

#define NODES_MOST (4 * (size_t)REPLAY_MAX_NODES) /* of all processes */

static const struct probe_row *row_at(const struct probe *probe, uint32_t function)
{
	const uint32_t row = function < probe->replay.n_functions ? probe->replay.rows[function]
								  : REPLAY_NO_FUNCTION;

	return row < probe->result->n_rows ? &probe->result->rows[row] : NULL;
}

/* All nodes but the root, in an order in which parents come before children. */
static bool nodes_add(struct probe *probe)
{
	struct probe_result *result = probe->result;
	const struct replay *replay = &probe->replay;
	const size_t first = result->n_nodes;

	if (first + replay->n_nodes > NODES_MOST) { /* many processes that were followed */
		for (uint32_t i = 1; i < replay->n_nodes; i++)
			result->nodes_lost += replay->nodes[i].calls;
		return true;
	}
	if (!array_reserve(&result->nodes, &result->nodes_capacity, first + replay->n_nodes))
		return false;
	for (uint32_t i = 1; i < replay->n_nodes; i++) {
		const struct replay_node *node = &replay->nodes[i];
		const struct probe_row *row = row_at(probe, node->function);

		result->nodes[result->n_nodes++] = (struct probe_node){
			.parent = node->parent ? (uint32_t)(first + node->parent - 1)
					       : PROBE_NO_PARENT,
			.pid = probe->pid,
			.name = row ? row->name : "",
			.module = row ? row->module : "",
			.calls = node->calls,
			.inclusive = node->inclusive,
			.self = node->self,
		};
	}
	return true;
}

static int compare_edges(const void *a, const void *b)
{
	const struct probe_edge *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return 0;
}

/* Names are compared as pointers: each row has its own. */
static bool edges_make(struct probe_result *result)
{
	size_t n = 0;

	free(result->edges);
	result->n_edges = 0;
	result->edges = calloc(result->n_nodes + 1, sizeof(*result->edges));
	if (!result->edges)
		return false;
	for (size_t i = 0; i < result->n_nodes; i++) {
		const struct probe_node *node = &result->nodes[i];
		const struct probe_node *parent =
			node->parent != PROBE_NO_PARENT ? &result->nodes[node->parent] : NULL;

		result->edges[i] = (struct probe_edge){ parent ? parent->name : NULL,
							parent ? parent->module : NULL,
							node->name,
							node->module,
							node->calls,
							node->inclusive };
	}
	qsort(result->edges, result->n_nodes, sizeof(*result->edges), compare_edges);
	for (size_t i = 0; i < result->n_nodes; i++) {
		struct probe_edge *edge = &result->edges[i];

		if (n && compare_edges(&result->edges[n - 1], edge) == 0) {
			result->edges[n - 1].calls += edge->calls;
			result->edges[n - 1].inclusive += edge->inclusive;
		} else {
			result->edges[n++] = *edge;
		}
	}
	result->n_edges = n;
	return true;
}

enum status replay_edges_make(struct probe_result *result, struct error *error)
{
	return edges_make(result) ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "out of memory");
}

enum status replay_result_fill(struct probe *probe, struct error *error)
{
	struct probe_result *result = probe->result;
	struct replay *replay = &probe->replay;

	replay_flush(replay);
	if (replay->out_of_memory || !nodes_add(probe))
		return error_set(error, STATUS_NO_MEMORY,
				 "out of memory for the trace of process %d", probe->pid);
	result->nodes_lost += replay->nodes_lost;
	if (replay->write_errno)
		result->records_errno = replay->write_errno;
	for (uint32_t i = 0; i < replay->n_functions; i++) {
		struct function_sums sums = { 0 };
		const uint32_t row = replay->rows[i];

		buffers_function_sums(probe->buffers, &probe->plan, PROBE_TRACE, i, &sums);
		if (row < result->n_rows && !replay_agrees(replay, i, &sums))
			result->rows[row].disagrees = true;
	}
	return STATUS_OK;
}
