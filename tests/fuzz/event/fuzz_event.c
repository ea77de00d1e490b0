/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The event grammar on any text, over a sysfs and a tracefs whose files hold any bytes.
 *
 *	input = TEXT [0x00 FILE0 [0x00 FILE1 ...]]
 *
 * FILEi replaces the contents of the i-th file below; an empty one leaves it. The tree is in memory,
 * behind the seam, so that a run costs no system call. libpfm4 answers as on a Skylake.
 *
 * Checked besides the sanitizers: all events are named or none is left, an error is set, weakening
 * comes to an end.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEV      "/sys/bus/event_source/devices"
#define MAX_FDS  8
#define FIRST_FD 1000

static const struct {
	const char *path, *text;
} tree[] = {
	{ DEV "/cpu_core/type", "4\n" },
	{ DEV "/cpu_core/cpus", "0-3\n" },
	{ DEV "/cpu_core/format/event", "config:0-7,32-35\n" },
	{ DEV "/cpu_core/format/ldlat", "config1:0-15\n" },
	{ DEV "/cpu_core/events/mem-loads", "event=0xcd,ldlat=3\n" },
	{ DEV "/cpu_core/events/par", "event=?\n" },
	{ DEV "/cpu_atom/type", "10\n" },
	{ DEV "/cpu_atom/cpus", "4-7\n" },
	{ DEV "/cpu_atom/format/event", "config:0-7\n" },
	{ DEV "/uncore_imc_0/type", "20\n" },
	{ DEV "/uncore_imc_0/cpumask", "0,24\n" },
	{ DEV "/uncore_imc_0/format/event", "config2:0-7\n" },
	{ DEV "/uncore_imc_0/events/cas", "event=0x04\n" },
	{ DEV "/uncore_imc_0/events/cas.scale", "6.1e-5\n" },
	{ DEV "/uncore_imc_1/type", "21\n" },
	{ DEV "/uncore_imc_1/format/event", "config3:0-7\n" },
	{ "/sys/kernel/tracing/events/enable", "0\n" },
	{ "/sys/kernel/tracing/events/sched/sched_switch/id", "316\n" },
	{ "/sys/kernel/tracing/events/sched/sched_waking/id", "320\n" },
	{ "/sys/kernel/tracing/events/irq/irq_handler_entry/id", "120\n" },
	{ "/proc/sys/kernel/perf_event_paranoid", "2\n" },
};

#define N_FILES (sizeof(tree) / sizeof(tree[0]))

struct memory {
	const uint8_t *contents[N_FILES];
	size_t sizes[N_FILES];
	struct {
		int file;       /* -1: free, N_FILES: a directory */
		size_t at;      /* read so far; for a directory, files looked at so far */
		char path[256]; /* of a directory */
	} fds[MAX_FDS];
};

/* The index of the file, N_FILES for a directory, -1 for what does not exist. */
static int path_find(const char *path)
{
	const size_t n = strlen(path);

	for (size_t i = 0; i < N_FILES; i++)
		if (!strncmp(tree[i].path, path, n)) {
			if (!tree[i].path[n])
				return (int)i;
			if (tree[i].path[n] == '/')
				return N_FILES;
		}
	return -1;
}

static int memory_openat(void *state, int dir_fd, const char *path, int flags, mode_t mode)
{
	struct memory *memory = state;
	const int file = path_find(path);

	(void)dir_fd;
	(void)flags;
	(void)mode;
	if (file < 0)
		return -ENOENT;
	for (int i = 0; i < MAX_FDS; i++)
		if (memory->fds[i].file < 0) {
			memory->fds[i].file = file;
			memory->fds[i].at = 0;
			snprintf(memory->fds[i].path, sizeof(memory->fds[i].path), "%s/", path);
			return FIRST_FD + i;
		}
	abort(); /* descriptors leak */
}

static int memory_close(void *state, int fd)
{
	((struct memory *)state)->fds[fd - FIRST_FD].file = -1;
	return 0;
}

static ssize_t memory_read(void *state, int fd, void *buffer, size_t size)
{
	struct memory *memory = state;
	const int file = memory->fds[fd - FIRST_FD].file;
	size_t *at = &memory->fds[fd - FIRST_FD].at, left;

	if (file == N_FILES)
		return -EISDIR;
	left = memory->sizes[file] - *at;
	size = size < left ? size : left;
	if (size)
		memcpy(buffer, memory->contents[file] + *at, size);
	*at += size;
	return (ssize_t)size;
}

