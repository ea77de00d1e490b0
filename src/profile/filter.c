/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Seconds beyond this do not fit 64 bits of nanoseconds. */
#define MAX_SECONDS 1.8e10

void filter_init(struct filter *filter)
{
	memset(filter, 0, sizeof(*filter));
}

void filter_release(struct filter *filter)
{
	for (size_t i = 0; i < filter->n_comms; i++)
		free(filter->comms[i]);
	free(filter->comms);
	free(filter->pids);
	free(filter->tids);
	free(filter->cpus);
	filter_init(filter);
}

static enum status no_memory(struct error *error)
{
	return error_set(error, STATUS_NO_MEMORY, "no memory for a filter");
}

enum status filter_comms(struct filter *filter, const char *text, struct error *error)
{
	while (*text) {
		const size_t length = strcspn(text, ",");
		char *comm;

		if (!length)
			return error_set(error, STATUS_USAGE,
					 "--comm has an empty name in its list");
		comm = strndup(text, length);
		if (!comm ||
		    !array_reserve(&filter->comms, &filter->comms_capacity, filter->n_comms + 1)) {
			free(comm);
			return no_memory(error);
		}
		filter->comms[filter->n_comms++] = comm;
		text += length;
		text += *text == ',';
	}
	return filter->n_comms ? STATUS_OK : error_set(error, STATUS_USAGE, "--comm needs a name");
}

/* A decimal number at *text up to `maximum`, followed by one of `stops` or the end. */
static bool number_read(const char **text, const char *stops, uint64_t maximum, uint64_t *number)
{
	const char *at = *text;

	*number = 0;
	if (*at < '0' || *at > '9')
		return false;
	for (; *at >= '0' && *at <= '9'; at++) {
		*number = *number * 10 + (uint64_t)(*at - '0');
		if (*number > maximum)
			return false;
	}
	if (*at && !strchr(stops, *at))
		return false;
	*text = at;
	return true;
}

static enum status ids_read(uint32_t **ids, size_t *n, size_t *capacity, const char *option,
			    const char *text, struct error *error)
{
	const char *at = text;
	uint64_t number;

	do {
		if (!number_read(&at, ",", UINT32_MAX - 1, &number))
			return error_set(error, STATUS_USAGE,
					 "%s takes a list of numbers, not \"%s\"", option, text);
		if (!array_reserve(ids, capacity, *n + 1))
			return no_memory(error);
		(*ids)[(*n)++] = (uint32_t)number;
	} while (*at++ == ',');
	return STATUS_OK;
}

enum status filter_pids(struct filter *filter, const char *text, struct error *error)
{
	return ids_read(&filter->pids, &filter->n_pids, &filter->pids_capacity, "--pid", text,
			error);
}

enum status filter_tids(struct filter *filter, const char *text, struct error *error)
{
	return ids_read(&filter->tids, &filter->n_tids, &filter->tids_capacity, "--tid", text,
			error);
}

enum status filter_cpus(struct filter *filter, const char *text, struct error *error)
{
	const char *at = text;
	uint64_t first, last;

	if (!filter->cpus && !(filter->cpus = calloc(FILTER_MAX_CPU / 8, 1)))
		return no_memory(error);
	do {
		bool good = number_read(&at, ",-", FILTER_MAX_CPU - 1, &first);

		last = first;
		if (good && *at == '-') {
			at++;
			good = number_read(&at, ",", FILTER_MAX_CPU - 1, &last) && first <= last;
		}
		if (!good)
			return error_set(error, STATUS_USAGE,
					 "--cpu takes CPUs like 0-3,7, not \"%s\"", text);
		for (uint64_t cpu = first; cpu <= last; cpu++)
			filter->cpus[cpu / 8] |= (uint8_t)(1u << cpu % 8);
	} while (*at++ == ',');
	return STATUS_OK;
}

/* Non-negative, finite, at most `maximum`. */
static bool real_read(const char **text, double maximum, double *real)
{
	char *end;

	if ((**text < '0' || **text > '9') && **text != '.')
		return false;
	*real = strtod(*text, &end);
	if (end == *text || !isfinite(*real) || *real > maximum)
		return false;
	*text = end;
	return true;
}

static uint64_t ns_of(double seconds)
{
	return (uint64_t)llround(seconds * 1e9);
}

/* "10%-20%" or "10%/2" at *text. */
static bool fraction_read(const char **text, struct filter_slice *slice)
{
	double second;

	slice->unit = FILTER_FRACTION;
	if (!real_read(text, 100, &slice->start) || *(*text)++ != '%')
		return false;
	slice->start /= 100;
	if (**text == '/') {
		const double part = slice->start;

		++*text;
		if (!real_read(text, 1e6, &second) || second < 1 || part <= 0 ||
		    part * (second - 1) >= 1)
			return false;
		slice->start = part * (second - 1);
		slice->stop = fmin(1, part * second);
		return true;
	}
	if (**text != '-')
		return false;
	++*text;
	if (!real_read(text, 100, &slice->stop) || **text != '%')
		return false;
	++*text;
	slice->stop /= 100;
	return slice->start <= slice->stop;
}

