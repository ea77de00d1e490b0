/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/account.h"

#include <math.h>
#include <string.h>

void moments_add(struct moments *moments, double value)
{
	const double from_mean = value - moments->mean;

	moments->n++;
	moments->mean += from_mean / (double)moments->n;
	moments->m2 += from_mean * (value - moments->mean);
	if (moments->n == 1 || value < moments->min)
		moments->min = value;
	if (moments->n == 1 || value > moments->max)
		moments->max = value;
}

double moments_sd(const struct moments *moments)
{
	return moments->n < 2 ? 0 : sqrt(moments->m2 / (double)(moments->n - 1));
}

void account_init(struct account *account, uint32_t n_clocks)
{
	*account = (struct account){ .n_clocks = n_clocks, .boundary_ns = UINT64_MAX };
}

struct account_clock *account_at(struct account *account, uint32_t clock, uint64_t time_ns)
{
	return time_ns < account->boundary_ns ? &account->current[clock] : &account->next[clock];
}

void account_sample(struct account *account, uint32_t clock, uint64_t time_ns,
		    const struct tick *tick)
{
	struct account_clock *at = account_at(account, clock, time_ns);

	at->samples++;
	account->samples++;
	if (!account->first_sample_ns || time_ns < account->first_sample_ns)
		account->first_sample_ns = time_ns;
	if (time_ns > account->last_sample_ns)
		account->last_sample_ns = time_ns;
	if (!tick->whole)
		return;
	moments_add(&at->realised, (double)tick->realised);
	moments_add(&at->intended, (double)tick->intended);
}

void account_lost(struct account *account, uint32_t clock, uint64_t time_ns, uint64_t lost)
{
	account_at(account, clock, time_ns)->lost += lost;
	account->lost += lost;
}

void account_close(struct account *account, struct manifest_epoch *epoch,
		   const double *mean_periods)
{
	for (uint32_t c = 0; c < account->n_clocks; c++) {
		const struct account_clock *at = &account->current[c];

		epoch->clocks[c] = (struct manifest_epoch_clock){
			.mean_period = mean_periods[c],
			.samples = at->samples,
			.lost = at->lost,
			.redraws = at->redraws,
			.throttled = at->throttled,
			.throttled_ns = at->throttled_ns,
			.retuned = at->retuned,
			.intervals = at->realised.n,
			.realised_mean = at->realised.mean,
			.realised_sd = moments_sd(&at->realised),
			.realised_min = at->realised.min,
			.realised_max = at->realised.max,
			.intended_mean = at->intended.mean,
			.intended_sd = moments_sd(&at->intended),
		};
	}
	memcpy(account->current, account->next, sizeof(account->current));
	memset(account->next, 0, sizeof(account->next));
	account->boundary_ns = UINT64_MAX;
}
