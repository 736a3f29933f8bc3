#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Run all benchmarks, write one table with what it was measured on, and say what got slower since the stored one.
#
#	tools/bench.sh			everything, some 15 minutes on a quiet machine
#	tools/bench.sh --quick		the small rows, some 3 minutes
#	tools/bench.sh --only core,count	of core flat stages count pressure workers pass
#	tools/bench.sh --output FILE	default: build-bench/result.tsv
#	tools/bench.sh --update		store the result as the baseline of this kind of machine
#	tools/bench.sh --strict		exit 1 where something got slower; else the report is all there is
#	tools/bench.sh --table FILE	print a result as Markdown, and nothing else
#	tools/bench.sh --fill PAGE	put the last result's tables between the marks of a page, and nothing else
#	tools/bench.sh --meson "-Dbuildtype=release -Db_ndebug=true"	other options to build with
#
# It builds as everybody does who says "meson setup" and no more: -O3 -g, assertions on. What is compared is explained
# in tools/bench-compare.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=false update=false strict=false only=core,flat,stages,count,pressure,workers,pass
output=build-bench/result.tsv meson_options=
while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=true ;;
	--update) update=true ;;
	--strict) strict=true ;;
	--only) only=${2:?--only needs a list}; shift ;;
	--output) output=${2:?--output needs a file}; shift ;;
	--meson) meson_options=${2?--meson needs options}; shift ;;
	--table) exec tools/bench-compare --table "${2:?--table needs a file}" ;;
	--fill) exec tools/bench-compare --fill "$output" "${2:?--fill needs a page}" ;;
	*) echo "bench.sh: unknown option $1; its head lists them" >&2; exit 2 ;;
	esac
	shift
done
for name in ${only//,/ }; do
	case $name in
	core | flat | stages | count | pressure | workers | pass) ;;
	*) echo "bench.sh: there is no benchmark $name" >&2; exit 2 ;;
	esac
done

say() { printf '[%2d:%02d] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*" >&2; }
wanted() { [[ ,$only, == *,$1,* ]]; }

for tool in meson ninja gcc; do
	command -v "$tool" >/dev/null || { echo "bench.sh: $tool is missing; tools/setup.sh installs it" >&2; exit 1; }
done

build='build-bench/tree'
# The programs of test/bench and the appliance, not the tests.
ninja_bench() {
	local targets
	mapfile -t targets < <(ninja -C "$build" -t targets all |
		sed -n 's#^\(test/bench/[^.:/]*\|app/fragmend\): c_LINKER.*#\1#p')
	ninja -C "$build" "${targets[@]}"
}
mkdir -p build-bench "$(dirname "$output")"
say "build"
rm -rf "$build"
# shellcheck disable=SC2086  # several options
if ! { CC=${CC:-gcc} meson setup "$build" -Ddocs=false $meson_options && ninja_bench; } \
	>build-bench/build.log 2>&1; then
	tail -n 30 build-bench/build.log >&2
	echo "bench.sh: does not build" >&2
	exit 1
fi

# --- what it is measured on ---

cpu_field() { sed -n "s/^$1[[:space:]]*: //p" /proc/cpuinfo | head -n 1; }
option() { meson introspect "$build" --buildoptions | python3 -c '
import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == sys.argv[1]))' "$1"; }
commit() {
	local changed=
	git diff --quiet HEAD 2>/dev/null || changed=' and changes'
	echo "$(git describe --always --abbrev=12 2>/dev/null || echo unknown)$changed"
}
caches() { lscpu -C=NAME,ONE-SIZE 2>/dev/null | awk 'NR > 1 { printf "%s%s %s", sep, $1, $2; sep = ", " }'; }
hugepages() { awk '/HugePages_Total/ { n = $2 } /Hugepagesize/ { print n " x " $2 " KB" }' /proc/meminfo; }
transparent=/sys/kernel/mm/transparent_hugepage/enabled
about() {
	printf '# %s\t%s\n' \
		date "$(date -u +%F)" \
		commit "$(commit)" \
		cpu "$(cpu_field 'model name') family $(cpu_field 'cpu family') model $(cpu_field model)" \
		cores "$(nproc)" \
		caches "$(caches)" \
		virtualization "$(systemd-detect-virt 2>/dev/null || true)" \
		kernel "$(uname -r)" \
		hugepages "$(hugepages)" \
		transparent_hugepages "$(sed 's/.*\[\(.*\)\].*/\1/' "$transparent" 2>/dev/null)" \
		compiler "$(${CC:-gcc} --version | head -n 1)" \
		options "buildtype $(option buildtype), b_ndebug $(option b_ndebug), c_args $(option c_args)" \
		dpdk "$(pkg-config --modversion libdpdk)" \
		load "$(cut -d ' ' -f 1-3 /proc/loadavg) before the run" |
		grep -v "$(printf '\t$')"
}