/* "START,STOP", both optional but not both missing, both from the same zero. */
static bool interval_read(const char **text, struct filter_slice *slice)
{
	bool has_start = false, has_stop = false, since_first = false;

	slice->start = 0;
	slice->stop = INFINITY;
	if (**text != ',') {
		since_first = **text == '+';
		*text += since_first;
		has_start = real_read(text, MAX_SECONDS, &slice->start);
		if (!has_start)
			return false;
	}
	if (*(*text)++ != ',')
		return false;
	if (**text && **text != ' ') {
		const bool plus = **text == '+';

		*text += plus;
		if (has_start && plus != since_first)
			return false;
		since_first = plus;
		has_stop = real_read(text, MAX_SECONDS, &slice->stop);
		if (!has_stop)
			return false;
	}
	slice->unit = since_first ? FILTER_SINCE_FIRST : FILTER_ABSOLUTE;
	slice->start_ns = ns_of(slice->start);
	slice->stop_ns = has_stop ? ns_of(slice->stop) : UINT64_MAX;
	return (has_start || has_stop) && slice->start <= slice->stop;
}

enum status filter_time(struct filter *filter, const char *text, struct error *error)
{
	const bool fractions = strchr(text, '%') != NULL;
	const char separator = fractions ? ',' : ' ';
	const char *at = text;

	for (;;) {
		struct filter_slice slice = { 0 };

		while (*at == ' ')
			at++;
		if (filter->n_slices == FILTER_MAX_SLICES)
			return error_set(error, STATUS_USAGE, "--time takes at most %d slices",
					 FILTER_MAX_SLICES);
		if (!(fractions ? fraction_read(&at, &slice) : interval_read(&at, &slice)) ||
		    (*at && *at != separator))
			return error_set(
				error, STATUS_USAGE,
				"--time takes START,STOP in seconds, +START,+STOP from the "
				"first sample, P%%-Q%% or P%%/N, not \"%s\"",
				text);
		filter->slices[filter->n_slices++] = slice;
		if (!*at)
			return STATUS_OK;
		at++;
	}
}

bool filter_is_empty(const struct filter *filter)
{
	return !filter->n_comms && !filter->n_pids && !filter->n_tids && !filter->cpus &&
	       !filter->n_slices;
}

bool filter_needs_range(const struct filter *filter)
{
	for (size_t i = 0; i < filter->n_slices; i++)
		if (filter->slices[i].unit != FILTER_ABSOLUTE)
			return true;
	return false;
}

void filter_resolve(struct filter *filter, uint64_t first_ns, uint64_t last_ns)
{
	const double length = (double)(last_ns - first_ns);

	for (size_t i = 0; i < filter->n_slices; i++) {
		struct filter_slice *slice = &filter->slices[i];

		if (slice->unit == FILTER_FRACTION) {
			slice->start_ns = first_ns + (uint64_t)(slice->start * length);
			slice->stop_ns = slice->stop >= 1
						 ? last_ns
						 : first_ns + (uint64_t)(slice->stop * length);
		} else if (slice->unit == FILTER_SINCE_FIRST) {
			slice->start_ns += first_ns;
			if (slice->stop_ns != UINT64_MAX)
				slice->stop_ns += first_ns;
		}
		slice->unit = FILTER_ABSOLUTE;
	}
}

static bool id_listed(const uint32_t *ids, size_t n, uint32_t id)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return !n;
}

bool filter_takes_task(const struct filter *filter, uint32_t pid, uint32_t tid)
{
	return id_listed(filter->pids, filter->n_pids, pid) &&
	       id_listed(filter->tids, filter->n_tids, tid);
}

bool filter_takes_cpu(const struct filter *filter, uint32_t cpu)
{
	return !filter->cpus || (cpu < FILTER_MAX_CPU && (filter->cpus[cpu / 8] >> cpu % 8 & 1));
}

bool filter_takes_time(const struct filter *filter, uint64_t time_ns)
{
	for (size_t i = 0; i < filter->n_slices; i++)
		if (time_ns >= filter->slices[i].start_ns && time_ns <= filter->slices[i].stop_ns)
			return true;
	return !filter->n_slices;
}

bool filter_takes_comm(const struct filter *filter, const char *comm)
{
	for (size_t i = 0; i < filter->n_comms; i++)
		if (!strcmp(filter->comms[i], comm))
			return true;
	return !filter->n_comms;
}
