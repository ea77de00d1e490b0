/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/page.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WIDTH_DEFAULT 100
#define WIDTH_MIN     60
#define WIDTH_MAX     140

bool page_colour_parse(const char *word, enum page_colour *colour)
{
	if (!strcmp(word, "auto"))
		*colour = PAGE_COLOUR_AUTO;
	else if (!strcmp(word, "always"))
		*colour = PAGE_COLOUR_ALWAYS;
	else if (!strcmp(word, "never"))
		*colour = PAGE_COLOUR_NEVER;
	else
		return false;
	return true;
}

static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

bool page_wants_colour(enum page_colour colour)
{
	if (colour != PAGE_COLOUR_AUTO)
		return colour == PAGE_COLOUR_ALWAYS;
	return isatty(STDOUT_FILENO) && !*environment("NO_COLOR") &&
	       strcmp(environment("TERM"), "dumb");
}

bool page_is_unicode(void)
{
	setlocale(LC_CTYPE, "");
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

size_t page_width(const struct sys *sys)
{
	struct winsize size = { 0 };

	if (sys->ioctl(sys->state, STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return WIDTH_DEFAULT;
	return size.ws_col < WIDTH_MIN   ? WIDTH_MIN
	       : size.ws_col > WIDTH_MAX ? WIDTH_MAX
					 : size.ws_col;
}

/* As perf: PERF_PAGER, then PAGER, then less; empty or "cat" means none. */
static const char *pager_command(void)
{
	const char *pager = getenv("PERF_PAGER");

	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		pager = "less";
	return *pager && strcmp(pager, "cat") ? pager : NULL;
}

static enum status text_write(const struct sys *sys, int fd, const char *text, size_t size,
			      struct error *error)
{
	const int failed = sys_write_all(sys, fd, text, size);

	if (!failed || failed == -EPIPE)
		return STATUS_OK;
	return error_set_errno(error, STATUS_IO, -failed, "cannot write the report");
}

/* The child of pager_run: never returns. */
static void pager_exec(const char *command, const int ends[2])
{
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]); /* lint: seam because the child only becomes the pager */
	close(ends[1]); /* lint: seam because the child only becomes the pager */
	signal(SIGPIPE, SIG_DFL);
	setenv("LESS", "FRSX", 0);
	execlp("sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static enum status pager_run(const struct sys *sys, const char *command, const char *text,
			     size_t size, struct error *error)
{
	int ends[2], end;
	enum status status;
	pid_t child;

	if (pipe(ends))
		return text_write(sys, STDOUT_FILENO, text, size, error);
	child = fork();
	if (!child)
		pager_exec(command, ends);
	sys->close(sys->state, ends[0]);
	if (child < 0) {
		sys->close(sys->state, ends[1]);
		return text_write(sys, STDOUT_FILENO, text, size, error);
	}
	status = text_write(sys, ends[1], text, size, error);
	sys->close(sys->state, ends[1]);
	while (waitpid(child, &end, 0) < 0 && errno == EINTR)
		;
	/* A pager that could not be started has shown nothing. */
	if (status == STATUS_OK && WIFEXITED(end) && WEXITSTATUS(end) == 127)
		return text_write(sys, STDOUT_FILENO, text, size, error);
	return status;
}

enum status page_write(const struct sys *sys, const char *text, size_t size, bool pager,
		       struct error *error)
{
	const char *command = pager && isatty(STDOUT_FILENO) ? pager_command() : NULL;

	if (command)
		return pager_run(sys, command, text, size, error);
	return text_write(sys, STDOUT_FILENO, text, size, error);
}
