/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/skid.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/decode.h"

#define PIECE_BYTES_MAX  (64u * 1024) /* of one function's code */
#define INSTRUCTIONS_MAX (32u * 1024)

/* One sampled address of a function that is looked at. */
struct site {
	uint32_t function;
	struct module *module;
	const struct function *piece; /* the function or a part of it, in its module */
	uint64_t address;             /* ELF */
	uint64_t samples;
	uint32_t stack; /* one that ends here */
};

struct sites {
	struct site *items;
	size_t n, capacity;
};

struct examination {
	struct skid *skid;
	struct profile *profile;
	const struct table *table;
	const struct matrix *matrix;
	struct sites sites;
	struct instruction *instructions; /* scratch */
	struct profile_frames frames;
};

void skid_release(struct skid *skid)
{
	free(skid->functions);
	memset(skid, 0, sizeof(*skid));
}

static enum status no_memory(struct error *error)
{
	return error_set(error, STATUS_NO_MEMORY, "not enough memory to decode functions");
}

/* Samples of a stack that enter the estimates. */
static uint64_t stack_samples(const struct profile *profile, const struct stack *stack)
{
	const uint32_t columns = profile_columns(profile);
	uint64_t samples = 0;

	for (uint32_t at = stack->counts; at != STACKS_END; at = profile->stacks.counts[at].next)
		if (profile->stacks.counts[at].cell % columns < profile->clocks.n_clocks)
			samples += profile->stacks.counts[at].count;
	return samples;
}

static bool function_is_examined(const struct matrix *matrix, uint32_t function)
{
	return function + 1 < matrix->n && function < SKID_FUNCTIONS_MAX &&
	       matrix->functions[function].samples >= SKID_SAMPLES_MIN;
}

static enum place_mode stack_mode(const struct stack *stack)
{
	return stack->cpumode == PERF_RECORD_MISC_USER ? PLACE_USER : PLACE_KERNEL;
}

static enum status site_add(struct examination *x, uint32_t index, struct error *error)
{
	const struct stack *stack = &x->profile->stacks.items[index];
	struct site site = { .stack = index, .samples = stack_samples(x->profile, stack) };
	const struct place *place;
	struct elf_vaddr vaddr;
	uint32_t number;
	enum status status;

	if (!site.samples || stack->cpumode != PERF_RECORD_MISC_USER)
		return STATUS_OK;
	status = matrix_function_at(x->matrix, x->profile, x->table, stack->generation,
				    stack->cpumode, stack->ip, &site.function, error);
	if (status != STATUS_OK || !function_is_examined(x->matrix, site.function))
		return status;
	status = places_at(&x->profile->places, stack->generation, stack_mode(stack),
			   (struct runtime_address){ stack->ip }, false, &number, error);
	if (status != STATUS_OK)
		return status;
	place = &x->profile->places.items[number];
	if (!place->module || !module_vaddr(place->module, place->offset, &vaddr))
		return STATUS_OK;
	site.module = place->module;
	site.address = vaddr.value;
	site.piece = module_function_at(place->module, vaddr);
	if (!site.piece)
		return STATUS_OK;
	if (!array_reserve(&x->sites.items, &x->sites.capacity, x->sites.n + 1))
		return no_memory(error);
	x->sites.items[x->sites.n++] = site;
	return STATUS_OK;
}

static int site_compare(const void *left, const void *right)
{
	const struct site *a = left, *b = right;

	if (a->function != b->function)
		return a->function > b->function ? 1 : -1;
	if (a->piece != b->piece)
		return a->piece->start.value != b->piece->start.value
			       ? (a->piece->start.value > b->piece->start.value ? 1 : -1)
			       : ((uintptr_t)a->piece > (uintptr_t)b->piece ? 1 : -1);
	if (a->address != b->address)
		return a->address > b->address ? 1 : -1;
	return (a->stack > b->stack) - (a->stack < b->stack);
}

/* ---- one piece of one function ---- */

