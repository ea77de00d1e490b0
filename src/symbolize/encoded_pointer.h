/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pointers as exception frames encode them: one byte says size, signedness and what they are relative
 * to (Linux Standard Base Core, "DWARF Exception Header Encoding").
 */
#ifndef ASSAY_SYMBOLIZE_ENCODED_POINTER_H
#define ASSAY_SYMBOLIZE_ENCODED_POINTER_H

#include "base/bytes.h"

struct encoded_pointer {
	bool is_64_bit;
	uint64_t vaddr;     /* address of the encoded bytes, for DW_EH_PE_pcrel */
	uint64_t data_base; /* for DW_EH_PE_datarel */
	uint64_t value;     /* result */
};

/* A LEB128 number (DWARF 5 section 7.6); bits above the 64th are dropped. */
uint64_t bytes_leb128(struct bytes *bytes, bool is_signed);

/* Reads one pointer at the cursor into pointer->value; false when the encoding is unknown (also
 * DW_EH_PE_aligned, DW_EH_PE_textrel and DW_EH_PE_funcrel, which Linux toolchains do not emit here) or
 * the bytes end. DW_EH_PE_indirect is refused: it needs a live process. */
bool encoded_pointer_read(struct encoded_pointer *pointer, struct bytes *bytes, uint8_t encoding);

#endif
