/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "bundle/manifest_text.h"
#include "support/test.h"

/* Encodes, checks that JSON takes it, decodes. */
static void check_round_trip(const char *bytes)
{
	char *encoded = manifest_text_encode(bytes), *decoded = manifest_text_decode(encoded);
	json_t *string = json_string(encoded); /* refuses what is not UTF-8 */

	assert_non_null(string);
	assert_string_equal(decoded, bytes);
	json_decref(string);
	free(encoded);
	free(decoded);
}

static void every_byte_survives_alone_and_between_others(void **state)
{
	(void)state;
	for (int byte = 1; byte < 256; byte++) {
		char text[4] = { (char)byte };

		check_round_trip(text);
		text[0] = 'a';
		text[1] = (char)byte;
		text[2] = 'b';
		check_round_trip(text);
	}
}

static void valid_utf8_stays_as_it_is(void **state)
{
	static const char *const texts[] = {
		"", "plain", "na\xc3\xafve", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *encoded = manifest_text_encode(texts[i]);

		assert_string_equal(encoded, texts[i]);
		free(encoded);
	}
}

/* U+10F7AB: what the byte 0xab becomes. A name that holds it must not come back as that byte. */
static void the_escape_characters_themselves_survive(void **state)
{
	(void)state;
	check_round_trip("\xf4\x8f\x9e\xab");
	check_round_trip("\xf4\x8f\x9e\xab\xab");
	check_round_trip("x\xf4\x8f\x9e\x80y\xf4\x8f\x9f\xbfz");
}

static void overlong_forms_and_surrogates_survive_as_bytes(void **state)
{
	(void)state;
	check_round_trip("\xc0\x80");
	check_round_trip("\xe0\x80\xaf");
	check_round_trip("\xed\xa0\x80");
	check_round_trip("\xf4\x90\x80\x80");
	check_round_trip("\xf8\x88\x80\x80\x80");
	check_round_trip("\xe2\x82"); /* cut */
	check_round_trip("\xf0\x9f\x98");
}

static void any_bytes_survive(void **state)
{
	struct random random;

	(void)state;
	random_init(&random, 3, 0, 0, 0);
	for (int i = 0; i < 20000; i++) {
		char text[24];
		const size_t n = random_below(&random, sizeof(text) - 1);

		/* from the bytes that begin, continue and break sequences */
		for (size_t k = 0; k < n; k++) {
			static const unsigned char bytes[] = { 0x41, 0x80, 0x8f, 0x9e, 0xab, 0xbf,
							       0xc3, 0xe2, 0xed, 0xf0, 0xf4, 0xff };

			text[k] = (char)bytes[random_below(&random, sizeof(bytes))];
		}
		text[n] = '\0';
		check_round_trip(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_survives_alone_and_between_others),
		cmocka_unit_test(valid_utf8_stays_as_it_is),
		cmocka_unit_test(the_escape_characters_themselves_survive),
		cmocka_unit_test(overlong_forms_and_surrogates_survive_as_bytes),
		cmocka_unit_test(any_bytes_survive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
