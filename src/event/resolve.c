/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words are looked up where perf looks first: numbered names before sysfs aliases before tracepoints;
 * libpfm4 comes last, so that no vendor's name can shadow one that perf users type.
 */
#include "event/resolve.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "event/legacy.h"
#include "event/modifier.h"
#include "event/pmu.h"
#include "event/tracepoint.h"
#include "event/vendor.h"

static const struct event_terms no_terms = { .n = 0 };

/* rHEX and r0xHEX */
static bool raw_read(struct event_slice word, uint64_t *config)
{
	struct event_slice digits = { word.at + 1, word.n - 1 };

	if (word.n < 2 || word.at[0] != 'r')
		return false;
	if (digits.n > 2 && digits.at[0] == '0' && (digits.at[1] | 0x20) == 'x')
		return event_slice_number(digits, config);
	return event_slice_hex(digits, config);
}

static bool looks_raw(struct event_slice word)
{
	size_t i = 1;

	while (i < word.n && isxdigit((unsigned char)word.at[i]))
		i++;
	return word.n > 1 && word.at[0] == 'r' && i == word.n;
}

/* TYPE:CONFIG, the numbers of perf_event_attr themselves. */
static enum status numbers_add(struct event_grammar *g, struct event_slice type_text, uint64_t type,
			       uint64_t config)
{
	struct event_legacy legacy = { .type = (uint32_t)type, .config = config };

	if (type > UINT32_MAX)
		return event_refuse(g, STATUS_USAGE, type_text, "a type has 32 bits");
	if (!event_legacy_name(legacy.type, config, legacy.name))
		snprintf(legacy.name, sizeof(legacy.name), "%llu:%llu", (unsigned long long)type,
			 (unsigned long long)config);
	if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW ||
	    type == PERF_TYPE_SOFTWARE)
		return event_pmu_add_legacy(g, &legacy);
	return event_pmu_add_numbers(g, &legacy);
}

/* Numbered names, raw and numbers. STATUS_NOT_FOUND without text for other words. */
static enum status numbered_resolve(struct event_grammar *g, struct event_slice head,
				    struct event_slice *rest)
{
	struct event_legacy legacy;
	struct event_slice second, after;
	struct event_shown shown;
	uint64_t type, config;
	const char *reason;

	if (event_legacy_find(&legacy, head))
		return event_pmu_add_legacy(g, &legacy);
	if (event_legacy_cache_refused(head, &reason))
		return event_refuse(g, STATUS_USAGE, head, "'%s' cannot be counted: %s",
				    event_show(&shown, head), reason);
	if (raw_read(head, &config))
		return event_pmu_add_raw(g, config);
	if (looks_raw(head))
		return event_refuse(g, STATUS_USAGE, head, "'%s' has more than 64 bits",
				    event_show(&shown, head));
	event_slice_split(*rest, ':', &second, &after);
	if (event_slice_number(head, &type) && event_slice_number(second, &config)) {
		*rest = after;
		return numbers_add(g, head, type, config);
	}
	return STATUS_NOT_FOUND;
}

/* Applies period=, freq= and name= to the events from `first` on. */
static enum status own_terms_apply(struct event_grammar *g, size_t first,
				   const struct event_terms *terms)
{
	enum status status = event_terms_only_own(terms, g);

	for (size_t i = first; i < g->list->n && status == STATUS_OK; i++)
		status = event_terms_apply_own(terms, g, &g->list->events[i]);
	return status;
}

static enum status unknown_refuse(struct event_grammar *g, struct event_slice head)
{
	const struct event_pmus *pmus = event_pmus_get(g);
	struct event_shown shown;
	struct event_near near;
	enum status status;

	if (!pmus)
		return STATUS_NO_MEMORY;
	event_show(&shown, head);
	if (event_pmus_find(pmus, head))
		return event_refuse(
			g, STATUS_USAGE, head,
			"'%s' is a PMU, not an event: write %s/EVENT/ or %s/TERM=VALUE,.../",
			shown.text, shown.text, shown.text);
	event_near_init(&near, head);
	event_legacy_offer(&near);
	event_pmu_offer(g, &near);
	event_vendor_offer(&near);
	status = event_refuse(g, STATUS_USAGE, head, "unknown event '%s'", shown.text);
	event_near_tell(g, &near);
	if (!near.n)
		event_refuse_more(g, ": `perf list` shows what there is");
	return status;
}

enum status event_resolve(struct event_grammar *g, struct event_slice word,
			  struct event_slice *modifiers)
{
	struct event_slice head, name;
	const bool colon = event_slice_split(word, ':', &head, modifiers);
	enum status status;

	if (colon && !modifiers->n)
		return event_refuse(g, STATUS_USAGE, *modifiers, "nothing follows the ':'");
	status = numbered_resolve(g, head, modifiers);
	if (status == STATUS_NOT_FOUND)
		status = event_pmu_add_alias(g, head, &no_terms);
	if (status != STATUS_NOT_FOUND)
		return status;
	if (colon && event_tracepoint_has_system(g, head)) {
		event_slice_split(*modifiers, ':', &name, modifiers);
		return event_tracepoint_add(g, head, name, &no_terms);
	}
	status = event_vendor_add(g, word, &no_terms, modifiers);
	if (status != STATUS_NOT_FOUND)
		return status;
	event_slice_split(word, ':', &head, modifiers);
	if (!colon || event_modifiers_are(*modifiers))
		return unknown_refuse(g, head);
	event_slice_split(*modifiers, ':', &name, modifiers);
	return event_tracepoint_add(g, head, name, &no_terms);
}

enum status event_resolve_with_terms(struct event_grammar *g, struct event_slice word,
				     const struct event_terms *terms)
{
	const size_t first = g->list->n;
	struct event_slice head, name, rest;
	struct event_shown shown;
	enum status status = event_pmu_add(g, word, terms);

	if (status != STATUS_NOT_FOUND)
		return status;
	event_slice_split(word, ':', &head, &rest);
	status = numbered_resolve(g, head, &rest);
	if (status == STATUS_OK && !rest.n)
		return own_terms_apply(g, first, terms);
	if (status == STATUS_NOT_FOUND && !rest.n)
		status = event_pmu_add_alias(g, head, terms);
	if (status != STATUS_NOT_FOUND && (status != STATUS_OK || !rest.n))
		return status;
	if (status == STATUS_OK)
		return event_refuse(g, STATUS_USAGE, rest, "modifiers stand behind the second '/'");
	if (rest.n) {
		event_slice_split(rest, ':', &name, &rest);
		if (rest.n)
			return event_refuse(g, STATUS_USAGE, rest,
					    "modifiers stand behind the second '/'");
		return event_tracepoint_add(g, head, name, terms);
	}
	status = event_refuse(g, STATUS_NOT_FOUND, word, "no PMU '%s'", event_show(&shown, word));
	event_pmu_tell(g);
	return status;
}
