/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/synthesize.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "target/maps.h"
#include "target/process.h"

#define MODULES_MAX_BYTES (4u * 1024 * 1024)
#define KALLSYMS_BLOCK    65536
#define KALLSYMS_MAX      (16u * 1024 * 1024)
/* Without the end of the text (far into kallsyms, slow to reach) the mapping is as long as the region
 * that x86-64 reserves for the kernel image; modules lie above it. */
#define KERNEL_TEXT_BYTES (UINT64_C(1) << 30)

static enum status threads_synthesize(const struct sys *sys, pid_t pid, pid_t only_tid,
				      const struct synthesize_sink *sink, struct error *error)
{
	const pid_t parent = process_parent(sys, pid);
	struct record_buffer buffer;
	enum status status = STATUS_OK;
	pid_t *tids;
	size_t n;

	if (process_threads(sys, pid, &tids, &n, NULL) != STATUS_OK)
		return STATUS_OK;
	for (size_t i = 0; status == STATUS_OK && i < n; i++) {
		const pid_t tid = tids[i];
		char comm[PROCESS_COMM_BYTES];

		/* The main thread's name is the process's, even if only another is followed. */
		if (only_tid > 0 && tid != only_tid && tid != pid)
			continue;
		process_comm(sys, tid, comm);
		status = sink->record(sink->data,
				      record_make_fork(&buffer, pid, tid, tid == pid ? parent : pid,
						       tid == pid ? parent : pid),
				      NULL, error);
		if (status == STATUS_OK)
			status = sink->record(sink->data, record_make_comm(&buffer, pid, tid, comm),
					      NULL, error);
		if (status == STATUS_OK && sink->thread && (only_tid <= 0 || tid == only_tid))
			status = sink->thread(sink->data, pid, tid, error);
	}
	free(tids);
	return status;
}

/* The kernel's MMAP2 records call anonymous executable memory "//anon". */
static const char *path_of(const struct map *map)
{
	return map->path[0] ? map->path : "//anon";
}

static enum status mappings_synthesize(const struct sys *sys, pid_t pid,
				       const struct synthesize_sink *sink, struct error *error)
{
	enum status status = STATUS_OK;
	struct record_buffer buffer;
	char name[64], *text;
	struct map map;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	if (sys_read_file(sys, AT_FDCWD, name, MAPS_MAX_BYTES, &text, NULL, NULL) != STATUS_OK)
		return STATUS_OK;
	for (const char *at = text; status == STATUS_OK && maps_next(&at, &map);) {
		struct mapping_bytes mapping = {
			.pid = pid,
			.tid = pid,
			.address = map.start,
			.length = map.end - map.start,
			.offset = map.offset,
			.inode = map.inode,
			.major = map.major,
			.minor = map.minor,
			.protection = map.protection,
			.flags = map.flags,
			.path = path_of(&map),
		};

		if (map.protection & PROT_EXEC)
			status = sink->record(sink->data, record_make_mmap2(&buffer, &mapping),
					      &mapping, error);
	}
	free(text);
	return status;
}

enum status synthesize_process(const struct sys *sys, pid_t pid, pid_t only_tid,
			       const struct synthesize_sink *sink, struct error *error)
{
	const enum status status = threads_synthesize(sys, pid, only_tid, sink, error);

	return status == STATUS_OK ? mappings_synthesize(sys, pid, sink, error) : status;
}

/* Looks for "ADDRESS T _text" (or _stext) among the first lines of kallsyms, which are sorted by
 * address and begin with per-CPU symbols on x86-64. */
static uint64_t kernel_start(const struct sys *sys, char name[16])
{
	char block[KALLSYMS_BLOCK + 1];
	uint64_t address = 0;
	size_t held = 0, total = 0;
	const int fd = sys->openat(sys->state, AT_FDCWD, "/proc/kallsyms", O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return 0;
	while (!address && total < KALLSYMS_MAX) {
		const ssize_t n = sys->read(sys->state, fd, block + held, KALLSYMS_BLOCK - held);
		char *line = block, *end;

		if (n <= 0)
			break;
		total += (size_t)n;
		block[held + (size_t)n] = '\0';
		for (; !address && (end = strchr(line, '\n')); line = end + 1) {
			uint64_t at;
			char type, symbol[16];

			if (sscanf(line, "%" SCNx64 " %c %15s", &at, &type, symbol) == 3 &&
			    (!strcmp(symbol, "_text") || !strcmp(symbol, "_stext")) && at) {
				address = at;
				memcpy(name, symbol, strlen(symbol) + 1);
			}
		}
		held = strlen(line);
		memmove(block, line, held);
		if (held == KALLSYMS_BLOCK)
			break;
	}
	sys->close(sys->state, fd);
	return address;
}

struct module {
	char name[64];
	uint64_t address, size;
};

/* "name size references dependencies state 0xaddress" */
static bool module_parse(const char *line, struct module *module)
{
	return sscanf(line, "%63s %" SCNu64 " %*s %*s %*s 0x%" SCNx64, module->name, &module->size,
		      &module->address) == 3 &&
	       module->address;
}

static enum status modules_synthesize(const struct sys *sys, const struct synthesize_sink *sink,
				      uint64_t text_start, uint64_t *text_end, struct error *error)
{
	enum status status = STATUS_OK;
	char *text, *save = NULL;

	if (sys_read_file(sys, AT_FDCWD, "/proc/modules", MODULES_MAX_BYTES, &text, NULL, NULL) !=
	    STATUS_OK)
		return STATUS_OK;
	for (char *line = strtok_r(text, "\n", &save); status == STATUS_OK && line;
	     line = strtok_r(NULL, "\n", &save)) {
		struct record_buffer buffer;
		struct module module;
		char name[72];

		if (!module_parse(line, &module))
			continue;
		if (module.address > text_start && module.address < *text_end)
			*text_end = module.address;
		snprintf(name, sizeof(name), "[%s]", module.name);
		status = sink->record(
			sink->data,
			record_make_kernel_mmap(&buffer, module.address, module.size, 0, name),
			NULL, error);
	}
	free(text);
	return status;
}

enum status synthesize_kernel(const struct sys *sys, const struct synthesize_sink *sink,
			      struct error *error)
{
	struct record_buffer buffer;
	char symbol[16], name[40];
	const uint64_t start = kernel_start(sys, symbol);
	uint64_t end;
	enum status status;

	if (!start)
		return STATUS_OK;
	end = start + KERNEL_TEXT_BYTES > start ? start + KERNEL_TEXT_BYTES : UINT64_MAX;
	status = modules_synthesize(sys, sink, start, &end, error);
	if (status != STATUS_OK)
		return status;
	snprintf(name, sizeof(name), "[kernel.kallsyms]%s", symbol);
	return sink->record(sink->data,
			    record_make_kernel_mmap(&buffer, start, end - start, start, name), NULL,
			    error);
}
