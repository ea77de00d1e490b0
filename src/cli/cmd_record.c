/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assay record: sample a command, processes or CPUs into a bundle.
 *
 * Ends as the command did: its exit code, or death by the same signal. All chatter goes to stderr.
 */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/record_options.h"
#include "cli/signals.h"
#include "until/answer.h"
#include "until/watch.h"

#define PROGRESS_NS 500000000u

struct teller {
	bool quiet;
	bool line_is_open;         /* a progress line stands on the terminal */
	struct until_watch *watch; /* NULL without --until */
};

static void line_close(struct teller *teller)
{
	if (teller->line_is_open)
		fputs("\r\033[K", stderr);
	teller->line_is_open = false;
}

static void notice_print(void *data, const char *text)
{
	struct teller *teller = data;

	line_close(teller);
	if (!teller->quiet)
		fprintf(stderr, "assay record: %s\n", text);
}

/* "12.3 MB", into a buffer of at least 16. */
static const char *size_format(uint64_t bytes, char *text, size_t size)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	double value = (double)bytes;
	unsigned int unit = 0;

	for (; value >= 1000 && unit < 4; unit++)
		value /= 1000;
	snprintf(text, size, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return text;
}

/* ", settled in about 12 s", into a buffer of at least 48. */
static const char *until_format(struct until_watch *watch, char *text, size_t size)
{
	struct until_answer answer;
	char span[32];

	text[0] = '\0';
	if (watch && until_watch_latest(watch, &answer) && answer.state == UNTIL_OPEN &&
	    answer.seconds > 0 && isfinite(answer.seconds))
		snprintf(text, size, ", settled in about %s",
			 until_answer_span(answer.seconds, span, sizeof(span)));
	return text;
}

static void progress_print(void *data, const struct record_progress *progress)
{
	struct teller *teller = data;
	char size[16], until[64];

	fprintf(stderr,
		"\r\033[K[ %.1f s, %llu samples in %llu epochs, cost %.2f %%, lost %llu, %s%s ]",
		(double)progress->elapsed_ns / 1e9, (unsigned long long)progress->samples,
		(unsigned long long)progress->epochs, progress->achieved * 100,
		(unsigned long long)progress->lost,
		size_format(progress->bytes, size, sizeof(size)),
		until_format(teller->watch, until, sizeof(until)));
	fflush(stderr);
	teller->line_is_open = true;
}

static void closing_print(const struct record_cli *cli, const struct record_result *result)
{
	const bool by_budget = !cli->options.period && !(cli->options.rate_hz > 0);
	char size[16], lost[64] = "", budget[64];

	if (result->lost)
		snprintf(lost, sizeof(lost), "%llu lost, ", (unsigned long long)result->lost);
	if (by_budget)
		snprintf(budget, sizeof(budget), "of budget %.3g %%", result->budget * 100);
	else
		snprintf(budget, sizeof(budget), "(%s given: no budget)",
			 cli->options.period ? "-c" : "-F");
	fprintf(stderr,
		"[ assay record: %llu sample%s, %s%llu epoch%s, cost %.2f %% %s, wrote %s (%s) ]\n",
		(unsigned long long)result->samples, result->samples == 1 ? "" : "s", lost,
		(unsigned long long)result->epochs, result->epochs == 1 ? "" : "s",
		result->achieved * 100, budget, cli->options.output,
		size_format(result->bytes, size, sizeof(size)));
}

static void stop_ask(void *data, uint64_t epochs, struct record_stop *stop)
{
	struct teller *teller = data;
	const struct until_answer *decision;
	const bool decided = until_watch_ask(teller->watch, epochs);

	stop->looks = until_watch_looks(teller->watch, &stop->cpu_ns);
	if (!decided)
		return;
	decision = until_watch_decision(teller->watch);
	stop->reason = decision->state == UNTIL_SETTLED ? "settled" : "biased";
	stop->text = decision->text;
}

/* Why the recording ended before the question was answered, in words. */
static const char *reason_words(const char *reason)
{
	if (!strcmp(reason, "duration"))
		return "time is over";
	if (!strcmp(reason, "max-size"))
		return "the size is reached";
	return !strcmp(reason, "interrupt") ? "interrupted" : "the target ended";
}

