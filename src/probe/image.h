/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of a target: each mapped object whose functions the user may mean, where it is, and what is known
 * of it. The file that is really mapped is opened, whatever its path holds by now.
 */
#ifndef ASSAY_PROBE_IMAGE_H
#define ASSAY_PROBE_IMAGE_H

#include <sys/types.h>

#include "base/sys.h"
#include "code/module.h"
#include "probe/selection.h"
#include "symbolize/symbolizer.h"

#define IMAGE_MAX_MODULES 4096u
#define IMAGE_MAX_NAMES   16u

struct image_module {
	char *path;
	const char *name; /* after the last slash */
	uint64_t device, inode, start;
	uint64_t bias;            /* runtime address minus the object's own */
	uint64_t low, high;       /* executable part, runtime */
	struct code_module *code; /* NULL: `why` says why not */
	struct module *symbols;
	char *why;
};

struct image {
	const struct sys *sys;
	pid_t pid;
	struct symbolizer *symbolizer;
	struct image_module *modules;
	size_t n, capacity;
	char *maps;
};

/* Reads the mappings of the process and analyses the modules that the selection may mean. A module that cannot be
 * analysed is kept with its reason. Release in any case. */
MUST_CHECK enum status image_open(struct image *image, const struct sys *sys, pid_t pid,
				  struct selection *selection, struct error *error);
void image_release(struct image *image);

/* Reads the mappings anew. */
MUST_CHECK enum status image_read_maps(struct image *image, struct error *error);

/* All names of a function: aliases, and the demangled one (*shown, never NULL). Returns how many; borrowed. */
size_t image_names(const struct image_module *module, const struct code_function *function,
		   const char *names[IMAGE_MAX_NAMES + 1], const char **shown);

#endif
