/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The PMUs of the machine: read from sysfs, found by name.
 *
 * A PMU whose files are garbage is kept by name, so that it can be named in an error, and is passed
 * over wherever the user did not name it.
 */
#include "event/pmu.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/directory.h"

#define DEVICES "bus/event_source/devices"

char *event_pmu_file(struct event_grammar *g, const char *pmu, const char *folder, const char *file)
{
	char path[EVENT_PATH_MAX], *text = NULL;
	const int n = snprintf(path, sizeof(path), "%s/" DEVICES "/%s/%s%s%s", g->sysfs, pmu,
			       folder ? folder : "", folder ? "/" : "", file);

	if (n < 0 || (size_t)n >= sizeof(path) ||
	    sys_read_file(g->sys, AT_FDCWD, path, EVENT_FILE_MAX, &text, NULL, NULL) != STATUS_OK)
		return NULL;
	return text;
}

/* "0-3,8": the kernel's list format (lib/bitmap.c). False when it is anything else. */
static bool cpus_parse(struct event_pmu *pmu, struct event_slice text)
{
	size_t capacity = 0;
	uint64_t next = 0;

	text = event_slice_trim(text);
	for (bool more = text.n > 0; more;) {
		struct event_slice range, low_text, high_text;
		uint64_t low, high;

		more = event_slice_split(text, ',', &range, &text);
		if (!event_slice_split(range, '-', &low_text, &high_text))
			high_text = low_text;
		if (!event_slice_number(low_text, &low) || !event_slice_number(high_text, &high) ||
		    low < next || low > high || high >= EVENT_CPUS_MAX)
			return false;
		next = high + 1;
		if (!array_reserve(&pmu->cpus, &capacity, pmu->n_cpus + (size_t)(high - low + 1)))
			return false;
		for (uint64_t cpu = low; cpu <= high; cpu++)
			pmu->cpus[pmu->n_cpus++] = (int)cpu;
	}
	return true;
}

static void pmu_read(struct event_grammar *g, struct event_pmu *pmu)
{
	char *type = event_pmu_file(g, pmu->name, NULL, "type");
	char *core_cpus = event_pmu_file(g, pmu->name, NULL, "cpus");
	char *cpus = core_cpus ? core_cpus : event_pmu_file(g, pmu->name, NULL, "cpumask");
	uint64_t number;

	if (type && event_slice_number(event_slice_trim(event_slice_of(type)), &number) &&
	    number <= UINT32_MAX) {
		pmu->type = (uint32_t)number;
		pmu->type_known = true;
	}
	pmu->has_cpus = cpus && cpus_parse(pmu, event_slice_of(cpus));
	if (!pmu->has_cpus || !pmu->n_cpus) {
		free(pmu->cpus);
		pmu->cpus = NULL;
		pmu->n_cpus = 0;
	}
	pmu->core = (core_cpus && pmu->has_cpus) || !strcmp(pmu->name, "cpu");
	free(type);
	free(cpus);
}

static bool pmu_is_usable_core(const struct event_pmu *pmu)
{
	return pmu->core && pmu->type_known && (pmu->n_cpus || !pmu->has_cpus);
}

static struct event_pmus *pmus_read(struct event_grammar *g)
{
	struct event_pmus *pmus = calloc(1, sizeof(*pmus));
	struct directory devices;
	char path[EVENT_PATH_MAX];

	if (!pmus)
		return NULL;
	snprintf(path, sizeof(path), "%s/" DEVICES, g->sysfs);
	if (directory_list(&devices, g->sys, AT_FDCWD, path, EVENT_PMUS_MAX, NULL) != STATUS_OK)
		return pmus;
	for (size_t i = 0; i < devices.n; i++) {
		struct event_pmu *pmu;

		if (devices.names[i][0] == '.')
			continue;
		if (!array_reserve(&pmus->at, &pmus->capacity, pmus->n + 1)) {
			directory_release(&devices);
			event_pmus_free(pmus);
			return NULL;
		}
		pmu = &pmus->at[pmus->n++];
		memset(pmu, 0, sizeof(*pmu));
		pmu->name = devices.names[i];
		devices.names[i] = NULL;
		pmu_read(g, pmu);
		pmus->n_core += pmu_is_usable_core(pmu);
	}
	directory_release(&devices);
	return pmus;
}

