/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/random.h"

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Each coordinate is mixed in by a full splitmix64 step, so that names that differ in one small
 * number (epoch 3 and epoch 4) start from unrelated states. */
void random_init(struct random *random, uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t mix = seed;
	const uint64_t coordinates[] = { a, b, c };

	for (int i = 0; i < 3; i++)
		mix = splitmix64(&mix) ^ (coordinates[i] + 0x9e3779b97f4a7c15u * (uint64_t)(i + 1));
	for (int i = 0; i < 4; i++)
		random->state[i] = splitmix64(&mix);
}

static uint64_t rotate_left(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t random_u64(struct random *random)
{
	uint64_t *s = random->state;
	const uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	const uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint64_t random_below(struct random *random, uint64_t bound)
{
	unsigned __int128 product = (unsigned __int128)random_u64(random) * bound;

	if ((uint64_t)product < bound) {
		const uint64_t threshold = -bound % bound;

		while ((uint64_t)product < threshold)
			product = (unsigned __int128)random_u64(random) * bound;
	}
	return (uint64_t)(product >> 64);
}

double random_double(struct random *random)
{
	return (double)(random_u64(random) >> 11) * 0x1p-53;
}

uint64_t random_between(struct random *random, uint64_t low, uint64_t high)
{
	const uint64_t span = high - low + 1;

	return span ? low + random_below(random, span) : random_u64(random);
}