/* What became of --until: what stopped the recording, or one last look at the whole of it. */
static void until_print(const struct record_cli *cli, const struct sys *sys,
			const struct teller *teller, const struct record_result *result)
{
	const bool stopped =
		!strcmp(result->reason, "settled") || !strcmp(result->reason, "biased");
	uint64_t cpu_ns;
	const unsigned long long looks = until_watch_looks(teller->watch, &cpu_ns);
	struct until_looker looker;
	struct until_answer answer = { .state = UNTIL_OPEN };
	struct error error;

	if (stopped) {
		answer = *until_watch_decision(teller->watch);
		fprintf(stderr, "[ --until %s: %s after %llu look%s: %s ]\n", cli->until.text,
			answer.state == UNTIL_SETTLED ? "settled" : "stopped", looks,
			looks == 1 ? "" : "s", answer.text);
		return;
	}
	until_looker_init(&looker, sys, cli->options.output, &cli->until);
	if (until_look(&looker, true, &answer, &error) != STATUS_OK)
		fprintf(stderr, "[ --until %s: %s ]\n", cli->until.text, error.text);
	else
		fprintf(stderr, "[ --until %s: %s, %s: %s ]\n", cli->until.text,
			reason_words(result->reason),
			answer.state == UNTIL_SETTLED ? "and it is settled" : "not settled",
			answer.text);
	until_looker_release(&looker);
}

static int exit_as_command(const struct record_result *result)
{
	if (result->signal && !(result->ended_by_us && result->signal == SIGTERM))
		signals_die_by(result->signal);
	return result->exit_code;
}

static int run(struct record_cli *cli, const struct sys *sys, const struct launch_state *state)
{
	/* they end the recording, or are passed on */
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	struct teller teller = { .quiet = cli->quiet };
	struct record_hooks hooks = { .data = &teller, .notice = notice_print };
	const bool by_budget = !cli->options.period && !(cli->options.rate_hz > 0);
	const struct until_watch_options watch_options = {
		.path = cli->options.output,
		.question = &cli->until,
		.cpu_share = by_budget ? RECORD_LOOKING_SHARE * cli->options.budget : 0,
	};
	struct record_result result;
	struct error error;
	enum status status;

	if (cli->options.until) {
		status = until_watch_new(&teller.watch, sys, &watch_options, &error);
		if (status != STATUS_OK) {
			fprintf(stderr, "assay record: %s\n", error.text);
			return exit_code_of(status);
		}
		hooks.stop = stop_ask;
	}
	cli->options.version = ASSAY_VERSION;
	cli->options.launch_state = state;
	cli->options.signal_fd = signals_open(ending, sizeof(ending) / sizeof(*ending));
	if (!cli->quiet && isatty(STDERR_FILENO)) {
		hooks.progress = progress_print;
		hooks.progress_ns = PROGRESS_NS;
	}
	status = record_run(&cli->options, sys, &hooks, &result, &error);
	line_close(&teller);
	sys->close(sys->state, cli->options.signal_fd);
	if (status != STATUS_OK) {
		until_watch_free(teller.watch);
		fprintf(stderr, "assay record: %s\n", error.text);
		if (result.exit_code || result.signal)
			return exit_as_command(&result);
		return exit_code_of(status);
	}
	if (!cli->quiet && teller.watch)
		until_print(cli, sys, &teller, &result);
	if (!cli->quiet)
		closing_print(cli, &result);
	until_watch_free(teller.watch);
	return exit_as_command(&result);
}

int cmd_record(int argc, char **argv)
{
	const struct sys *sys = sys_real();
	struct launch_state state;
	struct record_cli cli;
	struct error error;
	enum status status;
	int code;

	launch_state_save(&state);
	/* A file that may not grow any more is an error to be told, not a death. */
	signal(SIGXFSZ, SIG_IGN);
	status = record_cli_parse(&cli, sys, argc, argv, &error);
	if (status != STATUS_OK) {
		fprintf(stderr, "assay record: %s\n", error.text);
		code = exit_code_of(status);
	} else if (cli.help) {
		fputs(record_cli_help, stdout);
		code = EXIT_DONE;
	} else {
		code = run(&cli, sys, &state);
	}
	record_cli_release(&cli);
	return code;
}
