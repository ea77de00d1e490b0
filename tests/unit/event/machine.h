/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Machines that event tests run on: sysfs and tracefs as real ones show them, written into a
 * directory. Excerpts: Skylake client, Alder Lake (hybrid), a Cortex-A72 board, a two-socket Xeon
 * with uncore PMUs; and one whose files are garbage.
 */
#ifndef ASSAY_TESTS_UNIT_EVENT_MACHINE_H
#define ASSAY_TESTS_UNIT_EVENT_MACHINE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "event/event.h"
#include "support/test.h"
#include "support/tree.h"

struct machine {
	struct tree tree;
	char sysfs[300], tracefs[300];
	struct event_roots roots;
	struct event_list list;
	struct error error;
};

#define DEV "sys/bus/event_source/devices/"

static const struct tree_file skylake_files[] = {
	{ DEV "cpu/type", "4\n" },
	{ DEV "cpu/format/event", "config:0-7\n" },
	{ DEV "cpu/format/umask", "config:8-15\n" },
	{ DEV "cpu/format/edge", "config:18\n" },
	{ DEV "cpu/format/inv", "config:23\n" },
	{ DEV "cpu/format/cmask", "config:24-31\n" },
	{ DEV "cpu/format/ldlat", "config1:0-15\n" },
	{ DEV "cpu/format/offcore_rsp", "config1:0-63\n" },
	{ DEV "cpu/events/cpu-cycles", "event=0x3c\n" },
	{ DEV "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
	{ DEV "cpu/events/topdown-slots-issued", "event=0xe,umask=01\n" },
	{ DEV "cpu/events/topdown-slots-issued.scale", "2\n" },
	{ DEV "cpu/events/topdown-slots-issued.unit", "slots\n" },
	{ DEV "software/type", "1\n" },
	{ DEV "msr/type", "9\n" },
	{ DEV "msr/format/event", "config:0-63\n" },
	{ DEV "msr/events/tsc", "event=0x00\n" },
	{ DEV "msr/events/aperf", "event=0x01\n" },
	{ "tracefs/events/enable", "0\n" },
	{ "tracefs/events/sched/enable", "0\n" },
	{ "tracefs/events/sched/filter", "none\n" },
	{ "tracefs/events/sched/sched_switch/id", "316\n" },
	{ "tracefs/events/sched/sched_switch/enable", "0\n" },
	{ "tracefs/events/sched/sched_wakeup/id", "319\n" },
	{ "tracefs/events/sched/sched_waking/id", "320\n" },
	{ "tracefs/events/syscalls/sys_enter_read/id", "700\n" },
	{ "tracefs/events/kvm-s390/kvm_entry/id", "900\n" },
};

static const struct tree_file alderlake_files[] = {
	{ DEV "cpu_core/type", "4\n" },
	{ DEV "cpu_core/cpus", "0-3\n" },
	{ DEV "cpu_core/format/event", "config:0-7\n" },
	{ DEV "cpu_core/format/umask", "config:8-15\n" },
	{ DEV "cpu_core/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
	{ DEV "cpu_core/format/ldlat", "config1:0-15\n" },
	{ DEV "cpu_core/events/slots", "event=0x00,umask=0x4\n" },
	{ DEV "cpu_atom/type", "10\n" },
	{ DEV "cpu_atom/cpus", "4-7\n" },
	{ DEV "cpu_atom/format/event", "config:0-7\n" },
	{ DEV "cpu_atom/format/umask", "config:8-15\n" },
	{ DEV "cpu_atom/format/ldlat", "config1:0-15\n" },
	{ DEV "cpu_atom/events/mem-loads", "event=0xd0,umask=0x5,ldlat=3\n" },
	{ DEV "software/type", "1\n" },
};

static const struct tree_file cortex_files[] = {
	{ DEV "armv8_pmuv3_0/type", "8\n" },
	{ DEV "armv8_pmuv3_0/cpus", "0-3\n" },
	{ DEV "armv8_pmuv3_0/format/event", "config:0-15\n" },
	{ DEV "armv8_pmuv3_0/format/long", "config1:0\n" },
	{ DEV "armv8_pmuv3_0/format/rdpmc", "config1:1\n" },
	{ DEV "armv8_pmuv3_0/events/cpu_cycles", "event=0x0011\n" },
	{ DEV "armv8_pmuv3_0/events/inst_retired", "event=0x0008\n" },
	{ DEV "software/type", "1\n" },
};

static const struct tree_file xeon_files[] = {
	{ DEV "cpu/type", "4\n" },
	{ DEV "cpu/format/event", "config:0-7\n" },
	{ DEV "uncore_imc_0/type", "20\n" },
	{ DEV "uncore_imc_0/cpumask", "0,24\n" },
	{ DEV "uncore_imc_0/format/event", "config:0-7\n" },
	{ DEV "uncore_imc_0/format/umask", "config:8-15\n" },
	{ DEV "uncore_imc_0/events/cas_count_read", "event=0x04,umask=0x03\n" },
	{ DEV "uncore_imc_0/events/cas_count_read.scale", "6.103515625e-5\n" },
	{ DEV "uncore_imc_0/events/cas_count_read.unit", "MiB\n" },
	{ DEV "uncore_imc_1/type", "21\n" },
	{ DEV "uncore_imc_1/cpumask", "0,24\n" },
	{ DEV "uncore_imc_1/format/event", "config:0-7\n" },
	{ DEV "uncore_imc_1/format/umask", "config:8-15\n" },
	{ DEV "uncore_imc_1/events/cas_count_read", "event=0x04,umask=0x03\n" },
	{ DEV "uncore_imc_free_running_0/type", "22\n" },
	{ DEV "uncore_imc_free_running_0/cpumask", "0\n" },
	{ DEV "uncore_imc_free_running_0/format/event", "config:0-7\n" },
	{ DEV "uncore_cha_0/type", "30\n" },
	{ DEV "uncore_cha_0/cpumask", "0,24\n" },
	{ DEV "uncore_cha_0/format/event", "config:0-7\n" },
	{ DEV "uncore_cha_0/format/tid_en", "config:19\n" },
	{ DEV "uncore_cha_0/format/filter", "config:0-7,32-35\n" },
	{ DEV "uncore_cha_0/format/opc", "config2:4-7\n" },
	{ DEV "uncore_cha_0/format/late", "config3:0-7\n" },
	{ DEV "uncore_cha_0/format/later", "config9:0-7\n" },
	{ DEV "uncore_pcu/type", "31\n" },
	{ DEV "uncore_pcu/cpumask", "\n" },
	{ DEV "uncore_pcu/format/event", "config:0-7\n" },
	{ DEV "hv_24x7/type", "40\n" },
	{ DEV "hv_24x7/format/domain", "config:0-3\n" },
	{ DEV "hv_24x7/format/core", "config:16-31\n" },
	{ DEV "hv_24x7/events/PM_CYC", "domain=2,core=?\n" },
};

static inline struct machine *machine_make(const struct tree_file *files, size_t n)
{
	struct machine *m = calloc(1, sizeof(*m));

	if (!m)
		exit(1);
	tree_make(&m->tree, files, n);
	snprintf(m->sysfs, sizeof(m->sysfs), "%s/sys", m->tree.root);
	snprintf(m->tracefs, sizeof(m->tracefs), "%s/tracefs", m->tree.root);
	m->roots = (struct event_roots){ m->sysfs, m->tracefs };
	event_list_init(&m->list);
	return m;
}

#define MACHINE(files) machine_make(files, sizeof(files) / sizeof((files)[0]))

static inline void machine_free(struct machine *m)
{
	event_list_release(&m->list);
	tree_remove(&m->tree);
	free(m);
}

/* The machine, its list holding the events of `text` only. */
static inline enum status machine_try(struct machine *m, const char *text)
{
	event_list_release(&m->list);
	m->error = (struct error){ .offset = ERROR_NO_OFFSET };
	return event_parse(&m->list, sys_real(), &m->roots, text, &m->error);
}

/* Fails the test with the error's words when `text` is not understood. */
static inline const struct event *machine_events(struct machine *m, const char *text, size_t n)
{
	if (machine_try(m, text) != STATUS_OK)
		fail_msg("%s: %s", text, m->error.text);
	if (m->list.n != n)
		fail_msg("%s: %zu events instead of %zu", text, m->list.n, n);
	return m->list.events;
}

static inline const struct event *machine_event(struct machine *m, const char *text)
{
	return machine_events(m, text, 1);
}

/* The text is refused at this byte with this status, in words that hold `words`. */
static inline void machine_refuses(struct machine *m, const char *text, enum status status,
				   size_t offset, const char *words)
{
	const enum status got = machine_try(m, text);

	if (got == STATUS_OK)
		fail_msg("%s is understood", text);
	if (got != status || m->error.status != status)
		fail_msg("%s: status %d: %s", text, (int)got, m->error.text);
	if (m->error.offset != offset)
		fail_msg("%s: offset %llu: %s", text, (unsigned long long)m->error.offset,
			 m->error.text);
	if (!strstr(m->error.text, words))
		fail_msg("%s: '%s' does not say '%s'", text, m->error.text, words);
	if (m->list.n || strchr(m->error.text, '\n'))
		fail_msg("%s: events or a newline are left", text);
}

static inline int skylake_up(void **state)
{
	*state = MACHINE(skylake_files);
	return 0;
}

static inline int alderlake_up(void **state)
{
	*state = MACHINE(alderlake_files);
	return 0;
}

static inline int cortex_up(void **state)
{
	*state = MACHINE(cortex_files);
	return 0;
}

static inline int xeon_up(void **state)
{
	*state = MACHINE(xeon_files);
	return 0;
}

static inline int machine_down(void **state)
{
	machine_free(*state);
	return 0;
}

#define ON(machine, test) cmocka_unit_test_setup_teardown(test, machine##_up, machine_down)

#endif
