#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
# runner: no-sanitizer
# runner: timeout=300
"""Shadow on this machine's own clock: a timer interrupt is taken before the instruction that follows a slow one,
so in a loop with one division the samples stand right after it. What the program spends is known by construction:
the division is nearly all of the loop `divides`, and `adds`, of as many instructions, has none."""
import json
import os
import subprocess

from recording import ASSAY, claim, finish

PROGRAM = r"""
#include <stdint.h>
static volatile uint64_t divisor = 3, sink;
__attribute__((noinline)) static void divides(long n)
{
	uint64_t x = ~0ull, d = divisor;
	for (long i = 0; i < n; i++)
		x = ~(x / d);
	sink = x;
}
__attribute__((noinline)) static void adds(long n)
{
	uint64_t x = 1, d = divisor;
	for (long i = 0; i < n; i++) {
		x = ~(x + d);
		__asm__ volatile("" : "+r"(x));
	}
	sink = x;
}
int main(void)
{
	for (int i = 0; i < 300; i++) {
		divides(200000);
		adds(2000000);
	}
	return 0;
}
"""


def main():
    with open("shadow.c", "w", encoding="ascii") as file:
        file.write(PROGRAM)
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-g", "shadow.c", "-o", "shadow"], check=True)
    subprocess.run([ASSAY, "record", "-q", "-F", "1000", "-e", "cpu-clock:u", "-o", "shadow.assay", "--", "./shadow"],
                   check=True, timeout=200)
    told = json.loads(subprocess.run([ASSAY, "diagnose", "--json", "shadow.assay"], capture_output=True, text=True,
                                     check=True).stdout)
    by_name = {f["name"]: f for f in told["skid"]}
    slow, fast = by_name.get("divides"), by_name.get("adds")
    if not slow or not fast or slow["samples"] < 100 or fast["samples"] < 100:
        claim(False, "both functions are sampled", by_name)
        finish()
    claim(slow["after_slow"] > 0.5 * slow["samples"], "most samples of the loop with a division stand right after it",
          slow)
    claim("div" in (slow["slow"] or ""), "the division is named", slow["slow"])
    claim(fast["after_slow"] == 0, "a loop without slow instructions has none there", fast)
    findings = [f for f in told["findings"] if f["code"] == "skid-shadow"]
    claim(findings and findings[0]["evidence"]["function"] == "divides", "the finding names the function", findings)
    wrong = [f for f in told["findings"] if f["code"] in ("skid-entry", "skid-call") and f["severity"] != "info"]
    claim(not wrong, "and none says that its time belongs to a neighbour", wrong)
    finish()


if __name__ == "__main__":
    main()
