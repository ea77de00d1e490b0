/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assay's side of --follow (the guardian's is follow.h): what a followed process needs of assay before it may run on, and
 * its sums when it has ended.
 * lint: seam because buffers are mapped memory, and descriptors come from the guardian
 *
 *	born	image, plans and trampolines are its parent's; its buffers are mapped here and enabled
 *	ready	new code: analysed, prepared and applied like a target, or let go when it has none of the functions
 *	ended	rows and sums go into the result, and the buffers are given up
 *
 * A process in which something fails is let go, listed with the reason, and disturbs no other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "probe/probe_state.h"

static struct probe *live_find(const struct probe_set *set, pid_t pid)
{
	for (size_t i = set_count(set); i-- > 0;) {
		struct probe *probe = set_probe(set, i);

		if (probe->pid == pid && !probe->collected)
			return probe;
	}
	return NULL;
}

/* Whose image and plans have this number. */
static struct probe *program_find(const struct probe_set *set, uint32_t program)
{
	for (size_t i = 0; i < set_count(set); i++) {
		struct probe *probe = set_probe(set, i);

		if (probe->program == program && probe->origin == probe && !probe->released)
			return probe;
	}
	return NULL;
}

static struct probe *followed_add(struct probe_set *set, struct probe *target,
				  const struct guardian_event *event)
{
	struct probe *probe = calloc(1, sizeof(*probe));

	if (!probe ||
	    !array_reserve(&set->followed, &set->followed_capacity, set->n_followed + 1)) {
		free(probe);
		return NULL;
	}
	*probe = (struct probe){ .options = set->options,
				 .sys = set->sys,
				 .hooks = set->hooks,
				 .result = set->result,
				 .ownership = &set->ownership,
				 .guardian = target->guardian,
				 .keeper = { .fd = -1 },
				 .pid = event->pid,
				 .parent = event->parent,
				 .memfd = -1,
				 .pidfd = -1,
				 .origin = probe,
				 .images = &set->images,
				 .start = event->by_exec ? PROBE_EXECED : PROBE_FORKED,
				 .calibration = set->calibration,
				 .passage_calibration = set->passage_calibration,
				 .replay = { .fd = -1 } };
	memcpy(probe->comm, event->comm, sizeof(probe->comm));
	set->followed[set->n_followed++] = probe;
	return probe;
}

static void unprobed_add(struct probe *target, const struct guardian_event *event,
			 const char *reason)
{
	struct guardian_child *child;

	if (target->n_unprobed >= GUARDIAN_MAX_CHILDREN ||
	    !array_reserve(&target->unprobed, &target->unprobed_capacity, target->n_unprobed + 1)) {
		target->n_unprobed_more++;
		return;
	}
	child = &target->unprobed[target->n_unprobed++];
	*child = (struct guardian_child){ .pid = event->pid };
	memcpy(child->comm, event->comm, sizeof(child->comm));
	snprintf(child->reason, sizeof(child->reason), "%s", reason);
}

static void buffers_give_up(struct probe *probe)
{
	if (probe->shared)
		ownership_drop(probe->ownership, probe->shared);
	if (probe->buffers)
		munmap(probe->buffers, probe->plan.bytes);
	if (probe->memfd >= 0)
		close(probe->memfd);
	probe->memfd = -1;
	probe->buffers = NULL;
	probe->shared = NULL;
	states_release(&probe->states);
	replay_release(&probe->replay);
}

static void program_release(struct probe *probe)
{
	install_release(&probe->install);
	image_release(&probe->image);
	probe->released = true;
}

static void followed_free(struct probe_set *set, struct probe *probe)
{
	for (size_t i = 0; i < set->n_followed; i++) {
		if (set->followed[i] != probe)
			continue;
		set->followed[i] = set->followed[--set->n_followed];
		buffers_give_up(probe);
		if (probe->origin == probe && !probe->released)
			program_release(probe);
		free(probe);
		return;
	}
}

enum status probe_collect(struct probe_set *set, struct probe *probe, struct error *error)
{
	enum status status;

	if (probe->buffers && probe->plan.n_records)
		(void)replay_drain(&probe->replay, probe->buffers, &probe->plan);
	status = result_fill(probe, error);
	buffers_give_up(probe);
	probe->collected = true;
	(void)set;
	return status;
}

