#!/bin/sh
# Installs what is missing of the Debian 12 packages that gpusim needs, configures the release preset and builds the named
# targets (all, if none is named). Messages of apt and the compiler go to build/setup.log; the reason of a failure is shown.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
cd "$here"
mkdir -p build
log=$here/build/setup.log
: >"$log"
fail() {
  tail -n 30 "$log"
  echo "setup: $1 failed; the whole output is in build/setup.log"
  exit 1
}
needed="g++ cmake ninja-build pkg-config libsystemc-dev libboost-dev libboost-graph-dev libhdf5-dev libfmt-dev libcli11-dev
libtomlplusplus-dev zlib1g-dev libgtest-dev libgmock-dev libbenchmark-dev gnuplot-nox"
[ "${GPUSIM_SETUP_TESTS:-}" = "" ] || needed="$needed python3 python3-h5py python3-numpy hdf5-tools"
missing=""
for package in $needed; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
if [ -n "$missing" ]; then
  echo "setup: installing$missing"
  sudo=""
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -q >>"$log" 2>&1 || fail "apt-get update"
  # shellcheck disable=SC2086
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >>"$log" 2>&1 || fail "apt-get install"
fi
echo "setup: building (a few minutes the first time)"
cmake --preset release >>"$log" 2>&1 || fail "cmake"
cmake --build --preset release ${*:+--target} "$@" >>"$log" 2>&1 || fail "the build"
