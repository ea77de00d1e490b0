/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/perfdata_sideband.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"

/* What a decoder of one type works on: the payload without header and identity. */
struct payload {
	struct bytes bytes;
	const struct perfdata_raw *raw;
	char **text;
	bool no_memory;
	struct perfdata_notes *notes;
};

static void identity_decode(struct perfdata_record *record, const struct perfdata_layout *layout,
			    const struct perfdata_raw *raw, bool swap)
{
	const uint8_t *end = raw->data + raw->size;
	struct bytes b;

	record->cpu = record->pid = record->tid = UINT32_MAX;
	if (!layout->trailer || raw->size < layout->trailer + sizeof(struct perf_event_header))
		return;
	if (layout->tid) { /* the trailer's first field */
		b = bytes_of(end - layout->trailer, 2 * sizeof(uint32_t), swap);
		record->pid = bytes_u32(&b);
		record->tid = bytes_u32(&b);
	}
	if (layout->trailer_time) {
		b = bytes_of(end - layout->trailer_time, sizeof(uint64_t), swap);
		record->has_time = true;
		record->time = bytes_u64(&b);
	}
	if (layout->trailer_cpu) {
		b = bytes_of(end - layout->trailer_cpu, sizeof(uint32_t), swap);
		record->cpu = bytes_u32(&b);
	}
	if (layout->trailer_id) {
		b = bytes_of(end - layout->trailer_id, sizeof(uint64_t), swap);
		record->id = bytes_u64(&b);
	}
}

/* The rest of the payload as a string; one without its NUL is cut at the end of its field. */
static const char *text_take(struct payload *p)
{
	const size_t size = bytes_left(&p->bytes);
	const char *text = (const char *)p->bytes.at;

	if (p->bytes.failed)
		return NULL; /* the record will be left out */
	p->bytes.at = p->bytes.end;
	if (memchr(text, '\0', size))
		return text;
	if (!*p->text)
		*p->text = malloc(PERFDATA_RECORD_MAX_BYTES);
	if (!*p->text) {
		p->no_memory = true;
		return NULL;
	}
	memcpy(*p->text, text, size);
	(*p->text)[size] = '\0';
	perfdata_notes_add(p->notes, PERFDATA_NOTE_MENDED, p->raw->offset, p->raw->type,
			   "the text in the %s record at offset %#llx has no end; it was cut where "
			   "its field ends",
			   perfdata_type_name(p->raw->type), (unsigned long long)p->raw->offset);
	return *p->text;
}

/* A mapping may end at 2^64 but not beyond. */
static void mmap_bound(struct payload *p, struct perfdata_mmap *mmap)
{
	const uint64_t room = UINT64_MAX - mmap->address;

	if (mmap->length <= room)
		return;
	if (mmap->length - room > 1)
		perfdata_notes_add(p->notes, PERFDATA_NOTE_MENDED, p->raw->offset, p->raw->type,
				   "the mapping in the %s record at offset %#llx ends beyond the "
				   "address space; it was cut there",
				   perfdata_type_name(p->raw->type),
				   (unsigned long long)p->raw->offset);
	mmap->length = room;
}

static void mmap_common(struct payload *p, struct perfdata_mmap *mmap)
{
	mmap->pid = bytes_u32(&p->bytes);
	mmap->tid = bytes_u32(&p->bytes);
	mmap->address = bytes_u64(&p->bytes);
	mmap->length = bytes_u64(&p->bytes);
	mmap->page_offset = bytes_u64(&p->bytes);
	mmap->data = p->raw->misc & PERF_RECORD_MISC_MMAP_DATA;
	mmap_bound(p, mmap);
}

static void mmap_decode(struct payload *p, struct perfdata_mmap *mmap)
{
	mmap_common(p, mmap);
	mmap->protection = mmap->data ? PROT_READ : PROT_EXEC;
	mmap->path = text_take(p);
}

/* Linux 3.12 to 3.15 had no protection and flags in MMAP2: the path stands where they would be, and
 * no path begins with a byte below 8 and three NULs, nor (in either byte order) with a NUL, as do the
 * protections beyond PROT_EXEC that simpleperf makes up. */
static void protection_decode(struct payload *p, struct perfdata_mmap *mmap)
{
	struct bytes ahead = p->bytes;
	const uint32_t protection = bytes_u32(&ahead), flags = bytes_u32(&ahead);

	if (protection > (PROT_READ | PROT_WRITE | PROT_EXEC) && bytes_left(&p->bytes) &&
	    *p->bytes.at) {
		mmap->protection = mmap->data ? PROT_READ : PROT_EXEC;
		return;
	}
	mmap->protection = protection;
	mmap->flags = flags;
	p->bytes = ahead;
}

