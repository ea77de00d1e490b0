/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What lies in a probed process: three mappings, read and written by the agent inside it, by the stubs that
 * the engine writes, and by the engine from outside.
 *
 *	region (one per 2 GiB neighbourhood of patched code)
 *	  +0x0000  struct agent_control	private, MADV_WIPEONFORK: a forked child reads zeros = disabled
 *	  +0x1000  struct agent_shared	page 0 of the memfd, shared, MADV_DONTFORK
 *	  +0x2000  agent code		private, never writable from inside
 *	  +....    stubs		the same
 *	buffers (once per process)	the whole memfd, shared, MADV_DONTFORK, mapped by the engine too:
 *	  page 0   struct agent_shared
 *	  overflow_offset  uint64_t[n_functions], calls of threads that got no block, added atomically
 *	  blocks_offset	   n_blocks blocks of block_bytes: one thread writes, the engine reads
 *
 * Order of the tests on every hit, since each makes the next one safe: control.negative_owner is not 0 (not
 * a forked child), shared.owner equals it (the engine lives and means it), %gs:negative_thread cancels
 * %fs:0 (the block is this thread's: children of clone inherit their creator's gs base).
 *
 * Blocks keep sums only. A frame is one open call, found again by its stack pointer.
 */
#ifndef ASSAY_AGENT_LAYOUT_H
#define ASSAY_AGENT_LAYOUT_H

#include <stdint.h>

#define AGENT_PAGE           0x1000u
#define AGENT_CONTROL_OFFSET 0x0000u
#define AGENT_SHARED_OFFSET  0x1000u
#define AGENT_CODE_OFFSET    0x2000u

#define AGENT_MAGIC   0x4153534159505242ull /* "ASSAYPRB" */
#define AGENT_VERSION 2u

#define AGENT_BUCKETS \
	64 /* of the distribution: bucket b holds durations of 2^(b-1) .. 2^b - 1 ticks */

struct agent_control {
	uint64_t negative_owner; /* minus the engine's thread id; 0: disabled */
	uint64_t buffers;        /* address of the whole memfd in this process */
	uint64_t pid;            /* process id: a child that shares the memory has another */
	uint64_t can_write_gs;   /* WRGSBASE works here */
	uint64_t no_calls;       /* the agent may make no system call (seccomp) */
	/* for an engine that comes later and takes the region over */
	uint64_t magic, version;
	uint64_t region_bytes;
	uint64_t patched;  /* code may lead into the region */
	uint64_t guardian; /* process that is to undo that */
};

struct agent_shared {
	uint32_t owner; /* robust futex word: thread id of the engine; the kernel sets OWNER_DIED */
	uint32_t version;
	uint64_t robust_next; /* the entry of the owner's robust list that stands for this word */
	uint64_t magic;
	uint64_t size; /* of the memfd */
	uint64_t overflow_offset, blocks_offset;
	uint32_t block_bytes, n_blocks;
	uint32_t n_functions, function_bytes;
	uint32_t pool_offset, n_frames; /* inside a block: frames, after the functions */
	uint64_t cap;           /* calls of a function that a thread counts per epoch; 0: all */
	uint64_t epoch;         /* a thread whose cap is used up starts anew when it changes */
	uint64_t every;         /* mean number of calls per timed one; 1: each */
	uint64_t inner_ticks;   /* cost of a pair inside the interval that it measures */
	uint64_t pair_ticks;    /* cost of a pair as its caller sees it */
	uint64_t blocks_taken;  /* threads that asked, also beyond n_blocks */
	uint64_t without_block; /* hits of threads that got none */
	uint64_t foreign;       /* hits of processes that share the memory, not the id */
	uint64_t threads;       /* distinct threads that had a block */
	uint32_t counter;       /* enum agent_counter, added up */
	uint32_t page_bytes;    /* of the target's pages; 0: threads open no page of an event */
	uint64_t ticks_per_ns;  /* of the clock, with 32 bits of fraction */
	uint32_t record_offset; /* inside a block: mode trace's ring */
	uint32_t n_records;     /* a power of 2; 0: no trace */
	uint32_t state_offset;  /* inside a block: mode state's stack; 0: none */
	uint32_t n_states;
	uint32_t n_passages; /* regions of the program: numbered like functions, the first ones */
	uint64_t begin_ticks, end_ticks; /* cost of a region's ends as those around see it */
	uint64_t passage_ticks;          /* the part of it that a region measures of its own */
	uint64_t attributes[16];         /* struct perf_event_attr of the event that threads open */
};

