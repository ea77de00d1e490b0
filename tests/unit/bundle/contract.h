/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A manifest with every field filled, values that are hard to carry among them, and its comparison. */
#ifndef ASSAY_TESTS_UNIT_BUNDLE_CONTRACT_H
#define ASSAY_TESTS_UNIT_BUNDLE_CONTRACT_H

#include <stdlib.h>
#include <string.h>

#include "bundle/manifest.h"
#include "support/test.h"

static inline char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

static inline void contract_machine(struct manifest_machine *machine)
{
	machine->hostname = copy_of("host");
	machine->kernel = copy_of("6.1.0");
	machine->arch = copy_of("x86_64");
	machine->cpu_model = copy_of("CPU \"odd} \\ back\tslash [");
	machine->clocksource = copy_of("tsc");
	machine->temperature_millidegree = -4000;
	machine->cpus_online = 2;
	machine->cpus_configured = 4;
	machine->page_size = 4096;
	machine->memory_kib = 16000000;
	machine->perf_event_paranoid = -1;
	machine->max_sample_rate = 100000;
	machine->cpu_time_max_percent = 25;
	machine->mlock_kb = 516;
	machine->max_stack = 127;
	machine->governor = copy_of("powersave");
	machine->hypervisor = copy_of("kvm");
	machine->boot_id = copy_of("c0ffee");
}

static inline void contract_lists(struct manifest *m)
{
	m->n_command = 3;
	m->command = calloc(4, sizeof(*m->command));
	m->command[0] = copy_of("./prog");
	m->command[1] = copy_of("");
	m->command[2] = copy_of("bytes \xff\xfe and na\xc3\xafve");
	m->n_pids = 2;
	m->pids = calloc(2, sizeof(*m->pids));
	m->pids[0] = 1;
	m->pids[1] = 4194304;
	m->n_events = 2;
	m->events = calloc(2, sizeof(*m->events));
	m->events[0] = (struct manifest_event){ copy_of("cycles:pp"), copy_of("cpu-clock"),
						copy_of("no PMU"), copy_of("ns"), 0 };
	m->events[1] = (struct manifest_event){ copy_of("page-faults"), copy_of("page-faults"),
						NULL, copy_of("page-faults"), 3 };
	m->n_clocks = 2;
	m->clocks = calloc(2, sizeof(*m->clocks));
	m->clocks[0] = (struct manifest_clock){ .kind = SCHEDULE_JITTER,
						.redraw = REDRAW_BLOCK,
						.block = 5,
						.randomised = true,
						.mean_period = 1e6 / 3,
						.low = 0.5,
						.high = 1.5,
						.target_hz = 0.1 };
	m->clocks[1] = (struct manifest_clock){ .kind = SCHEDULE_FIXED, .event = 1 };
	m->clocks[0].n_ids = 2;
	m->clocks[0].ids = calloc(2, sizeof(uint64_t));
	m->clocks[0].ids[0] = 7;
	m->clocks[0].ids[1] = UINT64_MAX;
}

static inline void contract_fill(struct manifest *m)
{
	manifest_init(m);
	m->assay_version = copy_of("0.1.0");
	m->start_ns = 1;
	m->start_realtime_ns = UINT64_C(1795993767059724710);
	m->seed = UINT64_C(0xfedcba9876543210); /* above INT64_MAX */
	m->schedule = SCHEDULE_MIXED;
	m->redraw = REDRAW_BLOCK;
	m->scope = SCOPE_CGROUP;
	m->scope_why = copy_of("it is the best");
	m->kernel = true;
	m->budget = 0.01;
	m->sample_cost_ns = 19600.123456789012;
	m->redraw_cost_ns = 5e-324; /* the smallest denormal */
	m->min_period_ns = 200000;
	m->rate_hz = 1.7976931348623157e308;
	m->rate_why = copy_of("budget");
	m->callchains = true;
	m->call_graph = copy_of("fp");
	m->epoch_nominal_ns = 200000000;
	contract_machine(&m->machine);
	contract_lists(m);
}

