/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A system-call table that fails on purpose: call N of chosen kinds returns a chosen error.
 *
 *	for (unsigned int n = 1; ; n++) {
 *		sys_fault_init(&fault, sys_real());
 *		sys_fault_plan(&fault, SYS_FAULT_ANY, n, ENOSPC, SYS_FAULT_STAYS);
 *		... the scenario, on sys_fault_table(&fault) ...
 *		if (!fault.fired) break;		// every call of it has failed once
 *		assert(... nothing half-done ...);
 *		assert_int_equal(fault.open_fds, 0);
 *	}
 *
 * Calls before and after the planned one reach the table underneath. close() closes even when it is
 * told to fail, as the kernel does. Not safe for several threads.
 */
#ifndef ASSAY_TESTS_SUPPORT_SYS_FAULT_H
#define ASSAY_TESTS_SUPPORT_SYS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

enum sys_fault_kind {
	SYS_FAULT_OPEN = 1u << 0,
	SYS_FAULT_CLOSE = 1u << 1,
	SYS_FAULT_READ = 1u << 2,  /* read and pread */
	SYS_FAULT_WRITE = 1u << 3, /* write and pwrite */
	SYS_FAULT_STAT = 1u << 4,
	SYS_FAULT_TRUNCATE = 1u << 5,
	SYS_FAULT_MKDIR = 1u << 6,
	SYS_FAULT_UNLINK = 1u << 7,
	SYS_FAULT_RENAME = 1u << 8,
	SYS_FAULT_CHOWN = 1u << 9,
	SYS_FAULT_GETDENTS = 1u << 10,
	SYS_FAULT_MMAP = 1u << 11,
	SYS_FAULT_MUNMAP = 1u << 12,
	SYS_FAULT_PERF_OPEN = 1u << 13,
	SYS_FAULT_IOCTL = 1u << 14,
	SYS_FAULT_POLL = 1u << 15,
	SYS_FAULT_KILL = 1u << 16,
	SYS_FAULT_RANDOM = 1u << 17,
	SYS_FAULT_N_KINDS = 18,
};
#define SYS_FAULT_ANY ((1u << SYS_FAULT_N_KINDS) - 1)

enum sys_fault_how {
	SYS_FAULT_ONCE,  /* this call only: does the caller cope, and undo? */
	SYS_FAULT_STAYS, /* this call and all later ones of these kinds: a full disk stays full */
	SYS_FAULT_TORN, /* a write writes half of its bytes; the next ones fail: a disk that fills up */
};

struct sys_fault {
	struct sys table;
	const struct sys *under;
	unsigned int kinds, at;
	int os_errno;
	enum sys_fault_how how;
	unsigned int seen; /* calls of the planned kinds */
	bool fired;
	unsigned int calls[SYS_FAULT_N_KINDS]; /* all calls, by kind */
	int open_fds; /* opened (files, events) and not closed through this table */
};

/* Fails nothing until planned. */
void sys_fault_init(struct sys_fault *fault, const struct sys *under);

/* Call number `at` (from 1) of the kinds in the mask, counted from now, fails with os_errno. */
void sys_fault_plan(struct sys_fault *fault, unsigned int kinds, unsigned int at, int os_errno,
		    enum sys_fault_how how);

const struct sys *sys_fault_table(struct sys_fault *fault);

/* Calls so far of the kinds in the mask. */
unsigned int sys_fault_calls(const struct sys_fault *fault, unsigned int kinds);

#endif
