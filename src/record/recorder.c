/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of a recording:
 *
 *	prepare   refuse what can be refused, calibrate, plan
 *	launch    a child that waits (launched commands)
 *	open      clocks in the best scope, the bundle, records of what exists already
 *	start     exec; publish the bundle
 *	loop      wake, drain, redraw, epochs; until the target or a limit or a signal ends it
 *	finish    last epoch, header; wait for the command
 *
 * A failure before `start` undoes everything and leaves an older bundle as it was. A failure later
 * (a full disk) ends the recording but not the target.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "record/recorder.h"
#include "target/process.h"

static enum status command_launch(struct recorder *recorder, struct error *error)
{
	enum status status;

	if (!recorder->options->command)
		return STATUS_OK;
	witness_start(&recorder->witness);
	status = launch_start(&recorder->launch, recorder->options->command,
			      recorder->options->launch_state, error);
	if (status != STATUS_OK)
		return status;
	/* lint: seam because the child is real whatever the table is */
	recorder->exit_fd = (int)syscall(SYS_pidfd_open, recorder->launch.pid, 0);
	return STATUS_OK;
}

static enum status command_exec(struct recorder *recorder, struct record_result *result,
				struct error *error)
{
	if (!recorder->options->command)
		return STATUS_OK;
	return launch_exec(&recorder->launch, recorder->options->command[0], &result->exit_code,
			   error);
}

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

/* Has the launched command ended? Then its fate is in *result. */
static bool command_ended(struct recorder *recorder, struct record_result *result, int options)
{
	struct rusage usage;
	int wait_status;
	pid_t pid;

	if (!recorder->launch.pid)
		return result->target_ended;
	do
		pid = wait4(recorder->launch.pid, &wait_status, options, &usage);
	while (pid < 0 && errno == EINTR);
	if (pid != recorder->launch.pid)
		return false;
	result->target_ended = true;
	recorder->command_cpu_ns = timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
	if (WIFSIGNALED(wait_status))
		result->signal = WTERMSIG(wait_status);
	else
		result->exit_code = WEXITSTATUS(wait_status);
	return true;
}

/* Ctrl-C on a terminal reaches every process of the group by itself (SI_KERNEL), and so does what is
 * sent to the group; a signal that somebody sent to assay alone is passed on to a launched command, and
 * ends an attached recording. */
static void signal_take(struct recorder *recorder, const struct signalfd_siginfo *info)
{
	if (recorder->options->command) {
		if (info->ssi_code != SI_KERNEL && recorder->launch.pid &&
		    !witness_saw(&recorder->witness, (int)info->ssi_signo))
			recorder->sys->kill(recorder->sys->state, recorder->launch.pid,
					    (int)info->ssi_signo);
		return;
	}
	if (info->ssi_signo != SIGUSR1 && info->ssi_signo != SIGUSR2)
		recorder->reason = "interrupt";
}

static void signals_read(struct recorder *recorder)
{
	struct signalfd_siginfo info;

	while (recorder->sys->read(recorder->sys->state, recorder->options->signal_fd, &info,
				   sizeof(info)) == sizeof(info))
		signal_take(recorder, &info);
}

/* The processes or threads to which we attached, and whatever they started, are all gone. */
static bool attached_ended(const struct recorder *recorder)
{
	const struct record_options *options = recorder->options;

	if (options->target != RECORD_PROCESSES && options->target != RECORD_THREADS)
		return false;
	if (!recorder->followed.n_living)
		return true;
	/* In case the records of their ends were lost. */
	for (size_t i = 0; i < options->n_ids; i++)
		if (recorder->sys->kill(recorder->sys->state, options->ids[i], 0) != -ESRCH)
			return false;
	return true;
}

static void limits_check(struct recorder *recorder, uint64_t now_ns)
{
	const struct record_options *options = recorder->options;

	if (recorder->reason)
		return;
	if (options->duration_ns && now_ns - recorder->start_ns >= options->duration_ns)
		recorder->reason = "duration";
	else if (options->max_bytes &&
		 perfdata_writer_data_bytes(recorder->perfdata) >= options->max_bytes)
		recorder->reason = "max-size";
	else if (attached_ended(recorder))
		recorder->reason = "exit";
	if (recorder->reason || !recorder->hooks->stop)
		return;
	recorder->hooks->stop(recorder->hooks->data, recorder->epochs_written, &recorder->stop);
	recorder->reason = recorder->stop.reason;
}

static void progress_tell(const struct recorder *recorder, uint64_t now_ns, uint64_t *next_ns)
{
	const struct record_hooks *hooks = recorder->hooks;
	const struct record_progress progress = {
		.elapsed_ns = now_ns - recorder->start_ns,
		.samples = recorder->account.samples,
		.lost = recorder->account.lost,
		.epochs = recorder->epoch,
		.bytes = perfdata_writer_data_bytes(recorder->perfdata),
		.achieved = recorder->accounted_cpu_ns > 0
				    ? recorder->cost_ns / recorder->accounted_cpu_ns
				    : 0,
		.budget = recorder->options->budget,
	};

	if (!hooks->progress || now_ns < *next_ns)
		return;
	hooks->progress(hooks->data, &progress);
	*next_ns = now_ns + hooks->progress_ns;
}

