#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Build the Debian packages fragmend, libfragmend0 and libfragmend-dev from this tree: meson builds and installs into a
# staging directory, the lists packaging/debian/*.files say what goes into which package, and dpkg's own tools find out
# what each of them depends on. Prints the names of the packages.
#
#	tools/build-deb.sh [--output DIRECTORY]		default: build-deb; what was compiled stays there
set -euo pipefail
cd "$(dirname "$0")/.."
umask 022
tree=$PWD
output=$tree/build-deb
packages=(fragmend libfragmend0 libfragmend-dev)

fail() { echo "build-deb.sh: $*" >&2; exit 1; }

while [ $# -gt 0 ]; do
	case $1 in
	--output) mkdir -p "${2:?--output needs a directory}" && output=$(cd "$2" && pwd) && shift ;;
	*) echo "usage: build-deb.sh [--output DIRECTORY]" >&2; exit 2 ;;
	esac
	shift
done
for tool in meson ninja scdoc dpkg-shlibdeps dpkg-gencontrol dpkg-deb; do
	command -v "$tool" >/dev/null || fail "$tool is missing; tools/setup.sh installs it"
done

work=$output/work stage=$output/work/stage log=$output/build.log
mkdir -p "$output"
rm -rf "$work"
mkdir -p "$work/source" && cp -r "$tree/packaging/debian" "$work/source/debian"
cd "$work/source"

# logged TITLE COMMAND...: must work; the end of what it says is shown when it does not
logged() {
	local title=$1
	shift
	"$@" >>"$log" 2>&1 </dev/null || { tail -n 20 "$log" >&2; fail "$title failed"; }
}

version=$(dpkg-parsechangelog -S Version)
declared=$(sed -n "s/^\tversion: '\(.*\)',/\1/p" "$tree/meson.build")
[ "$version" = "$declared" ] || fail "packaging/debian/changelog says $version, meson.build $declared"
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -S Timestamp)
export SOURCE_DATE_EPOCH
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
arch=$(dpkg-architecture -qDEB_HOST_ARCH)

compile() {
	local again=()
	[ ! -f "$output/build/build.ninja" ] || again=(--reconfigure)
	# Debian's hardening, but the optimisation that the project asks for.
	export DEB_BUILD_MAINT_OPTIONS=hardening=+all DEB_CFLAGS_MAINT_STRIP=-O2
	CC=${CC:-gcc} CFLAGS="$(dpkg-buildflags --get CFLAGS) -ffile-prefix-map=$tree=." \
		CPPFLAGS=$(dpkg-buildflags --get CPPFLAGS) LDFLAGS=$(dpkg-buildflags --get LDFLAGS) \
		logged "meson setup" meson setup "${again[@]}" "$output/build" "$tree" --prefix=/usr \
		--libdir="lib/$multiarch" --sysconfdir=/etc --localstatedir=/var -Dtests=false
	logged "the build" ninja -C "$output/build"
	DESTDIR=$stage logged "meson install" meson install -C "$output/build" --no-rebuild --strip
}

# As Debian has it, where meson has it otherwise.
tidy() {
	find "$stage/usr/share/man" -type f -exec gzip -9n {} +
	find "$stage/usr/lib" -name '*.a' -exec strip --strip-unneeded {} +
	find "$stage/usr/lib" -name '*.so.*' -type f -exec chmod 644 {} +
	# Units are below /lib in Debian 12.
	[ ! -d "$stage/usr/lib/systemd" ] ||
		{ mkdir -p "$stage/lib" && mv "$stage/usr/lib/systemd" "$stage/lib/systemd"; }
}

# The drivers are plugins, so no tool sees that they are needed: whatever packages of this system have them.
find_drivers() {
	local soname driver package
	soname=$(objdump -p "$stage/usr/bin/fragmend" | sed -n 's/^ *NEEDED *librte_ethdev\.so\.//p')
	[ -n "$soname" ] || fail "fragmend is not linked with DPDK's shared libraries"
	drivers=
	for driver in mempool_ring net_pcap net_af_xdp; do
		package=$(dpkg-query -S "/usr/lib/$multiarch/librte_$driver.so.$soname" 2>/dev/null | cut -d: -f1) ||
			fail "no package has librte_$driver.so.$soname"
		drivers=$drivers${drivers:+, }$package
	done
}

# collect PACKAGE: what belongs to it, from the staging directory
collect() {
	local package=$1 pattern path
	while read -r pattern; do
		while read -r path; do
			mkdir -p "debian/$package/$(dirname "$path")"
			mv "$stage/$path" "debian/$package/$path"
		done < <(cd "$stage" && { compgen -G "$pattern" || true; })
	done <"debian/$package.files"
	[ -d "debian/$package" ] || fail "nothing is there of what debian/$package.files names"
}

# describe PACKAGE: what else Debian wants in it
describe() {
	local package=$1 doc=debian/$1/usr/share/doc/$1 file
	mkdir -p "$doc" "debian/$package/DEBIAN"
	gzip -9nc debian/changelog >"$doc/changelog.gz"
	cp debian/copyright "$doc/copyright"
	for file in postinst prerm postrm shlibs triggers; do
		[ ! -f "debian/$package.$file" ] || cp "debian/$package.$file" "debian/$package/DEBIAN/$file"
	done
	find "debian/$package/DEBIAN" -name 'p*' -exec chmod 755 {} +
	# Everything below /etc is a conffile.
	[ ! -d "debian/$package/etc" ] ||
		(cd "debian/$package" && find etc -type f -printf '/%p\n' | LC_ALL=C sort >DEBIAN/conffiles)
}

# finish PACKAGE: what it depends on, and the package itself
finish() {
	local package=$1 programs=() maintainer=()
	mapfile -t programs < <(find "debian/$package" -type f \( -path '*/usr/bin/*' -o -name '*.so.*' \) \
		-exec sh -c 'head -c 4 "$1" | grep -q ELF' sh {} \; -print)
	printf '%s\n' "fragmend:Drivers=$drivers" misc:Depends= >"debian/$package.substvars"
	[ "${#programs[@]}" -eq 0 ] ||
		logged "dpkg-shlibdeps" dpkg-shlibdeps -T"debian/$package.substvars" "${programs[@]/#/-e}"
	[ -z "${DEBEMAIL:-}" ] || maintainer=(-DMaintainer="${DEBFULLNAME:-$DEBEMAIL} <$DEBEMAIL>")
	logged "dpkg-gencontrol" dpkg-gencontrol -p"$package" -P"debian/$package" -T"debian/$package.substvars" \
		-fdebian/files "${maintainer[@]}"
	(cd "debian/$package" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z |
		xargs -0 md5sum >DEBIAN/md5sums)
	find "debian/$package" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
	local deb=$output/${package}_${version}_$arch.deb
	logged "dpkg-deb" dpkg-deb --root-owner-group --build "debian/$package" "$deb"
	echo "$deb"
}

: >"$log"
compile
tidy
find_drivers
for package in "${packages[@]}"; do
	collect "$package"
	describe "$package"
done
left=$(find "$stage" -not -type d)
[ -z "$left" ] || fail "installed, but in no package: ${left//$stage/}"
for package in "${packages[@]}"; do
	finish "$package"
done
rm -rf "$work"
