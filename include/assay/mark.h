/* SPDX-License-Identifier: 0BSD */
/*
 * Marks: points of a program that say "a new iteration begins here", so that a profiler can tell in
 * which phase of the program's cycle its samples fell, and how much work was done meanwhile.
 *
 *	#include <assay/mark.h>
 *
 *	for (;;) {
 *		ASSAY_MARK_ITERATION();		a request, frame, batch ... begins
 *		ASSAY_MARK_BEGIN(parse);	a region of the program; the name is a C identifier
 *		...
 *		ASSAY_MARK_END(parse);
 *		ASSAY_MARK_WORK(bytes);		so much work was done (an unsigned integer)
 *		ASSAY_MARK(cache_flush);	any other point worth knowing
 *	}
 *
 * Header only, C and C++, gcc and clang, nothing to link. Each mark is one nop, and a note in the ELF
 * section .note.stapsdt that says where it is: the standard USDT note (provider "assay"), which
 * readelf -n, perf, bpftrace, bcc, SystemTap and gdb understand. Nothing happens unless somebody
 * attaches a uprobe there, which works on the unprepared, running program:
 *
 *	perf buildid-cache --add ./program
 *	perf probe sdt_assay:iteration
 *	assay record -e cpu-clock -e sdt_assay:iteration -- ./program
 *
 * They count work, too, exactly and for some nanoseconds each:
 *
 *	assay probe -f 'assay:*' --mode count -p PID
 *
 * Names of the probes: iteration, work (its one argument is the amount), NAME__begin, NAME__end, NAME.
 *
 * x86-64 and AArch64; on other machines, and with ASSAY_MARK_DISABLE defined, marks are nothing at
 * all. On x86-64 the nop is the five-byte one: Linux 6.18 and later replace it by a call when a uprobe
 * is attached (2 us per recorded mark where the trap of a one-byte nop took 10 us).
 *
 * Cost when nobody listens: the nop. ASSAY_MARK_WORK also keeps its argument computed at that point.
 *
 * This file may be copied into any program; see its licence, which asks for nothing:
 *
 * Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee
 * is hereby granted.
 *
 * THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE
 * INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE
 * LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER
 * RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER
 * TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
 */
#ifndef ASSAY_MARK_H
#define ASSAY_MARK_H

#if defined(ASSAY_MARK_DISABLE)
#define ASSAY_MARK_NOP ""
#elif defined(__x86_64__) && defined(__ELF__) && defined(__LP64__)
/* nopl 0(%rax,%rax,1) */
#define ASSAY_MARK_NOP ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#define ASSAY_MARK_ON  1
#elif defined(__aarch64__) && defined(__ELF__) && defined(__LP64__)
#define ASSAY_MARK_NOP "nop"
#define ASSAY_MARK_ON  1
#endif

#ifdef ASSAY_MARK_ON

/*
 * The note, as SystemTap's user-space probe implementation lays it out (version 3):
 *
 *	u32 name size | u32 descriptor size | u32 type 3 | "stapsdt\0"
 *	u64 address of the nop | u64 address of .stapsdt.base | u64 address of a semaphore, 0: none
 *	provider \0 | probe \0 | arguments \0
 *
 * .stapsdt.base is one byte in a section of its own: prelink and separate debug files may move the code,
 * and readers correct the address by how far the base moved. "?" puts the note into the group of the
 * section that the nop is in, so that the linker drops them together.
 */
#define ASSAY_MARK_NOTE(probe, arguments)                                           \
	"990:	" ASSAY_MARK_NOP "\n"                                               \
	".pushsection .note.stapsdt, \"?\", \"note\"\n"                             \
	".balign 4\n"                                                               \
	".4byte 992f - 991f, 994f - 993f, 3\n"                                      \
	"991:	.asciz \"stapsdt\"\n"                                                 \
	"992:	.balign 4\n"                                                          \
	"993:	.8byte 990b\n"                                                        \
	".8byte _.stapsdt.base\n"                                                   \
	".8byte 0\n"                                                                \
	".asciz \"assay\"\n"                                                        \
	".asciz \"" probe "\"\n"                                                    \
	".asciz \"" arguments "\"\n"                                                \
	"994:	.balign 4\n"                                                          \
	".popsection\n"                                                             \
	".ifndef _.stapsdt.base\n"                                                  \
	".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
	".weak _.stapsdt.base\n"                                                    \
	".hidden _.stapsdt.base\n"                                                  \
	"_.stapsdt.base: .space 1\n"                                                \
	".size _.stapsdt.base, 1\n"                                                 \
	".popsection\n"                                                             \
	".endif\n"

#define ASSAY_MARK_POINT(probe) __asm__ __volatile__(ASSAY_MARK_NOTE(probe, ""))
/* The argument may stay where the compiler has it: a constant, in memory or in a register. */
#define ASSAY_MARK_POINT_1(probe, value) \
	__asm__ __volatile__(ASSAY_MARK_NOTE(probe, "8@%[amount]") : : [amount] "nor"(value))

#else

#define ASSAY_MARK_POINT(probe)          ((void)0)
#define ASSAY_MARK_POINT_1(probe, value) ((void)(value))

#endif

#define ASSAY_MARK_ITERATION()   ASSAY_MARK_POINT("iteration")
#define ASSAY_MARK_BEGIN(region) ASSAY_MARK_POINT(#region "__begin")
#define ASSAY_MARK_END(region)   ASSAY_MARK_POINT(#region "__end")
#define ASSAY_MARK_WORK(amount)  ASSAY_MARK_POINT_1("work", (unsigned long)(amount))
#define ASSAY_MARK(name)         ASSAY_MARK_POINT(#name)

#endif
