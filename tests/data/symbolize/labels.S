/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hand-written code with the habits of hand-written code: no .size, labels inside functions, an entry
 * inside another function, code that no symbol and no FDE covers. Each nop is one unit of length, of
 * one byte on x86-64 and four on AArch64, so that the tests can name every address.
 */
	.text
	.balign 64

/* size 0, in an FDE of 8 units */
	.globl unsized_in_fde
	.type unsized_in_fde, %function
unsized_in_fde:
	.cfi_startproc
	.rept 8
	nop
	.endr
	.cfi_endproc

/* 8 units that nothing covers */
	.rept 8
	nop
	.endr

/* size 0 without FDE: ends where the next symbol starts */
	.globl unsized_bare
	.type unsized_bare, %function
unsized_bare:
#ifdef __aarch64__
	/* data in the middle: the assembler marks it with $d and the code after it with $x */
	.rept 3
	nop
	.endr
	.word 0
	.rept 4
	nop
	.endr
#else
	.rept 8
	nop
	.endr
#endif

/* 16 units; an inner function from 4 to 8, a local label at 10 */
	.globl outer
	.type outer, %function
outer:
	.cfi_startproc
	.rept 4
	nop
	.endr
	.globl inner
	.type inner, %function
inner:
	.rept 4
	nop
	.endr
	.size inner, . - inner
	.rept 2
	nop
	.endr
local_label:
	.rept 6
	nop
	.endr
	.cfi_endproc
	.size outer, . - outer

/* its .size is too short: 2 of 8 units; the FDE has them all */
	.globl short_size
	.type short_size, %function
short_size:
	.cfi_startproc
	nop
	nop
	.size short_size, . - short_size
	.rept 6
	nop
	.endr
	.cfi_endproc

/* an FDE of 8 units without any symbol */
	.cfi_startproc
	.rept 8
	nop
	.endr
	.cfi_endproc

/* three names of one function */
	.globl __alias_long
	.type __alias_long, %function
	.globl alias_b
	.type alias_b, %function
	.type alias_local, %function
__alias_long:
alias_b:
alias_local:
	.cfi_startproc
	.rept 8
	nop
	.endr
	.cfi_endproc
	.size __alias_long, . - __alias_long
	.size alias_b, . - alias_b
	.size alias_local, . - alias_local

	.globl labels_end
	.type labels_end, %function
labels_end:
	nop
	.size labels_end, . - labels_end

	.section .note.GNU-stack, "", %progbits
