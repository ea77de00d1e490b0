/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/point_line.h"

#include <stdio.h>
#include <string.h>

#include "probe/probe_state.h"

struct wanted_line {
	const struct selection_word *word;
	const char *module;
};

static bool file_means(void *data, const char *file)
{
	const struct wanted_line *wanted = data;

	return selection_means_file(wanted->word, wanted->module, file);
}

bool point_line_find(const struct image_module *module, const struct selection_word *word,
		     struct debug_lines *lines, bool *known)
{
	struct wanted_line wanted = { word, module->path };
	struct debug_lines asked = *lines;
	bool found;

	asked.means = file_means;
	asked.data = &wanted;
	asked.line = word->line;
	*known = false;
	found = module->symbols && module_lines_find(module->symbols, &asked, known);
	asked.data = NULL;
	*lines = asked;
	return found || !*known;
}

bool point_line_any(const struct selection *selection, const struct image_module *module)
{
	for (size_t i = 0; i < selection->n; i++) {
		struct debug_lines lines = { .lines_only = true };
		bool known, good;

		if (!selection_means_lines(&selection->words[i], module->path))
			continue;
		good = point_line_find(module, &selection->words[i], &lines, &known);
		debug_lines_release(&lines);
		if (!good || lines.has_code)
			return true;
	}
	return false;
}

/* What the line tables of all modules know of a word's file and line. */
struct line_answer {
	const char *file, *module; /* that has code of it */
	uint32_t below, above;
	size_t informed;      /* modules with a line table */
	char uninformed[200]; /* some without */
};

static void module_ask(const struct image_module *module, const struct selection_word *word,
		       struct line_answer *answer)
{
	struct debug_lines lines = { .lines_only = true };
	const size_t used = strlen(answer->uninformed);
	bool known;

	if (!selection_means_lines(word, module->path))
		return;
	(void)point_line_find(module, word, &lines, &known);
	answer->informed += known;
	if (!known && used + strlen(module->name) + 3 < sizeof(answer->uninformed))
		snprintf(answer->uninformed + used, sizeof(answer->uninformed) - used, "%s%s",
			 used ? ", " : "", module->name);
	if (lines.file) {
		answer->file = lines.file;
		answer->module = module->name;
		answer->below = lines.below > answer->below ? lines.below : answer->below;
		if (lines.above && (!answer->above || lines.above < answer->above))
			answer->above = lines.above;
	}
	debug_lines_release(&lines);
}

static enum status line_missing(const struct probe *probe, const struct selection_word *word,
				struct error *error)
{
	struct line_answer answer = { 0 };
	char nearest[64] = "";

	for (size_t i = 0; i < probe->image.n; i++)
		module_ask(&probe->image.modules[i], word, &answer);
	if (answer.below && answer.above)
		snprintf(nearest, sizeof(nearest), "%u and %u", answer.below, answer.above);
	else if (answer.below || answer.above)
		snprintf(nearest, sizeof(nearest), "%u", answer.below + answer.above);
	if (answer.file)
		return error_set(error, STATUS_NOT_FOUND,
				 "%s: that line of %s has no code in %s; the nearest that have: %s",
				 word->text, answer.file, answer.module,
				 *nearest ? nearest : "none");
	if (!answer.informed)
		return error_set(error, STATUS_NOT_FOUND,
				 "%s: process %d has no debug information to find lines by (%s): "
				 "compile with -g, or install the -dbgsym or -dbg package of what "
				 "holds the file",
				 word->text, probe->pid,
				 *answer.uninformed ? answer.uninformed : "no module of that name");
	return error_set(error, STATUS_NOT_FOUND,
			 "%s: no source file of that name has code in process %d%s%s", word->text,
			 probe->pid,
			 *answer.uninformed ? "; without debug information (-g, or a -dbgsym or "
					      "-dbg package): "
					    : "",
			 answer.uninformed);
}

static enum status end_missing(const struct probe *probe, const struct selection_word *word,
			       struct error *error)
{
	char near[300];

	if (word->kind == SELECTION_MARKS)
		return error_set(error, STATUS_NOT_FOUND,
				 "--region %s: %s means no mark of process %d (readelf -n lists a "
				 "file's)",
				 probe->options->selection->regions[word->region], word->text,
				 probe->pid);
	return error_set(error, STATUS_NOT_FOUND,
			 "--region %s: %s means no function of process %d%s",
			 probe->options->selection->regions[word->region], word->text, probe->pid,
			 near_names(probe, word->glob, near, sizeof(near)));
}

bool point_word_awaited(const struct probe *probe, const struct selection_word *word)
{
	for (size_t i = 0; word->module && i < probe->image.n; i++)
		if (selection_is_of_module(word, probe->image.modules[i].path))
			return false;
	return word->module;
}

enum status point_words_check(const struct probe *probe, struct error *error)
{
	const struct selection *selection = probe->options->selection;

	for (size_t i = 0; i < selection->n; i++) {
		const struct selection_word *word = &selection->words[i];

		if (word->used || (!probe->options->dry_run && point_word_awaited(probe, word)))
			continue;
		if (word->kind == SELECTION_LINE)
			return line_missing(probe, word, error);
		if (word->role != SELECTION_PROBED)
			return end_missing(probe, word, error);
	}
	return STATUS_OK;
}
