/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because ptrace and wait act on real threads whatever the table is
 */
#include "probe/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "target/maps.h"

#define CALL_WAIT_NS UINT64_C(2000000000)
#define SCAN_MAX     (4u << 20) /* of one mapping, in search of instructions */

static bool all_found(const struct remote_pattern *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!patterns[i].found)
			return false;
	}
	return true;
}

static void text_scan(const uint8_t *text, size_t size, uint64_t address,
		      struct remote_pattern *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint8_t *at =
			patterns[i].found ? NULL
					  : memmem(text, size, patterns[i].bytes, patterns[i].size);

		if (at)
			patterns[i].found = address + (uint64_t)(at - text);
	}
}

/* Of the size of any pattern. */
static bool is_still_there(const struct remote *remote, const struct remote_pattern *pattern,
			   uint64_t at)
{
	uint8_t bytes[16];

	return at && pattern->size <= sizeof(bytes) &&
	       sys_pread_full(remote->sys, remote->memory_fd, bytes, pattern->size, (off_t)at) ==
		       (ssize_t)pattern->size &&
	       !memcmp(bytes, pattern->bytes, pattern->size);
}

enum status remote_find(struct remote *remote, struct remote_pattern *patterns, size_t n,
			struct error *error)
{
	char path[64], *text;
	const char *at;
	struct map map;
	uint8_t *code;
	enum status status;

	for (size_t i = 0; i < n && i < REMOTE_PATTERNS; i++) {
		if (is_still_there(remote, &patterns[i], remote->known[i]))
			patterns[i].found = remote->known[i];
	}
	if (all_found(patterns, n))
		return STATUS_OK;
	code = malloc(SCAN_MAX);
	snprintf(path, sizeof(path), "/proc/%d/maps", remote->pid);
	status = sys_read_file(remote->sys, -1, path, MAPS_MAX_BYTES, &text, NULL, error);
	if (status != STATUS_OK || !code) {
		free(code);
		return status != STATUS_OK ? status
					   : error_set(error, STATUS_NO_MEMORY, "out of memory");
	}
	at = text;
	while (!all_found(patterns, n) && maps_next(&at, &map)) {
		const uint64_t size =
			map.end - map.start < SCAN_MAX ? map.end - map.start : SCAN_MAX;
		ssize_t got;

		if (!(map.protection & PROT_EXEC) || !strncmp(map.path, "[vsyscall", 9))
			continue;
		got = sys_pread_full(remote->sys, remote->memory_fd, code, size, (off_t)map.start);
		if (got > 0)
			text_scan(code, (size_t)got, map.start, patterns, n);
	}
	for (size_t i = 0; i < n && i < REMOTE_PATTERNS; i++)
		remote->known[i] = patterns[i].found;
	free(text);
	free(code);
	return STATUS_OK;
}

enum status remote_begin(struct remote *remote, const struct sys *sys, pid_t pid,
			 const struct tracee *thread, int memory_fd, struct error *error)
{
	uint64_t all = ~UINT64_C(0);
	enum status status;

	remote->sys = sys;
	remote->pid = pid;
	remote->tid = thread->tid;
	remote->memory_fd = memory_fd;
	if (!registers_get(remote->tid, &remote->registers) ||
	    ptrace(PTRACE_GETSIGMASK, remote->tid, (void *)8, &remote->mask) < 0)
		return error_set_errno(error, STATUS_IO, errno,
				       "cannot read the registers of thread %d", remote->tid);
	status = remote_chain_write(remote, &thread->call, error);
	if (status != STATUS_OK)
		return status;
	if (ptrace(PTRACE_SETSIGMASK, remote->tid, (void *)8, &all) < 0)
		return error_set_errno(error, STATUS_IO, errno,
				       "cannot block the signals of thread %d", remote->tid);
	return STATUS_OK;
}

/* Lets the thread run to its next system-call stop. */
static enum status call_step(struct remote *remote, struct error *error)
{
	int status, answer;

	if (ptrace(PTRACE_SYSCALL, remote->tid, NULL, NULL) < 0)
		return error_set_errno(error, STATUS_NOT_FOUND, errno, "thread %d is gone",
				       remote->tid);
	answer = tracee_wait(remote->sys, remote->tid, &status, CALL_WAIT_NS);
	if (answer != 1)
		return error_set(error, STATUS_NOT_FOUND, "thread %d ended during an injected call",
				 remote->tid);
	if (WSTOPSIG(status) != (SIGTRAP | 0x80))
		return error_set(error, STATUS_IO,
				 "thread %d stopped with signal %d during an injected call",
				 remote->tid, WSTOPSIG(status) & 0x7f);
	return STATUS_OK;
}

enum status remote_call(struct remote *remote, long number, const uint64_t arguments[6],
			int64_t *result, struct error *error)
{
	struct registers registers = remote->registers;
	enum status status;

	registers_prepare_call(&registers, remote->gadget, remote->stack, remote->link, number,
			       arguments);
	if (!registers_set(remote->tid, &registers))
		return error_set_errno(error, STATUS_IO, errno,
				       "cannot set the registers of thread %d", remote->tid);
	status = call_step(remote, error);
	if (status == STATUS_OK)
		status = call_step(remote, error);
	if (status != STATUS_OK)
		return status;
	if (!registers_get(remote->tid, &registers))
		return error_set(error, STATUS_NOT_FOUND, "thread %d is gone", remote->tid);
	*result = registers_result(&registers);
	return STATUS_OK;
}

enum status remote_end(struct remote *remote, struct error *error)
{
	int status = 0, answer;

	/* A stop of our own before the thread is in user mode again: from there the kernel restarts what
	 * it had interrupted. */
	ptrace(PTRACE_INTERRUPT, remote->tid, NULL, NULL);
	ptrace(PTRACE_CONT, remote->tid, NULL, NULL);
	answer = tracee_wait(remote->sys, remote->tid, &status, CALL_WAIT_NS);
	if (answer != 1)
		return error_set(error, STATUS_NOT_FOUND, "thread %d ended during injected calls",
				 remote->tid);
	remote_vectors_restore(remote);
	if (!registers_set(remote->tid, &remote->registers) ||
	    ptrace(PTRACE_SETSIGMASK, remote->tid, (void *)8, &remote->mask) < 0)
		return error_set_errno(error, STATUS_IO, errno,
				       "cannot restore the registers of thread %d", remote->tid);
	return STATUS_OK;
}
