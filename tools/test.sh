#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every test there is, on a Debian 12 as root, from nothing: packages, builds, layers, unit, property, sanitizers,
# end to end, fuzzers, an outside program. Ends with one line: N passed, N failed, N skipped.
#
#	tools/test.sh			all of it
#	tools/test.sh --quick		unit and property tests, gcc only
#	tools/test.sh --fuzz-seconds N	for each target; default 30
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

quick=false fuzz_seconds=30
while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=true ;;
	--fuzz-seconds) fuzz_seconds=${2:?--fuzz-seconds needs a number}; shift ;;
	*) echo "test.sh: unknown option $1; there are --quick and --fuzz-seconds N" >&2; exit 2 ;;
	esac
	shift
done

out=$PWD/build-test
mkdir -p "$out"
passed=0 failed=0 skipped=0
export CMOCKA_MESSAGE_OUTPUT=TAP PYTHONDONTWRITEBYTECODE=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 ASAN_OPTIONS=detect_leaks=1

say() { printf '[%2d:%02d] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"; }

# step TITLE COMMAND...: something that must work and is no test; its end is shown when it does not
step() {
	local title=$1 log=$out/step.log
	shift
	say "$title"
	"$@" >"$log" 2>&1 </dev/null && return 0
	tail -n 40 "$log"
	say "$title FAILED"
	failed=$((failed + 1))
	return 1
}

# add TITLE KIND FILE: count what a suite has printed
add() {
	local counts p f s
	counts=$(tools/tally "$2" "$3")
	[ "$(wc -l <<<"$counts")" -eq 1 ] || head -n -1 <<<"$counts"
	read -r p f s < <(tail -n 1 <<<"$counts")
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	say "$1: $p passed, $f failed$([ "$s" -eq 0 ] || echo ", $s skipped")"
}

# tap TITLE COMMAND...: a program that says TAP
tap() {
	local title=$1
	shift
	"$@" >"$out/tap" 2>&1 </dev/null || echo "# exit status $?" >>"$out/tap"
	add "$title" tap "$out/tap"
}

# suite TITLE BUILD SUITE [meson test options]
suite() {
	local title=$1 build=$2 name=$3
	shift 3
	rm -f "$build/meson-logs/testlog.json"
	meson test -C "$build" --no-rebuild --suite "$name" "$@" 2>&1 </dev/null |
		sed -n 's/^ *\([0-9]*\/[0-9]*\) \(.*\)/        \1 \2/p'
	add "$title" meson "$build/meson-logs/testlog.json"
}

# build NAME COMPILER [meson options]: warnings are errors
build() {
	local name=$1 compiler=$2
	shift 2
	rm -rf "${out:?}/$name"
	step "$name: configure" env CC="$compiler" meson setup "$out/$name" -Dwerror=true "$@" &&
		step "$name: build" ninja -C "$out/$name"
}

# The same in the background, as the programs under test leave most of a CPU to it: build_later NAME COMPILER [options]
build_later() {
	local name=$1 compiler=$2
	shift 2
	rm -rf "${out:?}/$name"
	{
		env CC="$compiler" meson setup "$out/$name" -Dwerror=true "$@" &&
			nice -n 19 ninja -C "$out/$name"
	} >"$out/$name.log" 2>&1 </dev/null &
	later=$!
}

# Wait for it, as a step.
built() { wait "$later" || { cat "$out/$1.log"; return 1; }; }

fuzz() { test/fuzz/run.sh "$out/clang-sanitizers" "$fuzz_seconds" | sed 's/^PASS /ok - /; s/^FAIL /not ok - /'; }

finish() {
	say "done"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
	exit
}

step "packages" tools/setup.sh || finish
if build gcc gcc; then
	suite "unit" "$out/gcc" unit
	suite "property" "$out/gcc" property
fi
$quick && finish

tap "layers and style" tools/check-layers
tap "layers and style, planted faults" tools/check-layers --self-test
tap "outside program" test/outside/run.sh "$out/gcc"
tap "benchmarks compared, planted regressions" tools/bench-compare --self-test
suite "benchmarks run" "$out/gcc" bench --num-processes 1
build_later clang-sanitizers clang -Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true -Ddocs=false
before=$skipped
suite "end to end" "$out/gcc" e2e
# What was not seen from end to end was not seen.
failed=$((failed + skipped - before))
if step "clang-sanitizers: configure and build" built clang-sanitizers; then
	suite "unit, sanitized" "$out/clang-sanitizers" unit --timeout-multiplier 5
	suite "property, sanitized" "$out/clang-sanitizers" property --timeout-multiplier 5
	say "fuzzing, $fuzz_seconds s for each target"
	tap "fuzz" fuzz
fi
finish