struct watch {
	struct pollfd *fds;
	size_t n, capacity;
};

static bool watch_add(struct watch *watch, int fd)
{
	if (fd < 0)
		return true;
	if (!array_reserve(&watch->fds, &watch->capacity, watch->n + 1))
		return false;
	watch->fds[watch->n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	return true;
}

/* Signals, the command's end, rings that are half full. */
static enum status watch_make(struct recorder *recorder, struct watch *watch, struct error *error)
{
	bool ok = watch_add(watch, recorder->options->signal_fd) &&
		  watch_add(watch, recorder->exit_fd);

	for (size_t i = 0; ok && i < recorder->channels.n; i++)
		ok = watch_add(watch, recorder->channels.items[i].samples_fd) &&
		     watch_add(watch, recorder->channels.items[i].sideband_fd);
	if (ok)
		return STATUS_OK;
	return error_set(error, STATUS_NO_MEMORY, "no memory to wait for events");
}

/* Sleeps until the next thing is due; true when a signal has come or the command may have ended. An
 * event whose thread has ended polls as hung up at once, for ever: it is not asked again. */
static bool sleep_until_due(struct recorder *recorder, struct watch *watch, uint64_t progress_ns)
{
	const uint64_t now = sys_now_ns(recorder->sys);
	uint64_t due = recorder->wake_ns < recorder->epoch_end_ns ? recorder->wake_ns
								  : recorder->epoch_end_ns;
	struct timespec timeout = { 0, 0 };
	bool happened = false;

	if (recorder->options->duration_ns &&
	    recorder->start_ns + recorder->options->duration_ns < due)
		due = recorder->start_ns + recorder->options->duration_ns;
	if (recorder->hooks->progress && progress_ns < due)
		due = progress_ns;
	if (due > now) {
		timeout.tv_sec = (time_t)((due - now) / 1000000000u);
		timeout.tv_nsec = (long)((due - now) % 1000000000u);
	}
	if (recorder->sys->ppoll(recorder->sys->state, watch->fds, watch->n, &timeout, NULL) <= 0)
		return recorder->exit_fd < 0;
	for (size_t i = 0; i < watch->n; i++) {
		if (!watch->fds[i].revents)
			continue;
		if (watch->fds[i].fd == recorder->exit_fd ||
		    watch->fds[i].fd == recorder->options->signal_fd)
			happened = true;
		else if (watch->fds[i].revents & (POLLHUP | POLLERR))
			watch->fds[i].fd = -1;
	}
	return happened || recorder->exit_fd < 0;
}

static enum status loop(struct recorder *recorder, struct record_result *result,
			struct error *error)
{
	struct watch watch = { 0 };
	enum status status = watch_make(recorder, &watch, error);
	uint64_t progress_ns = recorder->start_ns + recorder->hooks->progress_ns;

	while (status == STATUS_OK && !recorder->reason) {
		uint64_t now;

		if (sleep_until_due(recorder, &watch, progress_ns)) {
			if (command_ended(recorder, result, WNOHANG)) {
				recorder->reason = "exit";
				break;
			}
			signals_read(recorder);
		}
		now = sys_now_ns(recorder->sys);
		status = epoch_wake(recorder, now, error);
		limits_check(recorder, now);
		progress_tell(recorder, now, &progress_ns);
	}
	free(watch.fds);
	return status;
}

/* A limit that ends the recording of a command ends the command, as with perf. */
static void command_stop(struct recorder *recorder, struct record_result *result)
{
	if (!recorder->launch.pid || result->target_ended || !recorder->reason)
		return;
	recorder->sys->kill(recorder->sys->state, recorder->launch.pid, SIGTERM);
	result->ended_by_us = true;
}

/* Signals still reach the command while we wait for its end. */
static void command_wait(struct recorder *recorder, struct record_result *result)
{
	while (recorder->launch.pid && !result->target_ended) {
		struct pollfd fds[] = {
			{ .fd = recorder->options->signal_fd, .events = POLLIN },
			{ .fd = recorder->exit_fd, .events = POLLIN },
		};
		const struct timespec pause = { 0, 100000000 };

		recorder->sys->ppoll(recorder->sys->state, fds, 2,
				     recorder->exit_fd >= 0 ? NULL : &pause, NULL);
		signals_read(recorder);
		command_ended(recorder, result, WNOHANG);
	}
}

static void perf_maps_of_living(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->followed.n; i++) {
		const struct followed_task *task = &recorder->followed.items[i];

		if (task->tid && task->tid == task->pid && task->generates_code && !task->ended)
			perf_maps_take(&recorder->perf_maps, task->pid, task->inner_pid);
	}
}