/* One name a call. Files of one folder stand together in the tree, so a name that was the last one's
 * is the same folder again. */
static ssize_t memory_getdents(void *state, int fd, void *buffer, size_t size)
{
	struct memory *memory = state;
	const char *path = memory->fds[fd - FIRST_FD].path;
	size_t *at = &memory->fds[fd - FIRST_FD].at;
	const size_t n = strlen(path);

	if (memory->fds[fd - FIRST_FD].file != N_FILES)
		return -ENOTDIR;
	for (; *at < N_FILES; (*at)++) {
		struct dirent64 *entry = buffer;
		const char *name;
		size_t length;

		if (strncmp(tree[*at].path, path, n))
			continue;
		name = tree[*at].path + n;
		length = strcspn(name, "/");
		if (*at && !strncmp(tree[*at - 1].path, tree[*at].path, n + length) &&
		    tree[*at - 1].path[n + length] == '/')
			continue;
		memset(entry, 0, size < sizeof(*entry) ? size : sizeof(*entry));
		entry->d_reclen = sizeof(*entry);
		memcpy(entry->d_name, name, length);
		(*at)++;
		return sizeof(*entry);
	}
	return 0;
}

static int memory_fstatat(void *state, int dir_fd, const char *path, struct stat *stat, int flags)
{
	const int file = path_find(path);

	(void)state;
	(void)dir_fd;
	(void)flags;
	if (file < 0)
		return -ENOENT;
	memset(stat, 0, sizeof(*stat));
	stat->st_mode = file == N_FILES ? S_IFDIR : S_IFREG;
	return 0;
}

static void check(int truth)
{
	if (!truth)
		abort();
}

static void events_check(struct event_list *list, const struct sys *sys)
{
	static const int errnos[] = { ENOENT, EOPNOTSUPP, EINVAL, EACCES, EMFILE };

	check(list->n > 0 && list->n <= EVENT_MAX);
	for (size_t i = 0; i < list->n; i++) {
		struct event *event = &list->events[i];
		struct error error;
		int steps = 0;

		check(event->asked && event->granted && event->name && event->unit);
		check(event->attr.size == sizeof(event->attr) && event->group < list->n_groups);
		check(!event->cpus == !event->n_cpus);
		event_open_error(&error, sys, event, errnos[i % 5]);
		while (event_weaken(event, sys, errnos[i % 5]))
			check(++steps < 8);
	}
}

static void contents_take(struct memory *memory, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < N_FILES; i++) {
		const uint8_t *end = size ? memchr(data, 0, size) : NULL;
		const size_t n = end ? (size_t)(end - data) : size;

		memory->contents[i] = n ? data : (const uint8_t *)tree[i].text;
		memory->sizes[i] = n ? n : strlen(tree[i].text);
		data += n;
		size -= n;
		if (size) {
			data++;
			size--;
		}
	}
	for (int i = 0; i < MAX_FDS; i++)
		memory->fds[i].file = -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct event_roots roots = { "/sys", NULL };
	struct error error = { .status = STATUS_OK };
	struct sys sys = *sys_real();
	struct event_list list;
	struct memory memory;
	char *text = calloc(1, size + 1);
	size_t n;

	if (!text)
		return 0;
	setenv("LIBPFM_FORCE_PMU", "skl", 1); /* read at libpfm4's first use */
	memcpy(text, data, size);
	n = strlen(text);
	contents_take(&memory, data + n, size - n);
	sys.state = &memory;
	sys.openat = memory_openat;
	sys.close = memory_close;
	sys.read = memory_read;
	sys.getdents = memory_getdents;
	sys.fstatat = memory_fstatat;
	event_list_init(&list);
	if (event_parse(&list, &sys, &roots, text, &error) == STATUS_OK) {
		events_check(&list, &sys);
	} else {
		check(list.n == 0 && error.status != STATUS_OK);
		check(memchr(error.text, 0, sizeof(error.text)) && error.text[0]);
	}
	for (int i = 0; i < MAX_FDS; i++)
		check(memory.fds[i].file < 0);
	event_list_release(&list);
	free(text);
	return 0;
}
