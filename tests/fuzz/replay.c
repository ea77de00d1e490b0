/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a fuzzer's seeds without libFuzzer, so that every compiler and every `make check` replays
 * them: each seed as it is, cut short, and with bytes changed.
 *
 *	replay [-m MUTATION] SEED-FILE-OR-DIRECTORY...
 *
 * Each seed runs in a child process of its own; which mutation was under way stands in a page shared
 * with it, so that a crash is told with the number that `-m` repeats. Mutations depend on the
 * seed's bytes and the number only: the same input, everywhere, always.
 *
 * Prints TAP, one test per seed. Fails when there are no seeds.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_SEEDS          4096
#define MAX_SEED_BYTES     (64u << 20)
#define MUTATIONS          96u
#define CUTS               32u            /* the first mutations only shorten */
#define MUTATED_BYTES      (256ull << 20) /* per seed, over all its mutations */
#define SEED_LIMIT_SECONDS 100

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seeds {
	char *paths[MAX_SEEDS];
	size_t n;
};

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014 */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* The bytes that parsers stumble over: extremes of a length, a count, a sign. */
static uint8_t awkward_byte(uint64_t random)
{
	static const uint8_t bytes[] = { 0x00, 0xff, 0x7f, 0x80, 0x01, 0xfe };
	size_t i = (size_t)(random % (sizeof(bytes) * 2));

	return i < sizeof(bytes) ? bytes[i] : (uint8_t)(random >> 8);
}

/* Turns the seed's bytes into mutation `number` of them; 0 is the seed itself. Returns the size. */
static size_t mutate(uint8_t *bytes, size_t size, unsigned int number)
{
	uint64_t state = size * 1000003u + number;

	if (number == 0 || size == 0)
		return size;
	if (number <= CUTS / 2)
		return size * number / (CUTS / 2 + 1); /* evenly spread */
	if (number <= CUTS)
		return (size_t)(draw(&state) % size);
	for (uint64_t n = 1 + draw(&state) % 8; n > 0; n--) {
		/* half of the changes in the first 512 bytes, where formats keep their tables */
		size_t window = draw(&state) % 2 && size > 512 ? 512 : size;

		bytes[draw(&state) % window] = awkward_byte(draw(&state));
	}
	return size;
}

static uint8_t *read_seed(const char *path, size_t *size)
{
	struct stat st;
	uint8_t *bytes;
	FILE *file = fopen(path, "rb");

	if (!file || fstat(fileno(file), &st) || (size_t)st.st_size > MAX_SEED_BYTES) {
		fprintf(stderr, "%s: cannot be read, or is too large\n", path);
		exit(1);
	}
	*size = (size_t)st.st_size;
	bytes = malloc(*size + 1);
	if (!bytes || fread(bytes, 1, *size, file) != *size) {
		fprintf(stderr, "%s: cannot be read\n", path);
		exit(1);
	}
	fclose(file);
	return bytes;
}

/* In the child. Every input is an allocation of exactly its size, so that ASan sees an overrun. */
static void run_seed(const char *path, volatile unsigned int *current, int only)
{
	size_t size;
	uint8_t *seed = read_seed(path, &size);
	unsigned int last = MUTATIONS;

	if (size > 0 && MUTATED_BYTES / size < last)
		last = (unsigned int)(MUTATED_BYTES / size);
	for (unsigned int number = 0; number <= last; number++) {
		uint8_t *copy = malloc(size + !size), *input;
		size_t length;

		if (only >= 0 && number != (unsigned int)only)
			continue;
		*current = number;
		memcpy(copy, seed, size);
		length = mutate(copy, size, number);
		input = malloc(length + !length);
		memcpy(input, copy, length);
		free(copy);
		LLVMFuzzerTestOneInput(input, length);
		free(input);
	}
	free(seed);
}

static bool seed_survives(const char *path, volatile unsigned int *current, int only)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(SEED_LIMIT_SECONDS);
		run_seed(path, current, only);
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	printf("# mutation %u (repeat it with -m %u): %s %d\n", *current, *current,
	       WIFSIGNALED(status) ? "signal" : "exit",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return false;
}

static void add_seed(struct seeds *seeds, const char *path)
{
	if (seeds->n == MAX_SEEDS) {
		fprintf(stderr, "more than %d seeds\n", MAX_SEEDS);
		exit(1);
	}
	seeds->paths[seeds->n++] = strdup(path);
}

static void add_seeds(struct seeds *seeds, const char *path)
{
	struct dirent **names;
	int n = scandir(path, &names, NULL, alphasort);

	if (n < 0 && errno == ENOTDIR) {
		add_seed(seeds, path);
		return;
	}
	for (int i = 0; i < n; i++) {
		char name[4096];

		snprintf(name, sizeof(name), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			add_seed(seeds, name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

int main(int argc, char **argv)
{
	static struct seeds seeds;
	volatile unsigned int *current = mmap(NULL, sizeof(*current), PROT_READ | PROT_WRITE,
					      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int failed = 0, only = -1, option;

	while ((option = getopt(argc, argv, "m:")) == 'm')
		only = atoi(optarg);
	for (int i = optind; i < argc; i++)
		add_seeds(&seeds, argv[i]);
	printf("1..%zu\n", seeds.n ? seeds.n : 1);
	if (seeds.n == 0) {
		printf("not ok 1 - there are seeds\n");
		return 1;
	}
	for (size_t i = 0; i < seeds.n; i++) {
		bool ok;

		fflush(stdout);
		ok = seed_survives(seeds.paths[i], current, only);
		failed += !ok;
		printf("%s %zu - %s and its mutations are survived\n", ok ? "ok" : "not ok", i + 1,
		       strrchr(seeds.paths[i], '/') ? strrchr(seeds.paths[i], '/') + 1
						    : seeds.paths[i]);
		free(seeds.paths[i]);
	}
	return failed > 0;
}
