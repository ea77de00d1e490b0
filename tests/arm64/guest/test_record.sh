#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Records and reports real hardware events in the emulated machine, with every schedule, and prints
# TAP. Hardware: one instruction is one cycle and one nanosecond, so the shares of the loop are the same
# by each event.
n=0 failed=0

claim() { # OUTCOME(0 is good) TEXT
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		failed=$((failed + 1))
		echo "not ok $n - $2"
	fi
}

for event in cycles:u instructions:u; do
	for schedule in fixed prime freq jitter exp mixed; do
		name="$event with $schedule"
		assay record -q -o b.assay -e "$event" -F 1000 --schedule "$schedule" --seed 7 \
			-- /guest/loop 1.5 >record.out 2>&1
		claim $? "$name: record ends as the program did"
		sed 's/^/# record: /' record.out

		/guest/intervals b.assay >intervals.out
		sed -n 's/^#/# intervals:/p' intervals.out
		grep -q "^ok 1 " intervals.out
		claim $? "$name: each clock's samples are in order and its intervals many"
		grep -q "^ok 2 " intervals.out
		claim $? "$name: 99 % of the uncut intervals are realised within 1 % of PERIOD"
		grep -q "^ok 3 " intervals.out
		claim $? "$name: PERIOD is the drawn period of draws.data"

		assay report --json b.assay >report.json 2>report.err
		claim $? "$name: report succeeds"
		sed 's/^/# report: /' report.err
		# main and the looks at counters take less than 1 % from either
		/guest/share report.json loop_long 0.6
		claim $? "$name: the share of loop_long is true within twice its interval"
		/guest/share report.json loop_short 0.4
		claim $? "$name: the share of loop_short is true within twice its interval"
		rm -rf b.assay b.assay.old
	done
done
echo "1..$n"
exit $((failed > 0))
