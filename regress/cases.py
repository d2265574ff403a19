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
    kernels: int = 1
    launch: str = ""  # beside the PTX, if not its own
    linked: tuple[str, ...] = ()  # further PTX files that the launch file names

    def ptx(self, source: Path) -> Path:
        return source / "workloads" / self.path

    def cuda_source(self, source: Path, path: str = "") -> Path:
        """Of a PTX file: the .cu of that name, else the only one of its folder."""
        ptx = source / "workloads" / (path or self.path)
        same = ptx.with_suffix(".cu")
        (only,) = [same] if same.exists() else ptx.parent.glob("*.cu")
        return only

    def launch_options(self, source: Path) -> list[str]:
        return ["--launch", str(self.ptx(source).with_name(self.launch))] if self.launch else []


def _sizes(*values: int) -> tuple[tuple[str, ...], ...]:
    return tuple((f"N={n}",) for n in values)


_SHAPES = (("ROWS=1", "COLS=1"), ("ROWS=17", "COLS=2"), ("ROWS=31", "COLS=333"))
_SPARSE = (("ROWS=1", "PER_ROW=0"), ("ROWS=131", "PER_ROW=33", "COLS=7"))

CASES = {case.name: case for case in (
    Case("vecadd", "vecadd/vecadd.ptx", "C", ("N=10007",), _sizes(1, 257)),
    Case("saxpy", "saxpy/saxpy.ptx", "Y", ("N=10007",), (("N=1",), ("N=70001", "BLOCKS=7"))),
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
)}
