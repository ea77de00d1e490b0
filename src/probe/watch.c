/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The time in which probes are on: signals of the user, ends of the targets, rings to be emptied, looks at threads,
 * libraries and processes that come.
 *
 * lint: seam because the targets' ends and signals are waited for in real processes
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/probe_state.h"

#define POLL_NS        UINT64_C(100000000)
#define ENDING_POLL_NS UINT64_C(1000000)
#define DRAIN_NS       UINT64_C(1000000)
#define DRAIN_BUSY_NS  UINT64_C(20000) /* a ring was half full */
#define EVER_NS        (UINT64_C(1) << 62)

static uint64_t calls_now(const struct probe *probe)
{
	uint64_t calls = 0;

	for (uint32_t i = 0; probe->buffers && i < probe->plan.n_used; i++) {
		struct function_sums sums = { 0 };

		buffers_function_sums(probe->buffers, &probe->plan, PROBE_COUNT, i, &sums);
		calls += sums.calls;
	}
	return calls;
}

/* A signal for us: interrupts end the probing, others are for a launched command. */
bool watch_signal_is_stop(const struct probe_set *set)
{
	struct signalfd_siginfo info;
	bool stop = false;

	while (read(set->options->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		stop = true;
		if (set->result->launched && info.ssi_signo != SIGINT && info.ssi_code == SI_USER)
			kill(set->probes->pid, (int)info.ssi_signo);
	}
	return stop;
}

/* Has the target ended? A launched one is reaped. */
bool watch_target_ended(struct probe *probe)
{
	int status;

	if (!probe->result->launched) {
		/* readable when the process has ended, also while nobody has reaped it */
		struct pollfd fd = { probe->pidfd, POLLIN, 0 };
		const struct timespec now = { 0, 0 };

		if (probe->pidfd >= 0)
			return probe->sys->ppoll(probe->sys->state, &fd, 1, &now, NULL) > 0;
		return kill(probe->pid, 0) < 0 && errno == ESRCH;
	}
	if (probe->reaped)
		return true;
	if (waitpid(probe->pid, &status, WNOHANG) != probe->pid)
		return false;
	probe->reaped = true;
	probe->result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	probe->result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool all_ended(const struct probe_set *set)
{
	bool all = true;

	for (size_t i = 0; i < set->n; i++) {
		set->probes[i].ended = set->probes[i].ended || watch_target_ended(&set->probes[i]);
		all &= set->probes[i].ended;
	}
	return all && follow_is_over(set);
}

static void guardian_is_lost(struct probe *probe)
{
	if (!probe->keeper.lost)
		probe_notice(probe,
			     "the guardian of process %d has been killed: processes that it makes "
			     "from now on are not followed",
			     probe->pid);
	probe->keeper.lost = true;
}

/* Sleeps until a signal comes, a target ends or time is up; true when the user wants an end. */
static bool set_wait(struct probe_set *set, uint64_t wait_ns)
{
	struct pollfd fds[1 + 2 * PROBE_MAX_PIDS] = { { set->options->signal_fd, POLLIN, 0 } };
	nfds_t n = 1;
	struct timespec timeout;

	for (size_t i = 0; i < set->n; i++) {
		struct probe *probe = &set->probes[i];

		if (set->options->follow && probe->keeper.fd >= 0 && !probe->keeper.lost) {
			wait_ns = probe->keeper.news ? 0 : wait_ns;
			fds[n++] = (struct pollfd){ probe->keeper.fd, POLLIN, 0 };
		}
		if (probe->ended)
			continue;
		/* one that is ending is to be looked for, not polled */
		if (probe->pidfd < 0 || probe->ending)
			wait_ns = least(wait_ns, probe->ending ? ENDING_POLL_NS : POLL_NS);
		else
			fds[n++] = (struct pollfd){ probe->pidfd, POLLIN, 0 };
	}
	timeout = (struct timespec){ (time_t)(wait_ns / 1000000000), (long)(wait_ns % 1000000000) };
	set->sys->ppoll(set->sys->state, fds, n, &timeout, NULL);
	for (size_t i = 0; i < set->n; i++) {
		for (nfds_t k = 1; k < n; k++) {
			if (fds[k].fd >= 0 && fds[k].fd == set->probes[i].pidfd && fds[k].revents)
				set->probes[i].ending = true;
			if (fds[k].fd == set->probes[i].keeper.fd && (fds[k].revents & POLLHUP))
				guardian_is_lost(&set->probes[i]);
		}
	}
	for (size_t i = 0; set->options->follow && i < set->n; i++)
		follow_events(set, &set->probes[i]);
	return (fds[0].revents & POLLIN) && watch_signal_is_stop(set);
}

static void progress_tell(const struct probe_set *set, uint64_t now)
{
	struct probe_progress progress = { .elapsed_ns = now - set->start_ns };

	for (size_t i = 0; i < set_count(set); i++) {
		const struct probe *probe = set_probe(set, i);

		progress.calls += calls_now(probe);
		progress.probed += probe->origin == probe ? probe->install.n_planned : 0;
	}
	set->hooks->progress(set->hooks->data, &progress);
}

static void epochs_next(const struct probe_set *set)
{
	for (size_t i = 0; i < set_count(set); i++) {
		if (set_probe(set, i)->shared)
			__atomic_fetch_add(&set_probe(set, i)->shared->epoch, 1, __ATOMIC_RELAXED);
	}
}

/* Takes out what the threads have recorded; true when a ring was more than half full. */
bool watch_drain(const struct probe_set *set)
{
	bool full = false;

	for (size_t i = 0; i < set_count(set); i++) {
		struct probe *probe = set_probe(set, i);

		if (probe->buffers && probe->plan.n_records)
			full |= replay_drain(&probe->replay, probe->buffers, &probe->plan);
	}
	return full;
}

/* What is taken out of the targets while they run; returns when the next time is. */
static uint64_t look(const struct probe_set *set, uint64_t now)
{
	if (set->options->mode == PROBE_TRACE)
		return now + (watch_drain(set) ? DRAIN_BUSY_NS : DRAIN_NS);
	if (set->options->mode != PROBE_STATE)
		return EVER_NS;
	for (size_t i = 0; i < set_count(set); i++) {
		struct probe *probe = set_probe(set, i);

		if (probe->buffers && !probe->ended)
			states_look(&probe->states, probe->buffers, &probe->plan, probe->pid);
	}
	return now + states_gap_ns(set->sys, set->options->look_ns);
}

/* Libraries that have come to the targets; returns when the next time to look is. */
static uint64_t set_arrivals(const struct probe_set *set)
{
	uint64_t next = EVER_NS;

	for (size_t i = 0; i < set_count(set); i++) {
		struct probe *probe = set_probe(set, i);

		if (probe->origin == probe)
			next = least(next, arrivals_look(probe, sys_now_ns(set->sys)));
	}
	return next;
}

/* Until the targets have ended, time is up or the user stops it. */
void watch_run(struct probe_set *set)
{
	const struct probe_options *options = set->options;
	const uint64_t end = options->duration_ns ? set->start_ns + options->duration_ns : EVER_NS;
	uint64_t now = sys_now_ns(set->sys), epoch = options->cap_epoch_ns, tell, next;
	uint64_t arrivals = now;

	epoch = epoch && options->cap ? now + epoch : EVER_NS;
	tell = set->hooks->progress_ns ? now + set->hooks->progress_ns : EVER_NS;
	next = options->mode == PROBE_STATE ? now + states_gap_ns(set->sys, options->look_ns)
					    : look(set, now);
	while (now < end && !all_ended(set)) {
		const uint64_t due = least(least(least(end, epoch), least(tell, next)), arrivals);

		if (set_wait(set, due > now ? least(due - now, POLL_NS * 10) : 0))
			break;
		now = sys_now_ns(set->sys);
		if (now >= next)
			next = look(set, options->mode == PROBE_STATE ? next : now);
		if (now >= arrivals) {
			arrivals = set_arrivals(set);
			now = sys_now_ns(set->sys);
			/* looks that were missed meanwhile are not made up for: they would be at one moment */
			if (options->mode == PROBE_STATE && next < now)
				next = now;
		}
		if (now >= epoch) {
			epochs_next(set);
			epoch = now + options->cap_epoch_ns;
		}
		if (now >= tell) {
			progress_tell(set, now);
			tell = now + set->hooks->progress_ns;
		}
	}
}