static inline struct manifest_epoch contract_epoch(uint64_t index,
						   struct manifest_epoch_clock clocks[2])
{
	for (unsigned int k = 0; k < 2; k++)
		clocks[k] = (struct manifest_epoch_clock){
			.mean_period = 1e6 + (double)index / 7,
			.samples = 200 + index + k,
			.lost = index % 3,
			.redraws = 40,
			.throttled_ns = index % 2 ? 500 : 0,
			.intervals = 100,
			.realised_mean = 1000000.0 / 3 + k,
			.realised_sd = 0.1,
			.realised_min = -0.0,
			.realised_max = 1e300,
			.intended_mean = 2.0 / 3,
			.intended_sd = 1e-300,
		};
	return (struct manifest_epoch){
		.index = index,
		.seed = index * UINT64_C(0x9e3779b97f4a7c15),
		.start_ns = 1000 + index * 200,
		.end_ns = 1200 + index * 200,
		.data_bytes = 4096 * (index + 1),
		.target_cpu_ns = 190,
		.collector_cpu_ns = 2,
		.budget = 0.01,
		.achieved = 0.0099,
		.late_ns = index,
		.busy_ns = 7 * index,
		.steal_ns = index,
		.frequency_khz = 2000000 + index,
		.temperature_millidegree = -40000 + (int64_t)index,
		.clocks = clocks,
	};
}

static inline void same_text(const char *a, const char *b)
{
	if (!a || !b)
		assert_ptr_equal(a, b);
	else
		assert_string_equal(a, b);
}

/* Bit for bit: a double that changed in the last place fails. */
#define SAME(a, b, member) assert_memory_equal(&(a)->member, &(b)->member, sizeof((a)->member))

static inline void same_epoch(const struct manifest_epoch *a, const struct manifest_epoch *b)
{
	assert_memory_equal(a, b, offsetof(struct manifest_epoch, clocks));
	assert_memory_equal(a->clocks, b->clocks, 2 * sizeof(*a->clocks));
}

static inline void same_lists(const struct manifest *a, const struct manifest *b)
{
	assert_int_equal(a->n_command, b->n_command);
	for (size_t i = 0; i <= a->n_command; i++)
		same_text(a->command[i], b->command[i]);
	assert_int_equal(a->n_pids, b->n_pids);
	assert_memory_equal(a->pids, b->pids, a->n_pids * sizeof(*a->pids));
	assert_int_equal(a->n_events, b->n_events);
	for (size_t i = 0; i < a->n_events; i++) {
		same_text(a->events[i].asked, b->events[i].asked);
		same_text(a->events[i].granted, b->events[i].granted);
		same_text(a->events[i].why, b->events[i].why);
		same_text(a->events[i].unit, b->events[i].unit);
		assert_int_equal(a->events[i].precise_ip, b->events[i].precise_ip);
	}
	assert_int_equal(a->n_clocks, b->n_clocks);
	for (size_t i = 0; i < a->n_clocks; i++) {
		assert_memory_equal(&a->clocks[i], &b->clocks[i],
				    offsetof(struct manifest_clock, ids));
		assert_int_equal(a->clocks[i].n_ids, b->clocks[i].n_ids);
		if (a->clocks[i].n_ids)
			assert_memory_equal(a->clocks[i].ids, b->clocks[i].ids,
					    a->clocks[i].n_ids * sizeof(uint64_t));
	}
}

static inline void same_head(const struct manifest *a, const struct manifest *b)
{
	same_text(a->assay_version, b->assay_version);
	SAME(a, b, start_ns);
	SAME(a, b, start_realtime_ns);
	SAME(a, b, seed);
	SAME(a, b, schedule);
	SAME(a, b, redraw);
	SAME(a, b, scope);
	same_text(a->scope_why, b->scope_why);
	SAME(a, b, budget);
	SAME(a, b, sample_cost_ns);
	SAME(a, b, redraw_cost_ns);
	SAME(a, b, min_period_ns);
	SAME(a, b, rate_hz);
	same_text(a->rate_why, b->rate_why);
	SAME(a, b, callchains);
	SAME(a, b, kernel);
	same_text(a->call_graph, b->call_graph);
	SAME(a, b, epoch_nominal_ns);
	same_text(a->machine.hostname, b->machine.hostname);
	same_text(a->machine.kernel, b->machine.kernel);
	same_text(a->machine.arch, b->machine.arch);
	same_text(a->machine.cpu_model, b->machine.cpu_model);
	same_text(a->machine.governor, b->machine.governor);
	same_text(a->machine.clocksource, b->machine.clocksource);
	same_text(a->machine.hypervisor, b->machine.hypervisor);
	SAME(a, b, machine.temperature_millidegree);
	SAME(a, b, machine.cpus_online);
	SAME(a, b, machine.cpus_configured);
	SAME(a, b, machine.page_size);
	SAME(a, b, machine.memory_kib);
	SAME(a, b, machine.perf_event_paranoid);
	SAME(a, b, machine.max_sample_rate);
	SAME(a, b, machine.cpu_time_max_percent);
	SAME(a, b, machine.mlock_kb);
	SAME(a, b, machine.max_stack);
	same_text(a->machine.boot_id, b->machine.boot_id);
	same_lists(a, b);
}

#endif
