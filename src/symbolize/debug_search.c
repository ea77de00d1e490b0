/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/debug_search.h"

#include <elfutils/debuginfod.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define DELETED " (deleted)"

/* Which of several reasons tells the user most. */
static int miss_weight(enum symbol_miss miss)
{
	switch (miss) {
	case SYMBOL_OK: return 9;
	case SYMBOL_BUILD_ID_MISMATCH: return 8;
	case SYMBOL_FILE_REPLACED: return 7;
	case SYMBOL_DAMAGED: return 6;
	case SYMBOL_NOT_ELF: return 5;
	case SYMBOL_FILE_UNREADABLE: return 4;
	default: return 0;
	}
}

static bool PRINTF_LIKE(2, 3) path_print(char path[DEBUG_SEARCH_MAX_PATH], const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(path, DEBUG_SEARCH_MAX_PATH, format, args);
	va_end(args);
	return length > 0 && (unsigned int)length < DEBUG_SEARCH_MAX_PATH;
}

/* Devices differ between /proc/PID/maps and stat on some file systems (btrfs, overlayfs), so size and
 * time may stand in for the device, but nothing stands in for the inode. */
static bool origin_fits(const struct elf_origin *origin, const struct module_identity *identity)
{
	if (origin->inode != identity->inode)
		return false;
	if (identity->size && origin->size != identity->size)
		return false;
	if (identity->mtime_ns && origin->mtime_ns != identity->mtime_ns)
		return false;
	return !identity->device || origin->device == identity->device ||
	       (identity->size && identity->mtime_ns);
}

enum trust {
	TRUST_COPY,   /* the recorder kept it */
	TRUST_SYMFS,  /* the user pointed at it */
	TRUST_PATH,   /* it lies where the mapped file lay */
	TRUST_NOTHING /* only a build-id can prove it */
};

static enum symbol_miss identity_check(const struct elf_file *file,
				       const struct module_identity *identity, enum trust trust,
				       bool *unverified)
{
	*unverified = false;
	if (identity->build_id_size)
		return elf_file_has_build_id(file, identity->build_id, identity->build_id_size)
			       ? SYMBOL_OK
			       : SYMBOL_BUILD_ID_MISMATCH;
	switch (trust) {
	case TRUST_COPY: return SYMBOL_OK;
	case TRUST_SYMFS: *unverified = true; return SYMBOL_OK;
	case TRUST_PATH:
		if (identity->foreign)
			return SYMBOL_FILE_MISSING;
		if (identity->inode)
			return origin_fits(&file->origin, identity) ? SYMBOL_OK
								    : SYMBOL_FILE_REPLACED;
		*unverified = true;
		return SYMBOL_OK;
	default: return SYMBOL_FILE_MISSING;
	}
}

struct attempt {
	struct debug_search *search;
	const struct module_identity *identity;
	struct elf_file *file;
	bool *unverified;
	enum symbol_miss miss; /* the most telling one so far */
};

static bool attempt(struct attempt *attempt, const char *path, enum trust trust)
{
	enum symbol_miss miss;

	miss = elf_file_open(attempt->file, attempt->search->sys, path);
	if (miss == SYMBOL_OK) {
		miss = identity_check(attempt->file, attempt->identity, trust, attempt->unverified);
		if (miss != SYMBOL_OK)
			elf_file_release(attempt->file);
	}
	if (miss_weight(miss) > miss_weight(attempt->miss))
		attempt->miss = miss;
	return miss == SYMBOL_OK;
}

