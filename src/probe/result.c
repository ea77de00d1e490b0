/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run of the engine comes to: a row per chosen function; or, when none was, what the user may have meant.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "probe/probe_state.h"

static void row_free(struct probe_row *row)
{
	free(row->name);
	free(row->symbol);
	free(row->module);
	free(row->aliases);
	free(row->exit_list);
}

void probe_result_release(struct probe_result *result)
{
	for (size_t i = 0; i < result->n_rows; i++)
		row_free(&result->rows[i]);
	free(result->rows);
	free(result->nodes);
	free(result->edges);
	result->nodes = NULL;
	result->edges = NULL;
	result->n_nodes = result->n_edges = 0;
	for (size_t i = 0; i < result->n_processes; i++) {
		free(result->processes[i].shares);
		free(result->processes[i].children);
	}
	free(result->processes);
	result->processes = NULL;
	result->n_processes = result->processes_capacity = 0;
	result->rows = NULL;
	result->n_rows = result->capacity = 0;
}

/* All but the first, with commas between. */
static char *aliases_join(const char *const *names, size_t n)
{
	size_t size = 1, used = 0;
	char *text;

	if (n < 2)
		return NULL;
	for (size_t i = 1; i < n; i++)
		size += strlen(names[i]) + 2;
	text = malloc(size);
	for (size_t i = 1; text && i < n; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i > 1 ? ", " : "",
					 names[i]);
	return text;
}

static bool row_name(struct probe_row *row, const struct install_function *function,
		     const struct code_function *code)
{
	const char *names[IMAGE_MAX_NAMES + 1], *shown;
	size_t n = image_names(function->module, code, names, &shown);
	char unnamed[512];

	/* the demangled name is the last one, when there is one */
	n -= n > 0 && names[n - 1] == shown && shown != names[0];
	if (function->n_picked_for && !code->symbol) {
		shown = function->picked_for[0];
		n = 0;
	}
	for (uint32_t i = 0; i < function->n_picked_for && n < IMAGE_MAX_NAMES; i++)
		names[n++] = function->picked_for[i];
	if (!*shown) {
		snprintf(unnamed, sizeof(unnamed), "%s+0x%llx", function->module->name,
			 (unsigned long long)code->range.start);
		shown = unnamed;
	}
	row->name = strdup(shown);
	row->symbol = n && strcmp(names[0], shown) != 0 ? strdup(names[0]) : NULL;
	row->module = strdup(function->module->name);
	row->aliases = aliases_join(names, n);
	return row->name && row->module;
}

/* The row of the same function in another process. They mostly come in the same order: *hint is where to look first. */
static struct probe_row *row_find(const struct probe_result *result, const struct probe_row *wanted,
				  size_t n, size_t *hint)
{
	for (size_t i = 0; i < n; i++) {
		struct probe_row *row = &result->rows[(*hint + i) % n];

		if (row->address == wanted->address && !strcmp(row->name, wanted->name) &&
		    !strcmp(row->module, wanted->module)) {
			*hint = (*hint + i + 1) % n;
			return row;
		}
	}
	return NULL;
}

/* The row of what is named already: one of the `n` that other processes have made, or a new one. */
static struct probe_row *row_of(struct probe *probe, struct probe_row *row, bool named, size_t n,
				size_t *hint)
{
	struct probe_result *result = probe->result;
	struct probe_row *found;

	if (!named || !array_reserve(&result->rows, &result->capacity, result->n_rows + 1)) {
		row_free(row);
		return NULL;
	}
	found = row_find(result, row, n, hint);
	if (found) {
		row_free(row);
		return found;
	}
	row->refused = true;
	result->rows[result->n_rows] = *row;
	return &result->rows[result->n_rows++];
}

static struct probe_row *function_row(struct probe *probe, const struct install_function *function,
				      size_t n, size_t *hint)
{
	size_t n_code;
	const struct code_function *code =
		&code_module_functions(function->module->code, &n_code)[function->index];
	struct probe_row row = { .address = function->address };
	const bool named = row_name(&row, function, code);

	return row_of(probe, &row, named, n, hint);
}

static struct probe_row *point_row(struct probe *probe, const struct install_point *point, size_t n,
				   size_t *hint)
{
	struct probe_row row = { .address = point->address,
				 .region = point->region,
				 .name = strdup(point->name),
				 .module = strdup(point->module ? point->module->name : ""),
				 .aliases = point->aliases ? strdup(point->aliases) : NULL };

	return row_of(probe, &row, row.name && row.module && (row.aliases || !point->aliases), n,
		      hint);
}

