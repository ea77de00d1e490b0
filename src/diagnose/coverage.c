/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/coverage.h"

#include "diagnose/conduct.h"
#include "diagnose/finding_code.h"
#include "estimate/unseen.h"

#define UNSEEN_TOLD 0.01 /* upper bound of the unseen share from which it is worth a word */
#define UNSEEN_WARN 0.05

enum status coverage_find(struct findings *findings, const struct table *table, bool randomised,
			  bool correlated, struct error *error)
{
	const struct estimate_table counts = table_estimate_self(table, randomised);
	struct estimate_unseen unseen;
	struct finding *finding;
	char share[32], at_most[32];
	enum status status;

	if (!randomised || !table->n_rows)
		return STATUS_OK;
	status = estimate_unseen(&unseen, &counts, correlated, 0.95, error);
	if (status != STATUS_OK || unseen.why || unseen.hi < UNSEEN_TOLD)
		return status;
	finding = findings_add(findings, CODE_COVERAGE,
			       unseen.share >= UNSEEN_WARN ? FINDING_WARNING : FINDING_INFO,
			       "About %s of the execution (at most %s) lies in functions that "
			       "never got a sample, at least %.0f "
			       "of them: each takes little, together they may matter.",
			       conduct_percent(unseen.share, share, sizeof(share)),
			       conduct_percent(unseen.hi, at_most, sizeof(at_most)),
			       unseen.functions_at_least);
	finding_next(findings, finding,
		     "Record longer, or group by module (--sort dso) where single functions do not "
		     "matter.");
	finding_number(findings, finding, "share", unseen.share);
	finding_number(findings, finding, "share_hi", unseen.hi);
	finding_number(findings, finding, "functions_at_least", unseen.functions_at_least);
	finding_number(findings, finding, "functions_seen", (double)table->n_rows);
	finding_number(findings, finding, "functions_once", (double)unseen.functions_once);
	return STATUS_OK;
}
