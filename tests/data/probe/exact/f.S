/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions whose instructions are known; what the instruction that leaves adds is its caller's. */
#ifdef __aarch64__
	.text
	.macro	function name
	.p2align 4
	.globl	\name
	.type	\name, %function
\name:
	.endm

function e_loop				// (n): 1 + 4n
	mov	x1, x0
1:	nop
	nop
	subs	x1, x1, #1
	b.ne	1b
	ret
	.size	e_loop, . - e_loop

function e_nest				// (n): 8, and twice e_loop with its ret
	stp	x29, x30, [sp, #-32]!
	str	x19, [sp, #16]
	mov	x19, x0
	bl	e_loop
	mov	x0, x19
	bl	e_loop
	ldr	x19, [sp, #16]
	ldp	x29, x30, [sp], #32
	ret
	.size	e_nest, . - e_nest

function e_rec				// (n): 2 + 8n, itself n deep
	mov	x1, #0
	cbz	x0, 1f
	stp	x29, x30, [sp, #-16]!
	sub	x0, x0, #1
	bl	e_rec
	ldp	x29, x30, [sp], #16
	add	x0, x0, #1
	ret
1:	ret
	.size	e_rec, . - e_rec

function e_tail				// (n): 2, then e_loop(n + 1)
	mov	x2, #1
	add	x0, x0, x2
	b	e_loop
	.size	e_tail, . - e_tail

function e_top				// (n): 12 + 4n
	stp	x29, x30, [sp, #-16]!
	bl	e_tail
	ldp	x29, x30, [sp], #16
	ret
	.size	e_top, . - e_top

function e_one				// 0
	ret
	.size	e_one, . - e_one

function e_ones				// 4: e_one's ret, too
	stp	x29, x30, [sp, #-16]!
	bl	e_one
	ldp	x29, x30, [sp], #16
	ret
	.size	e_ones, . - e_ones

function e_when				// (n): 1 when n is 0, else 2
	cbz	x0, 1f
	sub	x0, x0, #1
1:	ret
	.size	e_when, . - e_when
	.section .note.GNU-stack, "", %progbits
#else
	.section .note.GNU-stack, "", @progbits
#endif
