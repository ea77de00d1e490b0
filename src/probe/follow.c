/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because processes, their stops and signals are real whatever the table is
 */
#include "probe/follow.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "probe/follow_births.h"
#include "target/process.h"

#define POLL_NS      20000
#define HELD_MOST_NS UINT64_C(60000000000)
#define IDLE_NS      UINT64_C(1000000000)
#define SYSGOOD      0x80 /* PTRACE_O_TRACESYSGOOD: of a stop at a system call */
#define IGNORED_BY_DEFAULT                                                \
	((UINT64_C(1) << (SIGCHLD - 1)) | (UINT64_C(1) << (SIGURG - 1)) | \
	 (UINT64_C(1) << (SIGWINCH - 1)) | (UINT64_C(1) << (SIGCONT - 1)))

struct work *follow_find(const struct follow *follow, pid_t pid)
{
	for (size_t i = 0; i < follow->n; i++) {
		if (follow->works[i]->pid == pid && follow->works[i]->stage != WORK_HAS_ENDED)
			return follow->works[i];
	}
	return NULL;
}

const struct tracees_keeper *follow_keeper(const struct follow *follow)
{
	return follow ? &follow->keeper : NULL;
}

static void live_count(struct follow *follow)
{
	uint32_t n = 0;

	for (size_t i = 0; i < follow->n; i++)
		n += follow->works[i]->stage != WORK_HAS_ENDED;
	__atomic_store_n(&follow->arena->n_live, n, __ATOMIC_RELEASE);
}

static bool program_lives(const struct follow *follow, const struct work *but)
{
	for (size_t i = 0; i < follow->n; i++) {
		const struct work *work = follow->works[i];

		if (work != but && work->stage != WORK_HAS_ENDED && work->program == but->program)
			return true;
	}
	return false;
}

void follow_tell(struct follow *follow, struct work *work, enum guardian_event_kind kind,
		 bool by_exec)
{
	struct guardian_event event = { .kind = kind,
					.pid = work->pid,
					.parent = work->parent,
					.program = work->program,
					.by_exec = by_exec,
					.buffers = work->buffers };

	process_comm(follow->sys, work->pid, event.comm);
	event.last = kind == GUARDIAN_ENDED && !program_lives(follow, work);
	/* a process that cannot be told of is not waited for: nothing of it is on */
	if (!array_reserve(&follow->events, &follow->events_capacity, follow->n_events + 1)) {
		if (work->holding)
			follow_let_go(follow, work);
		return;
	}
	work->held_ns = sys_now_ns(follow->sys);
	follow->events[follow->n_events++] = event;
	work->told |= kind == GUARDIAN_BORN;
	__atomic_store_n(&follow->arena->n_events, (uint32_t)follow->n_events, __ATOMIC_RELEASE);
}

int follow_event(struct follow *follow, struct guardian_event *event)
{
	struct work *work;
	int memfd = -1;

	*event = (struct guardian_event){ .kind = GUARDIAN_NOTHING };
	if (!follow->n_events)
		return -1;
	*event = follow->events[0];
	follow->n_events--;
	memmove(follow->events, follow->events + 1, follow->n_events * sizeof(*follow->events));
	work = follow_find(follow, event->pid);
	if (event->kind == GUARDIAN_BORN && work && work->holding) {
		memfd = work->memfd;
		work->memfd = -1;
	}
	__atomic_store_n(&follow->arena->n_events, (uint32_t)follow->n_events, __ATOMIC_RELEASE);
	return memfd;
}

void follow_unable(struct follow *follow, const struct work *work, const char *reason)
{
	struct guardian_child *child;

	if (follow->n_unfollowed++ >= GUARDIAN_MAX_CHILDREN)
		return;
	child = &follow->unfollowed[follow->n_unfollowed - 1];
	*child = (struct guardian_child){ .pid = work->pid };
	process_comm(follow->sys, work->pid, child->comm);
	snprintf(child->reason, sizeof(child->reason), "%s", reason);
}

void follow_go_on(const struct work *work, pid_t tid, int signal)
{
	const bool steps = work && work->stage == WORK_STARTS && work->pid == tid;

	ptrace(steps ? PTRACE_SYSCALL : PTRACE_CONT, tid, NULL, (void *)(long)signal);
}

