/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/selection.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define MAX_NAME 4096u

void selection_init(struct selection *selection)
{
	*selection = (struct selection){ 0 };
}

static void word_release(struct selection_word *word)
{
	if (!word->glob && word->text)
		regfree(&word->regex);
	free(word->glob);
	free(word->provider);
	free(word->module);
	free(word->text);
}

void selection_release(struct selection *selection)
{
	for (size_t i = 0; i < selection->n; i++)
		word_release(&selection->words[i]);
	for (uint32_t i = 0; i < selection->n_regions; i++)
		free(selection->regions[i]);
	free(selection->words);
	selection_init(selection);
}

static enum status regex_set(struct selection_word *word, const char *body, size_t length,
			     struct error *error)
{
	char *expression = strndup(body, length), why[200];
	int result;

	if (!expression)
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	result = regcomp(&word->regex, expression, REG_EXTENDED | REG_NOSUB);
	free(expression);
	if (!result)
		return STATUS_OK;
	regerror(result, &word->regex, why, sizeof(why));
	return error_set(error, STATUS_USAGE, "-f %s: %s", word->text, why);
}

/* The first ! that is not part of a bracket expression. */
static const char *module_end(const char *text)
{
	const char *bang = strchr(text, '!');

	return bang && bang > text && bang[-1] != '[' ? bang : NULL;
}

/* "function+0x10" */
static bool offset_split(struct selection_word *word)
{
	char *plus = strrchr(word->glob, '+'), *end;

	if (!plus || plus == word->glob || plus[1] < '0' || plus[1] > '9')
		return false;
	word->offset = strtoull(plus + 1, &end, 0);
	if (*end)
		return false;
	*plus = '\0';
	word->kind = SELECTION_OFFSET;
	return true;
}

/* "provider:name", with one colon: C++ names have two. False when memory is short. */
static bool marks_split(struct selection_word *word)
{
	char *colon = strchr(word->glob, ':');
	char *name;

	if (!colon || colon == word->glob || colon[1] == ':' || !colon[1] || strchr(colon + 1, ':'))
		return true;
	name = strdup(colon + 1);
	if (!name)
		return false;
	*colon = '\0';
	word->provider = word->glob;
	word->glob = name;
	word->kind = SELECTION_MARKS;
	return true;
}

/* "file:12", "dir/file.c:12" */
static bool line_split(struct selection_word *word)
{
	char *colon = strrchr(word->glob, ':'), *end;
	unsigned long line;

	if (!colon || colon == word->glob || colon[1] < '0' || colon[1] > '9')
		return false;
	line = strtoul(colon + 1, &end, 10);
	if (*end || !line || line > INT32_MAX)
		return false;
	*colon = '\0';
	word->line = (uint32_t)line;
	word->kind = SELECTION_LINE;
	return true;
}

static enum status points_parse(struct selection_word *word, struct error *error)
{
	if (!offset_split(word) && !line_split(word) && !marks_split(word))
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	if (word->exclude && word->kind != SELECTION_FUNCTIONS)
		return error_set(error, STATUS_USAGE, "-f %s: points cannot be taken away",
				 word->text);
	return STATUS_OK;
}

static enum status word_parse(struct selection_word *word, const char *text, struct error *error)
{
	const char *at = text, *bang;
	size_t length;

	*word = (struct selection_word){ .text = strdup(text) };
	if (!word->text)
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	if (*at == '!') {
		word->exclude = true;
		at++;
	}
	length = strlen(at);
	bang = length > 2 && *at == '/' && at[length - 1] == '/' ? NULL : module_end(at);
	if (bang) {
		word->module = strndup(at, (size_t)(bang - at));
		at = bang + 1;
	}
	length = strlen(at);
	if (!length)
		return error_set(error, STATUS_USAGE, "-f %s: names no function", text);
	if (length > 2 && at[0] == '/' && at[length - 1] == '/')
		return regex_set(word, at + 1, length - 2, error);
	word->glob = strdup(at);
	if (!word->glob || (bang && !word->module))
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	return points_parse(word, error);
}

