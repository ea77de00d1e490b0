/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* An update copies two split paths and what their joins touch: a join copies one side's spine down
 * to the other's height, the heights telescope, and each level may rotate (two copies). 16 nodes per
 * level of a tree of at most 48 levels is ample; reserving that first lets the recursion run without
 * a failing path. */
#define NODES_PER_PUT (16 * 48)

struct maps_node {
	struct maps_segment segment;
	uint32_t left, right, version;
	uint32_t height; /* of a leaf 1, of "none" 0 */
};

void maps_init(struct maps *maps)
{
	memset(maps, 0, sizeof(*maps));
}

void maps_release(struct maps *maps)
{
	free(maps->nodes);
	maps_init(maps);
}

void maps_freeze(struct maps *maps)
{
	maps->version++;
}

static uint32_t node_new(struct maps *maps, const struct maps_segment *segment)
{
	struct maps_node *node = &maps->nodes[maps->n_nodes];

	*node = (struct maps_node){ *segment, MAPS_EMPTY, MAPS_EMPTY, maps->version, 1 };
	return (uint32_t)maps->n_nodes++;
}

/* The node itself when it may be changed, else a copy that may. */
static uint32_t node_own(struct maps *maps, uint32_t index)
{
	const struct maps_node *node = &maps->nodes[index];
	uint32_t copy;

	if (node->version == maps->version)
		return index;
	copy = node_new(maps, &node->segment);
	maps->nodes[copy].left = maps->nodes[index].left;
	maps->nodes[copy].right = maps->nodes[index].right;
	maps->nodes[copy].height = maps->nodes[index].height;
	return copy;
}

static uint32_t height(const struct maps *maps, uint32_t index)
{
	return maps->nodes[index].height;
}

static uint32_t node_link(struct maps *maps, uint32_t left, uint32_t middle, uint32_t right)
{
	struct maps_node *node = &maps->nodes[middle];
	const uint32_t l = height(maps, left), r = height(maps, right);

	node->left = left;
	node->right = right;
	node->height = 1 + (l > r ? l : r);
	return middle;
}

static uint32_t rotate_left(struct maps *maps, uint32_t top)
{
	const uint32_t up = node_own(maps, maps->nodes[top].right);
	const uint32_t inner = maps->nodes[up].left, outer = maps->nodes[up].right;

	return node_link(maps, node_link(maps, maps->nodes[top].left, top, inner), up, outer);
}

static uint32_t rotate_right(struct maps *maps, uint32_t top)
{
	const uint32_t up = node_own(maps, maps->nodes[top].left);
	const uint32_t outer = maps->nodes[up].left, inner = maps->nodes[up].right;

	return node_link(maps, outer, up, node_link(maps, inner, top, maps->nodes[top].right));
}

/* `top` is owned and its sides differ by at most two levels. */
static uint32_t node_balance(struct maps *maps, uint32_t top)
{
	const uint32_t left = maps->nodes[top].left, right = maps->nodes[top].right;

	if (height(maps, left) > height(maps, right) + 1) {
		if (height(maps, maps->nodes[left].right) > height(maps, maps->nodes[left].left)) {
			const uint32_t turned = rotate_left(maps, node_own(maps, left));

			maps->nodes[top].left = turned;
		}
		return rotate_right(maps, top);
	}
	if (height(maps, right) > height(maps, left) + 1) {
		if (height(maps, maps->nodes[right].left) >
		    height(maps, maps->nodes[right].right)) {
			const uint32_t turned = rotate_right(maps, node_own(maps, right));

			maps->nodes[top].right = turned;
		}
		return rotate_left(maps, top);
	}
	return node_link(maps, left, top, right);
}

/* One tree of left < middle < right; `middle` is owned. */
static uint32_t tree_join(struct maps *maps, uint32_t left, uint32_t middle, uint32_t right)
{
	if (height(maps, left) > height(maps, right) + 1) {
		const uint32_t top = node_own(maps, left);
		const uint32_t joined = tree_join(maps, maps->nodes[top].right, middle, right);

		maps->nodes[top].right = joined;
		return node_balance(maps, top);
	}
	if (height(maps, right) > height(maps, left) + 1) {
		const uint32_t top = node_own(maps, right);
		const uint32_t joined = tree_join(maps, left, middle, maps->nodes[top].left);

		maps->nodes[top].left = joined;
		return node_balance(maps, top);
	}
	return node_link(maps, left, middle, right);
}

/* What lies below and above an address; a segment across it is cut in two. */
static void tree_split(struct maps *maps, uint32_t root, uint64_t address, uint32_t *below,
		       uint32_t *above)
{
	uint32_t top, left, right, inner;

	*below = *above = MAPS_EMPTY;
	if (root == MAPS_EMPTY)
		return;
	top = node_own(maps, root);
	left = maps->nodes[top].left;
	right = maps->nodes[top].right;
	if (maps->nodes[top].segment.end <= address) {
		tree_split(maps, right, address, &inner, above);
		*below = tree_join(maps, left, top, inner);
	} else if (maps->nodes[top].segment.start >= address) {
		tree_split(maps, left, address, below, &inner);
		*above = tree_join(maps, inner, top, right);
	} else {
		struct maps_segment rest = maps->nodes[top].segment;

		rest.start = address;
		maps->nodes[top].segment.end = address;
		*below = tree_join(maps, left, top, MAPS_EMPTY);
		*above = tree_join(maps, MAPS_EMPTY, node_new(maps, &rest), right);
	}
}

enum status maps_put(struct maps *maps, uint32_t *root, uint64_t start, uint64_t end,
		     uint32_t mapping, struct error *error)
{
	const struct maps_segment segment = { start, end, mapping };
	uint32_t below, middle, above, rest;

	if (maps->n_nodes + NODES_PER_PUT > MAPS_MAX_NODES)
		return error_set(error, STATUS_LIMIT,
				 "the recording has more memory mappings than assay keeps (%u tree "
				 "nodes)",
				 MAPS_MAX_NODES);
	if (!array_reserve(&maps->nodes, &maps->capacity, maps->n_nodes + NODES_PER_PUT))
		return error_set(error, STATUS_NO_MEMORY, "no memory for the memory mappings");
	if (!maps->n_nodes) {
		memset(&maps->nodes[0], 0, sizeof(maps->nodes[0]));
		maps->n_nodes = 1;
	}
	tree_split(maps, *root, start, &below, &rest);
	tree_split(maps, rest, end, &middle, &above);
	*root = tree_join(maps, below, node_new(maps, &segment), above);
	return STATUS_OK;
}

const struct maps_segment *maps_find(const struct maps *maps, uint32_t root, uint64_t address)
{
	while (root != MAPS_EMPTY) {
		const struct maps_node *node = &maps->nodes[root];

		if (address < node->segment.start)
			root = node->left;
		else if (address >= node->segment.end)
			root = node->right;
		else
			return &node->segment;
	}
	return NULL;
}

const struct maps_segment *maps_overlap(const struct maps *maps, uint32_t root, uint64_t start,
					uint64_t end)
{
	const struct maps_segment *lowest = NULL;

	while (root != MAPS_EMPTY) {
		const struct maps_node *node = &maps->nodes[root];

		if (node->segment.end <= start) {
			root = node->right;
		} else {
			if (node->segment.start < end)
				lowest = &node->segment;
			root = node->left;
		}
	}
	return lowest;
}
