/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/perf_map.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/checked.h"
#include "symbolize/key_sort.h"

#define UNSIZED_MAX 4096u /* an entry of size 0 reaches no further */

struct entry {
	uint64_t start, end; /* equal: size 0, not settled yet */
	const char *name;
};

struct entries {
	struct entry *items; /* in the order of the lines */
	size_t n, capacity;
};

static bool hex_take(char **at, uint64_t *value)
{
	char *start = *at, *end;

	if (start[0] == '0' && (start[1] == 'x' || start[1] == 'X'))
		start += 2;
	for (end = start, *value = 0; end - start < 17; end++) {
		const char c = *end;
		unsigned int digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned int)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (unsigned int)((c | 0x20) - 'a') + 10;
		else
			break;
		*value = *value << 4 | digit;
	}
	if (end == start || end - start > 16 || (*end != ' ' && *end != '\t'))
		return false;
	*at = end + strspn(end, " \t");
	return true;
}

/* `line` ends at `end`, where there is a byte to overwrite. */
static bool line_parse(char *line, char *end, struct entry *entry)
{
	uint64_t size;

	*end = '\0';
	line += strspn(line, " \t");
	if (!hex_take(&line, &entry->start) || !hex_take(&line, &size) ||
	    !checked_add_u64(entry->start, size, &entry->end))
		return false;
	end = line + strlen(line);
	while (end > line && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	if (end - line > PERF_MAP_MAX_NAME)
		line[PERF_MAP_MAX_NAME] = '\0';
	entry->name = line;
	return *line;
}

static bool lines_parse(struct entries *entries, char *text, size_t size)
{
	for (char *line = text, *end = text + size; line < end;) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		struct entry entry;

		if (!newline)
			newline = end;
		if (line_parse(line, newline, &entry) && entries->n < PERF_MAP_MAX_ENTRIES) {
			if (!array_reserve(&entries->items, &entries->capacity, entries->n + 1))
				return false;
			entries->items[entries->n++] = entry;
		}
		line = newline + 1;
	}
	return true;
}

static bool map_build(struct interval_map *map, const struct entries *entries)
{
	for (size_t i = 0; i < entries->n; i++) {
		const struct entry *entry = &entries->items[i];

		if (!interval_map_add(
			    map, (struct interval){ entry->start, entry->end, 0, (uint32_t)i }))
			return false;
	}
	return interval_map_build(map);
}

/* Gives the entries of size 0 their end. `sized` is the map of the others, `order` all entries by start. */
static void unsized_settle(struct entries *entries, const struct interval_map *sized,
			   const struct sort_key *order)
{
	uint64_t next_start = UINT64_MAX;

	for (size_t i = entries->n; i-- > 0;) {
		struct entry *entry = &entries->items[order[i].index];
		const uint32_t around = interval_map_at(sized, entry->start);
		uint64_t end;

		if (i + 1 < entries->n && order[i + 1].key != entry->start)
			next_start = order[i + 1].key;
		if (entry->end != entry->start)
			continue;
		if (!checked_add_u64(entry->start, UNSIZED_MAX, &end) || end > next_start)
			end = next_start;
		if (around != INTERVAL_NONE && entries->items[around].end < end)
			end = entries->items[around].end;
		entry->end = end;
	}
}

static bool unsized_find(struct entries *entries)
{
	struct interval_map sized = { 0 };
	struct sort_key *order;
	bool good, any = false;

	for (size_t i = 0; i < entries->n && !any; i++)
		any = entries->items[i].start == entries->items[i].end;
	if (!any)
		return true;
	order = malloc((entries->n + 1) * sizeof(*order));
	good = order && map_build(&sized, entries);
	for (size_t i = 0; i < entries->n && good; i++)
		order[i] = (struct sort_key){ entries->items[i].start, (uint32_t)i };
	good = good && key_sort(order, entries->n);
	if (good)
		unsized_settle(entries, &sized, order);
	free(order);
	interval_map_release(&sized);
	return good;
}