/* Let go in any case. */
static void let_go(const struct probe *target, pid_t pid)
{
	struct error ignored;

	target->guardian->arena->pid = pid;
	(void)!guardian_let_go(target->guardian, &ignored);
}

static enum status born_enable(struct probe *probe, struct probe *origin, uint64_t address,
			       struct error *error)
{
	enum status status;

	probe->origin = origin;
	probe->program = origin->program;
	probe->plan = origin->plan;
	status = probe_buffers_open(probe, address, error);
	if (status == STATUS_OK)
		status = probe_records_init(probe, error);
	if (status != STATUS_OK)
		return status;
	probe->start_ns = sys_now_ns(probe->sys);
	return ownership_take(probe->ownership, probe->shared, error);
}

static void born(struct probe_set *set, struct probe *target, const struct guardian_event *event,
		 int memfd)
{
	struct probe *origin = program_find(set, event->program);
	struct probe *probe = origin && memfd >= 0 ? followed_add(set, target, event) : NULL;
	struct error error;

	if (probe) {
		probe->memfd = memfd;
		if (born_enable(probe, origin, event->buffers, &error) != STATUS_OK) {
			unprobed_add(target, event, error.text);
			followed_free(set, probe);
		}
	} else if (memfd >= 0) {
		unprobed_add(target, event, "out of memory");
		close(memfd);
	}
	let_go(target, event->pid);
}

static void ready(struct probe_set *set, struct probe *target, const struct guardian_event *event)
{
	struct probe *probe = followed_add(set, target, event);
	struct error error;

	if (!probe) {
		unprobed_add(target, event, "out of memory");
	} else {
		probe->program = ++set->n_programs;
		if (probe_attach(probe, &error) != STATUS_OK)
			unprobed_add(target, event, error.text);
		else if (!probe->buffers)
			unprobed_add(target, event, "none of the functions");
		if (probe->calibration.ns0 && !set->calibration.ns0) {
			set->calibration = probe->calibration;
			set->passage_calibration = probe->passage_calibration;
		}
		if (!probe->buffers || !probe->shared->owner)
			followed_free(set, probe);
	}
	let_go(target, event->pid);
}

static void ended(struct probe_set *set, const struct guardian_event *event)
{
	struct probe *probe = live_find(set, event->pid), *origin;
	struct error error;

	if (probe && probe->program == event->program) {
		probe->ended = true;
		if (probe_collect(set, probe, &error) != STATUS_OK)
			probe_notice(probe, "%s", error.text);
		if (probe->origin != probe)
			followed_free(set, probe);
	}
	origin = event->last ? program_find(set, event->program) : NULL;
	if (origin && origin->collected) {
		program_release(origin);
		if (origin->guardian != &origin->keeper)
			followed_free(set, origin);
	}
}

void follow_events(struct probe_set *set, struct probe *target)
{
	struct guardian_event event = { .kind = GUARDIAN_NOTHING };
	struct error error;
	int memfd;

	if (target->guardian->lost)
		return;
	if (!target->guardian->news &&
	    !__atomic_load_n(&target->guardian->arena->n_events, __ATOMIC_ACQUIRE))
		return;
	do {
		if (guardian_event_take(target->guardian, &event, &memfd, &error) != STATUS_OK)
			return;
		if (event.kind == GUARDIAN_BORN)
			born(set, target, &event, memfd);
		else if (event.kind == GUARDIAN_READY)
			ready(set, target, &event);
		else if (event.kind == GUARDIAN_ENDED)
			ended(set, &event);
	} while (event.kind != GUARDIAN_NOTHING);
}

bool follow_is_over(const struct probe_set *set)
{
	uint32_t n = 0;

	for (size_t i = 0; set->options->follow && i < set->n; i++) {
		const struct guardian_arena *arena = set->probes[i].guardian->arena;

		if (set->probes[i].guardian->lost)
			continue;
		n += __atomic_load_n(&arena->n_live, __ATOMIC_ACQUIRE);
		n += __atomic_load_n(&arena->n_events, __ATOMIC_ACQUIRE);
	}
	return !n;
}

void follow_probes_free(struct probe_set *set)
{
	while (set->n_followed)
		followed_free(set, set->followed[set->n_followed - 1]);
	free((void *)set->followed);
	set->followed = NULL;
	set->followed_capacity = 0;
}