/* The function called from the place from which most of these samples came: the second frame. */
static const char *caller_of(struct examination *x, uint32_t stack_index)
{
	const struct stack *stack = &x->profile->stacks.items[stack_index];
	const struct function *function;
	const struct place *place;
	struct elf_vaddr vaddr;

	if (profile_frames(x->profile, stack, &x->frames, NULL) != STATUS_OK || x->frames.n < 2)
		return NULL;
	place = &x->profile->places.items[x->frames.places[1]];
	if (!place->module || !module_vaddr(place->module, place->offset, &vaddr))
		return NULL;
	if (place->return_address)
		vaddr.value--;
	function = module_function_at(place->module, vaddr);
	return function ? module_function_parent(place->module, function)->name : NULL;
}

/* The decoded piece, as flags of each instruction's successor. */
struct piece {
	struct skid_function *result;
	const struct site *sites;
	size_t n_sites;
	const struct instruction *instructions;
	size_t n_instructions;
};

/* Samples at an address, which only ascends from call to call; *stack gets the stack with most of them. */
static uint64_t samples_at(struct piece *piece, uint64_t address, uint32_t *stack)
{
	uint64_t samples = 0, most = 0;

	for (; piece->n_sites && piece->sites->address <= address;
	     piece->sites++, piece->n_sites--) {
		if (piece->sites->address != address)
			continue; /* inside an instruction: not of this code */
		samples += piece->sites->samples;
		if (piece->sites->samples > most) {
			most = piece->sites->samples;
			*stack = piece->sites->stack;
		}
	}
	return samples;
}

static void callee_note(struct skid_function *result, struct module *module,
			const struct instruction *call, uint64_t samples)
{
	const struct function *callee;

	if (samples <= result->callee_samples)
		return;
	result->callee_samples = samples;
	callee = call->target ? module_function_at(module, (struct elf_vaddr){ call->target })
			      : NULL;
	result->callee = callee ? callee->name : NULL;
}

static void piece_examine(struct examination *x, struct piece *piece, struct module *module,
			  bool is_function_start)
{
	struct skid_function *result = piece->result;
	uint32_t stack = 0;

	result->n_instructions += piece->n_instructions;
	for (size_t i = 0; i < piece->n_instructions; i++) {
		const struct instruction *at = &piece->instructions[i];
		const struct instruction *before = i ? &piece->instructions[i - 1] : NULL;
		uint64_t samples;

		result->loops |= (at->kinds & (DECODE_JUMP | DECODE_BRANCH)) && at->target &&
				 at->target <= at->address &&
				 at->target >= piece->instructions[0].address;
		result->n_after_call += before && (before->kinds & DECODE_CALL);
		samples = samples_at(piece, at->address, &stack);
		if (!samples)
			continue;
		if (!i && is_function_start) {
			result->entry += samples;
			result->caller = caller_of(x, stack);
		} else if (before && before->kinds & DECODE_CALL) {
			result->after_call += samples;
			callee_note(result, module, before, samples);
		} else if (before && before->kinds & DECODE_SLOW) {
			result->after_slow += samples;
			if (samples > result->slow_samples) {
				result->slow_samples = samples;
				result->slow = before->slow;
				result->slow_address = at->address;
			}
		}
	}
}

/* `n` sites of one piece. */
static void piece_decode(struct examination *x, struct skid_function *result,
			 const struct site *sites, size_t n)
{
	const struct function *piece = sites[0].piece;
	const uint64_t size = piece->end.value - piece->start.value;
	struct piece decoded = { .result = result, .sites = sites, .n_sites = n };
	const uint8_t *code;
	uint16_t machine;

	if (piece->end.value <= piece->start.value || size > PIECE_BYTES_MAX)
		return;
	code = module_code(sites[0].module, piece->start, size, &machine);
	if (!code)
		return;
	decoded.instructions = x->instructions;
	decoded.n_instructions =
		decode(machine, code, size, piece->start.value, x->instructions, INSTRUCTIONS_MAX);
	if (!decoded.n_instructions)
		return;
	for (size_t i = 0; i < n; i++)
		result->samples += sites[i].samples;
	piece_examine(x, &decoded, sites[0].module,
		      module_function_parent(sites[0].module, piece) == piece);
}

