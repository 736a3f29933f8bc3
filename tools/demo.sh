#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# fragmend between two real kernels, on this machine; leaves nothing behind.
#
#	tools/demo.sh			send, reassemble, compare, print a table; exit 1 if a payload is lost or changed
#	tools/demo.sh --interactive	stay at fragmend's console while mild traffic runs
#	tools/demo.sh --keep DIR	keep the captures of both sides
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ]; then
	echo "demo.sh: needs root, for network namespaces and AF_XDP" >&2
	exit 1
fi
tools/setup.sh --run
build=build-demo
configure() { [ -f $build/build.ninja ] || meson setup $build -Dtests=false -Ddocs=false; }
if ! { configure && ninja -C $build; } >$build.log 2>&1; then
	tail -n 40 $build.log >&2
	echo "demo.sh: the build failed; the lines above say why" >&2
	exit 1
fi
rm -f $build.log
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tools exec /usr/bin/python3 -m lab.demo $build/app/fragmend "$@"
