#!/bin/sh
# Builds the programs with nvcc: build.sh FOLDER [NAME...]. `prebuilt/` was made so, with CUDA 13.0 on Debian 12,
# and stripped (strip), with DEVICE_RUNTIME=none, for machines without nvcc.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$here"  # so that no path of this machine gets into the programs
[ $# -gt 0 ] || set -- $(ls -d */ | tr -d / | grep -v -e common -e prebuilt)
for name in "$@"; do
  arch=sm_75
  case $name in block_tiles) arch=sm_80 ;; clusters) arch=sm_90 ;; esac
  flags="-cudart shared -arch=$arch -O2 -std=c++17 -diag-suppress 177"
  case $name in
    separate | graph_conditions) flags="$flags -rdc=true" ;;
    device_launches | quadtree)
      # Without NVIDIA's library, which gpusim does not need: DEVICE_RUNTIME=none.
      flags="$flags -rdc=true"
      if [ "${DEVICE_RUNTIME:-}" = none ]; then
        nvcc -rdc=true -gencode arch=compute_75,code=sm_75 -c common/device_runtime.cu -o "$out/device_runtime.o"
        flags="$flags -cudadevrt none $out/device_runtime.o"
      fi
      ;;
    classes) flags="$flags --extended-lambda" ;;
    per_thread) flags="$flags --default-stream per-thread" ;;
    both_apis | driver_api | driver_textures) flags="$flags -lcuda -L$(dirname "$(command -v nvcc)")/../lib64/stubs -Xlinker --allow-shlib-undefined -Xlinker --unresolved-symbols=ignore-all" ;;
  esac
  nvcc $flags "$name"/*.c* -o "$out/$name"
  rm -f "$out/device_runtime.o"
done
