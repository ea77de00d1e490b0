/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fields of the manifest's structs, by the names they have in JSON: the one place that writer and
 * reader share. A member that is missing here is lost on disk; test_manifest compares every one.
 */
#include "bundle/manifest.h"
#include "bundle/manifest_fields.h"

#define FIELD(structure, member, type)                                   \
	{                                                                \
#member, type, offsetof(struct structure, member), false \
	}
#define SPARSE(structure, member, type)                                 \
	{                                                               \
#member, type, offsetof(struct structure, member), true \
	}
#define TABLE(table, text, ...)                                                       \
	const struct field_table table = { text, (const struct field[]){ __VA_ARGS__, \
									 { .name = NULL } } }

TABLE(manifest_head_fields, "head", FIELD(manifest, assay_version, FIELD_TEXT),
      FIELD(manifest, start_ns, FIELD_U64), FIELD(manifest, start_realtime_ns, FIELD_U64),
      FIELD(manifest, seed, FIELD_U64), FIELD(manifest, schedule, FIELD_SCHEDULE),
      FIELD(manifest, redraw, FIELD_REDRAW), FIELD(manifest, scope, FIELD_SCOPE),
      SPARSE(manifest, scope_why, FIELD_TEXT), FIELD(manifest, budget, FIELD_DOUBLE),
      FIELD(manifest, sample_cost_ns, FIELD_DOUBLE), FIELD(manifest, redraw_cost_ns, FIELD_DOUBLE),
      FIELD(manifest, min_period_ns, FIELD_U64), FIELD(manifest, rate_hz, FIELD_DOUBLE),
      SPARSE(manifest, rate_why, FIELD_TEXT), FIELD(manifest, callchains, FIELD_BOOL),
      FIELD(manifest, kernel, FIELD_BOOL), SPARSE(manifest, call_graph, FIELD_TEXT),
      FIELD(manifest, epoch_nominal_ns, FIELD_U64), SPARSE(manifest, until, FIELD_TEXT));

TABLE(manifest_machine_fields, "machine", SPARSE(manifest_machine, hostname, FIELD_TEXT),
      SPARSE(manifest_machine, kernel, FIELD_TEXT), SPARSE(manifest_machine, arch, FIELD_TEXT),
      SPARSE(manifest_machine, cpu_model, FIELD_TEXT),
      SPARSE(manifest_machine, governor, FIELD_TEXT),
      SPARSE(manifest_machine, clocksource, FIELD_TEXT),
      SPARSE(manifest_machine, hypervisor, FIELD_TEXT),
      FIELD(manifest_machine, temperature_millidegree, FIELD_I64),
      FIELD(manifest_machine, cpus_online, FIELD_U32),
      FIELD(manifest_machine, cpus_configured, FIELD_U32),
      FIELD(manifest_machine, page_size, FIELD_U64), FIELD(manifest_machine, memory_kib, FIELD_U64),
      FIELD(manifest_machine, perf_event_paranoid, FIELD_I64),
      FIELD(manifest_machine, max_sample_rate, FIELD_I64),
      FIELD(manifest_machine, cpu_time_max_percent, FIELD_I64),
      FIELD(manifest_machine, mlock_kb, FIELD_I64), FIELD(manifest_machine, max_stack, FIELD_I64),
      SPARSE(manifest_machine, boot_id, FIELD_TEXT));

TABLE(manifest_event_fields, "event", SPARSE(manifest_event, asked, FIELD_TEXT),
      SPARSE(manifest_event, granted, FIELD_TEXT), SPARSE(manifest_event, why, FIELD_TEXT),
      SPARSE(manifest_event, unit, FIELD_TEXT), FIELD(manifest_event, precise_ip, FIELD_INT));

TABLE(manifest_clock_fields, "clock", FIELD(manifest_clock, kind, FIELD_SCHEDULE),
      FIELD(manifest_clock, redraw, FIELD_REDRAW), FIELD(manifest_clock, block, FIELD_U32),
      FIELD(manifest_clock, randomised, FIELD_BOOL), FIELD(manifest_clock, event, FIELD_U32),
      FIELD(manifest_clock, mean_period, FIELD_DOUBLE), FIELD(manifest_clock, low, FIELD_DOUBLE),
      FIELD(manifest_clock, high, FIELD_DOUBLE), FIELD(manifest_clock, target_hz, FIELD_DOUBLE));

