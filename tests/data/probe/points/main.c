/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks and counts what passes them; a function of assembly whose offsets are known. */
#include <stdio.h>

#include "../../../../include/assay/mark.h"

long stepped(long n);

/* n times through the loop: 3 bytes (AArch64: 4) behind the start */
#ifdef __x86_64__
__asm__(".text\n.globl stepped\n.type stepped,@function\nstepped:\n"
	"xor %eax,%eax\nnop\n"
	"1: lea 3(%rax,%rdi),%rax\ndec %rdi\njg 1b\n"
	"ret\n.size stepped,.-stepped\n");
#else
__asm__(".text\n.globl stepped\n.type stepped,%function\nstepped:\n"
	"mov x1, #0\n"
	"1: add x1, x1, x0\nadd x1, x1, #3\nsubs x0, x0, #1\nb.gt 1b\n"
	"mov x0, x1\nret\n.size stepped,.-stepped\n");
#endif

int main(void)
{
	long sum = 0, iterations = 0, evens = 0;

	for (long i = 1; i <= 500; i++) {
		ASSAY_MARK_ITERATION();
		iterations++;
		if (i % 2 == 0) {
			ASSAY_MARK(even);
			evens++;
		}
		sum += stepped(i % 5 + 1);
	}
	printf("iterations=%ld evens=%ld stepped=500 passes=1500 sum=%ld\n", iterations, evens,
	       sum);
	return 0;
}
