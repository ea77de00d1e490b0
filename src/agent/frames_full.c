/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * frames.c once more, for what costs more than the bare clock: events, ordered reads, traces.
 */
#define AGENT_FULL
#include "agent/frames.c" /* NOLINT(bugprone-suspicious-include): the same code, other readings */
