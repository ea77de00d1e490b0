/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looks at bundles of known content (unit/report/scenario.h).
 */
#ifndef ASSAY_TESTS_UNIT_UNTIL_BUNDLE_H
#define ASSAY_TESTS_UNIT_UNTIL_BUNDLE_H

#include "unit/report/scenario.h"
#include "until/look.h"

/* Writes the bundle ./out.assay below a directory that becomes the current one. */
static inline void bundle_make(struct made *made, const struct scenario *scenario)
{
	memset(made, 0, sizeof(*made));
	tree_make(&made->tree, NULL, 0);
	scenario_map(made, scenario);
	scenario_write(made, scenario);
	assert_int_equal(chdir(made->tree.root), 0);
}

static inline void bundle_remove(struct made *made)
{
	assert_int_equal(chdir("/"), 0);
	tree_remove(&made->tree);
}

static inline struct until_question question_of(const char *word)
{
	struct until_question question;

	assert_int_equal(until_question_parse(&question, word, NULL), STATUS_OK);
	return question;
}

static inline struct until_answer answer_of(const struct scenario *scenario, const char *word,
					    bool thorough)
{
	const struct until_question question = question_of(word);
	struct until_looker looker;
	struct until_answer answer;
	struct error error;
	struct made made;

	bundle_make(&made, scenario);
	until_looker_init(&looker, sys_real(), "out.assay", &question);
	if (until_look(&looker, thorough, &answer, &error) != STATUS_OK)
		fail_msg("%s", error.text);
	until_looker_release(&looker);
	bundle_remove(&made);
	return answer;
}

#endif
