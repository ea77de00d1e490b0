/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writer and reader of the manifest against each other, and the reader against hostile text. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "support/sys_fault.h"
#include "support/tree.h"
#include "unit/bundle/contract.h"

#define N_EPOCHS 5u

struct place {
	struct tree tree;
	int dir_fd;
};

static void place_make(struct place *place)
{
	tree_make(&place->tree, NULL, 0);
	place->dir_fd = open(place->tree.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void place_remove(struct place *place)
{
	close(place->dir_fd);
	tree_remove(&place->tree);
}

static char *text_at(const struct place *place, size_t *size)
{
	struct error error;
	char *text;

	if (sys_read_file(sys_real(), place->dir_fd, "manifest.json", 1u << 30, &text, size,
			  &error) != STATUS_OK)
		fail_msg("%s", error.text);
	return text;
}

static char incident_code[] = "loss", incident_unit[] = "samples", odd_path[] = "/x/\xff prog",
	    id_text[] = "00ff";

static enum status write_epoch(struct manifest_writer *writer, const struct manifest *m,
			       uint64_t index, struct error *error)
{
	struct manifest_epoch_clock clocks[2];
	const struct manifest_epoch epoch = contract_epoch(index, clocks);
	const struct manifest_incident incident = { incident_code, index,         index + 1,
						    0.1,           incident_unit, NULL };
	const struct manifest_object object = { .path = odd_path,
						.device = UINT64_MAX,
						.inode = index,
						.size = 3,
						.build_id = id_text };

	/* in the third epoch nothing happened */
	return manifest_writer_epoch(writer, m, &epoch, &incident, index != 2, &object, index != 2,
				     error);
}

static const struct manifest_end *the_end(void)
{
	static char reason[] = "exit", settled[] = "the first 5 and their order";
	static const struct manifest_end end = { .reason = reason,
						 .end_ns = 99,
						 .target_exited = true,
						 .exit_code = 3,
						 .signal = -1,
						 .samples = 12345,
						 .achieved = 0.1 + 0.2,
						 .tasks_seen = 9,
						 .period_weights = -1,
						 .looks = 41,
						 .settled = settled };

	return &end;
}

static void check_read_back(const struct manifest *m, const char *text, size_t size,
			    size_t n_epochs, bool ended)
{
	struct manifest read;
	struct error error;

	if (manifest_parse(&read, text, size, &error) != STATUS_OK)
		fail_msg("%s", error.text);
	same_head(m, &read);
	assert_int_equal(read.n_epochs, n_epochs);
	for (size_t i = 0; i < n_epochs; i++) {
		struct manifest_epoch_clock clocks[2];
		const struct manifest_epoch epoch = contract_epoch(i, clocks);

		same_epoch(&epoch, &read.epochs[i]);
	}
	assert_int_equal(read.n_incidents, n_epochs - (n_epochs > 2));
	assert_int_equal(read.n_objects, n_epochs - (n_epochs > 2));
	if (n_epochs) {
		assert_string_equal(read.incidents[0].code, "loss");
		assert_true(read.incidents[0].amount == 0.1);
		assert_string_equal(read.objects[0].path, odd_path);
		assert_true(read.objects[0].device == UINT64_MAX);
		assert_string_equal(read.objects[0].build_id, "00ff");
		assert_null(read.objects[0].copy);
	}
	assert_int_equal(read.end.present, ended);
	if (ended) {
		assert_string_equal(read.end.reason, "exit");
		assert_int_equal(read.end.exit_code, 3);
		assert_int_equal(read.end.signal, -1);
		assert_true(read.end.target_exited);
		assert_int_equal(read.end.samples, 12345);
		assert_true(read.end.achieved == 0.1 + 0.2);
		assert_int_equal(read.end.period_weights, -1);
		assert_int_equal(read.end.looks, 41);
		assert_string_equal(read.end.settled, "the first 5 and their order");
	}
	manifest_release(&read);
}

static void check_is_json(const char *text, size_t size)
{
	json_error_t why;
	json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);

	if (!document)
		fail_msg("%s at %d: %.*s", why.text, why.position, (int)size, text);
	assert_string_equal(json_string_value(json_object_get(document, "schema")),
			    MANIFEST_SCHEMA);
	json_decref(document);
}

static void the_document_is_whole_after_every_step_and_reads_back(void **state)
{
	struct manifest_writer *writer;
	struct manifest m;
	struct place place;
	struct error error;
	char *text;
	size_t size;

	(void)state;
	place_make(&place);
	contract_fill(&m);
	assert_int_equal(manifest_writer_create(&writer, sys_real(), place.dir_fd, "manifest.json",
						&m, &error),
			 STATUS_OK);
	for (unsigned int i = 0; i <= N_EPOCHS; i++) {
		if (i)
			assert_int_equal(write_epoch(writer, &m, i - 1, &error), STATUS_OK);
		text = text_at(&place, &size);
		check_is_json(text, size);
		check_read_back(&m, text, size, i, false);
		free(text);
	}
	assert_int_equal(manifest_writer_end(writer, the_end(), &error), STATUS_OK);
	text = text_at(&place, &size);
	check_is_json(text, size);
	check_read_back(&m, text, size, N_EPOCHS, true);
	free(text);
	/* closed is closed */
	assert_int_equal(write_epoch(writer, &m, 9, &error), STATUS_USAGE);
	manifest_writer_close(writer);
	manifest_release(&m);
	place_remove(&place);
}

/* Round trips cannot tell a number from its bits: this is what other programs see. */
static void an_epoch_is_written_with_the_names_and_kinds_of_its_members(void **state)
{
	/* members may be added between them */
	static const char *const pieces[] = {
		("{\"index\":1,\"seed\":\"11400714819323198485\",\"start_ns\":1200,\"end_ns\":1400,"
		 "\"data_bytes\":8192,\"target_cpu_ns\":190,\"collector_cpu_ns\":2,\"budget\":0.01,"
		 "\"achieved\":0.0099000000000000008,\"late_ns\":1,"),
		("\"clocks\":[{\"mean_period\":1000000.1428571428,\"samples\":201,\"lost\":1,"
		 "\"redraws\":40,\"throttled_ns\":500,\"intervals\":100,"
		 "\"realised_mean\":333333.33333333331,\"realised_sd\":0.10000000000000001,"
		 "\"realised_min\":-0.0,\"realised_max\":1.0000000000000001e300,"
		 "\"intended_mean\":0.66666666666666663,\"intended_sd\":1e-300"),
		("\"incidents\":[{\"code\":\"loss\",\"start_ns\":1,\"end_ns\":2,\"amount\":"
		 "0.10000000000000001,\"unit\":\"samples\"}]"),
		"\"schedule\": \"mixed\"",
		"\"budget\": 0.01,\n",
		"\"max_stack\":127",
	};
	struct manifest_writer *writer;
	struct manifest m;
	struct place place;
	struct error error;
	char *text;

	(void)state;
	place_make(&place);
	contract_fill(&m);
	assert_int_equal(manifest_writer_create(&writer, sys_real(), place.dir_fd, "manifest.json",
						&m, &error),
			 STATUS_OK);
	assert_int_equal(write_epoch(writer, &m, 1, &error), STATUS_OK);
	manifest_writer_close(writer);
	text = text_at(&place, NULL);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		if (!strstr(text, pieces[i]))
			fail_msg("no '%s' in %s", pieces[i], text);
	free(text);
	manifest_release(&m);
	place_remove(&place);
}

static char *whole_text(struct manifest *m, size_t *size)
{
	struct manifest_writer *writer;
	struct place place;
	struct error error;
	char *text;

	place_make(&place);
	contract_fill(m);
	assert_int_equal(manifest_writer_create(&writer, sys_real(), place.dir_fd, "manifest.json",
						m, &error),
			 STATUS_OK);
	for (unsigned int i = 0; i < N_EPOCHS; i++)
		assert_int_equal(write_epoch(writer, m, i, &error), STATUS_OK);
	assert_int_equal(manifest_writer_end(writer, the_end(), &error), STATUS_OK);
	manifest_writer_close(writer);
	text = text_at(&place, size);
	place_remove(&place);
	return text;
}

/* Epochs that end before the cut. Each stands on a line of its own, so it ends where a line that begins
 * with its brace does. */
static size_t epochs_before(const char *epochs, const char *cut)
{
	size_t n = 0;

	for (const char *line = strstr(epochs, "\n{"); line; line = strstr(line + 1, "\n{")) {
		const char *end = strchr(line + 1, '\n');

		end -= end[-1] == ',';
		n += end <= cut;
	}
	return n;
}

/* Cut at every byte: never a crash, never an epoch that is not there, never one lost before the cut. */
static void a_document_cut_anywhere_gives_every_epoch_before_the_cut(void **state)
{
	struct manifest m;
	size_t size, head;
	char *text = whole_text(&m, &size);

	(void)state;
	head = (size_t)(strstr(text, "\"epochs\"") - text);
	for (size_t cut = 0; cut < size; cut++) {
		char *copy = malloc(cut + !cut);
		struct manifest read;
		struct error error;
		enum status status;
		const size_t n = epochs_before(text + head, text + cut);

		memcpy(copy, text, cut);
		status = manifest_parse(&read, copy, cut, &error);
		if (cut < head && status != STATUS_OK) {
			assert_int_equal(status, STATUS_CORRUPT);
		} else {
			assert_int_equal(status, STATUS_OK);
			assert_int_equal(read.n_epochs, n);
			if (cut < size - 2)
				assert_false(read.end.present);
			manifest_release(&read);
		}
		free(copy);
	}
	manifest_release(&m);
	free(text);
}

/* A file system may leave zeros where the last writes did not reach the disk. */
static void a_tail_of_zeros_reads_as_a_cut(void **state)
{
	struct manifest m, read;
	size_t size;
	char *text = whole_text(&m, &size), *third;
	struct error error;

	(void)state;
	third = strstr(text, "\"epochs\"");
	for (int i = 0; i < 3; i++)
		third = strstr(third + 1, "\n{");
	memset(third, 0, size - (size_t)(third - text));
	assert_int_equal(manifest_parse(&read, text, size, &error), STATUS_OK);
	assert_int_equal(read.n_epochs, 2);
	assert_false(read.end.present);
	manifest_release(&read);
	manifest_release(&m);
	free(text);
}

#define HEAD "{\"schema\": \"assay.manifest/1\", \"clocks\": [{\"mean_period\": 2.5}], "

static void expect(enum status wanted, const char *text, const char *word)
{
	struct manifest read;
	struct error error = { 0 };
	const enum status status = manifest_parse(&read, text, strlen(text), &error);

	if (status != wanted || (word && !strstr(error.text, word)))
		fail_msg("%s: status %d, '%s'", text, status, error.text);
	if (status == STATUS_OK)
		manifest_release(&read);
}

static void contradictions_are_refused_with_the_word_that_is_wrong(void **state)
{
	(void)state;
	expect(STATUS_OK, HEAD "\"epochs\": []}", NULL);
	expect(STATUS_OK, HEAD "\"unknown\": {\"a\": [1, {}]}, \"epochs\": []}", NULL);
	expect(STATUS_CORRUPT, "", "ends before");
	expect(STATUS_CORRUPT, "[]", "no JSON");
	expect(STATUS_CORRUPT, "{\"schema\": \"assay.manifest/2\"}", "assay.manifest/2");
	expect(STATUS_CORRUPT, "{\"schema\": 7}", "schema");
	expect(STATUS_CORRUPT, "{\"epochs\": []}", "before \"clocks\"");
	expect(STATUS_CORRUPT, HEAD "\"seed\": -1, \"epochs\": []}", "\"seed\"");
	expect(STATUS_CORRUPT, HEAD "\"seed\": \"12x\", \"epochs\": []}", "\"seed\"");
	expect(STATUS_CORRUPT, HEAD "\"schedule\": \"weekly\", \"epochs\": []}", "\"schedule\"");
	expect(STATUS_CORRUPT, HEAD "\"rate_why\": 3}", "\"rate_why\"");
	expect(STATUS_CORRUPT, HEAD "\"epochs\": [{\"clocks\": [{}, {}]}]}",
	       "more than the 1 clocks");
	expect(STATUS_CORRUPT, HEAD "\"epochs\": [{\"index\": 1} {\"index\": 2}]}", "no JSON");
	expect(STATUS_CORRUPT, HEAD "\"epochs\": [{\"index\": nope}]}", NULL);
	expect(STATUS_CORRUPT, HEAD "\"epochs\": [5]}", "epoch");
	expect(STATUS_CORRUPT, HEAD "\"clocks\": []}", "twice");
	expect(STATUS_CORRUPT, HEAD "\"command\": [1]}", "command");
	expect(STATUS_CORRUPT, HEAD "\"pids\": [-5]}", "pid");
	expect(STATUS_CORRUPT, HEAD "\"incidents\": {}}", "incidents");
	expect(STATUS_LIMIT,
	       "{\"schema\": \"assay.manifest/1\", \"clocks\": "
	       "[{},{},{},{},{},{},{},{},{},{},{},{},"
	       "{},{},{},{},{}]}",
	       "16 clocks");
}

static void numbers_beyond_what_json_carries_survive(void **state)
{
	struct manifest read;
	struct error error;
	static const char text[] = HEAD "\"rate_hz\": \"inf\", \"budget\": \"nan\", "
					"\"sample_cost_ns\": \"-inf\", \"redraw_cost_ns\": 3, "
					"\"seed\": \"18446744073709551615\"}";

	(void)state;
	assert_int_equal(manifest_parse(&read, text, strlen(text), &error), STATUS_OK);
	assert_true(isinf(read.rate_hz) && read.rate_hz > 0);
	assert_true(isnan(read.budget));
	assert_true(isinf(read.sample_cost_ns) && read.sample_cost_ns < 0);
	assert_true(read.redraw_cost_ns == 3);
	assert_true(read.seed == UINT64_MAX);
	manifest_release(&read);
}

static void deep_nesting_is_refused_not_recursed(void **state)
{
	const size_t depth = 1u << 20;
	char *text = malloc(sizeof(HEAD) + 2 * depth + 32);
	struct manifest read;
	struct error error;
	size_t n = (size_t)sprintf(text, HEAD "\"deep\": ");

	(void)state;
	memset(text + n, '[', depth);
	memset(text + n + depth, ']', depth);
	strcpy(text + n + 2 * depth, "}");
	assert_int_equal(manifest_parse(&read, text, strlen(text), &error), STATUS_CORRUPT);
	free(text);
}

/* 18000 epochs are an hour. */
static void hours_of_epochs_are_read(void **state)
{
	struct manifest_writer *writer;
	struct manifest m, read;
	struct place place;
	struct error error;
	char *text;
	size_t size;

	(void)state;
	place_make(&place);
	contract_fill(&m);
	assert_int_equal(manifest_writer_create(&writer, sys_real(), place.dir_fd, "manifest.json",
						&m, &error),
			 STATUS_OK);
	for (unsigned int i = 0; i < 18000; i++) {
		struct manifest_epoch_clock clocks[2];
		const struct manifest_epoch epoch = contract_epoch(i, clocks);

		assert_int_equal(
			manifest_writer_epoch(writer, &m, &epoch, NULL, 0, NULL, 0, &error),
			STATUS_OK);
	}
	manifest_writer_close(writer);
	text = text_at(&place, &size);
	assert_int_equal(manifest_parse(&read, text, size, &error), STATUS_OK);
	assert_int_equal(read.n_epochs, 18000);
	for (unsigned int i = 0; i < 18000; i += 997) {
		struct manifest_epoch_clock clocks[2];
		const struct manifest_epoch epoch = contract_epoch(i, clocks);

		same_epoch(&epoch, &read.epochs[i]);
	}
	manifest_release(&read);
	manifest_release(&m);
	free(text);
	place_remove(&place);
}

/* A full disk at any write: the document stays whole, holds every epoch written before, and every
 * later call fails in the same words. */
static void a_disk_that_fills_up_leaves_a_whole_document(void **state)
{
	static const enum sys_fault_how hows[] = { SYS_FAULT_ONCE, SYS_FAULT_TORN };
	struct manifest m;

	(void)state;
	contract_fill(&m);
	for (size_t h = 0; h < 2; h++)
		for (unsigned int at = 1;; at++) {
			struct manifest_writer *writer;
			struct sys_fault fault;
			struct place place;
			struct error error, again;
			enum status status;
			unsigned int n = 0;
			char *text;
			size_t size;

			place_make(&place);
			sys_fault_init(&fault, sys_real());
			/* a torn write's second half fails; writing over what is there works again */
			sys_fault_plan(&fault, SYS_FAULT_WRITE, at, ENOSPC, SYS_FAULT_ONCE);
			if (hows[h] == SYS_FAULT_TORN)
				fault.how = SYS_FAULT_TORN;
			status = manifest_writer_create(&writer, sys_fault_table(&fault),
							place.dir_fd, "manifest.json", &m, &error);
			if (status != STATUS_OK) {
				assert_int_equal(faccessat(place.dir_fd, "manifest.json", F_OK, 0),
						 -1);
				assert_int_equal(fault.open_fds, 0);
				place_remove(&place);
				continue;
			}
			for (; n < N_EPOCHS && status == STATUS_OK; n++)
				status = write_epoch(writer, &m, n, &error);
			n -= status != STATUS_OK;
			if (status == STATUS_OK)
				status = manifest_writer_end(writer, the_end(), &error);
			assert_int_equal(status, fault.fired ? STATUS_IO : STATUS_OK);
			if (fault.fired) {
				assert_int_equal(write_epoch(writer, &m, n, &again), STATUS_IO);
				assert_string_equal(again.text, error.text);
			}
			manifest_writer_close(writer);
			assert_int_equal(fault.open_fds, 0);
			text = text_at(&place, &size);
			if (hows[h] == SYS_FAULT_ONCE)
				check_is_json(text, size);
			check_read_back(&m, text, size, n, !fault.fired);
			free(text);
			place_remove(&place);
			if (!fault.fired)
				break;
		}
	manifest_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_document_is_whole_after_every_step_and_reads_back),
		cmocka_unit_test(an_epoch_is_written_with_the_names_and_kinds_of_its_members),
		cmocka_unit_test(a_document_cut_anywhere_gives_every_epoch_before_the_cut),
		cmocka_unit_test(a_tail_of_zeros_reads_as_a_cut),
		cmocka_unit_test(contradictions_are_refused_with_the_word_that_is_wrong),
		cmocka_unit_test(numbers_beyond_what_json_carries_survive),
		cmocka_unit_test(deep_nesting_is_refused_not_recursed),
		cmocka_unit_test(hours_of_epochs_are_read),
		cmocka_unit_test(a_disk_that_fills_up_leaves_a_whole_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
