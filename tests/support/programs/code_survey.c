/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plans every function of ELF files and prints how many can be patched and why the others cannot.
 *
 *	code_survey FILE...		one table per file
 *	code_survey --markdown FILE...	one table over all files, as docs/probes.md has it
 *	code_survey --list REASON FILE	the functions refused for this reason ("all": every function, with its reason)
 *	code_survey --check FILE...	judges each plan by rules of its own, and says how many break one
 *
 * --faults before a FILE: as in a process that handles SIGSEGV, SIGBUS, SIGFPE or SIGILL.
 *
 * What --check asks, without the planner's help: every way out of the function has a site; nothing is written where
 * control may come to, other than at the first byte; no two patches of the whole file write the same byte; islands
 * lie where nothing runs; trampolines can be emitted. Functions are those with an entry of their own and an exit: no
 * stubs, no parts, none that never returns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/module_state.h"
#include "code/plan.h"

#define MAX_FILES        16
#define TRAMPOLINE_BYTES (1u << 16)
#define MAX_ORIGINS      2048u

struct survey {
	const char *name;
	bool faults;
	uint64_t n[CODE_N_REFUSALS];
	uint64_t functions, exits, patches, bodies, islands;
	uint64_t broken;
	double open_ms, plan_ms;
	uint64_t *written[CODE_MAX_TEXTS]; /* bit per byte of each text, for --check */
};

struct check {
	struct survey *survey;
	const struct code_module *module;
	const struct code_plan *plan;
	uint8_t *trampoline;
	bool broken;
};

static double now_ms(void)
{
	return (double)sys_own_cpu_ns(sys_real()) / 1e6;
}

__attribute__((format(printf, 3, 4))) static void blame(struct check *check, uint64_t at,
							const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: %#" PRIx64 ": ", check->survey->name, at);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	check->broken = true;
}

static bool has_site(const struct code_plan *plan, uint64_t address)
{
	for (uint32_t i = 0; i < plan->n_sites; i++)
		if (plan->sites[i].exit == address && plan->sites[i].kind != CODE_SITE_ENTRY)
			return true;
	return false;
}

static bool is_own(const struct code_range *ranges, size_t n, uint64_t address)
{
	for (size_t i = 0; i < n; i++)
		if (address >= ranges[i].start && address < ranges[i].end)
			return true;
	return false;
}

static bool insn_leaves(const struct code_module *module, const struct code_insn *insn,
			const struct code_range *ranges, size_t n)
{
	return insn->flow == CODE_RETURN ||
	       ((insn->flow == CODE_JUMP || insn->flow == CODE_BRANCH) &&
		!is_own(ranges, n, insn->target)) ||
	       (insn->flow == CODE_JUMP_INDIRECT &&
		code_module_indirect(module, insn->address) != CODE_INDIRECT_TABLE);
}

/* Decodes the function anew: returns and jumps out of it must be sites. */
static void exits_check(struct check *check)
{
	struct code_range ranges[CODE_FUNCTION_MAX_PARTS];
	const struct code_module *module = check->module;
	const size_t n =
		code_module_ranges(module, check->plan->function, ranges, CODE_FUNCTION_MAX_PARTS);

	for (size_t i = 0; i < n; i++) {
		uint64_t at = ranges[i].start;

		while (at < ranges[i].end) {
			const uint8_t *bytes = code_module_bytes(module, at, ranges[i].end - at);
			struct code_insn insn;

			if (!bytes || !code_insn_decode(code_module_machine(module), bytes,
							ranges[i].end - at, at, &insn)) {
				blame(check, at, "does not decode");
				return;
			}
			if (insn_leaves(module, &insn, ranges, n) && !has_site(check->plan, at))
				blame(check, at, "a way out without a site");
			at += insn.length;
		}
	}
}

/* Whether control can leave the function at all. What does not decode may. */
static bool leaves(const struct code_module *module, uint32_t function)
{
	struct code_range ranges[CODE_FUNCTION_MAX_PARTS];
	const size_t n = code_module_ranges(module, function, ranges, CODE_FUNCTION_MAX_PARTS);

	for (size_t i = 0; i < n; i++) {
		uint64_t at = ranges[i].start;

		while (at < ranges[i].end) {
			const uint8_t *bytes = code_module_bytes(module, at, ranges[i].end - at);
			struct code_insn insn;

			if (!bytes ||
			    !code_insn_decode(code_module_machine(module), bytes,
					      ranges[i].end - at, at, &insn) ||
			    insn_leaves(module, &insn, ranges, n))
				return true;
			at += insn.length;
		}
	}
	return false;
}

static bool is_padding(const struct code_module *module, uint64_t start, uint64_t end)
{
	for (uint64_t at = start; at < end; at++)
		if (code_module_is_target(module, at))
			return false;
	return true;
}

