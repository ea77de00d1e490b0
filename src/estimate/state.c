/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/state.h"

enum estimate_state estimate_state_row(const struct estimate_ranks *ranks, size_t s, bool biased)
{
	if (biased)
		return ESTIMATE_BIASED;
	return ranks->rows[s].resolved && !ranks->why ? ESTIMATE_RESOLVED : ESTIMATE_UNRESOLVED;
}

enum estimate_state estimate_state_whole(const struct estimate_ranks *ranks, const bool *biased)
{
	enum estimate_state state = ranks->top_k ? ESTIMATE_RESOLVED : ESTIMATE_UNRESOLVED;

	for (size_t i = 0; i < ranks->top_k; i++) {
		const size_t s = ranks->order[i];
		const enum estimate_state row = estimate_state_row(ranks, s, biased && biased[s]);

		if (row > state)
			state = row;
	}
	return state;
}