/* The server's file is checked like any other. */
static bool from_server(struct debug_search *search, const uint8_t *build_id, size_t size,
			bool debug_info, char path[DEBUG_SEARCH_MAX_PATH])
{
	char *found = NULL;
	int fd;

	if (!search->debuginfod)
		return false;
	if (!search->client)
		search->client = debuginfod_begin();
	if (!search->client)
		return false;
	fd = debug_info ? debuginfod_find_debuginfo(search->client, build_id, (int)size, &found)
			: debuginfod_find_executable(search->client, build_id, (int)size, &found);
	/* No server, or none that answers: do not wait for it again and again. */
	if (fd == -ENOSYS || fd == -ETIME || fd == -ETIMEDOUT || fd == -EHOSTUNREACH ||
	    fd == -ECONNREFUSED || fd == -ENETUNREACH)
		search->debuginfod = false;
	if (fd < 0)
		return false;
	close(fd); /* lint: seam because libdebuginfod opened it past the seam */
	snprintf(path, DEBUG_SEARCH_MAX_PATH, "%s", found);
	free(found);
	return true;
}

static bool attempt_by_build_id(struct attempt *try)
{
	const struct module_identity *identity = try->identity;
	struct debug_search *search = try->search;
	const struct build_id_text id = build_id_text(identity->build_id, identity->build_id_size);
	const char *hex = id.hex;
	char path[DEBUG_SEARCH_MAX_PATH];

	if (identity->build_id_size < 2 || identity->build_id_size > ELF_FILE_MAX_BUILD_ID)
		return false;
	if (search->symfs &&
	    path_print(path, "%s/.build-id/%.2s/%s", search->symfs, hex, hex + 2) &&
	    attempt(try, path, TRUST_NOTHING))
		return true;
	if (search->perf_cache &&
	    path_print(path, "%s/.build-id/%.2s/%s/elf", search->perf_cache, hex, hex + 2) &&
	    attempt(try, path, TRUST_NOTHING))
		return true;
	if (path_print(path, "%s/.build-id/%.2s/%s", search->debug_dir, hex, hex + 2) &&
	    attempt(try, path, TRUST_NOTHING))
		return true;
	return from_server(search, identity->build_id, identity->build_id_size, false, path) &&
	       attempt(try, path, TRUST_NOTHING);
}

/* "/usr/bin/app (deleted)": the path of a file that was unlinked, or a real name. */
static bool attempt_undeleted(struct attempt *try)
{
	const char *path = try->identity->path;
	const size_t length = strlen(path), suffix = strlen(DELETED);
	const struct sys *sys = try->search->sys;
	char shorter[DEBUG_SEARCH_MAX_PATH];
	struct stat stat;

	if (length <= suffix || strcmp(path + length - suffix, DELETED) ||
	    !path_print(shorter, "%.*s", (int)(length - suffix), path))
		return false;
	if (attempt(try, shorter, TRUST_NOTHING))
		return true;
	/* Something else lies there now. */
	if (try->miss == SYMBOL_FILE_MISSING &&
	    !sys->fstatat(sys->state, AT_FDCWD, shorter, &stat, 0))
		try->miss = SYMBOL_FILE_REPLACED;
	return false;
}

enum symbol_miss debug_search_object(struct debug_search *search,
				     const struct module_identity *identity, struct elf_file *file,
				     bool *unverified)
{
	struct attempt try = { search, identity, file, unverified, SYMBOL_FILE_MISSING };
	char path[DEBUG_SEARCH_MAX_PATH];

	*unverified = false;
	if (identity->copy && attempt(&try, identity->copy, TRUST_COPY))
		return SYMBOL_OK;
	if (search->symfs && path_print(path, "%s/%s", search->symfs, identity->path) &&
	    attempt(&try, path, TRUST_SYMFS))
		return SYMBOL_OK;
	if (identity->path[0] == '/' && attempt(&try, identity->path, TRUST_PATH))
		return SYMBOL_OK;
	if (identity->path[0] == '/' && attempt_undeleted(&try))
		return SYMBOL_OK;
	if (attempt_by_build_id(&try))
		return SYMBOL_OK;
	return try.miss;
}

void debug_search_release(struct debug_search *search)
{
	if (search->client)
		debuginfod_end(search->client);
	search->client = NULL;
}