# --- the programs ---

# run NAME COMMAND...: its rows join the result
run() {
	local name=$1
	shift
	say "$name"
	if ! "$@" >"build-bench/$name.tsv" 2>"build-bench/$name.log" </dev/null; then
		tail -n 20 "build-bench/$name.log" >&2
		say "$name FAILED"
		failed=$((failed + 1))
		return 0
	fi
	grep -v '^repetition' "build-bench/$name.log" >&2 || true
	tools/bench-compare --collect "$name" "build-bench/$name.tsv" >>"$output"
}

instructions() {
	local line fragments collected
	printf 'case\tvalue\tunit\n'
	for line in "$@"; do
		# shellcheck disable=SC2086  # four words
		valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=fm_reass_burst \
			"$build/test/bench/count" $line >build-bench/count.out 2>build-bench/count.err || {
			cat build-bench/count.err >&2
			return 1
		}
		fragments=$(sed -n 's/^fragments\t//p' build-bench/count.out)
		collected=$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' build-bench/count.err)
		if [ -z "$fragments" ] || [ "${collected:-0}" -eq 0 ]; then
			cat build-bench/count.err >&2
			return 1
		fi
		awk -v line="$line" -v n="$fragments" -v all="$collected" 'BEGIN {
			gsub(/[a-z]+=/, "", line)
			printf "IPv%s\t%.1f\tinstructions\n", line, all / n
		}'
	done
}

count_lines() {
	local family kind datagrams many='1 64 1024'
	$quick && many=64
	for family in 4 6; do
		for kind in '2 round-robin' '8 round-robin' '8 shuffled'; do
			for datagrams in $many; do
				echo "family=$family fragments=${kind% *} order=${kind#* } datagrams=$datagrams"
			done
		done
	done
}

small=() scale=quick
if $quick; then
	small=(--quick) scale=smoke
fi
failed=0
about >"$output"
printf 'program\trow\tunit\tvalue\tfloor\tratio\ttarget\tmet\n' >>"$output"
if wanted core; then run core "$build/test/bench/core" --tsv "${small[@]}"; fi
if wanted flat; then run flat "$build/test/bench/flat" --tsv "${small[@]}"; fi
if wanted stages; then run stages "$build/test/bench/stages" --tsv "${small[@]}"; fi
if wanted count; then
	if command -v valgrind >/dev/null; then
		mapfile -t lines < <(count_lines)
		run count instructions "${lines[@]}"
	else
		say "count: left out, valgrind is missing (apt-get install valgrind)"
	fi
fi
if wanted pressure; then
	run pressure "$build/test/bench/pressure" --tsv --engine fragmend --scale "$scale"
fi
if wanted workers; then
	if [ -x "$build/test/bench/workers" ]; then
		run workers "$build/test/bench/workers" --tsv
	else
		say "workers: left out, there is no such program"
	fi
fi
if wanted pass; then
	if [ -x tools/bench-pass.py ]; then
		run pass tools/bench-pass.py --tsv --build "$build"
	else
		say "pass: left out, there is no tools/bench-pass.py"
	fi
fi
say "done: $output"

baseline=test/bench/baseline/$(tools/bench-compare --name "$output")
slower=0
if [ -e "$baseline" ]; then
	tools/bench-compare "$output" "$baseline" || slower=1
else
	echo "There is no $baseline to compare with; --update makes it."
fi
if $update; then
	if [ "$failed" -gt 0 ]; then
		echo "bench.sh: not stored, as $failed of the programs failed" >&2
		exit 1
	fi
	mkdir -p "$(dirname "$baseline")"
	cp "$output" "$baseline"
	echo "Stored as $baseline."
fi
[ "$failed" -eq 0 ] || exit 1
if $strict; then
	exit "$slower"
fi
