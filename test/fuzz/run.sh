#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Run each fuzz target of a build made with -Dfuzz=true for so many seconds, from the committed corpus:
#
#	run.sh BUILD SECONDS
#
# Prints a line for each: runs, coverage (edges) and features as libFuzzer counts them. What fails is left in
# BUILD/fuzz-found, and the exit code is 1.
set -u

if [ $# -ne 2 ] || [ ! -f "$1/build.ninja" ] || ! [ "$2" -gt 0 ] 2>/dev/null; then
	echo "usage: run.sh BUILD SECONDS (a meson build directory, a whole number above 0)" >&2
	exit 2
fi
build=$1
seconds=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir -p "$build/fuzz-found" || exit 1
failed=0

for corpus in "$here"/corpus/*/; do
	name=$(basename "$corpus")
	target=$build/test/fuzz/fuzz_$name
	if [ ! -x "$target" ]; then
		echo "FAIL fuzz $name: $target is missing: build it with CC=clang meson setup -Dfuzz=true, ninja fuzz"
		failed=1
		continue
	fi
	mkdir "$work/$name"
	if "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=3000 -print_final_stats=1 \
		-artifact_prefix="$build/fuzz-found/$name-" "$work/$name" "$corpus" >"$work/$name.log" 2>&1; then
		result=PASS
	else
		result=FAIL
		failed=1
	fi
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name.log")
	reached=$(sed -n 's/.* cov: \([0-9]*\) ft: \([0-9]*\) .*/\1 edges, \2 features/p' "$work/$name.log" | tail -n 1)
	echo "$result fuzz $name: ${runs:-0} runs in $seconds s, ${reached:-nothing reached}"
	if [ $result = FAIL ]; then
		grep -E 'not true|PANIC|ERROR:|SUMMARY:|runtime error|Test unit written' "$work/$name.log" |
			sed 's/^/	/'
		cp "$work/$name.log" "$build/fuzz-found/$name.log"
		echo "	all of it: $build/fuzz-found/$name.log"
	fi
done
exit $failed
