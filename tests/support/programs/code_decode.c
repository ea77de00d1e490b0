/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decodes the functions of an ELF file and prints one line per instruction, to be compared with another
 * disassembler:
 *
 *	address length flow target	flow: next jump branch call icall ret ijump stop odd; target 0: none
 */
#include <inttypes.h>
#include <stdio.h>

#include "code/module.h"

static void range_print(const struct code_module *module, const struct code_range *range)
{
	static const char *const flows[] = { "next", "jump",  "branch", "call", "icall",
					     "ret",  "ijump", "stop",   "odd" };
	uint64_t at = range->start;

	while (at < range->end) {
		const uint8_t *bytes = code_module_bytes(module, at, range->end - at);
		struct code_insn insn;

		if (!bytes || !code_insn_decode(code_module_machine(module), bytes, range->end - at,
						at, &insn)) {
			printf("%" PRIx64 " 0 bad 0\n", at);
			return;
		}
		printf("%" PRIx64 " %u %s %" PRIx64 "\n", at, insn.length, flows[insn.flow],
		       insn.target);
		at += insn.length;
	}
}

int main(int argc, char **argv)
{
	const struct code_function *functions;
	struct code_module *module;
	struct error error;
	size_t n;

	if (argc != 2) {
		fprintf(stderr, "usage: code_decode FILE\n");
		return 2;
	}
	if (code_module_open(&module, sys_real(), argv[1], NULL, &error) != STATUS_OK) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	functions = code_module_functions(module, &n);
	for (size_t i = 0; i < n; i++)
		if (code_module_function_at(module, functions[i].range.start) == i)
			range_print(module, &functions[i].range);
	code_module_close(module);
	return 0;
}