const struct event_pmus *event_pmus_get(struct event_grammar *g)
{
	if (!g->pmus) {
		g->pmus = pmus_read(g);
		if (!g->pmus)
			event_no_memory(g);
	}
	return g->pmus;
}

void event_pmus_free(struct event_pmus *pmus)
{
	if (!pmus)
		return;
	for (size_t i = 0; i < pmus->n; i++) {
		free(pmus->at[i].name);
		free(pmus->at[i].cpus);
	}
	free(pmus->at);
	free(pmus);
}

const struct event_pmu *event_pmus_find(const struct event_pmus *pmus, struct event_slice name)
{
	for (size_t i = 0; i < pmus->n; i++)
		if (event_slice_is(name, pmus->at[i].name))
			return &pmus->at[i];
	return NULL;
}

bool event_pmu_lend_cpus(struct event *event, const struct event_pmus *pmus,
			 const struct event_pmu *pmu)
{
	/* The only core PMU counts on every CPU, whichever way it is written. */
	if (!pmu->n_cpus || (pmu->core && pmus->n_core == 1))
		return true;
	event->cpus = malloc(pmu->n_cpus * sizeof(*event->cpus));
	if (!event->cpus)
		return false;
	memcpy(event->cpus, pmu->cpus, pmu->n_cpus * sizeof(*event->cpus));
	event->n_cpus = pmu->n_cpus;
	return true;
}

/* One event, on the PMU given (NULL: whichever of the only kind there is). */
static enum status numbered_add(struct event_grammar *g, const struct event_pmus *pmus,
				const struct event_pmu *pmu, const struct event_legacy *legacy)
{
	struct event *event;
	enum status status = event_add(g, &event);
	bool named;

	if (status != STATUS_OK)
		return status;
	event->attr.type = legacy->type;
	event->attr.config = legacy->config;
	/* PERF_PMU_TYPE_SHIFT: the upper half of config names the PMU (Linux 5.12, hybrid x86). */
	if (pmu && legacy->type == PERF_TYPE_RAW)
		event->attr.type = pmu->type;
	else if (pmu)
		event->attr.config |= (uint64_t)pmu->type << 32;
	named = pmu ? event_name(event, "%s/%s/", pmu->name, legacy->name)
		    : event_name(event, "%s", legacy->name);
	if (!named || (pmu && !event_pmu_lend_cpus(event, pmus, pmu)))
		return event_no_memory(g);
	return STATUS_OK;
}

enum status event_pmu_add_numbers(struct event_grammar *g, const struct event_legacy *numbers)
{
	return numbered_add(g, NULL, NULL, numbers);
}

enum status event_pmu_add_legacy(struct event_grammar *g, const struct event_legacy *legacy)
{
	const struct event_pmus *pmus;

	if (legacy->type == PERF_TYPE_SOFTWARE)
		return numbered_add(g, NULL, NULL, legacy);
	pmus = event_pmus_get(g);
	if (!pmus)
		return STATUS_NO_MEMORY;
	if (pmus->n_core < 2)
		return numbered_add(g, pmus, NULL, legacy);
	for (size_t i = 0; i < pmus->n; i++) {
		enum status status;

		if (!pmu_is_usable_core(&pmus->at[i]))
			continue;
		status = numbered_add(g, pmus, &pmus->at[i], legacy);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

enum status event_pmu_add_raw(struct event_grammar *g, uint64_t config)
{
	struct event_legacy raw = { .type = PERF_TYPE_RAW, .config = config };

	snprintf(raw.name, sizeof(raw.name), "r%llx", (unsigned long long)config);
	return event_pmu_add_legacy(g, &raw);
}

void event_pmu_tell(struct event_grammar *g)
{
	const struct event_pmus *pmus = event_pmus_get(g);
	const char *before = ": PMUs here are ";

	for (size_t i = 0; pmus && i < pmus->n; i++, before = ", ") {
		struct event_shown name;

		event_refuse_more(g, "%s%s", before,
				  event_show(&name, event_slice_of(pmus->at[i].name)));
	}
	if (pmus && !pmus->n)
		event_refuse_more(g, ": %s/" DEVICES " shows none (is sysfs mounted?)", g->sysfs);
}