/* The exits in the order of their numbers, which are those of the plan's sites (stub_exit_number). */
static bool exits_take(struct probe_row *row, const struct install_function *function)
{
	const struct code_plan *plan = &function->plan;
	uint32_t n = 0;

	if (row->exit_list || !plan->n_exits)
		return true;
	row->exit_list = calloc(plan->n_exits, sizeof(*row->exit_list));
	for (uint32_t i = 0; row->exit_list && i < plan->n_sites && n < plan->n_exits; i++) {
		const struct code_site *site = &plan->sites[i];

		if (site->kind != CODE_SITE_ENTRY && site->kind != CODE_SITE_POINT)
			row->exit_list[n++] =
				(struct probe_exit){ stub_exit_number(plan, site), site->kind,
						     (int64_t)(site->exit - function->address) };
	}
	return row->exit_list;
}

static bool share_add(struct probe_process *process, const struct probe_row *row,
		      const struct function_sums *before)
{
	const uint64_t calls = row->sums.calls - before->calls;

	if (!calls)
		return true;
	if (!array_reserve(&process->shares, &process->capacity, process->n + 1))
		return false;
	process->calls += calls;
	process->shares[process->n++] =
		(struct probe_share){ row->name, row->module, calls,
				      row->sums.inclusive - before->inclusive,
				      row->sums.self - before->self };
	return true;
}

/* From when on calls are counted. */
static void since_take(struct probe_row *row, const struct install_function *function)
{
	if (function->since_ns > row->since_ns)
		row->since_ns = function->since_ns;
	row->gaps += function->gaps;
}

static enum status row_add(struct probe *probe, const struct install_function *function,
			   struct probe_process *process, size_t n, size_t *hint,
			   struct error *error)
{
	struct probe_row *row;
	struct function_sums before;

	if (function->point != INSTALL_FUNCTION)
		return STATUS_OK;
	row = function_row(probe, function, n, hint);
	if (!row)
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	if (function->refusal && !function->written) {
		row->reason = install_reason_name(function);
		row->reason_text = install_reason_text(function);
		row->refused_in++;
		return STATUS_OK;
	}
	row->refused = false;
	row->exits = function->plan.n_exits;
	row->sled = function->plan.entry_patch < function->plan.n_patches &&
		    function->plan.patches[function->plan.entry_patch].sled;
	if (!exits_take(row, function))
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	if (!probe->buffers)
		return STATUS_OK;
	since_take(row, function);
	before = row->sums;
	buffers_function_sums(probe->buffers, &probe->plan, probe->options->mode, function->number,
			      &row->sums);
	row->capped = row->sums.capped > 0;
	if (probe->replay.rows)
		probe->replay.rows[function->number] = (uint32_t)(row - probe->result->rows);
	if (probe->states.samples)
		row->seen += probe->states.samples[function->number];
	if (row->sums.enabled_ns)
		row->missing = 1 - (double)row->sums.running_ns / (double)row->sums.enabled_ns;
	if (!share_add(process, row, &before))
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	return STATUS_OK;
}

/* Why the point or region cannot be had: the reason of the place that is refused. */
static bool point_is_refused(const struct probe *probe, const struct install_point *point,
			     struct probe_row *row)
{
	const struct install_function *place =
		install_point_refused(&probe->origin->install, point);
	static const struct install_function late = { .refusal = INSTALL_NO_SLOT };

	if (!place && point->number == UINT32_MAX)
		place = &late;
	if (!place)
		return false;
	row->reason = install_reason_name(place);
	row->reason_text = install_reason_text(place);
	row->refused_in++;
	return true;
}

static enum status point_add(struct probe *probe, const struct install_point *point,
			     struct probe_process *process, size_t n, size_t *hint,
			     struct error *error)
{
	struct probe_row *row = point_row(probe, point, n, hint);
	struct function_sums before;

	if (!row)
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	if (point_is_refused(probe, point, row))
		return STATUS_OK;
	row->refused = false;
	if (!probe->buffers)
		return STATUS_OK;
	for (size_t i = 0; i < point->n; i++)
		since_take(row, &probe->origin->install.functions[point->places[i].function]);
	before = row->sums;
	if (point->region)
		passages_sums(probe->buffers, &probe->plan, point->number, &row->sums,
			      &row->passages);
	else
		buffers_function_sums(probe->buffers, &probe->plan, PROBE_COUNT, point->number,
				      &row->sums);
	if (point->region && row->sums.enabled_ns)
		row->missing = 1 - (double)row->sums.running_ns / (double)row->sums.enabled_ns;
	row->capped = !point->region && row->sums.capped > 0;
	if (!share_add(process, row, &before))
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	return STATUS_OK;
}

