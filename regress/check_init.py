"""`gpusim init`: what it writes for a PTX loads and, but for kernels whose sizes or data it cannot know, runs as it is."""

import re
import shutil
from pathlib import Path

from check_corpus import compiled, compiler
from runner import Gpusim, require, require_equal

# Kernels that need more than zeros: a chain of addresses in memory (chase, memory_latency), offsets that
# are multiples of four (probe), arrays of 75 or 19 numbers in each of N^3 cells (bt, lbm), a block of one shape (quasirandom,
# watt_dct), eight blocks at least (columns); of the corpus, a block of one size only.
NEED_DATA = {"micro/chase", "micro/memory_latency", "micro/probe", "npb/bt", "memory_spaces",
             "hardware/quasirandom", "hardware/watt_dct", "advice/columns", "parboil/kernels"}
LINKED = {"features/linked_main": "features/linked_library"}  # a program of two files
NO_KERNEL = {"features/linked_library"}
LIMITS = ["--functional", "--quiet", "--max-cycles", "30000000"]


def init(gpusim: Gpusim, ptx: Path, name: str) -> Path:
    copy = gpusim.scratch / f"{name.replace('/', '_')}.ptx"
    shutil.copy(ptx, copy)
    gpusim.run("init", copy).require_code(0)
    return copy


def run_as_written(gpusim: Gpusim, ptx: Path, name: str) -> None:
    done = gpusim.run("--config", gpusim.source / "configs" / "h200.cfg", ptx, *LIMITS)
    if name in NEED_DATA:
        require(done.code == 2 and " access to " in done.err, f"{name} is an exception no more\n{done.describe()}")
    else:
        done.require_code(0)


# By workload: N, the block, the count of each buffer in the order of the parameters. A thread for each element, whole blocks, and
# no more of a buffer than the kernel reaches.
ORDINARY = {"vecadd": (1024, "256", ["N"] * 3), "saxpy": (1024, "256", ["N"] * 2), "matmul/naive_16x16": (128, "16, 16", ["N*N"] * 3),
            "matmul/tiled_16x16": (128, "16, 16", ["N*N"] * 3), "matmul/tiled_8x8": (64, "8, 8", ["N*N"] * 3),
            "reduction": (1024, "256", ["N", "N"])}


def check_ordinary(gpusim: Gpusim) -> None:
    """Sizes that one would write for ordinary kernels."""
    for name, (size, block, counts) in ORDINARY.items():
        path = name if "/" in name else f"{name}/{name}"
        text = init(gpusim, gpusim.source / "workloads" / f"{path}.ptx", name).with_suffix(".toml").read_text()
        require_equal(f"N of {name}", re.findall(r"^N = (\d+) +# a guess", text, re.M), [str(size)])
        require_equal(f"block of {name}", re.findall(r"^block = \[(.*?)\] +# a guess$", text, re.M), [block])
        grid = ", ".join(f'"ceil_div(N, {side})"' for side in block.split(", "))
        require_equal(f"grid of {name}", re.findall(r"^grid = \[(.*?)\] +# a guess", text, re.M), [grid])
        require_equal(f"counts of {name}", re.findall(r'^count = "(.*?)" +# as many as', text, re.M), counts)


def check_workloads(gpusim: Gpusim) -> None:
    """The PTX of every second workload, and of those that need more than a launch file."""
    folder = gpusim.source / "workloads"
    files = sorted(folder.glob("**/*.ptx"))
    require(len(files) > 60, f"only {len(files)} workloads")
    for number, file in enumerate(files):
        name = str(file.relative_to(folder).with_suffix(""))
        if number % 2 != 0 and name not in NO_KERNEL and name not in LINKED:
            continue
        if name in NO_KERNEL:
            gpusim.run("init", file, "--out", gpusim.scratch / "none.toml").require_code(1).require_error("has no .entry to launch")
            continue
        ptx = init(gpusim, file, name)
        if name in LINKED:
            launch = ptx.with_suffix(".toml")
            launch.write_text(f'link = ["{folder / LINKED[name]}.ptx"]\n{launch.read_text()}')
        run_as_written(gpusim, ptx, name)


def check_source(gpusim: Gpusim) -> None:
    """CUDA source in the place of PTX: the line that compiles it."""
    source = gpusim.scratch / "k.cu"
    source.write_text(MIXED)
    gpusim.run("init", source).require_code(1).require_error("is CUDA source", "nvcc -ptx")
    require(not source.with_suffix(".toml").exists(), "a launch file of no program")


