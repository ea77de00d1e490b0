/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where stubs enter the agent on x86-64, and the table of these places. Comes first in the agent's code.
 *
 * A stub has moved the stack pointer 128 bytes down (red zone), pushed rax, put the function's index in eax,
 * and calls. Everything but rax comes back as it was: general registers by push and by the handlers, which
 * save what they use and know no vector registers; flags by lahf and seto, since pushf and popf are slow.
 * The direction and alignment flags are not touched by anything here.
 *
 *	rsp after the pushes:	[flags][r8][rsi][rdi][rdx][rcx][return to stub][rax] 128 bytes [target's stack]
 */
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

	/* to `off` unless enabled; then rdi = the block, or on to `claim` when it is not this thread's */
	.macro	find off, claim
	mov	agent_control(%rip), %rdi
	test	%rdi, %rdi
	jz	\off
	add	agent_shared_page(%rip), %edi
	jnz	\off
	mov	%fs:0, %rdi
	add	%gs:8, %rdi
	jnz	\claim
	mov	%gs:0, %rdi
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
1:	lea	agent_shared_page(%rip), %rsi
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

	enter	thunk_enter, agent_enter
	enter	thunk_full_enter, agent_full_enter
	known	thunk_sample, agent_sample, saved_inline
	known	thunk_full_sample, agent_full_sample, saved_inline
	known	thunk_full_leave_inline, agent_full_leave, saved_inline
	known	thunk_state_enter, agent_state_enter, saved_state
	known	thunk_state_leave, agent_state_leave, saved_state

	.p2align 4
thunk_full_leave:
	save
	find	2f, 2f
	lea	agent_shared_page(%rip), %rsi
	lea	saved(%rsp), %rdx
	call	agent_full_leave
2:	restore

	.p2align 4
thunk_leave:
	save
	rdtsc
	shl	$32, %rdx
	lea	(%rdx, %rax), %r8
	find	2f, 3f
1:	lea	agent_shared_page(%rip), %rsi
	lea	saved(%rsp), %rdx
	call	agent_leave
2:	restore
3:	/* a thread's first hit is no exit of a call that was seen */
	jmp	2b

	.p2align 4
thunk_leave_inline:
	save
	rdtsc
	shl	$32, %rdx
	lea	(%rdx, %rax), %r8
	mov	%gs:0, %rdi
	lea	agent_shared_page(%rip), %rsi
	lea	saved_inline(%rsp), %rdx
	call	agent_leave
	restore

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