/* The code that it had is gone, and all that was known of it. */
static void work_forget(struct work *work)
{
	if (work->memory_fd >= 0)
		work->sys->close(work->sys->state, work->memory_fd);
	if (work->memfd >= 0)
		close(work->memfd);
	if (work->family && !--work->family->users)
		free(work->family);
	free(work->held.threads);
	work->held = (struct tracees){ .sys = work->sys };
	work->memory_fd = work->memfd = -1;
	work->family = NULL;
	work->n_done = 0;
	work->n_regions = 0;
	memset(work->gadgets, 0, sizeof(work->gadgets));
	work->buffers = 0;
	work->program = 0;
	work->holding = work->complete = work->decided = work->told = work->vforked = false;
	work->load = (struct work_load){ 0 };
	work->stage = WORK_RUNS;
}

static void work_end(struct follow *follow, struct work *work)
{
	if (work->told)
		follow_tell(follow, work, GUARDIAN_ENDED, false);
	if (work == follow->works[0] || follow->ending) {
		/* children may have to be put right by what was done to it */
		work->holding = false;
		work->stage = WORK_HAS_ENDED;
	} else {
		for (size_t i = 1; i < follow->n; i++) {
			if (follow->works[i] == work)
				follow->works[i] = follow->works[--follow->n];
		}
		work_forget(work);
		free(work->done);
		free(work);
	}
	live_count(follow);
}

static void exec_seen(struct follow *follow, struct work *work)
{
	struct error error;

	if (work->told)
		follow_tell(follow, work, GUARDIAN_ENDED, true);
	work_forget(work);
	if (!follow->ending && work_load_begin(work, &error) != STATUS_OK) {
		follow_unable(follow, work, error.text);
		work->decided = true;
	}
	follow_go_on(work, work->pid, 0);
}

/* Constructors of its libraries may have started some, which the probes would be written under. */
static bool has_threads(const struct follow *follow, const struct work *work)
{
	struct error ignored;
	pid_t *tids = NULL;
	size_t n = 0;

	if (process_threads(follow->sys, work->pid, &tids, &n, &ignored) == STATUS_OK)
		free(tids);
	return n > 1;
}

/* A stop on the way to the entry. */
static void load_stop(struct follow *follow, struct work *work, bool call)
{
	struct error error;
	bool there;

	if (work_load_stop(work, call, &there, &error) != STATUS_OK) {
		follow_unable(follow, work, error.text);
		work->decided = true;
	} else if (there && has_threads(follow, work)) {
		follow_unable(follow, work, "it has threads before its entry point");
		follow_let_go(follow, work);
	} else if (there) {
		follow_tell(follow, work, GUARDIAN_READY, true);
	}
}

/* A stop that was asked for, of a new thread or process, or with a whole group of threads. */
static void own_stop(struct follow *follow, pid_t tid, int status)
{
	struct work *work = follow_find(follow, tid);
	pid_t pid = work ? tid : process_of_thread(follow->sys, tid);

	if (!work && pid != tid)
		work = follow_find(follow, pid);
	if (WSTOPSIG(status) != SIGTRAP)
		ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	else if (pid == tid && (!work || work->stage == WORK_UNBORN))
		follow_newborn(follow, work, tid, status);
	else if (!work || tid != work->pid || work->stage == WORK_RUNS)
		follow_go_on(work, tid, 0);
	else if (work->stage == WORK_LOADS || work->stage == WORK_SETTLES)
		load_stop(follow, work, false);
	else if (work->stage != WORK_IS_HELD)
		follow_go_on(work, tid, 0);
}

/* Masks of the lines SigIgn and SigCgt of /proc/PID/status: true when the signal will run no handler. */
static bool signal_is_ignored(const struct follow *follow, pid_t tid, int signal)
{
	const uint64_t bit = UINT64_C(1) << (signal - 1);
	uint64_t ignored, caught;
	char path[64], *text, *at;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	if (sys_read_file(follow->sys, -1, path, 1u << 20, &text, NULL, NULL) != STATUS_OK)
		return false;
	at = strstr(text, "\nSigIgn:");
	ignored = at ? strtoull(at + 8, NULL, 16) : 0;
	at = strstr(text, "\nSigCgt:");
	caught = at ? strtoull(at + 8, NULL, 16) : UINT64_MAX;
	free(text);
	return (ignored & bit) || (!(caught & bit) && (IGNORED_BY_DEFAULT & bit));
}