/* The debug link's checksum is the CRC-32 of zlib over the whole debug file (gdb manual, "Debugging
 * Information in Separate Files"). */
static bool checksum_fits(const struct elf_file *debug, uint32_t expected)
{
	const uint8_t *at = debug->image;
	size_t left = debug->size;
	uLong crc = crc32(0, NULL, 0);

	while (left) {
		const uInt step = left > (1u << 30) ? 1u << 30 : (uInt)left;

		crc = crc32(crc, at, step);
		at += step;
		left -= step;
	}
	return (uint32_t)crc == expected;
}

/* `expected_crc` NULL: found by build-id, which must then prove it. */
static bool debug_try(struct debug_search *search, const struct elf_file *file, const char *path,
		      const uint32_t *expected_crc, struct elf_file *debug)
{
	bool good;

	if (elf_file_open(debug, search->sys, path) != SYMBOL_OK)
		return false;
	good = debug->machine == file->machine && debug->is_64_bit == file->is_64_bit;
	if (file->build_id_size && debug->build_id_size)
		good = good && elf_file_has_build_id(debug, file->build_id, file->build_id_size);
	else
		good = good && expected_crc && checksum_fits(debug, *expected_crc);
	if (!good)
		elf_file_release(debug);
	return good;
}

static bool debug_by_build_id(struct debug_search *search, const struct elf_file *file,
			      struct elf_file *debug)
{
	const struct build_id_text id = build_id_text(file->build_id, file->build_id_size);
	const char *hex = id.hex;
	char path[DEBUG_SEARCH_MAX_PATH];

	if (file->build_id_size < 2)
		return false;
	if (search->symfs &&
	    path_print(path, "%s%s/.build-id/%.2s/%s.debug", search->symfs, search->debug_dir, hex,
		       hex + 2) &&
	    debug_try(search, file, path, NULL, debug))
		return true;
	if (path_print(path, "%s/.build-id/%.2s/%s.debug", search->debug_dir, hex, hex + 2) &&
	    debug_try(search, file, path, NULL, debug))
		return true;
	return search->perf_cache &&
	       path_print(path, "%s/.build-id/%.2s/%s/debug", search->perf_cache, hex, hex + 2) &&
	       debug_try(search, file, path, NULL, debug);
}

static bool debug_by_link(struct debug_search *search, const struct elf_file *file,
			  struct elf_file *debug)
{
	const char *slash = file->path ? strrchr(file->path, '/') : NULL;
	char path[DEBUG_SEARCH_MAX_PATH];
	GElf_Word crc;
	const char *link = dwelf_elf_gnu_debuglink(file->elf, &crc);
	int length;

	if (!link || !link[0] || strchr(link, '/') || !slash)
		return false;
	length = (int)(slash - file->path);
	if (path_print(path, "%.*s/%s", length, file->path, link) && strcmp(path, file->path) &&
	    debug_try(search, file, path, &crc, debug))
		return true;
	if (path_print(path, "%.*s/.debug/%s", length, file->path, link) &&
	    debug_try(search, file, path, &crc, debug))
		return true;
	if (path_print(path, "%s%.*s/%s", search->debug_dir, length, file->path, link) &&
	    debug_try(search, file, path, &crc, debug))
		return true;
	/* /lib is a link to /usr/lib, and the debug file lies below the latter. */
	return path_print(path, "%s/usr%.*s/%s", search->debug_dir, length, file->path, link) &&
	       debug_try(search, file, path, &crc, debug);
}

bool debug_search_debug(struct debug_search *search, const struct elf_file *file,
			struct elf_file *debug)
{
	char path[DEBUG_SEARCH_MAX_PATH];

	if (debug_by_build_id(search, file, debug) || debug_by_link(search, file, debug))
		return true;
	return file->build_id_size &&
	       from_server(search, file->build_id, file->build_id_size, true, path) &&
	       debug_try(search, file, path, NULL, debug);
}
