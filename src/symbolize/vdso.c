/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/vdso.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MAPS_BYTES (16u << 20)

/* Where our own vdso lies, by /proc/self/maps: "start-end perms offset device inode [vdso]". */
static bool own_vdso(const struct sys *sys, const uint8_t **start, size_t *size)
{
	bool found = false;
	char *maps, *name;

	if (sys_read_file(sys, AT_FDCWD, "/proc/self/maps", MAX_MAPS_BYTES, &maps, NULL, NULL))
		return false;
	name = strstr(maps, "[vdso]\n");
	if (name) {
		char *line = name, *dash;
		unsigned long low, high;

		while (line > maps && line[-1] != '\n')
			line--;
		low = strtoul(line, &dash, 16);
		high = *dash == '-' ? strtoul(dash + 1, NULL, 16) : 0;
		found = high > low && high - low <= VDSO_MAX_BYTES;
		*start = (const uint8_t *)low;
		*size = high - low;
	}
	free(maps);
	return found;
}

enum symbol_miss vdso_open(struct elf_file *file, const struct sys *sys,
			   const struct module_identity *identity)
{
	const uint8_t *start;
	enum symbol_miss miss;
	size_t size;
	void *copy;

	if ((identity->foreign && !identity->build_id_size) || !own_vdso(sys, &start, &size))
		return SYMBOL_FILE_MISSING;
	copy = malloc(size);
	if (!copy)
		return SYMBOL_FILE_UNREADABLE;
	memcpy(copy, start, size);
	miss = elf_file_open_image(file, copy, size, true);
	if (miss == SYMBOL_OK && identity->build_id_size &&
	    !elf_file_has_build_id(file, identity->build_id, identity->build_id_size)) {
		elf_file_release(file);
		miss = SYMBOL_BUILD_ID_MISMATCH;
	}
	return miss;
}
