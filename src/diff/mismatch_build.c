/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/mismatch_build.h"

#include <stdio.h>
#include <string.h>

#include "diff/mismatch.h"

#define SHARE_LEAST 0.01
#define NAMED_MOST  8

#define HEX_BYTES (2 * PERFDATA_BUILD_ID_MAX + 1)

/* The build-id of the file at `path` in hex, "" when it is not known. */
static void build_id_of(const struct bundle *bundle, const char *path, char hex[HEX_BYTES])
{
	const struct perfdata_header *header = perfdata_reader_header(bundle->reader);

	hex[0] = '\0';
	for (size_t i = 0; bundle->has_manifest && i < bundle->manifest.n_objects; i++) {
		const struct manifest_object *object = &bundle->manifest.objects[i];

		if (object->build_id && !strcmp(object->path, path)) {
			snprintf(hex, HEX_BYTES, "%s", object->build_id);
			return;
		}
	}
	for (size_t i = 0; i < header->n_build_ids; i++) {
		const struct perfdata_build_id *id = &header->build_ids[i];

		if (strcmp(id->path, path) != 0)
			continue;
		for (size_t at = 0; at < id->size && at < PERFDATA_BUILD_ID_MAX; at++)
			snprintf(hex + 2 * at, 3, "%02x", id->id[at]);
		return;
	}
}

static double module_share(const struct report *report, const char *module)
{
	double share = 0;

	for (size_t i = 0; i < report->n_rows; i++)
		if (report->rows[i].module && !strcmp(report->rows[i].module, module))
			share += report->rows[i].self.recording.share;
	return share;
}

static bool told_already(const struct findings *findings, const char *text)
{
	for (size_t i = 0; i < findings->n; i++)
		if (!strcmp(findings->items[i].text, text))
			return true;
	return false;
}

static void pair_check(struct diff *diff, const struct diff_row *row, size_t *named)
{
	const struct report_row *a = row->rows[0], *b = row->rows[1];
	char of_a[HEX_BYTES], of_b[HEX_BYTES], text[512];
	struct finding *finding;

	if (!a || !b || !a->module_path || !b->module_path)
		return;
	if (module_share(diff->sides[0].report, a->module) < SHARE_LEAST &&
	    module_share(diff->sides[1].report, b->module) < SHARE_LEAST)
		return;
	build_id_of(diff->sides[0].bundle, a->module_path, of_a);
	build_id_of(diff->sides[1].bundle, b->module_path, of_b);
	if (!of_a[0] || !of_b[0] || !strcmp(of_a, of_b))
		return;
	snprintf(text, sizeof(text),
		 "%.200s is another build in B (%.12s in A, %.12s in B): its functions are matched "
		 "by name, and what changed may be the code.",
		 b->module, of_a, of_b);
	if (told_already(&diff->mismatches, text) || ++*named > NAMED_MOST)
		return;
	finding = findings_add(&diff->mismatches, CODE_MISMATCH_BUILD, FINDING_WARNING, "%s", text);
	finding_text(&diff->mismatches, finding, "build_id_a", of_a);
	finding_text(&diff->mismatches, finding, "build_id_b", of_b);
}

void diff_mismatch_build(struct diff *diff)
{
	const char *last = NULL;
	size_t named = 0;

	for (size_t i = 0; i < diff->n; i++) {
		const struct report_row *a = diff->rows[i].rows[0];

		/* rows of one module often stand together */
		if (a && a->module_path && a->module_path == last)
			continue;
		pair_check(diff, &diff->rows[i], &named);
		last = a ? a->module_path : NULL;
	}
}