/* To a traced process the kernel delivers signals, too, that it ignores, and blocked calls return EINTR for them, which they
 * would not have done: those are made again. */
static void signal_pass(const struct follow *follow, pid_t tid, int signal)
{
	const struct registers_call none = { .number = -1 };
	struct registers registers;

	if (signal < 32 && registers_get(tid, &registers) &&
	    registers_call_was_cut(&registers, &none) && signal_is_ignored(follow, tid, signal)) {
		registers_call_again(&registers, &none);
		(void)!registers_set(tid, &registers);
	}
	follow_go_on(follow_find(follow, tid), tid, signal);
}

/* One stop, or the end, of a thread. */
static void stop_take(struct follow *follow, pid_t tid, int status)
{
	struct work *work = follow_find(follow, tid);

	if (!WIFSTOPPED(status)) {
		follow_newborn_drop(follow, tid);
		if (work)
			work_end(follow, work);
		return;
	}
	switch (status >> 16) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		follow_birth(follow, tid, status >> 16 == PTRACE_EVENT_VFORK);
		follow_go_on(work, tid, 0);
		return;
	case PTRACE_EVENT_EXEC:
		if (work)
			exec_seen(follow, work);
		else
			follow_go_on(NULL, tid, 0);
		return;
	case PTRACE_EVENT_STOP: own_stop(follow, tid, status); return;
	default: break;
	}
	if (WSTOPSIG(status) != (SIGTRAP | SYSGOOD))
		signal_pass(follow, tid, WSTOPSIG(status));
	else if (work && work->stage == WORK_STARTS)
		load_stop(follow, work, true);
	else
		follow_go_on(work, tid, 0);
}

static void later_keep(struct follow *follow, pid_t tid, int status)
{
	if (follow->n_later < FOLLOW_MAX_WAITING &&
	    array_reserve(&follow->later, &follow->later_capacity, follow->n_later + 1))
		follow->later[follow->n_later++] = (struct follow_stop){ tid, status };
	else if (WIFSTOPPED(status))
		follow_go_on(NULL, tid, 0);
}

static bool later_take(struct follow *follow, pid_t tid, int *status)
{
	for (size_t i = 0; i < follow->n_later; i++) {
		if (tid && follow->later[i].tid != tid)
			continue;
		*status = follow->later[i].status;
		follow->n_later--;
		memmove(&follow->later[i], &follow->later[i + 1],
			(follow->n_later - i) * sizeof(*follow->later));
		return true;
	}
	return false;
}

/* While the threads of `pid` are gathered: what others wait for. */
static void others_turn(struct follow *follow, pid_t pid)
{
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		if (tid == pid ||
		    (WIFSTOPPED(status) && process_of_thread(follow->sys, tid) == pid))
			later_keep(follow, tid, status);
		else
			stop_take(follow, tid, status);
	}
}

static int keeper_wait(void *data, pid_t pid, pid_t tid, int *status, uint64_t timeout_ns)
{
	struct follow *follow = data;
	const struct timespec pause = { 0, POLL_NS };
	const uint64_t start = sys_now_ns(follow->sys);

	for (unsigned int turn = 0;; turn++) {
		const pid_t got = later_take(follow, tid, status)
					  ? tid
					  : waitpid(tid, status, __WALL | WNOHANG);

		if (got == tid && !WIFSTOPPED(*status) && tid == pid)
			later_keep(follow, tid, *status); /* its end is told when this is over */
		if (got == tid)
			return WIFSTOPPED(*status) ? 1 : 0;
		if (got < 0 && errno != EINTR)
			return 0;
		if (sys_now_ns(follow->sys) - start > timeout_ns)
			return -1;
		if (turn > 50) {
			others_turn(follow, pid);
			nanosleep(&pause, NULL);
		} else {
			sched_yield();
		}
	}
}

static void keeper_go_on(void *data, pid_t tid, int status)
{
	stop_take(data, tid, status);
}

static struct work *work_make(struct follow *follow, pid_t pid)
{
	struct work *work = calloc(1, sizeof(*work));

	if (!work || !array_reserve(&follow->works, &follow->capacity, follow->n + 1)) {
		free(work);
		return NULL;
	}
	*work = (struct work){
		.sys = follow->sys, .arena = follow->arena, .pid = pid, .memory_fd = -1, .memfd = -1
	};
	follow->works[follow->n++] = work;
	return work;
}

