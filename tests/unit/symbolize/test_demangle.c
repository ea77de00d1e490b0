/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

static void becomes(const char *symbol, const char *expected)
{
	char *name = demangle(symbol);

	if (expected) {
		assert_non_null(name);
		assert_string_equal(name, expected);
	} else {
		assert_null(name);
	}
	free(name);
}

static void cpp_names_are_readable(void **state)
{
	(void)state;
	becomes("_ZN4shop5Stock3addEi", "shop::Stock::add(int)");
	becomes("_ZNSt6vectorIiSaIiEE9push_backERKi",
		"std::vector<int, std::allocator<int> >::push_back(int const&)");
	becomes("_Z3fooi.cold", "foo(int) [clone .cold]");
	becomes("_ZThn16_N1A1fEv", "non-virtual thunk to A::f()");
}

/* Made by rustc 1.95: the hash of a legacy name and the crate's disambiguator are noise to a reader. */
static void rust_names_of_both_manglings_are_readable(void **state)
{
	(void)state;
	becomes("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
	becomes("_RNvNtCs1234_7mycrate4shop5weigh", "mycrate::shop::weigh");
}

static void a_symbol_version_is_dropped_and_a_stub_keeps_its_mark(void **state)
{
	(void)state;
	assert_int_equal(demangle_unversioned_length("memcpy@@GLIBC_2.14"), 6);
	assert_int_equal(demangle_unversioned_length("memcpy@GLIBC_2.2.5"), 6);
	assert_int_equal(demangle_unversioned_length("memcpy"), 6);
	assert_int_equal(demangle_unversioned_length("memcpy@plt"), 10);
	assert_int_equal(demangle_unversioned_length("@odd"), 4);
	becomes("_ZNSs6appendERKSs@@GLIBCXX_3.4", "std::string::append(std::string const&)");
	becomes("_Z3fooi@plt", "foo(int)@plt");
}

static void names_that_are_not_mangled_are_left_alone(void **state)
{
	(void)state;
	becomes("main", NULL);
	becomes("", NULL);
	becomes("_Z", NULL);
	becomes("_R", NULL);
	becomes("_Zwhatever", NULL);
	becomes("_ZN", NULL);
}

/* f(A<int, int>, A<S0, S0>, A<S1, S1>, ...): each argument is two of the one before it. */
static char *doubling_symbol(unsigned int n)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *symbol = malloc(32 + 16 * (size_t)n);
	int used = sprintf(symbol, "_Z1f1AIiiE");

	for (unsigned int i = 0; i < n; i++)
		used += sprintf(symbol + used, "S_IS%c_S%c_E", digits[i], digits[i]);
	return symbol;
}

static void a_name_that_stands_for_gigabytes_is_given_up(void **state)
{
	char *symbol = doubling_symbol(5), *name;
	size_t length;

	(void)state;
	name = demangle(symbol);
	assert_non_null(name);
	length = strlen(name);
	assert_non_null(strstr(name, "A<A<int, int>, A<int, int> >"));
	/* arguments of 11, then twice the one before and 6: 28, 62, 130, 266, 538; "f(", ")", five ", " */
	assert_int_equal(length, 11 + 28 + 62 + 130 + 266 + 538 + 3 + 5 * 2);
	free(name);
	free(symbol);
	symbol = doubling_symbol(30);
	assert_null(demangle(symbol));
	free(symbol);
}

static void a_name_nested_deeper_than_any_stack_does_no_harm(void **state)
{
	const size_t size = DEMANGLE_MAX_INPUT;
	char *symbol = calloc(1, size);

	(void)state;
	for (const char *nested = "PFIJ"; *nested; nested++) {
		memset(symbol, *nested, size - 1);
		memcpy(symbol, "_Z1f", 4);
		free(demangle(symbol));
	}
	free(symbol);
}

static void what_a_name_may_take_is_bounded(void **state)
{
	char *symbol = malloc(DEMANGLE_MAX_INPUT + 100);
	char *name;

	(void)state;
	/* one identifier of almost the largest size, then one that is too long */
	snprintf(symbol, 16, "_Z%u", DEMANGLE_MAX_INPUT - 20);
	memset(symbol + strlen(symbol), 'a', DEMANGLE_MAX_INPUT - 20);
	symbol[7 + DEMANGLE_MAX_INPUT - 20] = 'v';
	symbol[8 + DEMANGLE_MAX_INPUT - 20] = '\0';
	name = demangle(symbol);
	assert_non_null(name);
	assert_int_equal(strlen(name), DEMANGLE_MAX_INPUT - 20 + 2);
	free(name);
	memset(symbol + 2, 'x', DEMANGLE_MAX_INPUT + 50);
	symbol[DEMANGLE_MAX_INPUT + 52] = '\0';
	assert_null(demangle(symbol));
	free(symbol);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpp_names_are_readable),
		cmocka_unit_test(rust_names_of_both_manglings_are_readable),
		cmocka_unit_test(a_symbol_version_is_dropped_and_a_stub_keeps_its_mark),
		cmocka_unit_test(names_that_are_not_mangled_are_left_alone),
		cmocka_unit_test(a_name_that_stands_for_gigabytes_is_given_up),
		cmocka_unit_test(a_name_nested_deeper_than_any_stack_does_no_harm),
		cmocka_unit_test(what_a_name_may_take_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