static void word_discard(struct selection_word *word)
{
	free(word->glob);
	free(word->provider);
	free(word->module);
	free(word->text);
}

static enum status word_add(struct selection *selection, const char *text, struct error *error)
{
	struct selection_word word;
	enum status status;

	if (selection->n >= SELECTION_MAX_WORDS)
		return error_set(error, STATUS_LIMIT, "more than %u words of -f",
				 SELECTION_MAX_WORDS);
	if (!array_reserve(&selection->words, &selection->capacity, selection->n + 1))
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	status = word_parse(&word, text, error);
	if (status != STATUS_OK) {
		word_discard(&word);
		return status;
	}
	selection->has_include |= !word.exclude;
	selection->words[selection->n++] = word;
	return STATUS_OK;
}

/* "# all of it", or " # the rest": names hold no blank before a #. */
static void comment_cut(char *line)
{
	for (char *at = line; (at = strchr(at, '#')); at++) {
		if (at == line || at[-1] == ' ' || at[-1] == '\t') {
			*at = '\0';
			return;
		}
	}
}

static enum status file_add(struct selection *selection, const struct sys *sys, const char *path,
			    struct error *error)
{
	char *text, *line, *next;
	enum status status;

	status = sys_read_file(sys, AT_FDCWD, path, SELECTION_MAX_FILE_BYTES, &text, NULL, error);
	for (line = status == STATUS_OK ? text : NULL; status == STATUS_OK && line; line = next) {
		size_t end;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		comment_cut(line);
		line += strspn(line, " \t");
		for (end = strlen(line); end && strchr(" \t\r", line[end - 1]); end--)
			line[end - 1] = '\0';
		if (*line)
			status = word_add(selection, line, error);
	}
	if (status != STATUS_OK)
		error_prefix(error, "-f @%s", path);
	else
		free(text);
	return status;
}

enum status selection_add(struct selection *selection, const struct sys *sys, const char *word,
			  struct error *error)
{
	if (*word == '@')
		return file_add(selection, sys, word + 1, error);
	return word_add(selection, word, error);
}

/* The first .. with something on both sides that is part of no path. */
static const char *region_middle(const char *text)
{
	for (const char *at = strstr(text, ".."); at; at = strstr(at + 1, "..")) {
		if (at > text && at[-1] != '/' && at[-1] != '.' && at[2] && at[2] != '/')
			return at;
	}
	return NULL;
}

/* One end; functions stand for their starts, so names without a point's form are good, regular expressions too. */
static enum status end_add(struct selection *selection, const char *text, enum selection_role role,
			   struct error *error)
{
	struct selection_word *word;
	enum status status;

	if (*text == '!' || *text == '@')
		return error_set(error, STATUS_USAGE,
				 "--region: an end is a function, FUNCTION+N, FILE:LINE or "
				 "PROVIDER:MARK, not %s",
				 text);
	status = word_add(selection, text, error);
	if (status != STATUS_OK)
		return status;
	word = &selection->words[selection->n - 1];
	word->role = role;
	word->region = selection->n_regions;
	return STATUS_OK;
}

enum status selection_add_region(struct selection *selection, const char *text, struct error *error)
{
	const char *middle = region_middle(text);
	char *first, *name;
	enum status status;

	if (!middle)
		return error_set(error, STATUS_USAGE,
				 "--region %s: two places with .. between are due, as in "
				 "parse..work.c:120",
				 text);
	if (selection->n_regions >= SELECTION_MAX_REGIONS)
		return error_set(error, STATUS_LIMIT, "more than %u words of --region",
				 SELECTION_MAX_REGIONS);
	first = strndup(text, (size_t)(middle - text));
	name = strdup(text);
	if (!first || !name) {
		free(first);
		free(name);
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	}
	status = end_add(selection, first, SELECTION_BEGIN, error);
	free(first);
	if (status == STATUS_OK)
		status = end_add(selection, middle + 2, SELECTION_END, error);
	selection->regions[selection->n_regions++] = name;
	return status;
}

