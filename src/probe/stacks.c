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
};

static int window_compare(const void *a, const void *b)
{
	const struct busy_window *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Windows may overlap; none is wider than `widest`. */
static void scan_word(struct scan *scan, uint64_t word)
{
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
		if (word < scan->windows[low].end)
			scan->windows[low].busy = true;
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

static uint64_t scan_stack(struct scan *scan, const struct sys *sys, int memory_fd, uint64_t sp,
			   uint64_t end)
{
	uint64_t at = (sp - RED_ZONE) & ~UINT64_C(7), total = 0;

	while (at < end && total < STACKS_MAX_BYTES) {
		const uint64_t wanted = end - at < PIECE_SIZE ? end - at : PIECE_SIZE;
		const ssize_t got =
			sys->pread(sys->state, memory_fd, scan->words, wanted, (off_t)at);

		if (got < 8)
			break;
		for (size_t i = 0; i < (size_t)got / 8; i++)
			scan_word(scan, scan->words[i]);
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
		scan_word(&scan, thread->pc);
		total += scan_stack(&scan, tracees->sys, memory_fd, thread->sp,
				    stack_end(maps, thread->sp));
	}
	free(maps);
	free(scan.words);
	return STATUS_OK;
}