/* What calls are measured by. */
enum agent_counter {
	AGENT_CLOCK = 0,
	AGENT_ORDERED = 1, /* reads wait for earlier instructions and hold later ones back */
	AGENT_EVENT = 2,   /* an event of the thread's own instead of the clock */
};

enum agent_block_state { AGENT_BLOCK_FREE = 0, AGENT_BLOCK_CLAIMED = 1, AGENT_BLOCK_USED = 2 };

/* One probed function as one thread saw it. In count mode only the first two words exist. */
struct agent_function {
	uint64_t calls;
	uint64_t left;  /* with a cap: calls until it is reached */
	uint64_t epoch; /* for which `left` was drawn */
	uint64_t timed;
	uint64_t inclusive, self; /* ticks, own cost of the probes taken out */
	uint64_t abandoned; /* frames closed without an exit: longjmp, throw, vanished stack */
	uint64_t dropped;   /* calls counted but not timed: no frame free, or inside the agent */
	uint64_t interrupted, interrupted_ticks; /* timed across a change of stack, kept apart */
	uint64_t outermost; /* frame index + 1 of the outermost open call, if it still is one */
	uint64_t unread;    /* not timed: the event was on no counter meanwhile */
	uint64_t squares_low, squares_high; /* sum of squared durations, 128 bits */
	uint32_t buckets[AGENT_BUCKETS];
};

/* One region of the program as one thread passed it, where a function's sums would be: words that mean the same
 * have the same place. begun = timed + interrupted + unread + restarted + dropped + open + what ended nowhere. */
struct agent_passages {
	uint64_t begun;
	uint64_t alone; /* ends that nothing had begun */
	uint64_t away;  /* of the open passage: the event's, at its start */
	uint64_t timed;
	uint64_t inclusive;
	uint64_t start;     /* of the open passage */
	uint64_t restarted; /* begun anew before their end */
	uint64_t dropped;   /* begun while the agent was at work: not timed */
	uint64_t interrupted, interrupted_ticks;
	uint64_t open; /* 0: none; else flags, and the changes of stack so far */
	uint64_t unread;
	uint64_t squares_low, squares_high;
	uint32_t buckets[AGENT_BUCKETS];
};

_Static_assert(sizeof(struct agent_passages) == sizeof(struct agent_function), "the same place");

#define AGENT_COUNT_BYTES 32u /* of a function in count mode */

struct agent_frame {
	uint64_t sp; /* where the return address lies */
	uint64_t start;
	uint64_t child; /* ticks of probed callees */
	uint64_t away;  /* of the event, at the start (agent/counter.h) */
	uint32_t switches;
	uint32_t function;
	uint32_t
		below; /* index + 1 of the frame under it on the same stack, or of the next free one */
	uint32_t flags; /* enum agent_frame_flag */
};

enum agent_frame_flag {
	AGENT_FRAME_NESTED =
		1, /* an outer call of the same function is open: inclusive is that one's */
	AGENT_FRAME_UNREAD = 2,   /* the event was on no counter when the call began */
	AGENT_FRAME_RECORDED = 4, /* its entry is in the trace: there is room for its exit */
};

/* Mode trace: one hit, as its thread saw it. `counter` has the probes' own cost and time off the CPU taken out,
 * so that an exit's minus its entry's, minus inner_ticks, is the call's. */
struct agent_record {
	uint64_t counter;
	uint64_t sp;
	uint32_t
		point; /* function | exit << AGENT_POINT_BITS; exits are numbered from 1, 0 is the entry */
	uint32_t
		where; /* region | nested << 7 | change of stack, the low 24 bits of its number, << 8 */
};

#define AGENT_WHERE_REGION 0x7fu
#define AGENT_WHERE_NESTED 0x80u /* as AGENT_FRAME_NESTED */
#define AGENT_WHERE_UNREAD \
	0x100u /* an exit whose call was not measured: the event was on no counter */