static void mmap2_decode(struct payload *p, struct perfdata_mmap *mmap)
{
	mmap_common(p, mmap);
	if (p->raw->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		const uint8_t *id = bytes_take(&p->bytes, 24);

		if (id) {
			mmap->build_id_size =
				id[0] > PERFDATA_BUILD_ID_MAX ? PERFDATA_BUILD_ID_MAX : id[0];
			memcpy(mmap->build_id, id + 4, mmap->build_id_size);
		}
	} else {
		mmap->major = bytes_u32(&p->bytes);
		mmap->minor = bytes_u32(&p->bytes);
		mmap->inode = bytes_u64(&p->bytes);
		mmap->inode_generation = bytes_u64(&p->bytes);
		mmap->has_inode = true;
	}
	protection_decode(p, mmap);
	mmap->path = text_take(p);
}

static void task_decode(struct payload *p, struct perfdata_task *task)
{
	task->pid = bytes_u32(&p->bytes);
	task->parent_pid = bytes_u32(&p->bytes);
	task->tid = bytes_u32(&p->bytes);
	task->parent_tid = bytes_u32(&p->bytes);
	task->time = bytes_u64(&p->bytes);
}

/* Recordings without sample_id_all still tell the time of these records; synthesised ones say 0. */
static void time_from_payload(struct perfdata_record *record, uint64_t time)
{
	if (record->has_time || !time)
		return;
	record->has_time = true;
	record->time = time;
}

static void comm_decode(struct payload *p, struct perfdata_comm *comm)
{
	comm->pid = bytes_u32(&p->bytes);
	comm->tid = bytes_u32(&p->bytes);
	comm->exec = p->raw->misc & PERF_RECORD_MISC_COMM_EXEC;
	comm->comm = text_take(p);
}

static void switch_decode(struct payload *p, struct perfdata_record *record)
{
	record->context_switch.out = p->raw->misc & PERF_RECORD_MISC_SWITCH_OUT;
	record->context_switch.preempt = p->raw->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	if (p->raw->type != PERF_RECORD_SWITCH_CPU_WIDE)
		return;
	record->context_switch.next_prev_pid = bytes_u32(&p->bytes);
	record->context_switch.next_prev_tid = bytes_u32(&p->bytes);
}

static void payload_decode(struct payload *p, struct perfdata_record *record)
{
	switch (p->raw->type) {
	case PERF_RECORD_MMAP: mmap_decode(p, &record->mmap); break;
	case PERF_RECORD_MMAP2: mmap2_decode(p, &record->mmap); break;
	case PERF_RECORD_COMM: comm_decode(p, &record->comm); break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		task_decode(p, &record->task);
		time_from_payload(record, record->task.time);
		break;
	case PERF_RECORD_LOST:
		record->lost.id = bytes_u64(&p->bytes);
		record->lost.lost = bytes_u64(&p->bytes);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		record->lost.id = record->id;
		record->lost.lost = bytes_u64(&p->bytes);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		record->throttle.time = bytes_u64(&p->bytes);
		record->throttle.id = bytes_u64(&p->bytes);
		record->throttle.stream_id = bytes_u64(&p->bytes);
		record->throttle.unthrottle = p->raw->type == PERF_RECORD_UNTHROTTLE;
		time_from_payload(record, record->throttle.time);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE: switch_decode(p, record); break;
	case PERF_RECORD_KSYMBOL:
		record->ksymbol.address = bytes_u64(&p->bytes);
		record->ksymbol.length = bytes_u32(&p->bytes);
		record->ksymbol.ksym_type = bytes_u16(&p->bytes);
		record->ksymbol.flags = bytes_u16(&p->bytes);
		record->ksymbol.name = text_take(p);
		break;
	default:
		record->other.data = p->bytes.at;
		record->other.size = bytes_left(&p->bytes);
		break;
	}
}

bool perfdata_sideband_decode(struct perfdata_record *record, const struct perfdata_layout *layout,
			      const struct perfdata_raw *raw, bool swap, char **text,
			      struct perfdata_notes *notes, const char **why)
{
	const size_t header = sizeof(struct perf_event_header);
	size_t size = raw->size - header;
	struct payload p = { .raw = raw, .text = text, .notes = notes };

	memset(record, 0, sizeof(*record));
	record->type = raw->type;
	record->misc = raw->misc;
	record->offset = raw->offset;
	record->cpu = record->pid = record->tid = UINT32_MAX;
	/* records that perf makes itself have no identity */
	if (layout && raw->type < PERFDATA_USER_ATTR) {
		identity_decode(record, layout, raw, swap);
		if (size < layout->trailer) {
			*why = "it is shorter than the identity that ends it";
			return false;
		}
		size -= layout->trailer;
	}
	p.bytes = bytes_of(raw->data + header, size, swap);
	payload_decode(&p, record);
	*why = p.no_memory ? NULL : "it is shorter than its type";
	return !p.bytes.failed && !p.no_memory;
}
