/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Offsets of layout.h that assembler code uses, held against the numbers it was given.
 */
#include <stddef.h>

#include "agent/layout.h"

_Static_assert(offsetof(struct agent_shared, owner) == 0, "entry_x86_64.S");
_Static_assert(offsetof(struct agent_control, negative_owner) == 0, "entry_x86_64.S");
_Static_assert(offsetof(struct agent_block, self) == 0, "entry_x86_64.S");
_Static_assert(offsetof(struct agent_block, negative_thread) == 8, "entry_x86_64.S");
_Static_assert(offsetof(struct agent_function, calls) == 0, "entry_x86_64.S");
