/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static void path_copy(char *to, const char *from, const char *end)
{
	char *const limit = to + PATH_MAX - 1;

	while (from < end && to < limit) {
		if (end - from >= 4 && !memcmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

/* "start-end rwxp offset major:minor inode      path" */
static bool line_parse(const char *line, const char *end, struct map *map)
{
	char head[160], permissions[5];
	size_t length = (size_t)(end - line);
	int path_at = 0;

	if (length >= sizeof(head))
		length = sizeof(head) - 1;
	memcpy(head, line, length);
	head[length] = '\0';
	if (sscanf(head,
		   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 "%n",
		   &map->start, &map->end, permissions, &map->offset, &map->major, &map->minor,
		   &map->inode, &path_at) != 7 ||
	    strlen(permissions) != 4)
		return false;
	map->protection = (permissions[0] == 'r' ? PROT_READ : 0u) |
			  (permissions[1] == 'w' ? PROT_WRITE : 0u) |
			  (permissions[2] == 'x' ? PROT_EXEC : 0u);
	map->flags = permissions[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	for (line += path_at; line < end && *line == ' ';)
		line++;
	path_copy(map->path, line, end);
	return true;
}

bool maps_next(const char **at, struct map *map)
{
	while (**at) {
		const char *line = *at, *end = strchrnul(line, '\n');

		*at = *end ? end + 1 : end;
		if (line_parse(line, end, map))
			return true;
	}
	return false;
}