TABLE(manifest_epoch_fields, "epoch", FIELD(manifest_epoch, index, FIELD_U64),
      FIELD(manifest_epoch, seed, FIELD_U64), FIELD(manifest_epoch, start_ns, FIELD_U64),
      FIELD(manifest_epoch, end_ns, FIELD_U64), FIELD(manifest_epoch, data_bytes, FIELD_U64),
      SPARSE(manifest_epoch, target_cpu_ns, FIELD_U64),
      SPARSE(manifest_epoch, collector_cpu_ns, FIELD_U64),
      SPARSE(manifest_epoch, budget, FIELD_DOUBLE), SPARSE(manifest_epoch, achieved, FIELD_DOUBLE),
      SPARSE(manifest_epoch, late_ns, FIELD_U64), SPARSE(manifest_epoch, busy_ns, FIELD_U64),
      SPARSE(manifest_epoch, steal_ns, FIELD_U64), SPARSE(manifest_epoch, frequency_khz, FIELD_U64),
      SPARSE(manifest_epoch, temperature_millidegree, FIELD_I64));

TABLE(manifest_epoch_clock_fields, "epoch's clock",
      FIELD(manifest_epoch_clock, mean_period, FIELD_DOUBLE),
      FIELD(manifest_epoch_clock, samples, FIELD_U64),
      SPARSE(manifest_epoch_clock, lost, FIELD_U64),
      SPARSE(manifest_epoch_clock, redraws, FIELD_U64),
      SPARSE(manifest_epoch_clock, throttled, FIELD_U64),
      SPARSE(manifest_epoch_clock, throttled_ns, FIELD_U64),
      SPARSE(manifest_epoch_clock, retuned, FIELD_U64),
      SPARSE(manifest_epoch_clock, intervals, FIELD_U64),
      SPARSE(manifest_epoch_clock, realised_mean, FIELD_DOUBLE),
      SPARSE(manifest_epoch_clock, realised_sd, FIELD_DOUBLE),
      SPARSE(manifest_epoch_clock, realised_min, FIELD_DOUBLE),
      SPARSE(manifest_epoch_clock, realised_max, FIELD_DOUBLE),
      SPARSE(manifest_epoch_clock, intended_mean, FIELD_DOUBLE),
      SPARSE(manifest_epoch_clock, intended_sd, FIELD_DOUBLE));

TABLE(manifest_incident_fields, "incident", FIELD(manifest_incident, code, FIELD_TEXT),
      FIELD(manifest_incident, start_ns, FIELD_U64), FIELD(manifest_incident, end_ns, FIELD_U64),
      FIELD(manifest_incident, amount, FIELD_DOUBLE), SPARSE(manifest_incident, unit, FIELD_TEXT),
      SPARSE(manifest_incident, text, FIELD_TEXT));

TABLE(manifest_object_fields, "object", FIELD(manifest_object, path, FIELD_TEXT),
      SPARSE(manifest_object, device, FIELD_U64), SPARSE(manifest_object, inode, FIELD_U64),
      SPARSE(manifest_object, size, FIELD_U64), SPARSE(manifest_object, mtime_ns, FIELD_U64),
      SPARSE(manifest_object, build_id, FIELD_TEXT), SPARSE(manifest_object, copy, FIELD_TEXT),
      SPARSE(manifest_object, missing, FIELD_TEXT));

TABLE(manifest_end_fields, "end", SPARSE(manifest_end, reason, FIELD_TEXT),
      FIELD(manifest_end, end_ns, FIELD_U64), FIELD(manifest_end, target_exited, FIELD_BOOL),
      FIELD(manifest_end, exit_code, FIELD_INT), FIELD(manifest_end, signal, FIELD_INT),
      FIELD(manifest_end, target_cpu_ns, FIELD_U64),
      FIELD(manifest_end, collector_cpu_ns, FIELD_U64), FIELD(manifest_end, samples, FIELD_U64),
      FIELD(manifest_end, lost, FIELD_U64), FIELD(manifest_end, achieved, FIELD_DOUBLE),
      FIELD(manifest_end, tasks_seen, FIELD_U64), FIELD(manifest_end, tasks_unsampled, FIELD_U64),
      FIELD(manifest_end, unsampled_cpu_ns, FIELD_U64),
      FIELD(manifest_end, period_weights, FIELD_INT), SPARSE(manifest_end, looks, FIELD_U64),
      SPARSE(manifest_end, settled, FIELD_TEXT));
