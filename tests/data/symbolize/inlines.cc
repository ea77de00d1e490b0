// SPDX-License-Identifier: GPL-3.0-or-later
// Inlined C++ of several depths, templates, lambdas and an exception: what -O2 makes of ordinary code.
#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

static inline int square(int x)
{
	return x * x;
}

static inline int cube(int x)
{
	return square(x) * x;
}

namespace shop
{
struct Stock {
	std::map<std::string, int> items;

	int add(const std::string &name, int n)
	{
		if (n < 0)
			throw std::invalid_argument("negative");
		return items[name] += cube(n);
	}
};
} // namespace shop

template <typename T> static inline T total(const std::vector<T> &values)
{
	return std::accumulate(values.begin(), values.end(), T(), [](T a, T b) { return a + cube(b); });
}

int main(int argc, char **argv)
{
	std::vector<int> values;
	shop::Stock stock;
	int sum = 0;

	for (int i = 0; i < 1000; i++)
		values.push_back(cube(i * argc));
	std::sort(values.begin(), values.end(), [](int a, int b) { return square(a) > square(b); });
	for (int i = 0; i < argc; i++)
		sum += stock.add(argv[i], i);
	return total(values) + sum == 42;
}
