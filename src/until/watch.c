/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "until/watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "estimate/sequential.h"

#define GROWTH_PART   10 /* epochs grow by a tenth between looks */
#define CPU_SHARE     0.05
#define CPU_FREE_NS   20000000u
#define USUAL         3 /* times the cheapest look that one is taken for at most */
#define THOROUGH_FROM 128
#define STACK_BYTES   (8u * 1024 * 1024)

struct until_watch {
	const struct sys *sys;
	struct until_looker looker; /* the thread's */
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	/* under the lock: */
	bool quit, looking, has_latest, decided;
	uint64_t epochs;               /* the bundle holds */
	uint64_t next_epochs, next_ns; /* when a look is due */
	uint64_t thorough_epochs;      /* from when on the next unsettled look is a thorough one */
	uint64_t looks, cpu_ns;
	struct until_watch_debt debt;
	uint64_t start_ns;
	double cpu_share;
	struct until_answer latest, decision;
};

uint64_t until_watch_next(uint64_t epochs)
{
	return epochs + (epochs / GROWTH_PART ? epochs / GROWTH_PART : 1);
}

static uint64_t thread_cpu_ns(const struct sys *sys)
{
	struct timespec now = { 0 };

	sys->clock_gettime(sys->state, CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_final(const struct until_answer *answer)
{
	return answer->state == UNTIL_SETTLED || answer->state == UNTIL_BIASED;
}

/* Without the lock. False: the bundle could not be read; that is no matter, there will be another. */
static bool look(struct until_watch *watch, bool thorough, struct until_answer *answer, bool *final)
{
	*final = false;
	if (until_look(&watch->looker, thorough, answer, NULL) != STATUS_OK)
		return false;
	if (!is_final(answer))
		return true;
	if (!thorough && until_look(&watch->looker, true, answer, NULL) != STATUS_OK)
		return false;
	*final = is_final(answer);
	return true;
}

static void result_take(struct until_watch *watch, const struct until_answer *answer, bool final,
			bool thorough)
{
	watch->latest = *answer;
	watch->has_latest = true;
	watch->looks++;
	if (thorough)
		watch->thorough_epochs = 2 * answer->epochs;
	if (final && !watch->decided) {
		watch->decided = true;
		watch->decision = *answer;
	}
}

void until_watch_pay(struct until_watch_debt *debt, uint64_t cost_ns)
{
	if (debt->looks++) {
		if (debt->looks == 2 || cost_ns < debt->least_ns)
			debt->least_ns = cost_ns;
		debt->owed_ns +=
			cost_ns < USUAL * debt->least_ns ? cost_ns : USUAL * debt->least_ns;
	}
}

uint64_t until_watch_due(const struct until_watch_debt *debt, double cpu_share)
{
	const double owed = (double)debt->owed_ns - CPU_FREE_NS;

	return owed > 0 ? (uint64_t)(owed / cpu_share) : 0;
}

static void *watch_run(void *argument)
{
	struct until_watch *watch = argument;

	pthread_mutex_lock(&watch->lock);
	while (!watch->quit) {
		const uint64_t began_ns = thread_cpu_ns(watch->sys), epochs = watch->epochs;
		const bool thorough = epochs >= watch->thorough_epochs;
		struct until_answer answer;
		uint64_t cost_ns;
		bool good, final;

		if (!watch->looking) {
			pthread_cond_wait(&watch->wake, &watch->lock);
			continue;
		}
		pthread_mutex_unlock(&watch->lock);
		good = look(watch, thorough, &answer, &final);
		pthread_mutex_lock(&watch->lock);
		if (good)
			result_take(watch, &answer, final, thorough);
		watch->next_epochs = until_watch_next(epochs);
		cost_ns = thread_cpu_ns(watch->sys) - began_ns;
		watch->cpu_ns += cost_ns;
		until_watch_pay(&watch->debt, cost_ns);
		watch->next_ns = watch->start_ns + until_watch_due(&watch->debt, watch->cpu_share);
		watch->looking = false;
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

enum status until_watch_new(struct until_watch **out, const struct sys *sys,
			    const struct until_watch_options *options, struct error *error)
{
	struct until_watch *watch = calloc(1, sizeof(*watch));

	*out = watch;
	if (!watch)
		return error_set(error, STATUS_NO_MEMORY, "no memory to watch the recording");
	watch->sys = sys;
	until_looker_init(&watch->looker, sys, options->path, options->question);
	watch->start_ns = sys_now_ns(sys);
	watch->cpu_share = options->cpu_share > 0 ? options->cpu_share : CPU_SHARE;
	pthread_mutex_init(&watch->lock, NULL);
	pthread_cond_init(&watch->wake, NULL);
	watch->next_epochs = ESTIMATE_UNTIL_EPOCHS_MIN;
	watch->thorough_epochs = THOROUGH_FROM;
	return STATUS_OK;
}

/* Late, so that a command is launched from a process of one thread. Without a thread the question stays
 * open, and a later call tries again. */
static void thread_start(struct until_watch *watch)
{
	pthread_attr_t attributes;

	if (pthread_attr_init(&attributes))
		return;
	if (!pthread_attr_setstacksize(&attributes, STACK_BYTES))
		watch->has_thread = !pthread_create(&watch->thread, &attributes, watch_run, watch);
	pthread_attr_destroy(&attributes);
}

bool until_watch_ask(struct until_watch *watch, uint64_t epochs)
{
	bool decided;

	pthread_mutex_lock(&watch->lock);
	decided = watch->decided;
	watch->epochs = epochs;
	if (!decided && !watch->looking && epochs >= watch->next_epochs &&
	    sys_now_ns(watch->sys) >= watch->next_ns) {
		if (!watch->has_thread)
			thread_start(watch);
		watch->looking = watch->has_thread;
		pthread_cond_signal(&watch->wake);
	}
	pthread_mutex_unlock(&watch->lock);
	return decided;
}

bool until_watch_latest(struct until_watch *watch, struct until_answer *answer)
{
	bool known;

	pthread_mutex_lock(&watch->lock);
	known = watch->has_latest;
	*answer = watch->latest;
	pthread_mutex_unlock(&watch->lock);
	return known;
}

const struct until_answer *until_watch_decision(const struct until_watch *watch)
{
	return &watch->decision;
}

uint64_t until_watch_looks(struct until_watch *watch, uint64_t *cpu_ns)
{
	uint64_t looks;

	pthread_mutex_lock(&watch->lock);
	looks = watch->looks;
	*cpu_ns = watch->cpu_ns;
	pthread_mutex_unlock(&watch->lock);
	return looks;
}

void until_watch_free(struct until_watch *watch)
{
	if (!watch)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->quit = true;
	pthread_cond_signal(&watch->wake);
	pthread_mutex_unlock(&watch->lock);
	if (watch->has_thread)
		pthread_join(watch->thread, NULL);
	until_looker_release(&watch->looker);
	pthread_cond_destroy(&watch->wake);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}
