#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Install what fragmend is built from, tested with and shown with, on Debian 12. Does nothing where all is there.
#
#	tools/setup.sh			all of it
#	tools/setup.sh --run		what it takes to build and run it, as tools/demo.sh does
set -euo pipefail

# THE list of packages; nothing else in the tree names one. First what the program is built from and shown with.
packages=(
	# compiler and build
	build-essential meson ninja-build pkg-config
	# DPDK with its poll mode drivers (net_af_xdp brings libxdp and libbpf), and the libraries beside it
	libdpdk-dev libnuma-dev libpcap-dev libsystemd-dev
	# the laboratory of demo and end-to-end tests: namespaces, offloads, captures, a pinging kernel
	python3 iproute2 ethtool tcpdump iputils-ping
)
# What the tests, the pages and the benchmarks need besides.
[ "${1:-}" = --run ] || packages+=(
	clang libclang-rt-14-dev libcmocka-dev
	# what checks the unit of the service
	systemd
	# dpdk-testpmd, which the pass-through bench measures beside fragmend; dpdk-telemetry.py, dpdk-dumpcap
	dpdk-dev
	# manual pages, made and rendered; the completion and the Debian packages held to their form
	scdoc man-db shellcheck lintian
	# what captures are read with, by other eyes than ours
	tshark
	# the exporter, and a Prometheus server that scrapes it; its promtool checks metrics, rules and alerts
	python3-prometheus-client prometheus
)
# Those that bring a service which nobody asked for here: not started now, nor at the next boot. Where one of them was
# installed before, its service is left alone.
no_service=(prometheus)

missing=()
for package in "${packages[@]}"; do
	status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$status" = installed ] || missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "setup.sh: these packages are missing and only root can install them: ${missing[*]}" >&2
	exit 1
fi
echo "Installing ${#missing[@]} packages: ${missing[*]}"
log=$(mktemp)
policy=/usr/sbin/policy-rc.d made_policy=
trap 'rm -f "$log" $made_policy' EXIT
# Debian's way to say that no service is to be started by an installation.
if [ ! -e "$policy" ] && [ ! -L "$policy" ]; then
	made_policy=$policy
	printf '#!/bin/sh\n# left by tools/setup.sh of fragmend if it was killed; remove me\nexit 101\n' >"$policy"
	chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
install() { apt-get update -q && apt-get install -q -y --no-install-recommends "${missing[@]}"; }
failed=
install >"$log" 2>&1 </dev/null || failed=yes
for package in "${no_service[@]}"; do
	case " ${missing[*]} " in
	*" $package "*) [ ! -e "/etc/init.d/$package" ] || update-rc.d "$package" disable >/dev/null ;;
	esac
done
if [ -n "$failed" ]; then
	tail -n 20 "$log" >&2
	echo "setup.sh: apt-get could not install the packages above; its last lines say why." >&2
	exit 1
fi
