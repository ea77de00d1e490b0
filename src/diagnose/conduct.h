/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the measurement was conducted, as its contract (the manifest) tells: findings that need neither
 * samples nor symbols.
 *
 * What is missing bounds the error of every share. Let a fraction m of the samples (or of the time)
 * be missing, and nothing be known about where they would have fallen. A function's true share is then
 * (1 - m) P + m q with any q in [0, 1], so it differs from P by at most m max(P, 1 - P) <= m.
 */
#ifndef ASSAY_DIAGNOSE_CONDUCT_H
#define ASSAY_DIAGNOSE_CONDUCT_H

#include "bundle/manifest.h"
#include "diagnose/finding.h"

/* Missing fractions: below the first it is worth a word, from the second on shares may be wrong by
 * more than most comparisons bear (docs/findings.md). */
#define CONDUCT_MISSING_WARN 0.005
#define CONDUCT_MISSING_BIAS 0.02

/* All of them, and the incidents that no other finding speaks of. */
void conduct_find(struct findings *findings, const struct manifest *manifest);

/* The families, each for itself. */
void conduct_find_loss(struct findings *findings, const struct manifest *manifest);
void conduct_find_throttle(struct findings *findings, const struct manifest *manifest);
void conduct_find_starved(struct findings *findings, const struct manifest *manifest);
void conduct_find_uncovered(struct findings *findings, const struct manifest *manifest);
void conduct_find_retune(struct findings *findings, const struct manifest *manifest);
void conduct_find_fidelity(struct findings *findings, const struct manifest *manifest);
void conduct_find_redraw(struct findings *findings, const struct manifest *manifest);
void conduct_find_unchecked(struct findings *findings, const struct manifest *manifest);
void conduct_find_substitution(struct findings *findings, const struct manifest *manifest);
void conduct_find_budget(struct findings *findings, const struct manifest *manifest);
void conduct_find_short_tasks(struct findings *findings, const struct manifest *manifest);
void conduct_find_unfinished(struct findings *findings, const struct manifest *manifest);
void conduct_find_incidents(struct findings *findings, const struct manifest *manifest);

/* Whether the clock's samples enter the estimates: the randomised ones do; all when none is. */
bool conduct_clock_counts(const struct manifest *manifest, size_t clock);
bool conduct_is_randomised(const struct manifest *manifest);

/* From the start of the first epoch to the end of the last, 0 without epochs. */
uint64_t conduct_duration_ns(const struct manifest *manifest);

/* Severity of a missing fraction; bias only where what is missing may depend on the program. */
enum finding_severity conduct_missing_severity(double fraction);

/* "0.4 %", "12 %", "0.03 %": two digits that mean something. */
const char *conduct_percent(double fraction, char *text, size_t size);
/* "1.2 ms", "3.4 s" */
const char *conduct_time(double ns, char *text, size_t size);

#endif
