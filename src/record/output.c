/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bundle of a recording: its files, the contract in the manifest's head, epochs as they finish,
 * the header of perf.data at the end.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/array.h"
#include "record/machine.h"
#include "record/record_bytes.h"
#include "record/recorder.h"
#include "record/tracing_data.h"

#define KERNEL_NOTES    "/sys/kernel/notes"
#define NOTES_MAX_BYTES 65536
#define PERFDATA_NAME   "perf.data"
#define MANIFEST_NAME   "manifest.json"
#define DRAWS_NAME      "draws.data"

static char *copy_of(const char *text)
{
	return text && text[0] ? strdup(text) : NULL;
}

static bool command_fill(struct manifest *manifest, const struct record_options *options)
{
	if (options->command) {
		while (options->command[manifest->n_command])
			manifest->n_command++;
		manifest->command = calloc(manifest->n_command + 1, sizeof(*manifest->command));
		if (!manifest->command)
			return false;
		for (size_t i = 0; i < manifest->n_command; i++)
			manifest->command[i] = strdup(options->command[i]);
	}
	manifest->pids = calloc(options->n_ids + 1, sizeof(*manifest->pids));
	if (!manifest->pids)
		return false;
	manifest->n_pids = options->n_ids;
	for (size_t i = 0; i < options->n_ids; i++)
		manifest->pids[i] = options->ids[i];
	return true;
}

static bool events_fill(struct manifest *manifest, const struct event_list *events)
{
	manifest->events = calloc(events->n, sizeof(*manifest->events));
	if (!manifest->events)
		return false;
	manifest->n_events = events->n;
	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->events[i];

		manifest->events[i] = (struct manifest_event){
			.asked = copy_of(event->asked),
			.granted = copy_of(event->granted),
			.why = event->by_default ? NULL : copy_of(event->why),
			.unit = copy_of(event->unit),
			.precise_ip = (int)event->attr.precise_ip,
		};
	}
	return true;
}

static bool clocks_fill(struct manifest *manifest, const struct recorder *recorder)
{
	const uint32_t n = recorder->plan.n_clocks;

	manifest->clocks = calloc(n, sizeof(*manifest->clocks));
	if (!manifest->clocks)
		return false;
	manifest->n_clocks = n;
	for (uint32_t c = 0; c < n; c++) {
		const struct clock *clock = &recorder->plan.clocks[c];
		struct manifest_clock *to = &manifest->clocks[c];

		*to = (struct manifest_clock){
			.kind = clock->schedule.kind,
			.redraw = clock->redraw,
			.block = clock->redraw == REDRAW_BLOCK ? recorder->plan.block : 0,
			.randomised = clock->randomised,
			.event = clock->attribute,
			.mean_period = clock->mean,
			.low = clock->schedule.low,
			.high = clock->schedule.high,
			.target_hz = clock->hz,
			.ids = calloc(recorder->n_cpus, sizeof(*to->ids)),
			.n_ids = recorder->n_cpus,
		};
		if (!to->ids)
			return false;
		for (uint32_t slot = 0; slot < recorder->n_cpus; slot++)
			to->ids[slot] = attributes_clock_id(&recorder->attributes, c, slot);
	}
	return true;
}

/* What was not granted as asked is said at the beginning of the recording. */
static void substitutions_note(struct recorder *recorder)
{
	const struct event_list *events = recorder->options->events;

	for (size_t i = 0; i < events->n; i++)
		if (events->events[i].why && !events->events[i].by_default)
			incidents_note(&recorder->incidents, "substitution",
				       recorder->manifest.start_ns, recorder->manifest.start_ns, 1,
				       events->events[i].granted, events->events[i].why);
	if (recorder->plan.schedule_notice[0])
		incidents_note(&recorder->incidents, "substitution", recorder->manifest.start_ns,
			       recorder->manifest.start_ns, 1, "schedule",
			       recorder->plan.schedule_notice);
	if (recorder->plan.rate_notice[0])
		incidents_note(&recorder->incidents, "substitution", recorder->manifest.start_ns,
			       recorder->manifest.start_ns, 1, "rate", recorder->plan.rate_notice);
}