#define AGENT_WHERE_SWITCHES 9u /* shift of the number of changes of stack so far, its low bits */

#define AGENT_POINT_BITS 20u
#define AGENT_POINT_MOST 0xfffu /* exits that are told apart */
/* Instead of a point. Of all frames of the region (in `where`): left without an exit, the region is another
 * stack's from now on. Of all frames: the block is a new thread's, `counter` its id. */
#define AGENT_POINT_LEFT   0xfffffffeu
#define AGENT_POINT_THREAD 0xffffffffu

/* Mode state: one open call. The lowest one is no call: its sp is above all. */
struct agent_state {
	uint64_t
		negative_sp; /* so that stubs can compare by an addition that leaves the flags alone */
	uint64_t function; /* AGENT_STATE_NONE */
};

#define AGENT_STATE_NONE UINT64_MAX
#define AGENT_STATES     1024u /* open calls of one thread */

/* A stack, known by the addresses it was seen to use. */
struct agent_region {
	uint64_t low, size; /* stack pointers in [low, low + size) are this stack's */
	uint32_t top;       /* index + 1 of its top frame, 0: none */
	uint32_t used;      /* when it was current last; 0: free */
};

#define AGENT_REGIONS      96
#define AGENT_FRAMES       1536 /* open calls of one thread, all its stacks */
#define AGENT_REGION_SLACK 0x8000u
#define AGENT_REGION_STEP  0x1000u

struct agent_block {
	uint64_t self;            /* its own address in the target: %gs:0 */
	uint64_t negative_thread; /* minus the owner's thread pointer (%fs:0) */
	uint64_t countdown;       /* calls until the next timed one */
	uint64_t top_sp;          /* of the current stack's top frame, 0: none */
	uint64_t low, size;       /* the current stack: stack pointers in [low, low + size) */
	uint64_t busy;            /* stack pointer of the agent's call in progress, 0: none */
	uint64_t overhead;        /* ticks that finished pairs cost so far */
	uint64_t switches;        /* changes of stack */
	uint64_t random;
	uint64_t odd_exits; /* exits without a frame of theirs */
	uint64_t nested;    /* hits while the agent was at work in this thread */
	uint64_t lost_regions;
	uint32_t state; /* enum agent_block_state */
	uint32_t tid;
	uint32_t region; /* the current one */
	uint32_t free;   /* index + 1 of the first free frame */
	uint32_t frames_made;
	uint32_t clock;      /* of `used` */
	uint64_t page;       /* address of the event's page, 0: none */
	uint64_t lock_at;    /* address of its `lock`, else of something that never changes */
	uint32_t lock;       /* what that was when it was last looked at */
	uint32_t page_errno; /* why there is none */
	uint64_t last;       /* the clock at the last timed hit */
	uint64_t cpu_ns;     /* CPU time of the thread, at `cpu_ticks` */
	uint64_t cpu_ticks;
	uint64_t off_ticks;              /* off the CPU between timed hits, so far */
	uint64_t off_looks;              /* how often that was looked up */
	uint64_t enabled_ns, running_ns; /* of the event */
	uint64_t records_head;           /* records written, ever */
	uint64_t records_tail;           /* taken out of the ring, ever: the engine's word */
	uint64_t records_dropped;        /* calls that the ring had no room for */
	uint64_t records_open;           /* frames that will write one more */
	uint64_t elsewhere; /* not 0: frames are open on other stacks than the current one */
	uint64_t state_top; /* offset in the block of the innermost struct agent_state */
	struct agent_region regions[AGENT_REGIONS];
};

#define AGENT_FUNCTIONS_OFFSET ((sizeof(struct agent_block) + 63u) & ~63u)

/* The table at the start of the agent's code: distances from it, so that the engine finds what it calls. */
struct agent_entries {
	uint32_t enter, leave;                /* from stubs that pushed rax alone */
	uint32_t claim, sample, leave_inline; /* from stubs that tested all themselves */
	uint32_t size;
	/* the same for whatever is not the bare clock: events, ordered reads, traces */
	uint32_t full_enter, full_leave, full_sample, full_leave_inline;
	uint32_t state_enter, state_leave;         /* what state's stubs do not do themselves */
	uint32_t begin, end, full_begin, full_end; /* of a region of the program */
};

#endif
