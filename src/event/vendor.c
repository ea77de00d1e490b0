/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libpfm4 as a dictionary: it is asked for an encoding and nothing else. It opens no events; it reads
 * /proc/cpuinfo and PMU types in sysfs by itself, beside the seam, at its first use.
 */
#include "event/vendor.h"

#include <ctype.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "event/modifier.h"
#include "event/pmu.h"

#define WORD_MAX 1024 /* no vendor's name comes near; bounds what libpfm4 is given */

/* True for what libpfm4 finds in its pseudo PMU of the kernel's own events, which reads tracefs past the
 * seam: those names are the grammar's. Cuts the text at its first attribute. */
static bool is_kernels_own(char *text)
{
	pfm_event_info_t event = { .size = sizeof(event) };
	char *const scope = strstr(text, "::");
	char *const attribute = strchr(scope ? scope + 2 : text, ':');
	int found;

	if (attribute)
		*attribute = '\0';
	found = pfm_find_event(text);
	return found >= 0 &&
	       pfm_get_event_info(found, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS &&
	       (event.pmu == PFM_PMU_PERF_EVENT || event.pmu == PFM_PMU_PERF_EVENT_RAW);
}

/* The result of libpfm4, PFM_SUCCESS or a negative PFM_ERR_*; *full is the caller's to free. */
static int encode(struct event_slice word, struct perf_event_attr *attr, char **full)
{
	pfm_perf_encode_arg_t request;
	char text[WORD_MAX + 1];
	int result;

	*full = NULL;
	if (!word.n || word.n > WORD_MAX || memchr(word.at, '\0', word.n))
		return PFM_ERR_NOTFOUND;
	/* Returns at once when it was called before. */
	if (pfm_initialize() != PFM_SUCCESS)
		return PFM_ERR_NOTFOUND;
	memcpy(text, word.at, word.n);
	text[word.n] = '\0';
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	memset(&request, 0, sizeof(request));
	request.attr = attr;
	request.fstr = full;
	request.size = sizeof(request);
	result = pfm_get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3 | PFM_PLMH,
					   PFM_OS_PERF_EVENT_EXT, &request);
	if (result != PFM_ERR_NOTFOUND && is_kernels_own(text))
		result = PFM_ERR_NOTFOUND;
	if (result != PFM_SUCCESS) {
		free(*full);
		*full = NULL;
	}
	return result;
}

/* Cuts "skl::INST_RETIRED:ANY_P:e=0:i=0:u=1" before its first attribute with a value. */
static void attributes_cut(char *full)
{
	for (char *p = full; (p = strchr(p, ':')); p++) {
		const char *q = p + 1;

		while (isalnum((unsigned char)*q) || *q == '_')
			q++;
		if (*q == '=') {
			*p = '\0';
			return;
		}
	}
}

/* The last ":letters" of the word, when they are perf's modifiers. */
static bool modifiers_split(struct event_slice *word, struct event_slice *letters)
{
	size_t n = word->n;

	while (n && word->at[n - 1] != ':')
		n--;
	*letters = (struct event_slice){ word->at + n, word->n - n };
	if (n < 2 || !event_modifiers_are(*letters))
		return false;
	word->n = n - 1;
	return true;
}

static const struct event_pmu *pmu_of_type(const struct event_pmus *pmus, uint32_t type)
{
	for (size_t i = 0; i < pmus->n; i++)
		if (pmus->at[i].type_known && pmus->at[i].type == type)
			return &pmus->at[i];
	return NULL;
}

static enum status encoded_add(struct event_grammar *g, const struct perf_event_attr *attr,
			       const char *name, const struct event_terms *terms)
{
	const struct event_pmus *pmus = event_pmus_get(g);
	const struct event_pmu *pmu;
	struct event *event;
	enum status status;

	if (!pmus)
		return STATUS_NO_MEMORY;
	status = event_add(g, &event);
	if (status != STATUS_OK)
		return status;
	event->attr = *attr;
	event->period_typed = attr->sample_period && !attr->freq;
	event->freq_typed = attr->sample_freq && attr->freq;
	pmu = pmu_of_type(pmus, attr->type);
	if (!event_name(event, "%s", name) || (pmu && !event_pmu_lend_cpus(event, pmus, pmu)))
		return event_no_memory(g);
	return event_terms_apply_own(terms, g, event);
}

enum status event_vendor_add(struct event_grammar *g, struct event_slice word,
			     const struct event_terms *terms, struct event_slice *modifiers)
{
	struct perf_event_attr attr;
	struct event_slice base = word;
	struct event_shown shown;
	char *full;
	enum status status;
	int result = encode(word, &attr, &full), whole = result;

	*modifiers = (struct event_slice){ word.at + word.n, 0 };
	if (result != PFM_SUCCESS && modifiers_split(&base, modifiers))
		result = encode(base, &attr, &full);
	if (result == PFM_ERR_NOTFOUND || result == PFM_ERR_NOINIT)
		return STATUS_NOT_FOUND;
	if (result != PFM_SUCCESS)
		return event_refuse(g, STATUS_USAGE, word, "libpfm4 does not take '%s': %s",
				    event_show(&shown, word), pfm_strerror(whole));
	if (full)
		attributes_cut(full);
	status = event_terms_only_own(terms, g);
	if (status == STATUS_OK)
		status = encoded_add(g, &attr, full ? full : event_show(&shown, base), terms);
	free(full);
	return status;
}

static void pmu_offer(struct event_near *near, const pfm_pmu_info_t *pmu)
{
	for (int i = pmu->first_event; i >= 0; i = pfm_get_event_next(i)) {
		pfm_event_info_t event;

		memset(&event, 0, sizeof(event));
		event.size = sizeof(event);
		if (pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS)
			event_near_offer(near, event.name);
	}
}

void event_vendor_offer(struct event_near *near)
{
	if (pfm_initialize() != PFM_SUCCESS)
		return;
	for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; i++) {
		pfm_pmu_info_t pmu;

		memset(&pmu, 0, sizeof(pmu));
		pmu.size = sizeof(pmu);
		/* perf:: and perf_raw:: repeat the numbered events, which are offered anyway. */
		if (pfm_get_pmu_info((pfm_pmu_t)i, &pmu) == PFM_SUCCESS && pmu.is_present &&
		    pmu.pmu != PFM_PMU_PERF_EVENT && pmu.pmu != PFM_PMU_PERF_EVENT_RAW)
			pmu_offer(near, &pmu);
	}
}
