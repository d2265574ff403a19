#!/bin/sh
# Installs what is missing of the Debian 12 packages that gpusim needs, configures the release preset and builds.
#
#   scripts/setup.sh gpusim    the program alone, for this machine's processor: what ./gpusim calls
#   scripts/setup.sh tests     everything that the tests need too: what ./gpusim-test calls
#
# Messages of apt and the compiler go to build/setup.log; the reason of a failure is shown.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
cd "$here"
what=${1:-}
case $what in
  gpusim | tests) ;;
  *)
    echo "usage: scripts/setup.sh gpusim|tests"
    exit 1
    ;;
esac
mkdir -p build
log=$here/build/setup.log
: >"$log"
fail() {
  tail -n 30 "$log"
  echo "setup: $1 failed; the whole output is in build/setup.log"
  exit 1
}

needed="g++ cmake ninja-build pkg-config libsystemc-dev libboost-dev libhdf5-dev libfmt-dev libcli11-dev libtomlplusplus-dev
zlib1g-dev liblz4-dev libzstd-dev"
run_needs=gnuplot-nox
if [ "$what" = tests ]; then
  needed="$needed libgtest-dev libgmock-dev libbenchmark-dev python3 python3-h5py python3-numpy"
  run_needs="$run_needs hdf5-tools slurm-wlm munge"
fi
as_root=""
missing() {
  for package in $1; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || printf ' %s' "$package"
  done
}
install_packages() {
  # shellcheck disable=SC2086
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $1
}
# Nothing of what only runs is looked at by the build, so root installs it meanwhile.
installing=""
later_log=$log.later
if command -v dpkg-query >/dev/null 2>&1; then
  now=$(missing "$needed") later=$(missing "$run_needs")
  if [ -n "$now$later" ]; then
    if [ "$(id -u)" != 0 ]; then
      as_root=sudo
      if ! command -v sudo >/dev/null 2>&1; then
        echo "setup: these Debian packages are missing, and there is no sudo to install them with; as root:"
        echo "  apt-get update && apt-get install --no-install-recommends$now$later"
        exit 1
      fi
      now=$now$later later=""
    fi
    echo "setup: installing$now$later"
    $as_root apt-get update -q >>"$log" 2>&1 || fail "apt-get update"
    [ -z "$now" ] || install_packages "$now" >>"$log" 2>&1 || fail "apt-get install"
    if [ -n "$later" ]; then
      install_packages "$later" >"$later_log" 2>&1 &
      installing=$!
      trap 'wait "$installing" || true' EXIT  # an installation that is cut off leaves packages half there
    fi
  fi
else
  echo "setup: this is no Debian, so these packages (Debian 12's names) must be there already: $needed $run_needs"
fi

# The program alone is built for the widest instruction set of this processor and for any x86-64 (isa/backend.cmake); each more
# costs a minute's compilation.
has() {
  for flag in "$@"; do
    grep -q -m 1 -w "$flag" /proc/cpuinfo 2>/dev/null || return 1
  done
}
best=simd_base
if has avx2 fma bmi2; then
  best=simd_avx2
  if has avx512f avx512bw avx512dq avx512vl; then best=simd_avx512; fi
fi
# Linking the program and its library with optimisation makes them 4 % faster and takes a twelfth of the time of the tests' build.
if [ "$what" = tests ]; then
  # The tests compare all sets; only the one that this processor runs is compiled to be fast.
  quick=$(echo "simd_base;simd_avx2;simd_avx512" | tr ';' '\n' | grep -v -x "$best" | paste -s -d ';' -)
  options="-DGPUSIM_LTO=OFF -DGPUSIM_TESTS=ON -DGPUSIM_BENCHMARKS=ON -DGPUSIM_DEVELOPMENT=ON -DGPUSIM_SIMD_SETS=simd_base;simd_avx2;simd_avx512 -DGPUSIM_QUICK_SETS=$quick"
  target=all
else
  sets=simd_base
  [ "$best" = simd_base ] || sets="simd_base;$best"
  options="-DGPUSIM_LTO=ON -DGPUSIM_TESTS=OFF -DGPUSIM_BENCHMARKS=OFF -DGPUSIM_DEVELOPMENT=OFF -DGPUSIM_SIMD_SETS=$sets -DGPUSIM_QUICK_SETS="
  target=gpusim
fi
echo "setup: building (a few minutes the first time)"
# shellcheck disable=SC2086
cmake --preset release $options >>"$log" 2>&1 || fail "cmake"
cmake --build --preset release --target $target >>"$log" 2>&1 || fail "the build"
if [ -n "$installing" ]; then
  status=0
  wait "$installing" || status=$?
  trap - EXIT
  cat "$later_log" >>"$log"
  rm -f "$later_log"
  [ "$status" = 0 ] || fail "apt-get install"
fi