struct work *follow_add(struct follow *follow, pid_t pid)
{
	struct work *work = follow->n < GUARDIAN_MAX_FOLLOWED ? work_make(follow, pid) : NULL;

	if (work)
		work->follow = follow;
	live_count(follow);
	return work;
}

bool follow_init(struct follow *follow, const struct sys *sys, struct guardian_arena *arena)
{
	*follow = (struct follow){ .sys = sys, .arena = arena, .signal_fd = -1 };
	follow->keeper = (struct tracees_keeper){ follow, keeper_wait, keeper_go_on };
	return work_make(follow, 0);
}

void follow_release(struct follow *follow)
{
	for (size_t i = 0; i < follow->n; i++) {
		work_forget(follow->works[i]);
		free(follow->works[i]->done);
		free(follow->works[i]);
	}
	free((void *)follow->works);
	free(follow->newborns);
	free(follow->later);
	free(follow->events);
	if (follow->signal_fd >= 0)
		close(follow->signal_fd);
	*follow = (struct follow){ .signal_fd = -1 };
}

enum status follow_begin(struct follow *follow, struct error *error)
{
	struct work *root = follow->works[0];
	struct tracees tracees;
	sigset_t set;
	enum status status;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	follow->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (follow->signal_fd < 0)
		return error_set_errno(error, STATUS_IO, errno, "cannot make a signal descriptor");
	root->pid = follow->arena->pid;
	root->follow = follow;
	live_count(follow);
	if (root->holding) {
		root->stage = WORK_IS_HELD;
		if (ptrace(PTRACE_SETOPTIONS, root->pid, NULL, (void *)TRACEE_STAY) < 0)
			return error_set_errno(error, STATUS_NOT_FOUND, errno,
					       "process %d cannot be followed", root->pid);
		return STATUS_OK;
	}
	status = work_stop(root, &tracees, error);
	if (status == STATUS_OK)
		work_resume(root, &tracees);
	return status;
}

/* An assay that is stopped (Ctrl-Z) must not stop what the target makes for longer than this. */
static void held_release(struct follow *follow, uint64_t now)
{
	for (size_t i = 1; i < follow->n; i++) {
		struct work *work = follow->works[i];

		if (!work->holding || !work->held_ns || now - work->held_ns < HELD_MOST_NS)
			continue;
		follow_unable(follow, work, "assay did not answer in time");
		follow_let_go(follow, work);
	}
}

uint64_t follow_turn(struct follow *follow)
{
	struct signalfd_siginfo info[16];
	uint64_t due = UINT64_MAX, now;
	int status;
	pid_t tid;

	if (follow->signal_fd < 0)
		return UINT64_MAX;
	while (read(follow->signal_fd, info, sizeof(info)) > 0)
		;
	while (follow->n_later) {
		tid = follow->later[0].tid;
		if (later_take(follow, tid, &status))
			stop_take(follow, tid, status);
	}
	while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
		stop_take(follow, tid, status);
	now = sys_now_ns(follow->sys);
	held_release(follow, now);
	for (size_t i = 0; i < follow->n; i++) {
		const uint64_t next = work_load_look(follow->works[i], now);

		due = next < due ? next : due;
	}
	if (follow_newborns_settle(follow, now) && now + POLL_NS * 100 < due)
		due = now + POLL_NS * 100;
	due = due > now ? due - now : 1;
	return due < IDLE_NS ? due : IDLE_NS;
}

void follow_let_go(struct follow *follow, struct work *work)
{
	(void)follow;
	work->decided = true;
	work->complete = work->program != 0 && work->buffers;
	if (!work->holding)
		return;
	work->holding = false;
	work->held_ns = 0;
	work->stage = WORK_RUNS;
	free(work->held.threads);
	work->held = (struct tracees){ .sys = work->sys };
	if (work != follow->works[0] && work->memory_fd >= 0) {
		/* a thousand processes have more than there are descriptors */
		work->sys->close(work->sys->state, work->memory_fd);
		work->memory_fd = -1;
	}
	follow_go_on(work, work->pid, 0);
}

void follow_check(struct follow *follow, struct work *work)
{
	siginfo_t info = { 0 };

	/* whoever waited for a call of its may have seen its end */
	if (work->stage != WORK_HAS_ENDED &&
	    waitid(P_PID, (id_t)work->pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) <
		    0 &&
	    errno == ECHILD)
		work_end(follow, work);
}
