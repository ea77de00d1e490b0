/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "event/cache.h"

#include "support/test.h"

static const struct {
	const char *word;
	uint64_t config;
} spellings[] = {
	{ "L1-dcache-load-misses", 0x10000 },
	{ "L1-dcache-loads", 0 },
	{ "L1-dcache", 0 },
	{ "l1-d", 0 },
	{ "l1d-misses", 0x10000 },
	{ "L1-data-miss-store", 0x10100 },
	{ "L1-dcache-store-refs", 0x100 },
	{ "L1-dcache-prefetch-misses", 0x10200 },
	{ "l1-i-load-misses", 0x10001 },
	{ "L1-instruction-prefetches", 0x201 },
	{ "LLC-loads", 2 },
	{ "L2-write-misses", 0x10102 },
	{ "llc-store-miss", 0x10102 },
	{ "dTLB-load-misses", 0x10003 },
	{ "d-tlb-speculative-read-misses", 0x10203 },
	{ "Data-TLB-stores", 0x103 },
	{ "iTLB-load-misses", 0x10004 },
	{ "Instruction-TLB-access", 4 },
	{ "branch-loads", 5 },
	{ "branch-load-misses", 0x10005 },
	{ "bpu-Reference", 5 },
	{ "node", 6 },
	{ "node-prefetch-misses", 0x10206 },
};

static void every_spelling_has_the_number_that_perf_gives_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		const char *reason;
		uint64_t config = ~0ull;

		if (event_cache_find(&config, event_slice_of(spellings[i].word), &reason) !=
			    EVENT_CACHE_FOUND ||
		    config != spellings[i].config)
			fail_msg("%s: %#llx", spellings[i].word, (unsigned long long)config);
	}
}

static void what_no_cache_does_is_impossible_with_a_reason(void **state)
{
	static const char *const words[] = { "iTLB-stores", "L1-icache-store-misses",
					     "branch-stores", "iTLB-prefetches",
					     "bpc-prefetch-miss" };

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *reason = NULL;
		uint64_t config;

		assert_int_equal(event_cache_find(&config, event_slice_of(words[i]), &reason),
				 EVENT_CACHE_IMPOSSIBLE);
		assert_non_null(reason);
	}
}

static void other_words_are_no_cache_events(void **state)
{
	static const char *const words[] = { "",
					     "L1",
					     "L3-loads",
					     "L1-dcache-",
					     "LLC-loadsx",
					     "L1-dcache-load-load",
					     "LLC-misses-miss",
					     "LLC-load-misses-refs",
					     "LLCloads",
					     "nodes",
					     "LLC--loads" };

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *reason;
		uint64_t config;

		if (event_cache_find(&config, event_slice_of(words[i]), &reason) !=
		    EVENT_CACHE_NONE)
			fail_msg("%s", words[i]);
	}
}

static void a_canonical_name_leads_back_to_its_number(void **state)
{
	unsigned int found = 0;

	(void)state;
	for (uint64_t config = 0; config < 0x30000; config++) {
		const char *reason;
		uint64_t back = ~0ull;
		char name[48];

		if (!event_cache_name(config, name))
			continue;
		switch (event_cache_find(&back, event_slice_of(name), &reason)) {
		case EVENT_CACHE_FOUND:
			assert_int_equal(back, config);
			found++;
			break;
		case EVENT_CACHE_IMPOSSIBLE: break;
		case EVENT_CACHE_NONE: fail_msg("%s", name);
		}
	}
	/* 4 caches with 3 operations, L1i with 2, iTLB and branches with 1; two results each. */
	assert_int_equal(found, 2 * (4 * 3 + 2 + 1 + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_spelling_has_the_number_that_perf_gives_it),
		cmocka_unit_test(what_no_cache_does_is_impossible_with_a_reason),
		cmocka_unit_test(other_words_are_no_cache_events),
		cmocka_unit_test(a_canonical_name_leads_back_to_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
