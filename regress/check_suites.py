"""Kernels of PolyBench's and Parboil's kinds (workloads/polybench, workloads/parboil) and the five equations of workloads/npb: every element of
their results is compared with numpy's, in double precision, on inputs that the documented generator gives (docs/launch_file.md)."""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path
from typing import Callable

from on_demand import numpy
from runner import Gpusim, require, require_equal

Arrays = dict[str, "numpy.ndarray"]
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def _mix(x: numpy.ndarray) -> numpy.ndarray:
    x = (x ^ (x >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return x ^ (x >> numpy.uint64(31))


def _bits(name: str, count: int) -> numpy.ndarray:
    fnv = 0xCBF29CE484222325
    for byte in name.encode():
        fnv = ((fnv ^ byte) * 0x100000001B3) & MASK
    keys = _mix(numpy.array([GOLDEN, fnv], numpy.uint64))  # seed 0
    with numpy.errstate(over="ignore"):
        return _mix((keys[0] ^ keys[1]) + numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(GOLDEN))


def _initial(buffer: dict, numbers: dict, folder: Path) -> numpy.ndarray:
    kind = {"f64": "f8", "f32": "f4", "u32": "u4", "s32": "i4", "u16": "u2", "u8": "u1"}[buffer["type"]]
    init = buffer.get("init", "zeros")
    if isinstance(init, list):
        return numpy.array(init, kind)
    if init.startswith("file:"):
        return numpy.load(folder / init.removeprefix("file:"))
    count = int(eval(str(buffer["count"]), {}, numbers))  # pylint: disable=eval-used
    if init == "zeros":
        return numpy.zeros(count, kind)
    function, arguments = init.split("(", 1)
    low, high = eval(f"({arguments}", {}, numbers)  # pylint: disable=eval-used
    if function == "randint":
        return (low + ((_bits(buffer["name"], count) >> numpy.uint64(32)) * numpy.uint64(high - low) >> numpy.uint64(32))).astype(kind)
    require_equal("generator", function, "uniform")
    unit = (_bits(buffer["name"], count) >> numpy.uint64(11)).astype("f8") * 2.0**-53
    return (low + unit * (high - low)).astype(kind)


def _f8(a: Arrays, name: str, *shape: int) -> numpy.ndarray:
    return a[name].astype("f8").reshape(shape) if shape else a[name].astype("f8")


def _square(a: Arrays, names: str, n: int) -> list[numpy.ndarray]:
    return [_f8(a, name, n, n) for name in names]


def _two_products(p: dict, a: Arrays) -> Arrays:
    x, y, z = _square(a, "ABC", p["N"])
    return {"D": x @ y @ z}


def _three_products(p: dict, a: Arrays) -> Arrays:
    w, x, y, z = _square(a, "ABCD", p["N"])
    return {"G": (w @ x) @ (y @ z)}


def _gemm(p: dict, a: Arrays) -> Arrays:
    x, y, c = _square(a, "ABC", p["N"])
    return {"C": p["alpha"] * (x @ y) + p["beta"] * c}


def _syrk(p: dict, a: Arrays) -> Arrays:
    x = _f8(a, "A", p["N"], p["DEPTH"])
    return {"C": p["alpha"] * (x @ x.T) + p["beta"] * _f8(a, "C", p["N"], p["N"])}


def _syr2k(p: dict, a: Arrays) -> Arrays:
    x, y = _f8(a, "A", p["N"], p["DEPTH"]), _f8(a, "B", p["N"], p["DEPTH"])
    return {"C": p["alpha"] * (x @ y.T + y @ x.T) + p["beta"] * _f8(a, "C", p["N"], p["N"])}


def _atax(p: dict, a: Arrays) -> Arrays:
    x = _f8(a, "A", p["ROWS"], p["COLUMNS"])
    return {"y": x.T @ (x @ _f8(a, "x"))}


def _bicg(p: dict, a: Arrays) -> Arrays:
    x = _f8(a, "A", p["ROWS"], p["COLUMNS"])
    return {"q": x @ _f8(a, "p"), "s": x.T @ _f8(a, "r")}


def _mvt(p: dict, a: Arrays) -> Arrays:
    x = _f8(a, "A", p["N"], p["N"])
    return {"x1": _f8(a, "x1") + x @ _f8(a, "y1"), "x2": _f8(a, "x2") + x.T @ _f8(a, "y2")}


def _gesummv(p: dict, a: Arrays) -> Arrays:
    x, y = _square(a, "AB", p["N"])
    return {"y": p["alpha"] * (x @ _f8(a, "x")) + p["beta"] * (y @ _f8(a, "x"))}


def _gramschmidt(p: dict, a: Arrays) -> Arrays:
    x = _f8(a, "A", p["ROWS"], p["COLUMNS"])
    require_equal("column", p["K"], 0)
    unit = x[:, 0] / numpy.sqrt(numpy.sum(x[:, 0] ** 2))
    r, q = numpy.zeros((p["COLUMNS"], p["COLUMNS"])), numpy.zeros_like(x)
    r[0, :], q[:, 0] = unit @ x, unit
    rest = x - numpy.outer(unit, r[0, :])
    rest[:, 0] = x[:, 0]
    return {"R": r, "Q": q, "A": rest}


def _correlation(p: dict, a: Arrays) -> Arrays:
    return {"result": numpy.corrcoef(_f8(a, "data", p["POINTS"], p["VARIABLES"]), rowvar=False)}


def _covariance(p: dict, a: Arrays) -> Arrays:
    return {"result": numpy.cov(_f8(a, "data", p["POINTS"], p["VARIABLES"]), rowvar=False)}


def _weighted(x: numpy.ndarray, weights: dict[tuple[int, ...], float]) -> numpy.ndarray:
    """Sums of the neighbours at these distances, on cells that have all of them; 0 elsewhere."""
    result = numpy.zeros_like(x)
    inside = tuple(slice(1, n - 1) for n in x.shape)
    for steps, weight in weights.items():
        result[inside] += weight * x[tuple(slice(1 + s, n - 1 + s) for s, n in zip(steps, x.shape))]
    return result


def _convolution2d(p: dict, a: Arrays) -> Arrays:
    weights = [[0.2, 0.5, -0.8], [-0.3, 0.6, -0.9], [0.4, 0.7, 0.1]]
    return {"B": _weighted(_f8(a, "A", p["ROWS"], p["COLUMNS"]), {(i - 1, j - 1): weights[i][j] for i in range(3) for j in range(3)})}


def _convolution3d(p: dict, a: Arrays) -> Arrays:
    weights = {(-1, -1, -1): 2, (1, -1, -1): 4, (-1, -1, 1): 5, (1, -1, 1): 7, (-1, 1, -1): -8, (1, 1, -1): 10,
               (0, 0, -1): -3, (0, 0, 0): 6, (0, 0, 1): -9, (-1, 1, 1): 2, (1, 1, 1): 4}
    return {"B": _weighted(_f8(a, "A", p["PLANES"], p["ROWS"], p["COLUMNS"]), weights)}


def _fdtd2d(p: dict, a: Arrays) -> Arrays:
    rows, columns = p["ROWS"], p["COLUMNS"]
    ex, ey, hz = _f8(a, "ex", rows, columns + 1), _f8(a, "ey", rows + 1, columns), _f8(a, "hz", rows, columns)
    ey[0, :] = a["source"][p["STEP"]]
    ey[1:rows, :] -= 0.5 * (hz[1:] - hz[:-1])
    ex[:, 1:columns] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
    hz = hz - 0.7 * (ex[:, 1:] - ex[:, :-1] + ey[1:] - ey[:-1])
    return {"ex": ex, "ey": ey, "hz": hz}


def _sgemm(p: dict, a: Arrays) -> Arrays:
    x, y = _f8(a, "A", p["K"], p["M"]), _f8(a, "B", p["K"], p["N"])
    return {"C": y.T @ x}


def _spmv(p: dict, a: Arrays) -> Arrays:
    x, result = _f8(a, "x"), numpy.zeros(p["ROWS"])
    for i, row in enumerate(a["rows_before"]):
        at = a["starts"][: a["lengths"][i]] + i
        result[row] = _f8(a, "values")[at] @ x[a["columns"][at]]
    return {"y": result}


def _stencil(p: dict, a: Arrays) -> Arrays:
    steps = [tuple(s * (axis == k) for k in range(3)) for axis in range(3) for s in (-1, 1)]
    return {"next": _weighted(_f8(a, "now", p["NZ"], p["NY"], p["NX"]), {(0, 0, 0): -0.5} | {s: 0.125 for s in steps})}


def _mri_q(p: dict, a: Arrays) -> Arrays:
    samples = _f8(a, "samples", p["SAMPLES"], 4)
    waves = numpy.exp(2j * numpy.pi * (numpy.stack([_f8(a, n) for n in "xyz"], 1) @ samples[:, :3].T)) @ samples[:, 3]
    return {"real": waves.real, "imaginary": waves.imag}


def _lbm(p: dict, a: Arrays) -> Arrays:
    pairs = [(1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1)]
    ways = [(0, 0, 0)] + [tuple(s * (k == axis) for k in range(3)) for axis in range(3) for s in (1, -1)]
    ways += [tuple(s * c for c in pair) for pair in pairs for s in (1, -1)]
    now = _f8(a, "now", 19, p["NZ"], p["NY"], p["NX"])
    f = numpy.stack([numpy.roll(now[q], way[::-1], (0, 1, 2)) for q, way in enumerate(ways)])
    velocity = numpy.tensordot(numpy.array(ways, "f8").T, f, 1) / f.sum(0)
    along = numpy.tensordot(numpy.array(ways, "f8"), velocity, 1)
    weight = numpy.array([1 / 3] + 6 * [1 / 18] + 12 * [1 / 36])[:, None, None, None]
    equilibrium = weight * f.sum(0) * (1 + 3 * along + 4.5 * along**2 - 1.5 * (velocity**2).sum(0))
    return {"next": -0.2 * f + 1.2 * equilibrium}


def _tpacf(p: dict, a: Arrays) -> Arrays:
    # In single precision and in the kernel's order, fused as it is: pairs on an edge fall to either side else.
    left, right = _f8(a, "left", 3, p["N"]), _f8(a, "right", 3, p["N"])
    cosine = left[1][:, None] * right[1][None, :]
    cosine = (left[0][:, None] * right[0][None, :] + cosine.astype("f4").astype("f8")).astype("f4").astype("f8")
    cosine = (left[2][:, None] * right[2][None, :] + cosine).astype("f4")
    return {"bins": numpy.bincount((cosine[..., None] < a["edges"]).sum(-1).ravel(), minlength=20)}


def _histo(p: dict, a: Arrays) -> Arrays:
    counts = numpy.bincount(a["picture"], minlength=p["BINS"])
    return {"bins": counts, "result": numpy.minimum(counts, 255)}


def _sad(p: dict, a: Arrays) -> Arrays:
    width, height, reach = p["WIDTH"], p["HEIGHT"], p["RANGE"]
    picture, reference = (a[n].astype("i4").reshape(height, width) for n in ("picture", "reference"))
    padded = numpy.pad(reference, reach, mode="edge")
    sums = [abs(picture - padded[dy : dy + height, dx : dx + width]).reshape(height // 4, 4, width // 4, 4).sum((1, 3))
            for dy in range(2 * reach + 1) for dx in range(2 * reach + 1)]
    return {"sums": numpy.stack(sums, -1)}


def _fluxes(u: numpy.ndarray, d: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Of a gas along direction d: what convection carries, and what viscosity and conduction act on. u may be complex."""
    density, energy = u[..., 0], u[..., 4]
    v = u[..., 1:4] / density[..., None]
    square = (v**2).sum(-1) / 2
    pressure = 0.4 * (energy - density * square)
    carried = u * v[..., d, None]
    carried[..., 1 + d] += pressure
    carried[..., 4] += pressure * v[..., d]
    viscosity = numpy.where(numpy.arange(3) == d, 4 / 3, 1) * 0.05
    acted = numpy.zeros_like(u)
    acted[..., 1:4] = viscosity * v
    acted[..., 4] = (viscosity * v**2).sum(-1) / 2 + 0.07 * (energy / density - square)
    return carried, acted


def _jacobians(u: numpy.ndarray, d: int) -> list[numpy.ndarray]:
    """Their derivatives, by steps into the complex plane: exact to the last place, and without a formula that kernels could share."""
    step = 1e-30
    columns = [_fluxes(u + 1j * step * numpy.eye(5)[k], d) for k in range(5)]
    return [numpy.stack([column[i].imag / step for column in columns], -1) for i in (0, 1)]


def _lu5(p: dict, a: Arrays) -> Arrays:
    """Cell by cell in the order of their numbers, where the kernels go by planes."""
    dt, omega = p["dt"], p["omega"]
    u = 0.1 * _f8(a, "u", p["NZ"], p["NY"], p["NX"], 5) + (1, 0, 0, 0, 2.5)
    r = numpy.zeros_like(u)
    own = numpy.eye(5) * (1 + 6 * dt * 0.1) + numpy.zeros((*u.shape, 5))
    before, behind = [], []
    for d in range(3):
        axis = 2 - d

        def moved(x: numpy.ndarray, by: int, axis: int = axis) -> numpy.ndarray:
            n = x.shape[axis]
            return numpy.take(x, numpy.clip(numpy.arange(n) + by, 0, n - 1), axis)

        carried, acted = _fluxes(u, d)
        second = [moved(x, 1) - 2 * x + moved(x, -1) for x in (acted, u)]
        fourth = moved(u, 2) - 4 * moved(u, 1) + 6 * u - 4 * moved(u, -1) + moved(u, -2)
        r += dt * ((moved(carried, -1) - moved(carried, 1)) / 2 + second[0] + 0.1 * second[1] - 0.02 * fourth)
        convection, viscous = _jacobians(u, d)
        own += 2 * dt * viscous
        before.append(-dt * (convection / 2 + viscous + 0.1 * numpy.eye(5)))
        behind.append(dt * (convection / 2 - viscous - 0.1 * numpy.eye(5)))
    unit = numpy.eye(3, dtype=int)[::-1]
    cells = list(numpy.ndindex(u.shape[:3]))
    for blocks, order, side in ((before, cells, -1), (behind, cells[::-1], 1)):
        for cell in order:
            sum_of_blocks = numpy.zeros(5)
            for d in range(3):
                other = tuple(numpy.add(cell, side * unit[d]))
                if all(0 <= i < n for i, n in zip(other, u.shape)):
                    sum_of_blocks -= omega * blocks[d][other] @ r[other]
            r[cell] = r[cell] + numpy.linalg.solve(own[cell], sum_of_blocks) if side > 0 else numpy.linalg.solve(own[cell], r[cell] + sum_of_blocks)
    return {"u": u + r / (omega * (2 - omega)), "r": r}


KERNELS: dict[str, tuple[str, Callable[[dict, Arrays], Arrays]]] = {
    "polybench/2mm": ("linear_algebra", _two_products), "polybench/3mm": ("linear_algebra", _three_products),
    "polybench/gemm": ("linear_algebra", _gemm), "polybench/syrk": ("linear_algebra", _syrk),
    "polybench/syr2k": ("linear_algebra", _syr2k), "polybench/atax": ("linear_algebra", _atax),
    "polybench/bicg": ("linear_algebra", _bicg), "polybench/mvt": ("linear_algebra", _mvt),
    "polybench/gesummv": ("linear_algebra", _gesummv), "polybench/gramschmidt": ("linear_algebra", _gramschmidt),
    "polybench/correlation": ("statistics", _correlation), "polybench/covariance": ("statistics", _covariance),
    "polybench/2dconv": ("stencils", _convolution2d), "polybench/3dconv": ("stencils", _convolution3d),
    "polybench/fdtd2d": ("stencils", _fdtd2d), "parboil/sgemm": ("kernels", _sgemm), "parboil/spmv": ("kernels", _spmv),
    "parboil/stencil": ("kernels", _stencil), "parboil/mri_q": ("kernels", _mri_q), "parboil/lbm": ("kernels", _lbm),
    "parboil/tpacf": ("kernels", _tpacf), "parboil/histo": ("kernels", _histo), "parboil/sad": ("kernels", _sad),
    "npb/lu5_thread": ("lu5", _lu5), "npb/lu5_warp": ("lu5", _lu5)}
SIZES = (("lu5_thread", (33, 3, 5)), ("lu5_warp", (33, 3, 5)), ("lu5_thread", (1, 2, 61)), ("lu5_warp", (1, 2, 61)))  # other than the launch file's


def check_kernel(gpusim: Gpusim, name: str, params: dict[str, int]) -> None:
    ptx, reference = KERNELS[name]
    path = gpusim.source / "workloads" / f"{name}.toml"
    launch = tomllib.loads(path.read_text())
    numbers = launch["params"] | params
    initial = {b["name"]: _initial(b, numbers, path.parent) for b in launch["buffer"]}
    expected = reference(numbers, initial)
    dumps = [x for n in expected for x in ("--dump", f"{n}={gpusim.scratch / n}.npy")]
    gpusim.run("--config", "tesla_v100", "--functional", path.with_name(f"{ptx}.ptx"), "--launch", path, *dumps,
               *(x for key, value in params.items() for x in ("--param", f"{key}={value}"))).require_code(0)
    for buffer, right in expected.items():
        got = numpy.load(gpusim.scratch / f"{buffer}.npy").astype("f8")
        right = numpy.asarray(right, "f8").ravel()
        require_equal(f"{name}: elements of {buffer}", got.shape, right.shape)
        # Sums of some hundred terms of like size lose a few digits of the seven of single precision, or sixteen of double; integers none.
        places = {"f4": 2e-5, "f8": 2e-13}.get(initial[buffer].dtype.str[1:], 0)
        allowed = places * abs(right) + places * abs(right).max()
        wrong = numpy.flatnonzero(~(abs(got - right) <= allowed))
        require(not wrong.size, f"{name}: {wrong.size} elements of {buffer} are wrong, first [{wrong[:1]}]: "
                                f"{got[wrong[:1]]} for {right[wrong[:1]]}")


CHECKS: dict[str, Callable[[Gpusim], None]] = {
    **{name: partial(check_kernel, name=name, params={}) for name in KERNELS},
    **{f"npb/{name}_{'x'.join(map(str, sizes))}": partial(check_kernel, name=f"npb/{name}", params=dict(zip(("NX", "NY", "NZ"), sizes)))
       for name, sizes in SIZES}}
