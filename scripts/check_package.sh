#!/bin/sh
# Makes the Debian packages of a build and tries them on a bare Debian 12, as debootstrap makes it, where there is no source tree:
# the main job, the quick regression suite, a microbenchmark, a comparison with published measurements and a check of a workload,
# from a folder of its own; then, with gpusim-dev and a compiler, the examples of programs that use gpusim as a library. Says what
# happened and exits with 1 if something failed.
#
#   sudo scripts/check_package.sh [BUILD [FOLDER]]
#
# BUILD: default build/release. FOLDER holds the bare system as bare_machine.sh keeps it (base), and the log; default: a temporary
# one. Needs root, cpack and debootstrap; MIRROR names the mirror of packages.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
build=$(CDPATH= cd -- "${1:-$here/build/release}" && pwd)
mirror=${MIRROR:-http://deb.debian.org/debian}
folder=${2:-}
keep=yes
if [ -z "$folder" ]; then
  keep=""
  folder=$(mktemp -d /var/tmp/check_package.XXXXXX)
fi
mkdir -p "$folder"
folder=$(CDPATH= cd -- "$folder" && pwd)
system=$folder/package
finish() {
  umount "$system/proc" 2>/dev/null || true
  [ -n "$keep" ] || rm -rf --one-file-system "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM
[ "$(id -u)" = 0 ] || { echo "check_package: must run as root (debootstrap and chroot need it)"; exit 1; }

(cd "$build" && cpack -G DEB >"$folder/cpack.log" 2>&1) || { tail -n 5 "$folder/cpack.log"; exit 1; }
packages=$(sed -n 's/^CPack: - package: \(.*\) generated\.$/\1/p' "$folder/cpack.log")
for package in $packages; do
  echo "check_package: $(basename "$package")"
  if command -v lintian >/dev/null 2>&1; then
    lintian --allow-root --fail-on error "$package" || { echo "check_package: lintian finds errors"; exit 1; }
  fi
done
if [ ! -e "$folder/base.complete" ]; then
  rm -rf --one-file-system "$folder/base"
  debootstrap --variant=minbase bookworm "$folder/base" "$mirror" >"$folder/debootstrap.log" 2>&1 || { tail -n 5 "$folder/debootstrap.log"; exit 1; }
  : >"$folder/base.complete"
fi
rm -rf --one-file-system "$system"
cp -a "$folder/base" "$system"
cp -L /etc/resolv.conf "$system/etc/resolv.conf"
mount -t proc proc "$system/proc"
for package in $packages; do
  name=$(basename "$package")
  cp "$package" "$system/root/${name%%_*}.deb"
done
cp -R "$here/examples" "$system/root/examples"
failed=0
try() {
  code=0
  chroot "$system" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    sh -c "mkdir -p /root/elsewhere && cd /root/elsewhere && $1" </dev/null >"$folder/package.log" 2>&1 || code=$?
  echo "check_package: exit code $code: $1"
  if [ $code = 0 ]; then tail -n 1 "$folder/package.log"; else failed=1; tail -n 15 "$folder/package.log"; fi
}
try "apt-get update -q && apt-get install -y -q --no-install-recommends /root/gpusim.deb"
try "gpusim --config tesla_c1060 /usr/share/gpusim/workloads/matmul/naive_16x16.ptx"
try "gpusim explain naive_16x16.h5"
try "gpusim regress --suite quick --quiet"
try "gpusim microbench --config tesla_c1060 --only shared"
try "gpusim correlate --config tesla_c1060 --hardware published_tesla_c1060"
try "test -s /usr/share/man/man1/gpusim.1.gz && test -s /usr/share/man/man1/gpusim-regress.1.gz && test -s /usr/share/bash-completion/completions/gpusim && test -s /usr/share/zsh/vendor-completions/_gpusim"
try "gpusim config list"
try "gpusim check /usr/share/gpusim/workloads/vecadd/vecadd.ptx"
if [ -e "$system/root/gpusim-dev.deb" ]; then
  data=/usr/share/gpusim/workloads
  try "apt-get install -y -q --no-install-recommends /root/gpusim-dev.deb g++ cmake make"
  for example in outside_memory scheduler_policy; do
    try "cmake -S /root/examples/$example -B $example && cmake --build $example"
  done
  try "./outside_memory/outside_memory $data/vecadd/vecadd.ptx --outside 100"
  try "./scheduler_policy/scheduler_policy $data/reduction/reduction.ptx"
fi
if [ $failed = 0 ]; then echo "check_package: all passed"; else echo "check_package: FAILED"; fi
exit $failed
