/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/encoded_pointer.h"

#include <dwarf.h>

uint64_t bytes_leb128(struct bytes *bytes, bool is_signed)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	const uint8_t *byte;

	do {
		byte = bytes_take(bytes, 1);
		if (!byte)
			return 0;
		if (shift < 64)
			value |= (uint64_t)(*byte & 0x7f) << shift;
		shift += 7;
	} while (*byte & 0x80);
	if (is_signed && shift < 64 && *byte & 0x40)
		value |= UINT64_MAX << shift;
	return value;
}

static bool plain_value(struct encoded_pointer *pointer, struct bytes *bytes, uint8_t format)
{
	switch (format) {
	case DW_EH_PE_absptr:
		pointer->value = pointer->is_64_bit ? bytes_u64(bytes) : bytes_u32(bytes);
		break;
	case DW_EH_PE_uleb128: pointer->value = bytes_leb128(bytes, false); break;
	case DW_EH_PE_sleb128: pointer->value = bytes_leb128(bytes, true); break;
	case DW_EH_PE_udata2: pointer->value = bytes_u16(bytes); break;
	case DW_EH_PE_udata4: pointer->value = bytes_u32(bytes); break;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8: pointer->value = bytes_u64(bytes); break;
	case DW_EH_PE_sdata2: pointer->value = (uint64_t)(int64_t)(int16_t)bytes_u16(bytes); break;
	case DW_EH_PE_sdata4: pointer->value = (uint64_t)(int64_t)(int32_t)bytes_u32(bytes); break;
	default: return false;
	}
	return !bytes->failed;
}

bool encoded_pointer_read(struct encoded_pointer *pointer, struct bytes *bytes, uint8_t encoding)
{
	pointer->value = 0;
	if (encoding == DW_EH_PE_omit || !plain_value(pointer, bytes, encoding & 0x0f))
		return false;
	switch (encoding & 0xf0) {
	case 0: break;
	case DW_EH_PE_pcrel: pointer->value += pointer->vaddr; break;
	case DW_EH_PE_datarel: pointer->value += pointer->data_base; break;
	default: return false;
	}
	if (!pointer->is_64_bit)
		pointer->value &= UINT32_MAX;
	return true;
}