static uint64_t realtime_ns(const struct sys *sys)
{
	struct timespec now = { 0 };

	sys->clock_gettime(sys->state, CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static enum status head_fill(struct recorder *recorder, struct error *error)
{
	const struct record_options *options = recorder->options;
	const struct event_list *events = options->events;
	struct manifest *manifest = &recorder->manifest;
	double randomised_hz = 0;

	for (uint32_t c = 0; c < recorder->plan.n_clocks; c++)
		if (recorder->plan.clocks[c].randomised && !recorder->plan.clocks[c].event)
			randomised_hz += recorder->plan.clocks[c].hz;
	manifest->assay_version = copy_of(options->version);
	manifest->start_ns = sys_now_ns(recorder->sys);
	manifest->start_realtime_ns = realtime_ns(recorder->sys);
	manifest->seed = recorder->seed;
	manifest->schedule = options->schedule;
	manifest->redraw = recorder->scope == SCOPE_INHERIT ? REDRAW_NONE : options->redraw;
	manifest->scope = recorder->scope;
	manifest->scope_why = copy_of(recorder->scope_why);
	manifest->budget = recorder->plan.follows_cost ? options->budget : 0;
	manifest->sample_cost_ns = recorder->cost.sample;
	manifest->redraw_cost_ns = recorder->cost.redraw_target + recorder->cost.redraw_own;
	manifest->min_period_ns = rate_least_period_ns(&recorder->cost);
	manifest->rate_hz = randomised_hz;
	manifest->rate_why = copy_of(recorder->plan.rate_why);
	manifest->callchains = options->stacks != RECORD_NO_STACKS;
	manifest->call_graph = options->stacks == RECORD_FRAME_POINTERS ? strdup("fp")
			       : options->stacks == RECORD_DWARF        ? strdup("dwarf")
									: NULL;
	for (size_t i = 0; i < events->n; i++)
		manifest->kernel |= !events->events[i].attr.exclude_kernel;
	manifest->epoch_nominal_ns = options->epoch_ns;
	manifest->until = copy_of(options->until);
	machine_read(&manifest->machine, recorder->sys);
	if (command_fill(manifest, options) && events_fill(manifest, events) &&
	    clocks_fill(manifest, recorder))
		return STATUS_OK;
	return error_set(error, STATUS_NO_MEMORY, "no memory for the manifest");
}

static enum status perfdata_open(struct recorder *recorder, int dir_fd, struct error *error)
{
	const struct attributes *attributes = &recorder->attributes;
	struct perfdata_writer_event *events = calloc(attributes->n, sizeof(*events));
	enum status status;

	if (!events)
		return error_set(error, STATUS_NO_MEMORY, "no memory for the header of perf.data");
	for (size_t i = 0; i < attributes->n; i++)
		events[i] = (struct perfdata_writer_event){
			.attr = &attributes->items[i].attr,
			.name = attributes->items[i].name,
			.ids = attributes->items[i].ids,
			.n_ids = attributes->items[i].n_ids,
		};
	status = perfdata_writer_create(&recorder->perfdata, recorder->sys, dir_fd, PERFDATA_NAME,
					events, attributes->n, error);
	free(events);
	return status;
}

/* Descriptors that mapped files may keep: a quarter of what is left. */
static size_t object_descriptors(const struct recorder *recorder)
{
	struct rlimit limit;
	const size_t used = recorder->counters.n_open + recorder->n_owner_fds + 32;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur <= used)
		return 0;
	return (size_t)((limit.rlim_cur - used) / 4) < 256 ? (size_t)((limit.rlim_cur - used) / 4)
							   : 256;
}

enum status output_open(struct recorder *recorder, struct error *error)
{
	enum status status =
		bundle_create(&recorder->bundle, recorder->sys, recorder->options->output, error);
	int dir_fd;

	if (status != STATUS_OK)
		return status;
	dir_fd = bundle_output_dir_fd(recorder->bundle);
	objects_init(&recorder->objects, recorder->sys, dir_fd, object_descriptors(recorder));
	perf_maps_init(&recorder->perf_maps, recorder->sys, dir_fd);
	status = head_fill(recorder, error);
	if (status == STATUS_OK)
		status = perfdata_open(recorder, dir_fd, error);
	if (status == STATUS_OK)
		status = draws_writer_create(&recorder->draws, recorder->sys, dir_fd, DRAWS_NAME,
					     error);
	if (status == STATUS_OK)
		status = drawer_set_log(&recorder->drawer, recorder->draws, error);
	if (status == STATUS_OK)
		status = manifest_writer_create(&recorder->manifest_writer, recorder->sys, dir_fd,
						MANIFEST_NAME, &recorder->manifest, error);
	if (status == STATUS_OK)
		substitutions_note(recorder);
	return status;
}

enum status output_append(struct recorder *recorder, const struct perf_event_header *record,
			  struct error *error)
{
	recorder->records_in_round++;
	return perfdata_writer_append(recorder->perfdata, record, record->size, error);
}

/* The objects that the manifest does not have yet. */
static enum status objects_unwritten(struct objects *objects, struct manifest_object **list,
				     size_t *n, struct error *error)
{
	size_t capacity = 0;

	*list = NULL;
	*n = 0;
	for (size_t i = 0; i < objects->n; i++) {
		if (objects->items[i].written)
			continue;
		if (!array_reserve(list, &capacity, *n + 1))
			return error_set(error, STATUS_NO_MEMORY, "no memory for the manifest");
		(*list)[(*n)++] = objects->items[i].manifest;
		objects->items[i].written = true;
	}
	return STATUS_OK;
}

/* perf.data first: a manifest never speaks of samples that are not there. */
enum status output_epoch(struct recorder *recorder, struct manifest_epoch *epoch,
			 struct error *error)
{
	struct manifest_object *list;
	enum status status;
	size_t n;

	status = perfdata_writer_commit(recorder->perfdata, error);
	if (status == STATUS_OK)
		status = draws_writer_flush(recorder->draws, error);
	if (status != STATUS_OK)
		return status;
	epoch->data_bytes = perfdata_writer_data_bytes(recorder->perfdata);
	status = objects_unwritten(&recorder->objects, &list, &n, error);
	if (status == STATUS_OK)
		status = manifest_writer_epoch(recorder->manifest_writer, &recorder->manifest,
					       epoch, recorder->incidents.items,
					       recorder->incidents.n, list, n, error);
	free(list);
	if (status != STATUS_OK)
		return status;
	incidents_clear(&recorder->incidents);
	recorder->epochs_written++;
	return STATUS_OK;
}

static size_t kernel_build_id(const struct sys *sys, uint8_t id[BUILD_ID_MAX_BYTES])
{
	char *notes;
	size_t size, found;

	if (sys_read_file(sys, AT_FDCWD, KERNEL_NOTES, NOTES_MAX_BYTES, &notes, &size, NULL) !=
	    STATUS_OK)
		return 0;
	found = build_id_find((const uint8_t *)notes, size, 4, false, id);
	free(notes);
	return found;
}

static struct perfdata_writer_build_id *
build_ids_make(const struct recorder *recorder, uint8_t kernel[BUILD_ID_MAX_BYTES], size_t *n)
{
	const struct objects *objects = &recorder->objects;
	struct perfdata_writer_build_id *ids = calloc(objects->n + 1, sizeof(*ids));
	const size_t kernel_size =
		recorder->manifest.kernel ? kernel_build_id(recorder->sys, kernel) : 0;

	*n = 0;
	if (!ids)
		return NULL;
	if (kernel_size)
		ids[(*n)++] = (struct perfdata_writer_build_id){ kernel, kernel_size, true,
								 "[kernel.kallsyms]" };
	for (size_t i = 0; i < objects->n; i++)
		if (objects->items[i].build_id_size)
			ids[(*n)++] = (struct perfdata_writer_build_id){
				objects->items[i].build_id, objects->items[i].build_id_size, false,
				objects->items[i].manifest.path
			};
	return ids;
}

/* Borrows its texts. */
static struct manifest_end end_make(const struct recorder *recorder,
				    const struct record_result *result)
{
	return (struct manifest_end){
		.present = true,
		.reason = (char *)(uintptr_t)result->reason,
		.end_ns = sys_now_ns(recorder->sys),
		.target_exited = result->target_ended,
		.exit_code = result->exit_code,
		.signal = result->signal,
		.target_cpu_ns = (uint64_t)recorder->accounted_cpu_ns,
		.collector_cpu_ns = sys_own_cpu_ns(recorder->sys),
		.samples = recorder->account.samples,
		.lost = recorder->account.lost,
		.achieved = result->achieved,
		.tasks_seen = recorder->followed.seen,
		.tasks_unsampled = recorder->followed.unsampled,
		.unsampled_cpu_ns = recorder->followed.unsampled_cpu_ns,
		.period_weights = -1,
		.looks = recorder->stop.looks,
		.settled = (char *)(uintptr_t)(recorder->stop.reason ? recorder->stop.text : NULL),
	};
}

void output_abandon(struct recorder *recorder, const struct record_result *result)
{
	const struct manifest_end end = end_make(recorder, result);

	if (recorder->manifest_writer &&
	    manifest_writer_end(recorder->manifest_writer, &end, NULL) != STATUS_OK)
		return; /* then the manifest has no end, which says as much */
}

enum status output_finish(struct recorder *recorder, const struct record_result *result,
			  struct error *error)
{
	const struct manifest_machine *machine = &recorder->manifest.machine;
	uint8_t kernel[BUILD_ID_MAX_BYTES];
	size_t n_build_ids;
	struct perfdata_writer_build_id *build_ids = build_ids_make(recorder, kernel, &n_build_ids);
	struct perfdata_writer_features features = {
		.hostname = machine->hostname,
		.os_release = machine->kernel,
		.version = recorder->options->version,
		.arch = machine->arch,
		.cpu_description = machine->cpu_model,
		.command_line = recorder->options->command_line,
		.cpus_online = machine->cpus_online,
		.cpus_available = machine->cpus_configured,
		.total_memory_kib = machine->memory_kib,
		.first_sample_ns = recorder->account.first_sample_ns,
		.last_sample_ns = recorder->account.last_sample_ns,
		.clock_id = CLOCK_MONOTONIC,
		.build_ids = build_ids,
		.n_build_ids = n_build_ids,
	};
	enum status status = build_ids ? STATUS_OK
				       : error_set(error, STATUS_NO_MEMORY,
						   "no memory for the header of perf.data");
	const struct manifest_end end = end_make(recorder, result);
	void *tracing_data = NULL;

	if (status == STATUS_OK)
		status = tracing_data_make(&tracing_data, &features.tracing_data_bytes,
					   recorder->sys, recorder->options->events, error);
	features.tracing_data = tracing_data;
	if (status == STATUS_OK)
		status = perfdata_writer_finish(recorder->perfdata, &features, error);
	if (status == STATUS_OK)
		status = manifest_writer_end(recorder->manifest_writer, &end, error);
	free(tracing_data);
	free(build_ids);
	return status;
}

void output_close(struct recorder *recorder)
{
	objects_release(&recorder->objects);
	perf_maps_release(&recorder->perf_maps);
	incidents_clear(&recorder->incidents);
	if (recorder->perfdata)
		perfdata_writer_close(recorder->perfdata);
	if (recorder->draws)
		draws_writer_close(recorder->draws);
	if (recorder->manifest_writer)
		manifest_writer_close(recorder->manifest_writer);
	if (recorder->bundle)
		bundle_output_close(recorder->bundle);
	manifest_release(&recorder->manifest);
}
