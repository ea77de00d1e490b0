/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every instruction of the module once: where they begin, where direct jumps and calls lead, which
 * addresses code computes.
 *
 * The sweep is linear, anew from each function's start and end. Code between functions is read, too:
 * what it seems to jump to is a target, which costs at most a patch. Nothing is concluded from the absence of
 * an instruction that data in the text could have hidden: such a function does not decode, and is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "code/module_state.h"

#define PAGE_LIFE 32u /* instructions between an adrp and the add that completes it */

struct sweep {
	struct code_module *module;
	struct code_text *text;
	uint16_t machine;
	uint32_t function; /* whose code is read, or CODE_NO_FUNCTION */
	uint64_t start, end;
	/* AArch64: the page that each register holds, and since when */
	uint64_t page[32];
	uint64_t page_at[32];
};

static void data_ref_add(struct sweep *sweep, uint64_t source, uint64_t target)
{
	struct code_module *module = sweep->module;

	if (!array_reserve(&module->data_refs, &module->data_refs_capacity,
			   module->n_data_refs + 1))
		module->no_memory = true;
	else
		module->data_refs[module->n_data_refs++] = (struct code_data_ref){ source, target };
}

/* Code holds the address in a register. */
static void address_seen(struct sweep *sweep, uint64_t source, uint64_t address)
{
	if (address > sweep->start && address < sweep->end && sweep->function != CODE_NO_FUNCTION)
		sweep->module->functions[sweep->function].names_inside = true;
	if (code_text_at(sweep->module, address))
		code_module_take(sweep->module, address);
	else if (elf_file_segment_at(&sweep->module->file, address, false))
		data_ref_add(sweep, source, address);
}

/* adrp xd, page; ... add xd, xn, #low */
static void page_follow(struct sweep *sweep, const struct code_insn *insn, const uint8_t *bytes)
{
	const uint32_t w = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
			   (uint32_t)bytes[3] << 24;
	const uint32_t from = w >> 5 & 31;

	if ((w & 0x9f000000) == 0x90000000) {
		sweep->page[w & 31] = insn->operand;
		sweep->page_at[w & 31] = insn->address;
	} else if ((w & 0xffc00000) == 0x91000000 && sweep->page_at[from] &&
		   insn->address - sweep->page_at[from] <= PAGE_LIFE * 4) {
		address_seen(sweep, insn->address, sweep->page[from] + (w >> 10 & 0xfff));
	} else if ((w & 0x9f000000) == 0x10000000) {
		address_seen(sweep, insn->address, insn->operand);
	}
}

static void transfer_seen(struct sweep *sweep, const struct code_insn *insn)
{
	struct code_text *text = sweep->text;
	const bool outside = insn->target < sweep->start || insn->target >= sweep->end;

	if (insn->target < text->start || insn->target >= text->end)
		text = code_text_at(sweep->module, insn->target);
	if (!text)
		return;
	code_text_set(text, CODE_MARK_DIRECT, insn->target);
	if (insn->flow == CODE_CALL)
		code_text_set(text, CODE_MARK_CALLED, insn->target);
	else if (outside)
		code_module_add_edge(sweep->module, (struct code_edge){ insn->target, insn->address,
									sweep->function });
}

static void indirect_seen(struct sweep *sweep, const struct code_insn *insn)
{
	struct code_module *module = sweep->module;

	if (!array_reserve(&module->indirects, &module->indirects_capacity,
			   module->n_indirects + 1))
		module->no_memory = true;
	else
		module->indirects[module->n_indirects++] =
			(struct code_indirect){ insn->address, sweep->function,
						CODE_INDIRECT_OPEN };
}

static void insn_seen(struct sweep *sweep, const struct code_insn *insn, const uint8_t *bytes)
{
	code_text_set(sweep->text, CODE_MARK_BOUNDARY, insn->address);
	switch (insn->flow) {
	case CODE_JUMP:
	case CODE_BRANCH:
	case CODE_CALL: transfer_seen(sweep, insn); break;
	case CODE_JUMP_INDIRECT: indirect_seen(sweep, insn); break;
	default: break;
	}
	/* a return address is a target, but not of the next function when the call was the last word */
	if ((insn->flow == CODE_CALL || insn->flow == CODE_CALL_INDIRECT) &&
	    code_insn_end(insn) < sweep->end)
		code_text_set(sweep->text, CODE_MARK_HARD, code_insn_end(insn));
	if (insn->flags & CODE_LANDING) {
		code_text_set(sweep->text, CODE_MARK_HARD, insn->address);
		code_text_set(sweep->text, CODE_MARK_TAKEN, insn->address);
	}
	if (sweep->machine == EM_AARCH64)
		page_follow(sweep, insn, bytes);
	else if ((insn->flags & (CODE_PC_RELATIVE | CODE_LOADS)) == CODE_PC_RELATIVE)
		address_seen(sweep, insn->address, insn->operand);
	if (insn->constant && sweep->module->fixed)
		address_seen(sweep, insn->address, insn->constant);
}

/* From `start` to `end`; false when something there is no instruction. */
static bool stretch_sweep(struct sweep *sweep, uint64_t start, uint64_t end)
{
	const struct code_text *text = sweep->text;
	const unsigned int step = sweep->machine == EM_AARCH64 ? 4 : 1;
	uint64_t at = start;
	bool good = true;

	memset(sweep->page_at, 0, sizeof(sweep->page_at));
	while (at < end && !sweep->module->no_memory) {
		const uint8_t *bytes = text->bytes + (at - text->start);
		struct code_insn insn;

		if (!code_insn_decode(sweep->machine, bytes, end - at, at, &insn)) {
			good = false;
			at += step;
			continue;
		}
		insn_seen(sweep, &insn, bytes);
		at += insn.length;
	}
	return good;
}

/* A module's spans are its functions and what lies between. */
static void text_sweep(struct sweep *sweep)
{
	const struct interval_map *map = &sweep->module->map;
	uint64_t at = sweep->text->start;
	size_t span = 0;

	while (span < map->n_spans && map->spans[span].start <= at)
		span++;
	while (at < sweep->text->end) {
		const uint64_t next = span < map->n_spans ? map->spans[span].start : UINT64_MAX;
		const uint64_t end = next < sweep->text->end ? next : sweep->text->end;
		const uint32_t owner = span ? map->spans[span - 1].value : INTERVAL_NONE;

		sweep->function = owner == INTERVAL_NONE ? CODE_NO_FUNCTION : owner;
		sweep->start = at;
		sweep->end = end;
		if (!stretch_sweep(sweep, at, end) && sweep->function != CODE_NO_FUNCTION &&
		    !sweep->module->functions[sweep->function].refusal)
			sweep->module->functions[sweep->function].refusal = CODE_UNDECODABLE;
		at = end;
		span++;
	}
}

void code_sweep(struct code_module *module)
{
	struct sweep sweep = { .module = module, .machine = module->file.machine };

	for (size_t i = 0; i < module->n_texts && !module->no_memory; i++) {
		sweep.text = &module->texts[i];
		text_sweep(&sweep);
	}
}
