/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run of the engine comes to: a row per chosen function; or, when none was, what the user may have meant.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "probe/probe_state.h"

#define NEAR_SHOWN    5u
#define NEAR_MAX_NAME 64u

static void row_free(struct probe_row *row)
{
	free(row->name);
	free(row->symbol);
	free(row->module);
	free(row->aliases);
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

	if (function->point) {
		row->name = strdup(function->point);
		row->module = strdup(function->module->name);
		return row->name && row->module;
	}
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

/* The function's row: one of the `n` that other processes have made, or a new one. */
static struct probe_row *row_of(struct probe *probe, const struct install_function *function,
				size_t n, size_t *hint)
{
	struct probe_result *result = probe->result;
	size_t n_code;
	const struct code_function *code =
		&code_module_functions(function->module->code, &n_code)[function->index];
	struct probe_row row = { .address = function->address }, *found = NULL;

	if (!row_name(&row, function, code) ||
	    !array_reserve(&result->rows, &result->capacity, result->n_rows + 1)) {
		row_free(&row);
		return NULL;
	}
	found = row_find(result, &row, n, hint);
	if (found) {
		row_free(&row);
		return found;
	}
	row.refused = true;
	result->rows[result->n_rows] = row;
	return &result->rows[result->n_rows++];
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

static enum status row_add(struct probe *probe, const struct install_function *function,
			   struct probe_process *process, size_t n, size_t *hint,
			   struct error *error)
{
	struct probe_row *row = row_of(probe, function, n, hint);
	struct function_sums before;

	if (!row)
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	if (function->refusal) {
		row->reason = install_reason_name(function);
		row->reason_text = install_reason_text(function);
		row->refused_in++;
		return STATUS_OK;
	}
	row->refused = false;
	row->exits = function->plan.n_exits;
	if (!probe->buffers)
		return STATUS_OK;
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

static void rows_count(struct probe_result *result)
{
	result->n_probed = result->n_refused = 0;
	for (size_t i = 0; i < result->n_rows; i++) {
		result->n_refused += result->rows[i].refused;
		result->n_probed += !result->rows[i].refused;
	}
}

/* Those of the last removal. */
static bool children_take(struct probe_process *process, const struct guardian_arena *arena)
{
	const size_t n = arena->n_children < GUARDIAN_MAX_CHILDREN ? (size_t)arena->n_children
								   : GUARDIAN_MAX_CHILDREN;

	process->n_more = arena->n_children - n;
	process->n_children = n;
	if (!n)
		return true;
	process->children = malloc(n * sizeof(*process->children));
	if (process->children)
		memcpy(process->children, arena->children, n * sizeof(*process->children));
	return process->children;
}

enum status result_fill(struct probe *probe, struct error *error)
{
	struct probe_result *result = probe->result;
	const size_t n_before = result->n_rows;
	const uint64_t threads_before = result->sums.threads;
	struct probe_process *process;
	size_t hint = 0;
	enum status status = STATUS_OK;

	if (!array_reserve(&result->processes, &result->processes_capacity,
			   result->n_processes + 1))
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	process = &result->processes[result->n_processes++];
	*process = (struct probe_process){ .pid = probe->pid, .ended = probe->ended };
	if (!children_take(process, probe->guardian.arena))
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	result->sites += probe->install.n_sites;
	result->buffer_bytes += probe->plan.bytes;
	result->n_blocks = probe->plan.n_blocks;
	for (uint32_t i = 0; i < probe->install.n_regions; i++)
		result->code_bytes += probe->install.regions[i].size;
	for (size_t i = 0; status == STATUS_OK && i < probe->install.n; i++)
		status = row_add(probe, &probe->install.functions[i], process, n_before, &hint,
				 error);
	rows_count(result);
	if (!probe->buffers || status != STATUS_OK)
		return status;
	result->looks += probe->states.looks;
	result->threads_seen += probe->states.threads;
	result->seen_outside += probe->states.outside;
	buffers_sums(probe->buffers, &probe->plan, &result->sums);
	process->threads = result->sums.threads - threads_before;
	result->ticks_per_ns = calibration_ticks_per_ns(&probe->calibration, probe->sys);
	result->pair_ticks = probe->calibration.pair_ticks;
	result->inner_ticks = probe->calibration.inner_ticks;
	return probe->replay.rows ? replay_result_fill(probe, error) : STATUS_OK;
}

/* Levenshtein's distance, cut off at `limit`. */
static unsigned int distance(const char *a, const char *b, unsigned int limit)
{
	unsigned int row[NEAR_MAX_NAME + 1];
	const size_t la = strnlen(a, NEAR_MAX_NAME + 1), lb = strnlen(b, NEAR_MAX_NAME + 1);

	if (la > NEAR_MAX_NAME || lb > NEAR_MAX_NAME || la > lb + limit || lb > la + limit)
		return limit + 1;
	for (size_t j = 0; j <= lb; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= lb; j++) {
			const unsigned int up = row[j];
			unsigned int best = diagonal + (a[i - 1] != b[j - 1]);

			best = up + 1 < best ? up + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			diagonal = up;
			row[j] = best;
		}
	}
	return row[lb];
}

struct near {
	const char *names[NEAR_SHOWN];
	unsigned int distances[NEAR_SHOWN];
	size_t n;
};

static void near_offer(struct near *near, const char *name, unsigned int far)
{
	size_t at = near->n < NEAR_SHOWN ? near->n++ : NEAR_SHOWN - 1;

	if (at == NEAR_SHOWN - 1 && near->n == NEAR_SHOWN && near->names[at] &&
	    near->distances[at] <= far)
		return;
	for (; at > 0 && near->distances[at - 1] > far; at--) {
		near->names[at] = near->names[at - 1];
		near->distances[at] = near->distances[at - 1];
	}
	near->names[at] = name;
	near->distances[at] = far;
}

static void near_find(const struct probe *probe, const char *wanted, struct near *near)
{
	const unsigned int limit = (unsigned int)(strlen(wanted) / 3 + 1);

	for (size_t m = 0; m < probe->image.n; m++) {
		size_t n = 0;
		const struct function *functions =
			probe->image.modules[m].symbols
				? module_functions(probe->image.modules[m].symbols, &n)
				: NULL;

		for (size_t i = 0; i < n; i++) {
			const char *name = functions[i].symbol;
			const unsigned int far = name ? distance(wanted, name, limit) : limit + 1;

			if (far <= limit)
				near_offer(near, name, far);
		}
	}
}

enum status near_misses(const struct probe *probe, struct error *error)
{
	struct near near = { 0 };
	const char *wanted = "";
	char list[400] = "";
	size_t used = 0, readable = 0;

	for (size_t i = 0; i < probe->options->selection->n && !*wanted; i++) {
		const struct selection_word *word = &probe->options->selection->words[i];

		if (!word->exclude && word->glob)
			wanted = word->glob;
	}
	for (size_t i = 0; i < probe->image.n; i++)
		readable += !probe->image.modules[i].why;
	if (!probe->image.n)
		return error_set(error, STATUS_NOT_FOUND,
				 "-f means no function of process %d: it has mapped no module of "
				 "that name",
				 probe->pid);
	if (!readable)
		return error_set(error, STATUS_NOT_FOUND,
				 "-f means no function of process %d: %s: %s", probe->pid,
				 probe->image.modules[0].name, probe->image.modules[0].why);
	near_find(probe, wanted, &near);
	for (size_t i = 0; i < near.n && used < sizeof(list) - 1; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
					 i ? ", " : "; near misses: ", near.names[i]);
	return error_set(error, STATUS_NOT_FOUND, "-f %s means no function of process %d%s%s",
			 *wanted ? wanted : "(regex)", probe->pid, list,
			 near.n ? "" : " (names are those of the symbol tables; globs need *)");
}
