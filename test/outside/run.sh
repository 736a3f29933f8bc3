#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An outside program against an installed libfragmend: run.sh BUILD, a directory in which ninja has built all. The
# program and what it must print are those of doc/library.md. Speaks TAP; exit code 1 if anything fails.
#
# shellcheck disable=SC2317	# functions are called through check
set -u

if [ $# -ne 1 ] || [ ! -f "$1/build.ninja" ]; then
	echo "usage: run.sh BUILD (a meson build directory)" >&2
	exit 2
fi
build=$1
doc=$(cd "$(dirname "$0")/../.." && pwd)/doc/library.md
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cc=${CC:-cc}
number=0
failed=0

# check TITLE COMMAND...: one line of TAP; the output of a failure behind it
check() {
	title=$1
	shift
	number=$((number + 1))
	if "$@" >"$work/log" 2>&1; then
		echo "ok $number - outside: $title"
	else
		echo "not ok $number - outside: $title"
		sed 's/^/# /' "$work/log"
		failed=1
	fi
}

# block LANGUAGE: the first fenced block of that language in the page
block() {
	awk -v fence="\`\`\`$1" '$0 == "```" && on { exit } on { print } $0 == fence { on = 1 }' "$doc"
}

install_tree() {
	DESTDIR="$work/root" meson install -C "$build" --no-rebuild || return 1
	pc=$(find "$work/root" -name libfragmend.pc)
	[ -n "$pc" ] || return 1
	# The tree does not lie where its prefix says, and PKG_CONFIG_SYSROOT_DIR would move DPDK along with it.
	prefix=$(sed -n 's/^prefix=//p' "$pc")
	sed -i "s|^prefix=.*|prefix=$work/root$prefix|" "$pc"
}

flags() {
	PKG_CONFIG_PATH=$(dirname "$pc")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH} pkg-config "$@"
}

# Word splitting of the flags is what is wanted.
# shellcheck disable=SC2046
compile_shared() {
	$cc -O2 -Wall -Wextra -Werror "$work/example.c" $(flags --cflags --libs libfragmend libdpdk) -o "$work/shared"
}

# shellcheck disable=SC2046
compile_static() {
	$cc -O2 -Wall -Wextra -Werror "$work/example.c" $(flags --cflags libfragmend libdpdk) "$lib/libfragmend.a" \
		$(flags --libs libdpdk) -lm -o "$work/static"
}

# shellcheck disable=SC2046
compile_cxx() {
	printf '#include <fragmend/%s>\n' fm_reass.h fm_split.h >"$work/headers.cc"
	printf 'int main() { return fm_reass_memsize(0) != 0; }\n' >>"$work/headers.cc"
	${CXX:-c++} -Wall -Wextra -Werror -c "$work/headers.cc" -o "$work/headers.o" \
		$(flags --cflags libfragmend libdpdk)
}

run_program() {
	LD_LIBRARY_PATH=$lib "$1" --no-huge --no-shconf --no-pci --no-telemetry -l 0 -m 64 --log-level '*:error' \
		>"$work/printed" || return 1
	diff "$work/expected" "$work/printed"
}

uses_shared() {
	LD_LIBRARY_PATH=$lib ldd "$work/shared" | grep "libfragmend.so.* => $lib/" &&
		! ldd "$work/static" | grep libfragmend
}

# What the installed headers declare, and nothing else, is exported.
exports() {
	{
		sed -n 's/^[a-z][a-z0-9_ *]*\b\(fm_[a-z0-9_]*\)(.*/\1/p' "$headers"/fm_*.h
		sed -n 's/^extern .*\b\(fm_[a-z0-9_]*\)\[.*/\1/p' "$headers"/*.h
	} | sort >"$work/declared"
	nm -D --defined-only "$lib/libfragmend.so" |
		awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$work/exported"
	diff "$work/declared" "$work/exported"
}

block c >"$work/example.c"
block text >"$work/expected"
check "meson install" install_tree
if [ $failed -eq 0 ]; then
	lib=$(dirname "$(dirname "$pc")")
	headers=$(dirname "$(find "$work/root" -name fm_reass.h)")
	check "the example compiles against the shared library" compile_shared
	check "the example compiles against the static library" compile_static
	check "each uses the one it was linked with" uses_shared
	check "the example prints what the page says, shared" run_program "$work/shared"
	check "the example prints what the page says, static" run_program "$work/static"
	check "the headers are C++ too" compile_cxx
	check "exported is what the headers declare" exports
fi
echo "1..$number"
exit $failed
