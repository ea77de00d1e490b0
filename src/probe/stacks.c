/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/maps.h"

#define RED_ZONE   128u
#define PIECE_SIZE (64u * 1024)

struct scan {
	struct busy_window *windows;
	size_t n;
	uint64_t low, high, widest;
	uint64_t *words; /* PIECE_SIZE bytes */
	const struct sys *sys;
	int memory_fd;
};

static int window_compare(const void *a, const void *b)
{
	const struct busy_window *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* The pc in a signal frame, by what the kernel saves behind it: x86-64 eflags and cs, AArch64 pstate
 * (struct sigcontext of <asm/sigcontext.h>). What lies beyond the piece may be anything. */
static bool is_frame_pc(const uint64_t *words, size_t n)
{
#ifdef __x86_64__
	const uint64_t user_cs = 0x33;

	return n < 3 || (words[1] < (UINT64_C(1) << 22) && (words[2] & 0xffff) == user_cs);
#else
	const uint64_t mode = 0x1f; /* 0: EL0 */

	return n < 2 || (words[1] <= UINT32_MAX && !(words[1] & mode));
#endif
}

/* A call instruction that leads into the agent stands before `address`. */
static bool is_behind_call(const struct scan *scan, uint64_t address)
{
#ifdef __x86_64__
	uint8_t call[5] = { 0 };
	const uint8_t opcode = 0xe8;
#else
	uint8_t call[4] = { 0 };
#endif

	if (sys_pread_full(scan->sys, scan->memory_fd, call, sizeof(call),
			   (off_t)(address - sizeof(call))) != (ssize_t)sizeof(call))
		return false;
#ifdef __x86_64__
	return call[0] == opcode;
#else
	return (call[3] & 0xfc) == 0x94; /* bl */
#endif
}

/* Windows may overlap; none is wider than `widest`. `n`: words from here to the end of the piece. */
static void scan_word(struct scan *scan, const uint64_t *words, size_t n)
{
	const uint64_t word = *words;
	size_t low = 0, high = scan->n;

	if (word <= scan->low || word >= scan->high)
		return;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (scan->windows[middle].start < word)
			low = middle + 1;
		else
			high = middle;
	}
	/* every window that begins below the word, until they are too far below */
	while (low-- > 0 && word - scan->windows[low].start < scan->widest) {
		struct busy_window *window = &scan->windows[low];

		if (word < window->end &&
		    (!window->region || is_frame_pc(words, n) || !is_behind_call(scan, word)))
			window->busy = true;
	}
}

static uint64_t stack_end(const char *maps, uint64_t sp)
{
	struct map map;

	while (maps_next(&maps, &map)) {
		if (sp >= map.start && sp < map.end)
			return map.end;
	}
	return sp;
}

/* What was not looked at may hold anything. */
static void all_are_busy(struct scan *scan)
{
	for (size_t i = 0; i < scan->n; i++)
		scan->windows[i].busy = true;
}

static uint64_t scan_stack(struct scan *scan, uint64_t sp, uint64_t end)
{
	uint64_t at = (sp - RED_ZONE) & ~UINT64_C(7), total = 0;

	while (at < end && total < STACKS_MAX_BYTES) {
		const uint64_t wanted = end - at < PIECE_SIZE ? end - at : PIECE_SIZE;
		const ssize_t got = scan->sys->pread(scan->sys->state, scan->memory_fd, scan->words,
						     wanted, (off_t)at);

		if (got < 8)
			break;
		for (size_t i = 0; i < (size_t)got / 8; i++)
			scan_word(scan, &scan->words[i], (size_t)got / 8 - i);
		at += (uint64_t)got & ~UINT64_C(7);
		total += (uint64_t)got;
	}
	if (at < end && total >= STACKS_MAX_BYTES)
		all_are_busy(scan);
	return total;
}

enum status stacks_find_busy(const struct tracees *tracees, int memory_fd,
			     struct busy_window *windows, size_t n, struct error *error)
{
	struct scan scan = {
		.windows = windows,
		.n = n,
		.low = UINT64_MAX,
		.widest = 1,
		.words = malloc(PIECE_SIZE),
		.sys = tracees->sys,
		.memory_fd = memory_fd,
	};
	uint64_t total = 0;
	char path[64], *maps;
	enum status status;

	if (!scan.words)
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	qsort(windows, n, sizeof(*windows), window_compare);
	for (size_t i = 0; i < n; i++) {
		const uint64_t width = windows[i].end - windows[i].start;

		scan.low = windows[i].start < scan.low ? windows[i].start : scan.low;
		scan.high = windows[i].end > scan.high ? windows[i].end : scan.high;
		scan.widest = width > scan.widest ? width : scan.widest;
	}
	snprintf(path, sizeof(path), "/proc/%d/maps", tracees->pid);
	status = sys_read_file(tracees->sys, -1, path, MAPS_MAX_BYTES, &maps, NULL, error);
	if (status != STATUS_OK) {
		free(scan.words);
		return status;
	}
	for (size_t i = 0; i < tracees->n; i++) {
		const struct tracee *thread = &tracees->threads[i];

		if (!thread->stopped || thread->gone)
			continue;
		if (total >= STACKS_MAX_TOTAL) {
			all_are_busy(&scan);
			break;
		}
		/* a pc counts whatever stands before it: n 1 */
		scan_word(&scan, &thread->pc, 1);
		total += scan_stack(&scan, thread->sp, stack_end(maps, thread->sp));
	}
	free(maps);
	free(scan.words);
	return STATUS_OK;
}
