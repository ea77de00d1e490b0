/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assay probe: exact counts and times at the boundaries of functions in a running program.
 *
 * Ends as the command did, or with 0 for a process that was attached to. Chatter goes to stderr.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/page.h"
#include "cli/probe_output.h"
#include "cli/signals.h"
#include "probe/removal.h"
#include "probe/replay.h"

#define PROGRESS_NS 500000000u

static void notice_print(void *data, const char *text)
{
	(void)data;
	fprintf(stderr, "assay probe: %s\n", text);
}

static void progress_print(void *data, const struct probe_progress *progress)
{
	(void)data;
	fprintf(stderr, "\r\033[K[ %.1f s, %u functions, %llu calls ]",
		(double)progress->elapsed_ns / 1e9, progress->probed,
		(unsigned long long)progress->calls);
	fflush(stderr);
}

static enum status text_write(const struct sys *sys, const char *path, const struct output *output,
			      struct error *error)
{
	int fd, result;

	if (!path)
		return page_write(sys, output->text, output->size, false, error);
	fd = sys->openat(sys->state, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			 0666);
	result = fd < 0 ? fd : sys_write_all(sys, fd, output->text, output->size);
	if (fd >= 0)
		sys->close(sys->state, fd);
	if (result < 0)
		return error_set_errno(error, status_from_errno(-result), -result,
				       "cannot write %s", path);
	return STATUS_OK;
}

static enum status result_show(const struct probe_cli *cli, const struct sys *sys,
			       struct probe_result *result, struct error *error)
{
	struct output output;
	enum status status = STATUS_OK;

	output_init(&output);
	if (cli->json)
		status = probe_json(cli, result, &output, error);
	else
		probe_text(cli, result, &output);
	if (status == STATUS_OK)
		status = output_check(&output, error);
	if (status == STATUS_OK)
		status = text_write(sys, cli->output, &output, error);
	output_release(&output);
	return status;
}

static enum status records_open(struct probe_cli *cli, const struct sys *sys, struct error *error)
{
	const struct replay_stored head = { .record = { .counter = REPLAY_FILE_MAGIC,
							.sp = REPLAY_FILE_VERSION |
							      (uint64_t)sizeof(head) << 32 } };
	int fd;

	if (!cli->records)
		return STATUS_OK;
	fd = sys->openat(sys->state, AT_FDCWD, cli->records,
			 O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cli->options.records_fd = fd;
	if (fd >= 0)
		fd = sys_write_all(sys, fd, &head, sizeof(head));
	if (fd < 0)
		return error_set_errno(error, status_from_errno(-fd), -fd, "cannot write %s",
				       cli->records);
	return STATUS_OK;
}

static int run(struct probe_cli *cli, const struct sys *sys, const struct launch_state *state)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct probe_hooks hooks = { .notice = cli->quiet ? NULL : notice_print };
	struct probe_result result;
	struct error error;
	enum status status;
	int code;

	cli->options.launch_state = state;
	cli->options.signal_fd = signals_open(ending, sizeof(ending) / sizeof(*ending));
	if (!cli->quiet && isatty(STDERR_FILENO)) {
		hooks.progress = progress_print;
		hooks.progress_ns = PROGRESS_NS;
	}
	status = records_open(cli, sys, &error);
	if (status != STATUS_OK) {
		fprintf(stderr, "assay probe: %s\n", error.text);
		sys->close(sys->state, cli->options.signal_fd);
		return exit_code_of(status);
	}
	status = probe_run(&cli->options, sys, &hooks, &result, &error);
	if (hooks.progress)
		fputs("\r\033[K", stderr);
	if (status == STATUS_OK)
		status = result_show(cli, sys, &result, &error);
	sys->close(sys->state, cli->options.signal_fd);
	code = result.exit_code;
	if (status != STATUS_OK) {
		fprintf(stderr, "assay probe: %s\n", error.text);
		code = code ? code : exit_code_of(status);
	} else if (cli->options.dry_run) {
		code = EXIT_DONE;
	} else if (result.signal) {
		signals_die_by(result.signal);
	}
	if (cli->options.records_fd >= 0)
		sys->close(sys->state, cli->options.records_fd);
	if (status == STATUS_OK && !code &&
	    ((cli->strict && result.n_refused) || (cli->audit && !probe_audit(&result))))
		code = EXIT_GATE;
	probe_result_release(&result);
	return code;
}

static int left_remove(const struct probe_cli *cli, const struct sys *sys)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < cli->options.n_pids; i++) {
		struct error error;
		uint64_t restored;
		const enum status status = probe_removal(sys, cli->pids[i], &restored, &error);

		if (status != STATUS_OK) {
			fprintf(stderr, "assay probe: %s\n", error.text);
			code = exit_code_of(status);
		} else if (!cli->quiet) {
			printf("process %d: %llu places put back\n", cli->pids[i],
			       (unsigned long long)restored);
		}
	}
	return code;
}

int cmd_probe(int argc, char **argv)
{
	const struct sys *sys = sys_real();
	struct launch_state state;
	struct probe_cli cli;
	struct error error;
	enum status status;
	int code;

	launch_state_save(&state);
	status = probe_cli_parse(&cli, sys, argc, argv, &error);
	if (status != STATUS_OK) {
		fprintf(stderr, "assay probe: %s\n", error.text);
		code = exit_code_of(status);
	} else if (cli.help) {
		fputs(probe_cli_help, stdout);
		code = EXIT_DONE;
	} else if (cli.remove) {
		code = left_remove(&cli, sys);
	} else {
		code = run(&cli, sys, &state);
	}
	probe_cli_release(&cli);
	return code;
}