static void result_fill(const struct recorder *recorder, struct record_result *result)
{
	result->reason = recorder->reason ? recorder->reason : "failed";
	result->samples = recorder->account.samples;
	result->lost = recorder->account.lost;
	result->epochs = recorder->epochs_written;
	result->bytes = recorder->perfdata ? perfdata_writer_data_bytes(recorder->perfdata) : 0;
	result->budget = recorder->options->budget;
	if (recorder->accounted_cpu_ns > 0)
		result->achieved = recorder->cost_ns / recorder->accounted_cpu_ns;
}

static enum status finish(struct recorder *recorder, struct record_result *result,
			  struct error *error)
{
	enum status status = epoch_finish(recorder, true, error);

	if (status != STATUS_OK)
		return status;
	command_stop(recorder, result);
	perf_maps_of_living(recorder);
	result_fill(recorder, result);
	scope_close_clocks(recorder);
	/* With a limit reached, the command's fate is known only after the bundle is complete. */
	return output_finish(recorder, result, error);
}

static enum status start(struct recorder *recorder, struct record_result *result,
			 struct error *error)
{
	enum status status = recorder_prepare(recorder, error);

	if (status == STATUS_OK)
		status = command_launch(recorder, error);
	if (status == STATUS_OK)
		status = scope_choose(recorder, error);
	if (status == STATUS_OK)
		status = output_open(recorder, error);
	if (status != STATUS_OK)
		return status;
	account_init(&recorder->account, recorder->plan.n_clocks);
	recorder->wake_stretch = 1;
	recorder->epoch_stretch = 1;
	status = sideband_synthesize(recorder, error);
	if (status != STATUS_OK)
		return status;
	recorder->start_ns = recorder->manifest.start_ns;
	weather_start(&recorder->weather, recorder->sys);
	recorder->target_cpu_ns = target_cpu_now(recorder);
	recorder->own_cpu_ns = sys_own_cpu_ns(recorder->sys);
	epoch_start(recorder, sys_now_ns(recorder->sys));
	status = command_exec(recorder, result, error);
	if (status != STATUS_OK)
		return status;
	status = bundle_output_publish(recorder->bundle, error);
	result->published = status == STATUS_OK;
	return status;
}

/* Why nothing more can be written, as manifest_end.reason; NULL: it is something else. */
static const char *full_reason(int os_errno)
{
	if (os_errno == ENOSPC || os_errno == EDQUOT)
		return "disk-full";
	return os_errno == EFBIG ? "file-limit" : NULL;
}

/* No room for the bundle: what there is of it is closed as well as that can be done, and the message says
 * where, how much of it reads, and what would help. */
static void full_tell(struct recorder *recorder, struct record_result *result, struct error *error)
{
	const char *path = recorder->options->output;
	const char *reason = full_reason(error->os_errno);
	const char *remedy =
		error->os_errno == EFBIG
			? "raise ulimit -f, or record less (--max-size, a lower rate)"
			: "free some space, record to another file system (-o), or record less "
			  "(--max-size, a lower rate)";
	struct error full;

	if (!reason)
		return;
	if (result->published) {
		recorder->reason = reason;
		result_fill(recorder, result);
		output_abandon(recorder, result);
		error_set_errno(&full, error->status, error->os_errno,
				"bundle %s: no room for more, so that recording ended after %llu "
				"epoch%s (%s); up to there it reads%s. To have more, %s",
				path, (unsigned long long)recorder->epochs_written,
				recorder->epochs_written == 1 ? "" : "s", error->text,
				recorder->options->command ? "; the command ran on" : "", remedy);
	} else {
		error_set_errno(&full, error->status, error->os_errno,
				"bundle %s: no room for it, nothing was recorded (%s): %s", path,
				error->text, remedy);
	}
	*error = full;
}

enum status record_run(const struct record_options *options, const struct sys *sys,
		       const struct record_hooks *hooks, struct record_result *result,
		       struct error *error)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	struct error own = { 0 }, *why = error ? error : &own;
	enum status status;

	*result = (struct record_result){ 0 };
	if (!recorder)
		return error_set(error, STATUS_NO_MEMORY, "no memory to record");
	recorder->options = options;
	recorder->sys = sys;
	recorder->hooks = hooks;
	recorder->exit_fd = recorder->cgroup.fd = recorder->cgroup.stat_fd = -1;
	objects_init(&recorder->objects, sys, -1, 0);
	perf_maps_init(&recorder->perf_maps, sys, -1);
	manifest_init(&recorder->manifest);
	status = start(recorder, result, why);
	if (status == STATUS_OK)
		status = loop(recorder, result, why);
	if (status == STATUS_OK)
		status = finish(recorder, result, why);
	if (status != STATUS_OK)
		full_tell(recorder, result, why);
	result_fill(recorder, result);
	scope_close_clocks(recorder);
	output_close(recorder);
	launch_abort(&recorder->launch);
	command_wait(recorder, result);
	witness_stop(&recorder->witness);
	scope_close(recorder);
	if (recorder->exit_fd >= 0)
		sys->close(sys->state, recorder->exit_fd);
	free(recorder->cpus);
	free(recorder->paces);
	free(recorder);
	return status;
}
