/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Terms: split, and those that every PMU shares applied. Source: config_term_names and
 * config_term_common of tools/perf/util/parse-events.c.
 *
 * Terms that perf takes per event but that assay decides once per recording (call graphs, inheritance,
 * timestamps) are refused with the option that does it, never dropped.
 */
#include "event/term.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *use;
} whole_terms[] = {
	{ "call-graph", "use -g or --call-graph, for all events" },
	{ "stack-size", "use --call-graph dwarf, for all events" },
	{ "max-stack", "assay keeps whole stacks, for all events" },
	{ "max-events", "end the recording with -d or --max-size" },
	{ "branch_type", "assay records no branch stacks" },
	{ "time", "every sample has its time" },
	{ "inherit", "children are followed, for all events" },
	{ "no-inherit", "children are followed, for all events; give threads with -t" },
	{ "overwrite", "assay writes no overwriting rings" },
	{ "no-overwrite", "no ring is overwritten anyway" },
	{ "percore", "it is for perf stat, not for sampling" },
	{ "aux-output", "assay records no AUX area" },
	{ "aux-sample-size", "assay records no AUX area" },
	{ "metric-id", "it is for perf stat, not for sampling" },
	{ "driver-config", "assay passes nothing to a driver" },
};

/* The end of the term that starts at `text`: the next comma outside of quotes. */
static size_t term_length(struct event_slice text)
{
	bool quoted = false;

	for (size_t i = 0; i < text.n; i++) {
		if (text.at[i] == '\'')
			quoted = !quoted;
		if (text.at[i] == ',' && !quoted)
			return i;
	}
	return text.n;
}

static bool term_read(struct event_term *term, struct event_slice text)
{
	*term = (struct event_term){ .number = 1, .is_number = true };
	term->has_value = event_slice_split(text, '=', &term->name, &term->value);
	term->name = event_slice_trim(term->name);
	term->value = event_slice_trim(term->value);
	if (!term->name.n || (term->has_value && !term->value.n))
		return false;
	if (term->has_value)
		term->is_number = event_slice_number(term->value, &term->number);
	if (term->value.n >= 2 && term->value.at[0] == '\'' &&
	    term->value.at[term->value.n - 1] == '\'') {
		term->value.at++;
		term->value.n -= 2;
	}
	return true;
}

enum status event_terms_parse(struct event_terms *terms, struct event_grammar *g,
			      struct event_slice text)
{
	terms->n = 0;
	if (!event_slice_trim(text).n)
		return STATUS_OK;
	for (;;) {
		struct event_slice one = { text.at, term_length(text) };
		struct event_shown shown;

		if (terms->n == EVENT_TERMS_MAX)
			return event_refuse(g, STATUS_LIMIT, one, "more than %d terms",
					    EVENT_TERMS_MAX);
		if (!term_read(&terms->at[terms->n++], one))
			return event_refuse(g, STATUS_USAGE, one,
					    "'%s' is no term: a term is NAME or NAME=VALUE",
					    event_show(&shown, one));
		if (one.n == text.n)
			return STATUS_OK;
		text.at += one.n + 1;
		text.n -= one.n + 1;
	}
}

bool event_terms_parse_file(struct event_terms *terms, struct event_slice text)
{
	terms->n = 0;
	text = event_slice_trim(text);
	for (bool more = text.n > 0; more;) {
		struct event_slice one;

		more = event_slice_split(text, ',', &one, &text);
		if (terms->n == EVENT_TERMS_MAX || !term_read(&terms->at[terms->n++], one))
			return false;
	}
	return terms->n > 0;
}

int event_term_field(const struct event_term *term)
{
	static const char *const names[] = { "config", "config1", "config2", "config3" };

	for (int i = 0; i < 4; i++)
		if (event_slice_is(term->name, names[i]))
			return i;
	return -1;
}

enum event_term_role event_term_role(const struct event_term *term, const char **use)
{
	if (event_term_field(term) >= 0 || event_slice_is(term->name, "period") ||
	    event_slice_is(term->name, "freq") || event_slice_is(term->name, "name"))
		return EVENT_TERM_OWN;
	for (size_t i = 0; i < sizeof(whole_terms) / sizeof(whole_terms[0]); i++)
		if (event_slice_is(term->name, whole_terms[i].name)) {
			*use = whole_terms[i].use;
			return EVENT_TERM_WHOLE;
		}
	return EVENT_TERM_OF_THE_PMU;
}

static enum status rate_apply(const struct event_term *term, struct event_grammar *g,
			      struct event *event, bool is_freq)
{
	struct event_shown shown;

	/* The kernel refuses periods with the top bit set. */
	if (!term->has_value || !term->is_number || !term->number || term->number > INT64_MAX)
		return event_refuse(g, STATUS_USAGE, term->name,
				    "%s needs a number above 0 and below 2^63",
				    event_show(&shown, term->name));
	if (event->period_typed || event->freq_typed)
		return event_refuse(g, STATUS_USAGE, term->name,
				    "one of period= and freq= sets the rate, and once");
	event->attr.sample_period = term->number; /* a union with sample_freq */
	event->attr.freq = is_freq;
	event->freq_typed = is_freq;
	event->period_typed = !is_freq;
	return STATUS_OK;
}

static enum status label_apply(const struct event_term *term, struct event_grammar *g,
			       struct event *event)
{
	if (!term->has_value || !term->value.n)
		return event_refuse(g, STATUS_USAGE, term->name, "name needs a value");
	for (size_t i = 0; i < term->value.n; i++)
		if ((unsigned char)term->value.at[i] < 0x20 || term->value.at[i] == 0x7f)
			return event_refuse(g, STATUS_USAGE, term->value,
					    "a name holds no control characters");
	free(event->label);
	event->label = strndup(term->value.at, term->value.n);
	return event->label ? STATUS_OK : event_no_memory(g);
}

enum status event_terms_apply_own(const struct event_terms *terms, struct event_grammar *g,
				  struct event *event)
{
	for (size_t i = 0; i < terms->n; i++) {
		const struct event_term *term = &terms->at[i];
		enum status status = STATUS_OK;

		if (event_slice_is(term->name, "period"))
			status = rate_apply(term, g, event, false);
		else if (event_slice_is(term->name, "freq"))
			status = rate_apply(term, g, event, true);
		else if (event_slice_is(term->name, "name"))
			status = label_apply(term, g, event);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

enum status event_terms_only_own(const struct event_terms *terms, struct event_grammar *g)
{
	for (size_t i = 0; i < terms->n; i++) {
		const struct event_term *term = &terms->at[i];
		struct event_shown shown;
		const char *use;

		switch (event_term_role(term, &use)) {
		case EVENT_TERM_WHOLE:
			return event_refuse(g, STATUS_UNSUPPORTED, term->name,
					    "'%s' cannot be set for one event: %s",
					    event_show(&shown, term->name), use);
		case EVENT_TERM_OWN:
			if (event_term_field(term) < 0)
				continue;
			break;
		case EVENT_TERM_OF_THE_PMU: break;
		}
		return event_refuse(
			g, STATUS_USAGE, term->name,
			"'%s' belongs to a PMU: this event takes period=, freq= and name=",
			event_show(&shown, term->name));
	}
	return STATUS_OK;
}
