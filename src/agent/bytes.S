/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agent's linked code as bytes of assay (cmake/agent.cmake). */
	.section .rodata, "a"
	.globl	agent_code_start, agent_code_end
	.p2align 6
agent_code_start:
	.incbin	"agent.bin"
agent_code_end:
	.section .note.GNU-stack, "", %progbits
