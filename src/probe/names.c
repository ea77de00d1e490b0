/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: print because the stream is memory
 */
#include "probe/names.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/bytes.h"
#include "agent/layout.h"
#include "target/process.h"

static void function_print(FILE *file, const struct install_function *function)
{
	const struct image_module *module = function->module;
	size_t n_code;
	const struct code_function *code =
		&code_module_functions(module->code, &n_code)[function->index];
	const char *names[IMAGE_MAX_NAMES + 1], *shown;

	(void)image_names(module, code, names, &shown);
	fprintf(file, "%" PRIx64 " %" PRIx64 " ", function->code_start, function->code_bytes);
	if (*shown)
		fprintf(file, "%s\n", shown);
	else
		fprintf(file, "%s+0x%" PRIx64 "\n", module->name, code->range.start);
}

static enum status lines_make(const struct install *install, char **text, size_t *size)
{
	FILE *file = open_memstream(text, size);

	if (!file)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < install->n_regions; i++)
		fprintf(file, "%" PRIx64 " %" PRIx64 " " NAMES_AGENT "\n",
			install->regions[i].address + AGENT_CODE_OFFSET, agent_code_bytes);
	for (size_t i = 0; i < install->n; i++)
		if (install->functions[i].written && install->functions[i].code_bytes)
			function_print(file, &install->functions[i]);
	return fclose(file) ? STATUS_NO_MEMORY : STATUS_OK;
}

/* In a directory that everybody may write to: never through a link, never into another's file. */
static int file_write(const struct sys *sys, const char *path, bool again, const char *text,
		      size_t size)
{
	const int how = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (again ? O_TRUNC : O_EXCL);
	const int fd = sys->openat(sys->state, AT_FDCWD, path, how, 0644);
	int result;

	if (fd < 0)
		return fd;
	result = sys_write_all(sys, fd, text, size);
	sys->close(sys->state, fd);
	return result;
}

enum status names_write(const struct install *install, pid_t pid, bool again, struct error *error)
{
	const struct sys *sys = install->sys;
	char path[96], *text = NULL;
	size_t size = 0;
	int result;

	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)pid,
		 (int)process_inner_pid(sys, pid));
	if (lines_make(install, &text, &size) != STATUS_OK) {
		free(text);
		return error_set(error, STATUS_NO_MEMORY, "no memory for the names of probes");
	}
	result = file_write(sys, path, again, text, size);
	free(text);
	if (result == -EEXIST)
		return error_set(error, STATUS_IO,
				 "%s is there: the program names code of its own in it, or an "
				 "earlier process with this number did (then take it away)",
				 path);
	if (result < 0)
		return error_set_errno(error, STATUS_IO, -result, "cannot write %s", path);
	return STATUS_OK;
}
