"""The workloads that the end-to-end checks run, and the sizes they run at."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Case:
    """`params` bound the time of the larger runs (none: the launch file's), `small` that of repeated ones."""

    name: str
    path: str
    dump: str
    small: tuple[str, ...]
    odd: tuple[tuple[str, ...], ...]
    params: tuple[str, ...] = ()
    kernels: int = 1  # 0: depends on the sizes
    launch: str = ""  # beside the PTX, if not its own
    linked: tuple[str, ...] = ()  # further PTX files that the launch file names
    steady: bool = True  # how many instructions it executes does not depend on the order of its atomics
    # `verify` compares with the golden file too and looks for findings with --lowering none; besides it only `sizes` and
    # `compiled`, with values only.
    brief: bool = False

    def ptx(self, source: Path) -> Path:
        return source / "workloads" / self.path

    def cuda_source(self, source: Path, path: str = "") -> Path:
        """Of a PTX file: the .cu of that name (one for all targets), else the one of its folder's name."""
        ptx = source / "workloads" / (path or self.path)
        same = ptx.with_name(ptx.stem.removesuffix("_sm13") + ".cu")
        return same if same.exists() else ptx.with_name(f"{ptx.parent.name}.cu")

    def launch_options(self, source: Path) -> list[str]:
        return ["--launch", str(self.ptx(source).with_name(self.launch))] if self.launch else []


def _sizes(*values: int) -> tuple[tuple[str, ...], ...]:
    return tuple((f"N={n}",) for n in values)


_SHAPES = (("ROWS=1", "COLS=1"), ("ROWS=17", "COLS=2"), ("ROWS=31", "COLS=333"))
_SPARSE = (("ROWS=1", "PER_ROW=0"), ("ROWS=131", "PER_ROW=33", "COLS=7"))

_WORKLOADS = (
    Case("vecadd", "vecadd/vecadd.ptx", "C", ("N=10007",), _sizes(1, 257)),
    Case("saxpy", "saxpy/saxpy.ptx", "Y", ("N=10007",), (("N=1",), ("N=70001", "BLOCKS=7"))),
    Case("saxpy_streams", "saxpy/saxpy.ptx", "Y0", ("N=2003",), (("N=1",), ("N=7001", "BLOCKS=7")), ("N=20000",), kernels=4,
         launch="streams.toml", brief=True),
    Case("partition", "partition/partition.ptx", "Z", ("N=10007", "BLOCKS=8"), (("N=1",), ("N=255", "BLOCKS=3")), ("N=50000",), kernels=2),
    Case("reduction", "reduction/reduction.ptx", "sum", ("N=20011",), (("N=1",), ("N=255", "BLOCKS=300")),
         kernels=2),
    Case("scan", "scan/scan.ptx", "out", ("N=5003",), _sizes(1, 513, 140001), kernels=3),
    Case("transpose_naive", "transpose/naive.ptx", "T", ("ROWS=50", "COLS=70"), _SHAPES),
    Case("transpose_padded", "transpose/padded.ptx", "T", ("ROWS=50", "COLS=70"), _SHAPES),
    Case("histogram", "histogram/histogram.ptx", "bins", ("N=20011",), (("N=1",), ("N=999", "BLOCKS=3"))),
    Case("spmv_scalar", "spmv/csr_scalar.ptx", "y", ("ROWS=300",), _SPARSE),
    Case("spmv_vector", "spmv/csr_vector.ptx", "y", ("ROWS=300",), _SPARSE),
    Case("spmv_power_law_scalar", "spmv/csr_scalar.ptx", "y", (), (("COLS=3",),), launch="power_law_scalar.toml"),
    Case("spmv_power_law_vector", "spmv/csr_vector.ptx", "y", (), (("COLS=3",),), launch="power_law_vector.toml"),
    Case("spmv_matrix_scalar", "spmv/csr_scalar.ptx", "y", (), (("ROWS=1", "NNZ=3"),), launch="matrix_scalar.toml", brief=True),
    Case("spmv_matrix_vector", "spmv/csr_vector.ptx", "y", (), (("ROWS=1", "NNZ=3"),), launch="matrix_vector.toml", brief=True),
    Case("spmv_matrix_vector_plane", "spmv/csr_vector_plane.ptx", "y", (), (("ROWS=1", "NNZ=3", "WIDTH=1"), ("ROWS=301", "NNZ=900", "WIDTH=7")),
         launch="matrix_vector_plane.toml", brief=True),
    Case("spmv_matrix_ell", "spmv/ell.ptx", "y", (), (("ROWS=7", "NNZ=100"),), kernels=2, launch="matrix_ell.toml", brief=True),
    Case("spmv_matrix_blocks", "spmv/csr_blocks.ptx", "y", (), (("ROWS=1", "NNZ=3"), ("ROWS=301", "NNZ=900", "M=1")), launch="matrix_blocks.toml",
         brief=True),
    Case("spmv_matrix_segmented", "spmv/segmented.ptx", "y", (), (("ROWS=1", "NNZ=3"), ("ROWS=7", "NNZ=3000"), ("ROWS=2", "NNZ=512")), kernels=3,
         launch="matrix_segmented.toml", brief=True),
    Case("collatz", "collatz/collatz.ptx", "steps", ("N=500",), (("N=1", "LIMIT=2"), ("N=129", "LIMIT=159487"))),
    Case("stencil", "stencil/stencil.ptx", "A", ("ROWS=50", "COLS=33"), _SHAPES, kernels=2),
    Case("matmul_naive_16x16", "matmul/naive_16x16.ptx", "C", ("N=48",), _sizes(16), ("N=96",)),
    Case("matmul_naive_8x8", "matmul/naive_8x8.ptx", "C", ("N=40",), _sizes(8), ("N=96",)),
    Case("matmul_tiled_16x16", "matmul/tiled_16x16.ptx", "C", ("N=48",), _sizes(16), ("N=96",)),
    Case("matmul_tiled_8x8", "matmul/tiled_8x8.ptx", "C", ("N=40",), _sizes(8), ("N=96",)),
    Case("matmul_volkov", "matmul/volkov.ptx", "C", ("N=64", "ld=96"), (("N=64", "ld=64"),),
         ("N=128", "ld=160")),
    Case("switch_table", "features/switch_table.ptx", "by_table", (), (), kernels=2),
    Case("recursion", "features/recursion.ptx", "sum", (), (), kernels=3),
    Case("linked", "features/linked_main.ptx", "results", (), (), kernels=2,
         linked=("features/linked_library.ptx",)),
    Case("virtual_calls", "features/virtual_calls.ptx", "results", (), (), kernels=2),
    Case("texture", "features/texture.ptx", "from_image", (), (), kernels=4),
    Case("wmma", "features/wmma.ptx", "sums", (), (), kernels=2),
    Case("texture_references", "features/texture_references.ptx", "out_values", (), ()),
)

_COMPILED = (  # by nvcc 13 for sm_75
    Case("reduce_down", "scan/reduce_down.ptx", "out", (), (("N=1", "M=2"), ("N=5001", "M=128")), ("N=40000",), kernels=3,
         brief=True),
    Case("spmv_formats", "spmv/formats.ptx", "y_ell", (), _SPARSE, ("ROWS=500",), kernels=4, brief=True),
    Case("jacobi", "jacobi/jacobi.ptx", "A", (), _SHAPES[1:], ("ROWS=100", "COLS=100"), kernels=2, brief=True),
    Case("convolution", "convolution/convolution.ptx", "out", (), _SHAPES[1:], ("ROWS=100", "COLS=100"), brief=True),
    Case("nbody", "nbody/nbody.ptx", "acceleration", (), _sizes(1, 129), ("N=300",), brief=True),
    Case("fft", "fft/fft.ptx", "out", (), (("LOG2_N=1", "N=2"), ("LOG2_N=10", "N=1024", "BATCH=2")), ("BATCH=16",),
         brief=True),
    Case("bfs", "bfs/bfs.ptx", "level", ("VERTICES=500",), (("VERTICES=1",), ("VERTICES=3000", "DEGREE=5")),
         ("VERTICES=4000",), kernels=17),
    Case("bfs_queue", "bfs/bfs.ptx", "level", (), (("VERTICES=1",),), ("VERTICES=4000",), kernels=17,
         launch="bfs_queue.toml", steady=False, brief=True),
    Case("bfs_flag", "bfs/bfs_flag.ptx", "level", (), (("VERTICES=1",), ("VERTICES=3000", "DEGREE=5", "SOURCE=7")),
         ("VERTICES=2000",), kernels=0, brief=True),
    Case("sort_bitonic", "sort/bitonic.ptx", "X", (), _sizes(1024), kernels=15, brief=True),
    Case("sort_radix", "sort/radix.ptx", "X", ("N=700", "PIECES=5"), (("N=1", "PIECES=3"), ("N=4097", "PIECES=1")),
         ("N=5000", "PIECES=30"), kernels=12),
    Case("softmax", "softmax/softmax.ptx", "out", (), _SHAPES, ("ROWS=60",), brief=True),
    Case("attention", "softmax/attention.ptx", "out", ("N=20", "M=40"), (("N=1", "M=1"), ("N=17", "M=33")),
         ("N=64", "M=96")),
    Case("gemm", "gemm/gemm.ptx", "C_tn", (), (("M=1", "N=1", "K=1"), ("M=65", "N=130", "K=33")), ("M=100", "N=72", "K=50"),
         kernels=4, brief=True),
)

_BY_HAND = (  # PTX 1.4 for sm_13, with the launch files of the compiled ones
    Case("reduce_down_sm13", "scan/reduce_down_sm13.ptx", "out", (), (("N=5001", "M=128"),), ("N=40000",), kernels=3,
         launch="reduce_down.toml", brief=True),
    Case("spmv_ell", "spmv/ell.ptx", "y", ("ROWS=300",), _SPARSE, ("ROWS=500",), kernels=2, brief=True),
    Case("jacobi_sm13", "jacobi/jacobi_sm13.ptx", "A", (), _SHAPES[2:], ("ROWS=100", "COLS=100"), kernels=2,
         launch="jacobi.toml", brief=True),
    Case("convolution_sm13", "convolution/convolution_sm13.ptx", "out", (), _SHAPES[2:], ("ROWS=100", "COLS=100"),
         launch="convolution.toml", brief=True),
    Case("gemm_sm13", "gemm/gemm_sm13.ptx", "C_tn", (), (("M=65", "N=130", "K=33"),), ("M=100", "N=72", "K=50"), kernels=4,
         launch="gemm.toml", brief=True),
    Case("nbody_sm13", "nbody/nbody_sm13.ptx", "acceleration", (), _sizes(129), ("N=300",), launch="nbody.toml", brief=True),
)

_FT = (("NX=2", "NY=16", "NZ=4"),), ("NX=16", "NY=8", "NZ=8")
_LU = (("NX=1", "NY=1", "NZ=1"), ("NX=40", "NY=3", "NZ=7")), ("NX=8", "NY=7", "NZ=5")

_NPB = tuple(  # two styles each
    Case(f"{name}_{style}", f"npb/{name}.ptx", dump, (), odd, sizes, kernels, f"{name}_{style}.toml", brief=True)
    for name, style, dump, odd, sizes, kernels in (
        ("cg", "thread", "x", (), (), 13), ("cg", "warp", "x", (), (), 13),
        ("mg", "thread", "u0", (), ("N=16",), 17), ("mg", "warp", "u0", (), ("N=16",), 17),
        ("ft", "thread", "out", *_FT, 0), ("ft", "block", "out", *_FT, 0),
        ("lu", "thread", "r", *_LU, 0), ("lu", "warp", "r", *_LU, 0),
        ("sp", "thread", "x", (("N=7",),), (), 3), ("sp", "block", "x", (("N=14",),), (), 3),
        ("bt", "thread", "x", (), ("N=6",), 3), ("bt", "warp", "x", (), ("N=6",), 3)))

_TUNED = (
    Case("lu_tiles", "npb/lu_tiles.ptx", "r", (), *_LU, 0, brief=True),
    Case("sp_lines", "npb/sp_lines.ptx", "x", (), (("N=14",),), (), 3, brief=True),
)

CASES = {case.name: case for case in (*_WORKLOADS, *_COMPILED, *_BY_HAND, *_NPB, *_TUNED)}
