/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where stubs enter the agent on x86-64, and the table of these places. Comes first in the agent's code.
 *
 * A stub has moved the stack pointer 128 bytes down (red zone), pushed rax, put the function's index in eax,
 * and calls. Everything but rax comes back as it was: general registers by push and by the handlers, which
 * save what they use and know no vector registers; flags by lahf and seto, since pushf and popf are slow.
 * The direction and alignment flags are not touched by anything here.
 *
 * By the bare clock the usual call takes a short way that is written here: what frames.c does when the stack is
 * the current one, the thread has not been switched out, nothing at or below was left open (entry), and the frame on
 * top is this call's (exit). `busy` is taken before anything is looked at, so that a signal handler in between changes
 * nothing; any doubt gives it back and goes to frames.c, which decides everything anew. Store by store the order is
 * that of frames.c.
 *
 *	rsp after the pushes:	[flags][r8][rsi][rdi][rdx][rcx][return to stub][rax] 128 bytes [target's stack]
 */
#include "agent/offsets.h"

	.section .entry, "ax", @progbits
	.globl	agent_entries
agent_entries:
	.long	thunk_enter - agent_entries
	.long	thunk_leave - agent_entries
	.long	thunk_claim - agent_entries
	.long	thunk_sample - agent_entries
	.long	thunk_leave_inline - agent_entries
	.long	agent_end - agent_entries
	.long	thunk_full_enter - agent_entries
	.long	thunk_full_leave - agent_entries
	.long	thunk_full_sample - agent_entries
	.long	thunk_full_leave_inline - agent_entries
	.long	thunk_state_enter - agent_entries
	.long	thunk_state_leave - agent_entries
	.long	thunk_begin - agent_entries
	.long	thunk_end - agent_entries
	.long	thunk_full_begin - agent_entries
	.long	thunk_full_end - agent_entries

	.set	saved, 6 * 8 + 8 + 8 + 128
	/* stubs that test for themselves have pushed rax, rcx, and the flags for the call */
	.set	saved_inline, saved + 2 * 8
	/* those of mode state have pushed the flags, too */
	.set	saved_state, saved + 3 * 8

	.macro	save
	push	%rcx
	push	%rdx
	push	%rdi
	push	%rsi
	push	%r8
	mov	%eax, %ecx
	lahf
	seto	%al
	push	%rax
	.endm

	.macro	restore
	pop	%rax
	add	$0x7f, %al
	sahf
	pop	%r8
	pop	%rsi
	pop	%rdi
	pop	%rdx
	pop	%rcx
	ret
	.endm

	/* to `off` unless enabled; on to `claim` when the block is not this thread's. Takes rdi. */
	.macro	find off, claim
	mov	agent_control(%rip), %rdi
	test	%rdi, %rdi
	jz	\off
	add	agent_shared_page(%rip), %edi
	jnz	\off
	mov	%fs:0, %rdi
	add	%gs:8, %rdi
	jnz	\claim
	.endm

	/* rdi = the block or 0; ecx (the index) and r8 survive */
	.macro	claim
	push	%rcx
	mov	%fs:0, %rdx
	lea	agent_shared_page(%rip), %rsi
	lea	agent_control(%rip), %rdi
	call	agent_claim
	pop	%rcx
	mov	%rax, %rdi
	test	%rdi, %rdi
	.endm

	.macro	enter name, function
	.p2align 4
\name:
	save
	find	2f, 3f
1:	mov	%gs:BLOCK_SELF, %rdi
	lea	agent_shared_page(%rip), %rsi
	lea	saved(%rsp), %rdx
	call	\function
2:	restore
3:	claim
	jnz	1b
	jmp	2b
	.endm

	/* the block is known to be this thread's */
	.macro	known name, function, distance
	.p2align 4
\name:
	save
	mov	%gs:0, %rdi
	lea	agent_shared_page(%rip), %rsi
	lea	\distance(%rsp), %rdx
	call	\function
	restore
	.endm

	enter	thunk_full_enter, agent_full_enter
	enter	thunk_begin, agent_passage_begin
	enter	thunk_end, agent_passage_end
	enter	thunk_full_begin, agent_full_passage_begin
	enter	thunk_full_end, agent_full_passage_end
	known	thunk_full_sample, agent_full_sample, saved_inline
	known	thunk_state_enter, agent_state_enter, saved_state

	/* The offset, from the block, of the frame behind the one with this index; FRAME_* count from there. */
	.macro	frame_of index, offset, offset_low
	lea	(\index,\index,2), \offset
	shl	$4, \offset
	add	agent_shared_page+SHARED_POOL_OFFSET(%rip), \offset_low
	.endm

	/* The thread has been switched out since: to `label`. Takes rax. */
	.macro	away label
	mov	%gs:BLOCK_LOCK_AT, %rax
	mov	(%rax), %eax
	cmp	%eax, %gs:BLOCK_LOCK
	jne	\label
	.endm

	/* For the call at rdx: r8d = the free frame's index + 1, else to `doubt` with or without the agent taken. */
	.macro	open_look busy, doubt
	cmpq	$0, %gs:BLOCK_BUSY
	jne	\busy
	mov	%rdx, %gs:BLOCK_BUSY
	mov	%gs:BLOCK_FREE, %r8d
	test	%r8d, %r8d
	jz	\doubt
	mov	%rdx, %rax
	sub	%gs:BLOCK_LOW, %rax
	cmp	%gs:BLOCK_SIZE, %rax
	jae	\doubt
	mov	%gs:BLOCK_TOP_SP, %rax	/* 0: nothing is open */
	dec	%rax
	cmp	%rdx, %rax
	jb	\doubt
	away	\doubt
	.endm

	/* rdi = offset of function ecx's sums, which FUNCTION_* count from */
	.macro	function_of
	mov	%ecx, %edi
	imul	agent_shared_page+SHARED_FUNCTION_BYTES(%rip), %edi
	.endm

	/* Opens frame r8d for the call of function ecx at rdx, with rdi its sums, and returns to the stub. */
	.macro	open_frame
	frame_of %r8, %rsi, %esi
	mov	%gs:FRAME_BELOW(%rsi), %eax
	mov	%eax, %gs:BLOCK_FREE
	mov	%rdx, %gs:FRAME_SP(%rsi)
	movq	$0, %gs:FRAME_CHILD(%rsi)
	mov	%ecx, %gs:FRAME_FUNCTION(%rsi)
	mov	%gs:BLOCK_SWITCHES, %eax
	mov	%eax, %gs:FRAME_SWITCHES(%rsi)
	movl	$0, %gs:FRAME_FLAGS(%rsi)
	mov	%gs:FUNCTION_OUTERMOST(%rdi), %rax
	test	%rax, %rax
	jnz	6f
5:	mov	%r8, %gs:FUNCTION_OUTERMOST(%rdi)
7:	mov	%gs:BLOCK_REGION, %eax
	lea	(%rax,%rax,2), %rax
	mov	%gs:REGION_TOP(,%rax,8), %ecx
	mov	%ecx, %gs:FRAME_BELOW(%rsi)
	mov	%r8d, %gs:REGION_TOP(,%rax,8)
	mov	%rdx, %gs:BLOCK_TOP_SP
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, %gs:BLOCK_LAST
	sub	%gs:BLOCK_OVERHEAD, %rax
	mov	%rax, %gs:FRAME_START(%rsi)
	movq	$0, %gs:BLOCK_BUSY
	restore
6:	/* is an outer call of the same function still open on this stack? */
	frame_of %rax, %rax, %eax
	cmp	%ecx, %gs:FRAME_FUNCTION(%rax)
	jne	5b
	mov	%gs:FRAME_SP(%rax), %rax
	cmp	%rdx, %rax
	jbe	5b
	sub	%gs:BLOCK_LOW, %rax
	cmp	%gs:BLOCK_SIZE, %rax
	jae	5b
	movl	$FRAME_NESTED, %gs:FRAME_FLAGS(%rsi)
	jmp	7b
	.endm

	/* frames.c does it; rdx is the stack pointer. */
	.macro	slow function
	mov	%gs:BLOCK_SELF, %rdi
	lea	agent_shared_page(%rip), %rsi
	call	\function
	restore
	.endm

	.p2align 4
thunk_enter:
	save
	find	2f, 3f
1:	lea	saved(%rsp), %rdx
	open_look 9f, 8f
	function_of
	incq	%gs:FUNCTION_CALLS(%rdi)
	open_frame
8:	movq	$0, %gs:BLOCK_BUSY
9:	slow	agent_enter
2:	restore
3:	claim
	jnz	1b
	jmp	2b

	/* a gap of 1 .. 2 * every - 1 calls is drawn, as frames.c does it */
	.p2align 4
thunk_sample:
	save
	lea	saved_inline(%rsp), %rdx
	open_look 9f, 8f
	mov	%gs:BLOCK_RANDOM, %rax
	mov	%rax, %rdi
	shl	$13, %rdi
	xor	%rdi, %rax
	mov	%rax, %rdi
	shr	$7, %rdi
	xor	%rdi, %rax
	mov	%rax, %rdi
	shl	$17, %rdi
	xor	%rdi, %rax
	mov	%rax, %gs:BLOCK_RANDOM
	mov	agent_shared_page+SHARED_EVERY(%rip), %rdi
	lea	-1(%rdi,%rdi), %rdi
	mul	%rdi
	inc	%rdx
	mov	%rdx, %gs:BLOCK_COUNTDOWN
	lea	saved_inline(%rsp), %rdx
	function_of
	open_frame
8:	movq	$0, %gs:BLOCK_BUSY
9:	slow	agent_sample

	/* Closes the frame on top, when it is that of function ecx at rdx; r8: the clock at the exit. */
	.macro	close_frame
	cmpq	$0, %gs:BLOCK_BUSY
	jne	9f
	mov	%rdx, %gs:BLOCK_BUSY
	push	%r9
	push	%r10
	cmp	%rdx, %gs:BLOCK_TOP_SP
	jne	8f
	mov	%gs:BLOCK_REGION, %edi
	lea	(%rdi,%rdi,2), %rdi
	mov	%gs:REGION_TOP(,%rdi,8), %r9d
	test	%r9d, %r9d
	jz	8f
	frame_of %r9, %rsi, %esi
	cmp	%ecx, %gs:FRAME_FUNCTION(%rsi)
	jne	8f
	mov	%gs:BLOCK_SWITCHES, %eax
	cmp	%eax, %gs:FRAME_SWITCHES(%rsi)
	jne	8f
	away	8f
	imul	agent_shared_page+SHARED_FUNCTION_BYTES(%rip), %ecx
	mov	%r8, %gs:BLOCK_LAST
	sub	%gs:BLOCK_OVERHEAD, %r8
	sub	%gs:FRAME_START(%rsi), %r8
	sub	agent_shared_page+SHARED_INNER_TICKS(%rip), %r8
	mov	%gs:FRAME_BELOW(%rsi), %r10d
	mov	%r10d, %gs:REGION_TOP(,%rdi,8)
	cmp	%r9, %gs:FUNCTION_OUTERMOST(%rcx)
	jne	5f
	movq	$0, %gs:FUNCTION_OUTERMOST(%rcx)
5:	incq	%gs:FUNCTION_TIMED(%rcx)
	mov	%r8, %rax
	sub	%gs:FRAME_CHILD(%rsi), %rax
	add	%rax, %gs:FUNCTION_SELF(%rcx)
	testl	$FRAME_NESTED, %gs:FRAME_FLAGS(%rsi)
	jnz	6f
	add	%r8, %gs:FUNCTION_INCLUSIVE(%rcx)
6:	/* rax: the duration, or 0 where it came out below; its bucket is that of the highest bit of 2 * rax + 1 */
	xor	%eax, %eax
	test	%r8, %r8
	cmovns	%r8, %rax
	lea	1(%rax,%rax), %rdi
	bsr	%rdi, %rdi
	incl	%gs:FUNCTION_BUCKETS(%rcx,%rdi,4)
	mul	%rax
	add	%rax, %gs:FUNCTION_SQUARES_LOW(%rcx)
	adc	%rdx, %gs:FUNCTION_SQUARES_HIGH(%rcx)
	mov	%gs:BLOCK_FREE, %eax
	mov	%eax, %gs:FRAME_BELOW(%rsi)
	mov	%r9d, %gs:BLOCK_FREE
	xor	%eax, %eax
	test	%r10d, %r10d
	jz	7f
	frame_of %r10, %rdi, %edi
	add	%r8, %gs:FRAME_CHILD(%rdi)
	mov	%gs:FRAME_SP(%rdi), %rax
7:	mov	agent_shared_page+SHARED_PAIR_TICKS(%rip), %rdi
	add	%rdi, %gs:BLOCK_OVERHEAD
	mov	%rax, %gs:BLOCK_TOP_SP
	pop	%r10
	pop	%r9
	movq	$0, %gs:BLOCK_BUSY
	restore
8:	pop	%r10
	pop	%r9
	movq	$0, %gs:BLOCK_BUSY
9:	slow	agent_leave
	.endm

	.macro	clock
	rdtsc
	shl	$32, %rdx
	lea	(%rdx,%rax), %r8
	.endm

	/* A thread's first hit is no exit of a call that was seen: nothing is claimed. */
	.p2align 4
thunk_leave:
	save
	clock
	find	2f, 2f
	lea	saved(%rsp), %rdx
	close_frame
2:	restore

	.p2align 4
thunk_full_leave:
	save
	find	2f, 2f
	mov	%gs:BLOCK_SELF, %rdi
	lea	agent_shared_page(%rip), %rsi
	lea	saved(%rsp), %rdx
	call	agent_full_leave
2:	restore

	/* The stub has seen that the frame on top is at this stack pointer, or that frames are open on other stacks:
	 * goes on when that is so for this thread, and, for the latter, this stack is not the current one. */
	.macro	can_end off
	lea	saved_inline(%rsp), %rdx
	cmp	%rdx, %gs:BLOCK_TOP_SP
	je	4f
	mov	%rdx, %rax
	sub	%gs:BLOCK_LOW, %rax
	cmp	%gs:BLOCK_SIZE, %rax
	jb	\off
4:
	.endm

	.p2align 4
thunk_leave_inline:
	save
	clock
	find	2f, 2f
	can_end	2f
	close_frame
2:	restore

	.p2align 4
thunk_full_leave_inline:
	save
	find	2f, 2f
	can_end	2f
	mov	%gs:BLOCK_SELF, %rdi
	lea	agent_shared_page(%rip), %rsi
	call	agent_full_leave
2:	restore

	.p2align 4
thunk_state_leave:
	save
	find	2f, 2f
	mov	%gs:BLOCK_SELF, %rdi
	lea	agent_shared_page(%rip), %rsi
	lea	saved_inline(%rsp), %rdx
	call	agent_state_leave
2:	restore

	/* a hit whose block was not this thread's: rax = its block now, or 0 (then it has been counted); flags are
	 * the stub's matter, enabled was tested */
	.p2align 4
thunk_claim:
	push	%rcx
	push	%rdx
	push	%rdi
	push	%rsi
	push	%r8
	mov	%eax, %ecx
	claim
	pop	%r8
	pop	%rsi
	pop	%rdi
	pop	%rdx
	pop	%rcx
	ret

	.section .note.GNU-stack, "", @progbits
