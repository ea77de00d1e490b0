/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/perfdata_notes.h"

#include <stdio.h>

static bool note_is_counted(enum perfdata_note_kind kind)
{
	return kind == PERFDATA_NOTE_SKIPPED || kind == PERFDATA_NOTE_MENDED ||
	       kind == PERFDATA_NOTE_UNKNOWN_TYPE || kind == PERFDATA_NOTE_UNKNOWN_ID;
}

void perfdata_notes_add(struct perfdata_notes *notes, enum perfdata_note_kind kind, uint64_t offset,
			uint32_t record_type, const char *format, ...)
{
	struct perfdata_note *note;
	va_list args;

	if (notes->muted)
		return;
	for (size_t i = 0; i < notes->n; i++) {
		note = &notes->items[i];
		if (note_is_counted(kind) && note->kind == kind &&
		    note->record_type == record_type) {
			note->count++;
			return;
		}
	}
	if (notes->n == PERFDATA_NOTES_MAX) {
		notes->items[notes->n - 1].count++;
		return;
	}
	note = &notes->items[notes->n++];
	note->kind = kind;
	note->offset = offset;
	note->record_type = record_type;
	note->count = 1;
	va_start(args, format);
	vsnprintf(note->text, sizeof(note->text), format, args);
	va_end(args);
}