/* One write: inside what the patch moves, or over bytes that nothing runs through. */
static void write_check(struct check *check, const struct code_patch *patch,
			const struct code_write *write)
{
	const struct code_module *module = check->module;
	struct code_text *text = code_text_at(module, write->address);
	const uint64_t end = write->address + write->length;

	if (!text || end > text->end) {
		blame(check, write->address, "written outside of code");
		return;
	}
	for (uint64_t at = write->address; at < end; at++) {
		uint64_t *word =
			&check->survey->written[text - module->texts][(at - text->start) / 64];
		const uint64_t bit = UINT64_C(1) << (at - text->start) % 64;

		if (*word & bit)
			blame(check, at, "two patches write here");
		*word |= bit;
	}
	if (patch->form == CODE_PATCH_RETARGET || patch->form == CODE_PATCH_RETARGET_ISLAND)
		return;
	if (!patch->body && !is_padding(module, write->address + 1, end))
		blame(check, write->address, "something leads into what is written");
}

static bool hook_append(void *state, const struct code_plan *plan, const struct code_site *site,
			struct code_buffer *buffer)
{
	static const uint8_t nops[8] = { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 };

	(void)state;
	(void)plan;
	(void)site;
	code_buffer_append(buffer, nops, sizeof(nops));
	return true;
}

/* Every moved instruction must be one that nothing leads to, but the first. */
static void moved_check(struct check *check, const struct code_patch *patch)
{
	if (!patch->body && patch->moved.end > patch->moved.start &&
	    !is_padding(check->module, patch->moved.start + 1, patch->moved.end))
		blame(check, patch->start, "something leads into what is moved");
	if (patch->island && !is_padding(check->module, patch->island, patch->island + 5))
		blame(check, patch->island, "something leads to an island");
}

static void patch_check(struct check *check, const struct code_patch *patch)
{
	const struct code_hook hook = { NULL, hook_append };
	struct code_origin origins[MAX_ORIGINS];
	struct code_write writes[CODE_PATCH_MAX_WRITES];
	struct code_buffer buffer = { .bytes = check->trampoline,
				      .capacity = TRAMPOLINE_BYTES,
				      .address = (patch->start & ~UINT64_C(0xfff)) + 0x4000000 };
	size_t n_origins, n;

	if (!(patch->loop && patch->form == CODE_PATCH_RETARGET) &&
	    code_patch_emit(check->plan, patch, buffer.address, &hook, &buffer, origins,
			    MAX_ORIGINS, &n_origins) != CODE_EMITTED)
		blame(check, patch->start, "cannot be emitted");
	n = code_patch_writes(check->plan, patch, buffer.address, writes);
	if (!n)
		blame(check, patch->start, "cannot be written");
	for (size_t i = 0; i < n; i++)
		write_check(check, patch, &writes[i]);
	moved_check(check, patch);
}

static void plan_check(struct survey *survey, const struct code_plan *plan, uint8_t *trampoline)
{
	struct check check = { survey, plan->module, plan, trampoline, false };
	unsigned int entries = 0;

	for (uint32_t i = 0; i < plan->n_sites; i++)
		entries += plan->sites[i].kind == CODE_SITE_ENTRY;
	if (entries != 1)
		blame(&check, plan->patches[0].start, "%u entries", entries);
	exits_check(&check);
	for (uint32_t i = 0; i < plan->n_patches; i++)
		patch_check(&check, &plan->patches[i]);
	survey->broken += check.broken;
}

static void plan_count(struct survey *survey, const struct code_plan *plan)
{
	survey->exits += plan->n_exits;
	survey->patches += plan->n_patches;
	for (uint32_t i = 0; i < plan->n_patches; i++) {
		survey->bodies += plan->patches[i].body;
		survey->islands += plan->patches[i].island != 0;
	}
}

static bool is_counted(enum code_refusal refusal)
{
	return refusal != CODE_STUB && refusal != CODE_PART && refusal != CODE_NOT_A_START;
}

static bool written_make(struct survey *survey, const struct code_module *module)
{
	for (size_t i = 0; i < module->n_texts; i++) {
		const uint64_t size = module->texts[i].end - module->texts[i].start;

		survey->written[i] = calloc(size / 64 + 1, sizeof(uint64_t));
		if (!survey->written[i])
			return false;
	}
	return true;
}

static void function_survey(struct survey *survey, const struct code_module *module, uint32_t i,
			    const char *list, uint8_t *trampoline)
{
	const struct code_plan_options options = { .faults_matter = survey->faults };
	const struct code_function *function = &module->functions[i];
	const char *symbol = function->symbol ? function->symbol : "-";
	struct code_plan plan;
	const enum code_refusal refusal = code_plan_make(&plan, module, i, &options);

	if (list && !strcmp(list, "all") && is_counted(refusal))
		printf("%#" PRIx64 " %s %s\n", function->range.start, code_refusal_name(refusal),
		       symbol);
	if (list && !strcmp(list, code_refusal_name(refusal)))
		printf("%#" PRIx64 " %#" PRIx64 " %s\n", function->range.start, plan.refused_at,
		       symbol);
	if (!is_counted(refusal) || (refusal != CODE_PLANNED && leaves(module, i))) {
		survey->n[refusal]++;
		survey->functions += is_counted(refusal);
	}
	if (refusal != CODE_PLANNED)
		return;
	survey->n[refusal] += plan.n_exits != 0;
	survey->functions += plan.n_exits != 0;
	plan_count(survey, &plan);
	if (trampoline)
		plan_check(survey, &plan, trampoline);
	code_plan_release(&plan);
}