static void rows_count(struct probe_result *result)
{
	result->n_probed = result->n_refused = 0;
	for (size_t i = 0; i < result->n_rows; i++) {
		result->n_refused += result->rows[i].refused;
		result->n_probed += !result->rows[i].refused;
	}
}

/* Those of the last removal, and behind them those that were followed without being probed. */
enum status result_children(struct probe *probe, struct error *error)
{
	const struct guardian_arena *arena = probe->guardian->arena;
	struct probe_process *process = &probe->result->processes[probe->process];
	const size_t n = arena->n_children < GUARDIAN_MAX_CHILDREN ? (size_t)arena->n_children
								   : GUARDIAN_MAX_CHILDREN;

	process->n_more = arena->n_children - n + probe->n_unprobed_more;
	if (!n && !probe->n_unprobed)
		return STATUS_OK;
	process->children = calloc(n + probe->n_unprobed, sizeof(*process->children));
	if (!process->children)
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	memcpy(process->children, arena->children, n * sizeof(*process->children));
	if (probe->n_unprobed)
		memcpy(process->children + n, probe->unprobed,
		       probe->n_unprobed * sizeof(*process->children));
	process->n_children = n + probe->n_unprobed;
	return STATUS_OK;
}

/* Where the process is told of: by itself, or among those beyond the list, whose shares nobody keeps. */
static struct probe_process *process_add(struct probe *probe, struct probe_process *unlisted)
{
	struct probe_result *result = probe->result;
	const bool followed = probe->start >= PROBE_FORKED;
	struct probe_process *process = unlisted;

	if (!followed || result->n_processes < PROBE_MAX_LISTED) {
		if (!array_reserve(&result->processes, &result->processes_capacity,
				   result->n_processes + 1))
			return NULL;
		probe->process = result->n_processes++;
		process = &result->processes[probe->process];
	}
	*process = (struct probe_process){ .pid = probe->pid,
					   .parent = probe->parent,
					   .start = probe->start,
					   .ended = probe->ended };
	memcpy(process->comm, probe->comm, sizeof(process->comm));
	return process;
}

static void unlisted_take(struct probe_result *result, struct probe_process *unlisted)
{
	result->n_unlisted++;
	result->unlisted_calls += unlisted->calls;
	free(unlisted->shares);
}

enum status result_fill(struct probe *probe, struct error *error)
{
	struct probe_result *result = probe->result;
	const size_t n_before = result->n_rows;
	const uint64_t threads_before = result->sums.threads;
	const struct install *install = &probe->origin->install;
	struct probe_process unlisted, *process = process_add(probe, &unlisted);
	size_t hint = 0;
	enum status status = STATUS_OK;

	if (!process)
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	result->sites += install->n_sites;
	result->buffer_bytes += buffers_touched_bytes(&probe->plan);
	result->n_blocks = probe->plan.n_blocks_now;
	result->slots += probe->plan.n_functions;
	result->slots_used += probe->plan.n_used;
	for (uint32_t i = 0; i < install->n_regions; i++)
		result->code_bytes += install->regions[i].size;
	for (size_t i = 0; status == STATUS_OK && i < install->n; i++)
		status = row_add(probe, &install->functions[i], process, n_before, &hint, error);
	for (size_t i = 0; status == STATUS_OK && i < install->n_points; i++)
		status = point_add(probe, &install->points[i], process, n_before, &hint, error);
	rows_count(result);
	if (process == &unlisted)
		unlisted_take(result, process);
	if (!probe->buffers || status != STATUS_OK)
		return status;
	result->looks += probe->states.looks;
	result->threads_seen += probe->states.threads;
	result->seen_outside += probe->states.outside;
	buffers_sums(probe->buffers, &probe->plan, &result->sums);
	if (process != &unlisted)
		process->threads = result->sums.threads - threads_before;
	result->ticks_per_ns = calibration_ticks_per_ns(&probe->calibration, probe->sys);
	result->pair_ticks = probe->calibration.pair_ticks;
	result->inner_ticks = probe->calibration.inner_ticks;
	result->passage_pair_ticks = probe->passage_calibration.pair_ticks;
	return probe->replay.rows ? replay_result_fill(probe, error) : STATUS_OK;
}