/* Entries that own some address become functions, in order of address; those that later lines replaced
 * do not. */
static bool functions_make(struct function_model *model, const struct entries *entries)
{
	struct interval_span *spans = model->map.spans;
	uint32_t *index_of = calloc(entries->n + 1, sizeof(*index_of));
	struct sort_key *order = malloc((entries->n + 1) * sizeof(*order));
	bool good;

	model->functions = malloc((entries->n + 1) * sizeof(*model->functions));
	good = index_of && order && model->functions;
	for (size_t i = 0; i < model->map.n_spans && good; i++)
		if (spans[i].value != INTERVAL_NONE)
			index_of[spans[i].value] = 1;
	for (size_t i = 0; i < entries->n && good; i++)
		order[i] = (struct sort_key){ entries->items[i].start, (uint32_t)i };
	good = good && key_sort(order, entries->n);
	for (size_t i = 0; i < entries->n && good; i++) {
		const struct entry *entry = &entries->items[order[i].index];

		if (!index_of[order[i].index])
			continue;
		index_of[order[i].index] = (uint32_t)model->n;
		model->functions[model->n] = (struct function){
			.start = { entry->start },
			.end = { entry->end },
			.symbol = entry->name,
			.parent = (uint32_t)model->n,
			.from_symbol = true,
		};
		model->n++;
	}
	for (size_t i = 0; i < model->map.n_spans && good; i++)
		if (spans[i].value != INTERVAL_NONE)
			spans[i].value = index_of[spans[i].value];
	free(index_of);
	free(order);
	return good;
}

bool perf_map_parse(char *text, size_t size, struct function_model *model)
{
	struct entries entries = { 0 };
	bool good;

	memset(model, 0, sizeof(*model));
	good = lines_parse(&entries, text, size) && unsized_find(&entries) &&
	       map_build(&model->map, &entries) && functions_make(model, &entries);
	free(entries.items);
	if (!good)
		function_model_release(model);
	return good;
}

/* Root, we ourselves, or the owner of the process, while it still runs. */
static bool owner_trusted(const struct sys *sys, uid_t owner, uint32_t pid)
{
	char path[32];
	struct stat process;

	if (owner == 0 || owner == geteuid())
		return true;
	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	return !sys->fstatat(sys->state, AT_FDCWD, path, &process, 0) && process.st_uid == owner;
}

static bool text_read(const struct sys *sys, int fd, size_t size, char **text, size_t *used)
{
	char *buffer = malloc(size + 1);
	ssize_t n = buffer ? sys_read_full(sys, fd, buffer, size) : -1;

	if (n < 0) {
		free(buffer);
		return false;
	}
	buffer[n] = '\0';
	*text = buffer;
	*used = (size_t)n;
	return true;
}

enum symbol_miss perf_map_read(const struct sys *sys, const char *directory, uint32_t pid,
			       bool trusted, char **text, size_t *size)
{
	enum symbol_miss miss = SYMBOL_FILE_UNREADABLE;
	char path[4096];
	struct stat stat;
	int fd;

	*text = NULL;
	if ((size_t)snprintf(path, sizeof(path), "%s/perf-%" PRIu32 ".map", directory, pid) >=
	    sizeof(path))
		return SYMBOL_ANONYMOUS;
	fd = sys->openat(sys->state, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW,
			 0);
	if (fd < 0)
		return status_from_errno(-fd) == STATUS_NOT_FOUND ? SYMBOL_ANONYMOUS
								  : SYMBOL_FILE_UNREADABLE;
	if (!sys->fstat(sys->state, fd, &stat) && S_ISREG(stat.st_mode) &&
	    (uint64_t)stat.st_size <= PERF_MAP_MAX_BYTES &&
	    (trusted || owner_trusted(sys, stat.st_uid, pid)) &&
	    text_read(sys, fd, (size_t)stat.st_size, text, size))
		miss = SYMBOL_OK;
	sys->close(sys->state, fd);
	return miss;
}