bool selection_is_of_module(const struct selection_word *word, const char *module)
{
	const char *base = strrchr(module, '/');

	return !word->module || !fnmatch(word->module, module, 0) ||
	       (base && !fnmatch(word->module, base + 1, 0));
}

bool selection_skips_module(const struct selection *selection, const char *module)
{
	for (size_t i = 0; i < selection->n; i++) {
		if (!selection->words[i].exclude &&
		    selection_is_of_module(&selection->words[i], module))
			return false;
	}
	return true;
}

/* "ns::f(int)" is meant by "ns::f", too. */
static bool without_parameters(const char *name, char *shorter)
{
	const char *open = strchr(name, '(');

	if (!open || open == name || (size_t)(open - name) >= MAX_NAME)
		return false;
	memcpy(shorter, name, (size_t)(open - name));
	shorter[open - name] = '\0';
	return true;
}

static bool name_matches(const struct selection_word *word, const char *name)
{
	char shorter[MAX_NAME];

	if (!word->glob)
		return regexec(&word->regex, name, 0, NULL, 0) == 0;
	return !fnmatch(word->glob, name, 0) ||
	       (without_parameters(name, shorter) && !fnmatch(word->glob, shorter, 0));
}

static bool word_matches(struct selection_word *word, const char *module, const char *const *names,
			 size_t n)
{
	if (!selection_is_of_module(word, module))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (names[i] && name_matches(word, names[i])) {
			word->used = true;
			return true;
		}
	}
	return false;
}

bool selection_means(const struct selection *selection, const char *module, const char *name)
{
	for (size_t i = 0; name && i < selection->n; i++) {
		const struct selection_word *word = &selection->words[i];

		if (!word->exclude && word->kind != SELECTION_MARKS &&
		    word->kind != SELECTION_LINE && selection_is_of_module(word, module) &&
		    name_matches(word, name))
			return true;
	}
	return false;
}

bool selection_means_offset(struct selection_word *word, const char *module,
			    const char *const *names, size_t n)
{
	return word->kind == SELECTION_OFFSET && word_matches(word, module, names, n);
}

bool selection_means_end(struct selection_word *word, const char *module, const char *const *names,
			 size_t n)
{
	return word->kind == SELECTION_FUNCTIONS && word->role != SELECTION_PROBED &&
	       word_matches(word, module, names, n);
}

bool selection_means_file(const struct selection_word *word, const char *module, const char *file)
{
	const size_t wanted = strlen(word->glob), length = strlen(file);

	if (word->kind != SELECTION_LINE || !selection_is_of_module(word, module))
		return false;
	if (!fnmatch(word->glob, file, 0))
		return true;
	return length > wanted && file[length - wanted - 1] == '/' &&
	       !strcmp(file + length - wanted, word->glob);
}

bool selection_means_lines(const struct selection_word *word, const char *module)
{
	return word->kind == SELECTION_LINE && selection_is_of_module(word, module);
}

bool selection_means_mark(struct selection_word *word, const char *module, const char *provider,
			  const char *name)
{
	if (word->kind != SELECTION_MARKS || !selection_is_of_module(word, module) ||
	    fnmatch(word->provider, provider, 0) != 0 || fnmatch(word->glob, name, 0) != 0)
		return false;
	word->used = true;
	return true;
}

bool selection_matches(struct selection *selection, const char *module, const char *const *names,
		       size_t n)
{
	bool meant = false;

	for (size_t i = 0; i < selection->n; i++) {
		struct selection_word *word = &selection->words[i];

		if (word->kind != SELECTION_FUNCTIONS || word->role != SELECTION_PROBED)
			continue;
		if (word->exclude && word_matches(word, module, names, n))
			return false;
		if (!word->exclude && word_matches(word, module, names, n))
			meant = true;
	}
	return meant;
}
