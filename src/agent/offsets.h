/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Offsets of layout.h for assembler code, which cannot include that; offsets.c holds them against it.
 */
#ifndef ASSAY_AGENT_OFFSETS_H
#define ASSAY_AGENT_OFFSETS_H

/* struct agent_block, by the gs base */
#define BLOCK_SELF      0x00
#define BLOCK_THREAD    0x08
#define BLOCK_COUNTDOWN 0x10
#define BLOCK_TOP_SP    0x18
#define BLOCK_LOW       0x20
#define BLOCK_SIZE      0x28
#define BLOCK_BUSY      0x30
#define BLOCK_OVERHEAD  0x38
#define BLOCK_SWITCHES  0x40
#define BLOCK_RANDOM    0x48
#define BLOCK_REGION    0x70
#define BLOCK_FREE      0x74
#define BLOCK_LOCK_AT   0x88
#define BLOCK_LOCK      0x90
#define BLOCK_LAST      0x98
#define BLOCK_REGIONS   0x100
#define BLOCK_FUNCTIONS 0xa00

/* struct agent_region, the `top` of the first one; 24 bytes each */
#define REGION_TOP (BLOCK_REGIONS + 0x10)

/* struct agent_frame, 48 bytes each: from the end of the frame in front, since 0 is none and 1 the first */
#define FRAME_SP       (0x00 - 48)
#define FRAME_START    (0x08 - 48)
#define FRAME_CHILD    (0x10 - 48)
#define FRAME_SWITCHES (0x20 - 48)
#define FRAME_FUNCTION (0x24 - 48)
#define FRAME_BELOW    (0x28 - 48)
#define FRAME_FLAGS    (0x2c - 48)
#define FRAME_NESTED   1

/* struct agent_function */
#define FUNCTION_CALLS        (BLOCK_FUNCTIONS + 0x00)
#define FUNCTION_TIMED        (BLOCK_FUNCTIONS + 0x18)
#define FUNCTION_INCLUSIVE    (BLOCK_FUNCTIONS + 0x20)
#define FUNCTION_SELF         (BLOCK_FUNCTIONS + 0x28)
#define FUNCTION_OUTERMOST    (BLOCK_FUNCTIONS + 0x50)
#define FUNCTION_SQUARES_LOW  (BLOCK_FUNCTIONS + 0x60)
#define FUNCTION_SQUARES_HIGH (BLOCK_FUNCTIONS + 0x68)
#define FUNCTION_BUCKETS      (BLOCK_FUNCTIONS + 0x70)

/* struct agent_shared */
#define SHARED_FUNCTION_BYTES 0x3c
#define SHARED_POOL_OFFSET    0x40
#define SHARED_EVERY          0x58
#define SHARED_INNER_TICKS    0x60
#define SHARED_PAIR_TICKS     0x68

#endif