def check_compiled(gpusim: Gpusim) -> None:
    """What nvcc makes of regress/corpus and of kernels with parameters of all kinds."""
    nvcc = compiler()
    for file in sorted((gpusim.source / "regress" / "corpus").glob("*.cu")):
        if file.stem in ("linked_main", "linked_library"):
            continue
        ptx = compiled(nvcc, file, 90, gpusim.scratch)
        gpusim.run("init", ptx).require_code(0)
        run_as_written(gpusim, ptx, file.stem)
    source = gpusim.scratch / "mixed.cu"
    source.write_text(MIXED)
    ptx = compiled(nvcc, source, 75, gpusim.scratch)
    gpusim.run("init", ptx).require_code(0)
    run_as_written(gpusim, ptx, "mixed")
    text = ptx.with_suffix(".toml").read_text()
    for name, kind in (("mixed_param_0", "f32"), ("mixed_param_1", "f32"), ("mixed_param_6", "u8")):
        require(f'name = "{name}"\ntype = "{kind}"' in text, f"buffer {name} of {kind} is not in\n{text}")
    zeros = ", ".join(["0"] * 16)
    arguments, = re.findall(r'kernel = "mixed".*?args = (.*?)\n', text, re.S)
    require_equal("arguments", arguments, f'["mixed_param_0", "mixed_param_1", "N", "N", 1.0, {{ bytes = [{zeros}] }}, '
                                          f'"mixed_param_6", 1, 1, "mixed_param_9"]')
    block, = re.findall(r'kernel = "bounded".*?block = (.*?)\n', text, re.S)
    require_equal("block of __launch_bounds__(96)", block.split(" #")[0].strip(), "[96]")
    require('name = "sink"\ntype = "u64"\ninit = "address(behind_sink)"\n' in text, f"the pointer is not in\n{text}")
    require('# name = "coefficients"\n# type = "f32"\n' in text, f"the constant is not in\n{text}")
    source = gpusim.scratch / "mangled.cu"
    source.write_text(MANGLED)
    ptx = compiled(nvcc, source, 75, gpusim.scratch)
    gpusim.run("init", ptx).require_code(0)
    run_as_written(gpusim, ptx, "mangled")
    # The names of the source, where they are enough to tell kernels apart.
    launches = re.findall(r'kernel = "(.*?)".*?args = \["(.*?)"', ptx.with_suffix(".toml").read_text(), re.S)
    require_equal("kernels and their first buffers", sorted(launches),
                  [("_Z5twicePdi", "_Z5twicePdi_param_0"), ("_Z5twicePfi", "_Z5twicePfi_param_0"),
                   ("ns::half_of<float>", "ns__half_of_float__param_0")])


MIXED = """
struct Pair { float a; int b; float* p; };
__constant__ float coefficients[16];
__device__ int counter;
__device__ double* sink;
extern "C" __global__ void mixed(float* out, const float4* in, int n, long long big, double d, Pair s, unsigned char* bytes,
                                 short h, bool flag, const int* __restrict__ index) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = in[index[i]];
  out[i] = v.x * coefficients[i & 15] + s.a + s.b + (float)big + (float)d + bytes[i + big] + h + (flag ? 1 : 0);
  if (s.p) s.p[i] = 1;
  atomicAdd(&counter, 1);
  sink[i] = d;
}
extern "C" __global__ void __launch_bounds__(96) bounded(double* __restrict__ out, long n) {
  for (long i = threadIdx.x; i < n; i += blockDim.x) out[i] = i;
}
extern "C" __global__ void tiles(const float* a, float* b, int n) {
  extern __shared__ float tile[];
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  tile[threadIdx.y * blockDim.x + threadIdx.x] = a[y * n + x];
  __syncthreads();
  b[x * n + y] = tile[threadIdx.x];
}
template <class T> __device__ __noinline__ T add(const T* p, long i) { return p[i] + p[i + 1]; }
extern "C" __global__ void calls(const unsigned long long* p, unsigned long long* q, long n) {
  if (threadIdx.x + 1 < n) q[threadIdx.x] = add(p, threadIdx.x);
}
"""

MANGLED = """
namespace ns { template <class T> __global__ void half_of(T* p, int n) { if (threadIdx.x < n) p[threadIdx.x] /= 2; } }
template __global__ void ns::half_of<float>(float*, int);
__global__ void twice(float* p, int n) { if (threadIdx.x < n) p[threadIdx.x] *= 2; }
__global__ void twice(double* p, int n) { if (threadIdx.x < n) p[threadIdx.x] *= 2; }
"""

CHECKS = {"ordinary": check_ordinary, "workloads": check_workloads, "compiled": check_compiled, "source": check_source}
