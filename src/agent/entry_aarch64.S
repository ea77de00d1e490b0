/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where stubs enter the agent on AArch64, and the table of these places. Comes first in the agent's code.
 *
 * A stub has moved the stack pointer down, saved x16, x17 and x30, put the function's number in w16, and calls
 * by bl. Everything but x16 and x30 comes back as it was: x0-x7, x17 and the flags by the frame below, x8-x15 and
 * x19-x28 by the handlers, which are compiled to save what they use of them (cmake/agent.cmake) and to leave x18
 * and the vector registers alone.
 *
 *	sp ->	x0 .. x7, x17, x30 (return to the stub), flags, x16	96 bytes
 *		the stub's frame					160, in line 176
 *		[target's stack]
 */
	.section .entry, "ax", %progbits
	.globl	agent_entries
agent_entries:
	.word	thunk_enter - agent_entries
	.word	thunk_leave - agent_entries
	.word	thunk_claim - agent_entries
	.word	thunk_sample - agent_entries
	.word	thunk_leave_inline - agent_entries
	.word	agent_end - agent_entries
	.word	thunk_full_enter - agent_entries
	.word	thunk_full_leave - agent_entries
	.word	thunk_full_sample - agent_entries
	.word	thunk_full_leave_inline - agent_entries
	.word	thunk_state_enter - agent_entries
	.word	thunk_state_leave - agent_entries
	.word	thunk_begin - agent_entries
	.word	thunk_end - agent_entries
	.word	thunk_full_begin - agent_entries
	.word	thunk_full_end - agent_entries

	.set	saved, 96 + 160
	.set	saved_inline, 96 + 176
	.set	shared_page, 0x1000
	.set	slots, 0x2000 / 8

	.macro	save
	stp	x0, x1, [sp, #-96]!
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x17, x30, [sp, #64]
	mrs	x0, nzcv
	stp	x0, x16, [sp, #80]
	.endm

	.macro	restore
	ldr	x0, [sp, #80]
	msr	nzcv, x0
	ldp	x17, x30, [sp, #64]
	ldp	x6, x7, [sp, #48]
	ldp	x4, x5, [sp, #32]
	ldp	x2, x3, [sp, #16]
	ldp	x0, x1, [sp], #96
	ret
	.endm

	/* to `off` unless enabled; then x0 = the block, or on to `claim` when it is not in its slot; x4 survives */
	.macro	find off, claim
	adrp	x2, agent_control
	ldr	x0, [x2]
	cbz	x0, \off
	ldr	w1, [x2, #shared_page]
	add	w0, w0, w1
	cbnz	w0, \off
	ldr	x3, [x2, #8]
	mrs	x1, tpidr_el0
	mov	w0, #0x79b1
	movk	w0, #0x9e37, lsl #16
	mul	x0, x1, x0
	ubfx	x0, x0, #32, #13
	add	x0, x0, #slots
	ldr	x0, [x3, x0, lsl #3]
	cbz	x0, \claim
	ldr	x3, [x0, #8]
	add	x3, x3, x1
	cbnz	x3, \claim
	.endm

	/* x0 = the block or 0 */
	.macro	claim
	adrp	x0, agent_control
	adrp	x1, agent_shared_page
	mrs	x2, tpidr_el0
	bl	agent_claim
	.endm

	/* the handlers' arguments but for the block */
	.macro	arguments frame
	adrp	x1, agent_shared_page
	add	x2, sp, #\frame
	ldr	w3, [sp, #88]
	.endm

	.macro	enter name, function
	.p2align 4
\name:
	save
	find	2f, 3f
1:	arguments saved
	bl	\function
2:	restore
3:	ldr	w3, [sp, #88]
	claim
	cbnz	x0, 1b
	b	2b
	.endm

	.macro	leave name, function
	.p2align 4
\name:
	save
	mrs	x4, cntvct_el0
	find	2f, 3f
1:	arguments saved
	bl	\function
2:	restore
3:	/* not in its slot: a first hit is no exit of a call that was seen, but the block may stand behind */
	str	x4, [sp, #-16]!
	mov	w3, #-1
	claim
	ldr	x4, [sp], #16
	cbnz	x0, 1b
	b	2b
	.endm

	/* x17 = the block */
	.macro	known name, function
	.p2align 4
\name:
	save
	mrs	x4, cntvct_el0
	mov	x0, x17
	arguments saved_inline
	bl	\function
	restore
	.endm

	enter	thunk_enter, agent_enter
	leave	thunk_leave, agent_leave
	known	thunk_leave_inline, agent_leave
	known	thunk_sample, agent_sample
	enter	thunk_full_enter, agent_full_enter
	leave	thunk_full_leave, agent_full_leave
	known	thunk_full_leave_inline, agent_full_leave
	known	thunk_full_sample, agent_full_sample
	enter	thunk_begin, agent_passage_begin
	enter	thunk_end, agent_passage_end
	enter	thunk_full_begin, agent_full_passage_begin
	enter	thunk_full_end, agent_full_passage_end
	enter	thunk_state_enter, agent_state_enter
	leave	thunk_state_leave, agent_state_leave

	/* a hit whose block was not in its slot: x17 = its block now, or 0 (then it has been counted, unless
	 * w16 is -1) */
	.p2align 4
thunk_claim:
	save
	mov	w3, w16
	claim
	str	x0, [sp, #64]
	restore

	.section .note.GNU-stack, "", %progbits
