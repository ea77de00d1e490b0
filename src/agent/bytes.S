/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agent's linked code as bytes of assay (cmake/agent.cmake). */
	.section .rodata, "a"
	.globl	agent_code_start, agent_code_bytes
	.p2align 6
agent_code_start:
	.incbin	"agent.bin"
1:	.p2align 3
agent_code_bytes:
	.quad	1b - agent_code_start
	.section .note.GNU-stack, "", %progbits
