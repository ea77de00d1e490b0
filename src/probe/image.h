/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of a target: each mapped object whose functions the user may mean, where it is, and what is known
 * of it. The file that is really mapped is opened, whatever its path holds by now.
 *
 * A module is a file (device, inode, path; build-id, size and time of change) at one place. One that is closed and
 * opened again is the same module, possibly elsewhere; another file under the same name is another one.
 */
#ifndef ASSAY_PROBE_IMAGE_H
#define ASSAY_PROBE_IMAGE_H

#include <sys/types.h>

#include "base/sys.h"
#include "code/module.h"
#include "probe/selection.h"
#include "symbolize/symbolizer.h"
#include "target/build_id.h"

#define IMAGE_MAX_MODULES 4096u
#define IMAGE_MAX_NAMES   16u
#define IMAGE_MAX_LATER   1024u /* modules that come after the first look */

enum image_presence {
	IMAGE_HERE,  /* where it was */
	IMAGE_GONE,  /* closed */
	IMAGE_BACK,  /* it was closed, or is elsewhere, and is mapped now */
	IMAGE_OTHER, /* what has its name and inode now is another file: it will not come back */
};

struct image_module {
	char *path;
	const char *name; /* after the last slash */
	uint64_t device, inode;
	uint64_t start, first_end; /* of the first mapping of its code */
	uint64_t offset;           /* in the file, of what is mapped at `start` */
	uint64_t size, changed_ns;
	uint8_t build_id[BUILD_ID_MAX_BYTES];
	size_t build_id_bytes;
	enum image_presence presence;
	bool relocates_text;      /* by the loader, when it is opened */
	uint64_t bias;            /* runtime address minus the object's own */
	uint64_t low, high;       /* executable part, runtime */
	struct code_module *code; /* NULL: `why` says why not */
	struct module *symbols;
	bool borrowed; /* code is the cache's */
	char *why;
};

struct image_cache;

struct image {
	const struct sys *sys;
	pid_t pid;
	struct image_cache *cache;     /* NULL: none */
	struct symbolizer *symbolizer; /* the cache's, where there is one */
	struct image_module *modules;
	size_t n, capacity;
	size_t most; /* modules that the array has room for: they stay where they are */
	char *maps;
};

/* Reads the mappings of the process and analyses the modules that the selection may mean. A module that cannot be
 * analysed is kept with its reason. `cache`: what was analysed for other processes, NULL: nothing. Release in any case. */
MUST_CHECK enum status image_open(struct image *image, const struct sys *sys, pid_t pid,
				  struct selection *selection, struct image_cache *cache,
				  struct error *error);
void image_release(struct image *image);

/* From the maps as they were read last: which of the modules are where, and new ones behind those that there were,
 * analysed. Modules never move in the array. */
MUST_CHECK enum status image_update(struct image *image, struct selection *selection,
				    struct error *error);

/* Whether the file that is mapped at the module's start is still the one that was analysed. */
bool image_is_same_file(const struct image *image, const struct image_module *module);

/* Reads the mappings anew. */
MUST_CHECK enum status image_read_maps(struct image *image, struct error *error);

/* All names of a function: aliases, and the demangled one (*shown, never NULL). Returns how many; borrowed. */
size_t image_names(const struct image_module *module, const struct code_function *function,
		   const char *names[IMAGE_MAX_NAMES + 1], const char **shown);

#endif