/* ---- the whole ---- */

static enum status functions_examine(struct examination *x, struct error *error)
{
	const struct sites *sites = &x->sites;
	size_t capacity = 0;

	for (size_t from = 0, to; from < sites->n; from = to) {
		struct skid_function result = { .function = sites->items[from].function };

		for (to = from; to < sites->n && sites->items[to].function == result.function;) {
			const size_t piece = to;

			while (to < sites->n && sites->items[to].function == result.function &&
			       sites->items[to].piece == sites->items[piece].piece)
				to++;
			piece_decode(x, &result, &sites->items[piece], to - piece);
		}
		if (!result.n_instructions)
			continue;
		result.entry_expected = (double)result.samples / (double)result.n_instructions;
		result.call_expected = result.entry_expected * (double)result.n_after_call;
		if (!array_reserve(&x->skid->functions, &capacity, x->skid->n + 1))
			return no_memory(error);
		x->skid->functions[x->skid->n++] = result;
	}
	return STATUS_OK;
}

/* ":pp" and the like at the end of what was typed. */
static int precise_asked(const char *text)
{
	const char *modifiers = text ? strrchr(text, ':') : NULL;
	int level = 0;

	if (!modifiers || strchr(modifiers, '/'))
		return text ? 0 : -1;
	for (; *modifiers; modifiers++) {
		if (*modifiers == 'P')
			return 3;
		level += *modifiers == 'p';
	}
	return level;
}

static void precision_read(struct skid *skid, const struct profile *profile)
{
	const struct bundle *bundle = profile->bundle;
	size_t n;
	const struct perfdata_event *events = perfdata_reader_events(bundle->reader, &n);

	skid->precise = skid->asked = -1;
	/* a tracepoint and the like stands where it stands */
	if (profile->event >= n || profile_is_exact(profile))
		return;
	skid->precise = (int)events[profile->event].attr.precise_ip;
	if (bundle->has_manifest && profile->event < bundle->manifest.n_events) {
		const struct manifest_event *event = &bundle->manifest.events[profile->event];

		skid->precise = event->precise_ip;
		/* another event without a reason why is the default: nobody asked for it */
		if (event->asked &&
		    (event->why || (event->granted && !strcmp(event->asked, event->granted))))
			skid->asked = precise_asked(event->asked);
	} else if (events[profile->event].attr.type == PERF_TYPE_SOFTWARE) {
		/* The kernel does not look at precise_ip there; perf asks for cpu-clock:ppp by itself. */
		skid->precise = 0;
	} else {
		skid->asked = precise_asked(events[profile->event].name);
	}
}

enum status skid_examine(struct skid *skid, struct profile *profile, const struct table *table,
			 const struct matrix *matrix, struct error *error)
{
	struct examination x = {
		.skid = skid, .profile = profile, .table = table, .matrix = matrix
	};
	enum status status = STATUS_OK;

	memset(skid, 0, sizeof(*skid));
	precision_read(skid, profile);
	x.instructions = calloc(INSTRUCTIONS_MAX, sizeof(*x.instructions));
	if (!x.instructions)
		status = no_memory(error);
	for (uint32_t i = 0; i < profile->stacks.n && status == STATUS_OK; i++)
		status = site_add(&x, i, error);
	if (status == STATUS_OK && x.sites.n) {
		qsort(x.sites.items, x.sites.n, sizeof(*x.sites.items), site_compare);
		status = functions_examine(&x, error);
	}
	free(x.instructions);
	free(x.sites.items);
	profile_frames_release(&x.frames);
	if (status != STATUS_OK)
		skid_release(skid);
	return status;
}