static bool survey_make(struct survey *survey, const char *path, const char *list, bool checks)
{
	uint8_t *trampoline = checks ? malloc(TRAMPOLINE_BYTES) : NULL;
	struct code_module *module;
	const double start = now_ms();
	struct error error;

	survey->name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	if ((checks && !trampoline) ||
	    code_module_open(&module, sys_real(), path, NULL, &error) != STATUS_OK) {
		fprintf(stderr, "%s\n", checks && !trampoline ? "no memory" : error.text);
		free(trampoline);
		return false;
	}
	survey->open_ms = now_ms() - start;
	if (checks && !written_make(survey, module))
		return false;
	for (size_t i = 0; i < module->n_functions; i++)
		function_survey(survey, module, (uint32_t)i, list, trampoline);
	survey->plan_ms = now_ms() - start - survey->open_ms;
	for (size_t i = 0; i < module->n_texts; i++)
		free(survey->written[i]);
	code_module_close(module);
	free(trampoline);
	return true;
}

static double percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double)part / (double)of : 0;
}

static void survey_print(const struct survey *s)
{
	printf("%s%s: %" PRIu64 " functions, %.2f %% planned; %" PRIu64 " exits, %" PRIu64
	       " patches, %" PRIu64 " bodies, %" PRIu64 " islands; analysis %.0f ms, plans %.0f ms "
	       "of CPU time\n",
	       s->name, s->faults ? " (faults matter)" : "", s->functions,
	       percent(s->n[CODE_PLANNED], s->functions), s->exits, s->patches, s->bodies,
	       s->islands, s->open_ms, s->plan_ms);
	for (int i = 1; i < CODE_N_REFUSALS; i++)
		if (s->n[i])
			printf("  %-18s %" PRIu64 "\n", code_refusal_name((enum code_refusal)i),
			       s->n[i]);
}

static void markdown_row(const struct survey *surveys, int n, enum code_refusal refusal)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += surveys[i].n[refusal];
	if (!sum || !is_counted(refusal))
		return;
	printf("| `%s` |", code_refusal_name(refusal));
	for (int i = 0; i < n; i++)
		printf(" %" PRIu64 " |", surveys[i].n[refusal]);
	printf(" %s |\n", code_refusal_text(refusal));
}

static void markdown_print(const struct survey *surveys, int n)
{
	printf("| |");
	for (int i = 0; i < n; i++)
		printf(" %s%s |", surveys[i].name, surveys[i].faults ? " (handles faults)" : "");
	printf(" why |\n|---|");
	for (int i = 0; i < n; i++)
		printf("---|");
	printf("---|\n| functions |");
	for (int i = 0; i < n; i++)
		printf(" %" PRIu64 " |", surveys[i].functions);
	printf(" with an exit; without stubs and parts |\n| **planned** |");
	for (int i = 0; i < n; i++)
		printf(" **%.1f %%** |", percent(surveys[i].n[CODE_PLANNED], surveys[i].functions));
	printf(" |\n");
	for (int i = 1; i < CODE_N_REFUSALS; i++)
		markdown_row(surveys, n, (enum code_refusal)i);
}

int main(int argc, char **argv)
{
	static struct survey surveys[MAX_FILES];
	const char *list = NULL;
	bool checks = false, markdown = false;
	uint64_t broken = 0;
	int n = 0, first = 1;

	if (argc > 1 && !strcmp(argv[1], "--check"))
		checks = true;
	else if (argc > 1 && !strcmp(argv[1], "--markdown"))
		markdown = true;
	else if (argc > 2 && !strcmp(argv[1], "--list"))
		list = argv[2];
	first += checks || markdown ? 1 : list ? 2 : 0;
	if (first >= argc) {
		fprintf(stderr, "usage: code_survey [--check|--markdown|--list REASON] [--faults] "
				"FILE...\n");
		return 2;
	}
	for (int i = first; i < argc; i++) {
		if (!strcmp(argv[i], "--faults")) {
			surveys[n].faults = true;
			continue;
		}
		if (n == MAX_FILES || !survey_make(&surveys[n], argv[i], list, checks))
			return 1;
		broken += surveys[n].broken;
		if (!list && !markdown)
			survey_print(&surveys[n]);
		n++;
	}
	if (markdown)
		markdown_print(surveys, n);
	if (checks)
		printf("%" PRIu64 " plans break a rule\n", broken);
	return broken != 0;
}
