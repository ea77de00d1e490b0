/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a program of guarded pages begins: the C library's own start is not made for them in Debian 12, so one
 * without it is linked (-nostartfiles). The marks below make the linker and the loader guard the pages. */
#ifdef __aarch64__
	.text
	.globl	_start
	.type	_start, %function
_start:
	hint	#34			// bti c
	mov	x29, #0
	mov	x30, #0
	mov	x5, x0			// rtld_fini
	ldr	x1, [sp]
	add	x2, sp, #8
	mov	x6, sp
	adrp	x0, main
	add	x0, x0, :lo12:main
	mov	x3, #0
	mov	x4, #0
	bl	__libc_start_main
	brk	#0
	.size	_start, . - _start
#endif
	.section .note.GNU-stack, "", %progbits
