"""`gpusim analyze --model latency-hidden` on small matrix multiplications: errors, and that the breakdown adds up."""

from cases import CASES
from runner import MACHINE, Gpusim, require, require_equal

LIMIT = 0.25  # of the time, each of the judged cases


def check_latency_hidden(gpusim: Gpusim) -> None:
    # Segments of a warp: NBB of the paper for the naive kernel; the tiled one loads its two tiles one after the other.
    for case, segments in (("matmul_naive_16x16", 96 + 2), ("matmul_tiled_16x16", 4 * 96 // 16 + 1),
                           ("matmul_tiled_8x8", 4 * 96 // 8 + 1)):
        out = gpusim.scratch / f"{case}.h5"
        ptx = CASES[case].ptx(gpusim.source)
        gpusim.run("--config", MACHINE, ptx, "--param", "N=96", "--out", out, "--quiet").require_code(0)
        model = gpusim.run("analyze", out, "--model", "latency-hidden", "--json").require_code(0).json()["models"][0]
        prediction, kernel = model["predictions"][0], model["details"]["kernels"][0]
        require(abs(prediction["error"]) < LIMIT, f"{case}: predicted {prediction['predicted']}, simulated {prediction['simulated']}")
        require_equal(f"{case}: segments", kernel["segment_count"], segments)
        for side in ("predicted", "simulated"):
            terms = sum(term[side] for term in prediction["terms"])
            require(abs(terms / prediction[side] - 1) < 0.01, f"{case}: {side} terms are {terms} of {prediction[side]}")
        literal = gpusim.run("analyze", out, "--model", "latency-hidden", "--option", "variant=paper", "--option",
                             "aggregate=sum", "--json").require_code(0).json()["models"][0]["predictions"][0]
        require(literal["predicted"] > 2 * prediction["simulated"], f"{case}: the literal sum is {literal['predicted']}")
    _check_steps(gpusim)
    text = gpusim.run("analyze", out, "--model", "latency-hidden").require_code(0).out
    require("latency-hidden factor of the kernel" in text and "limited by blocks" in text, text)
    gpusim.run("analyze", out, "--model", "latency-hidden", "--option", "varant=paper").require_code(1).require_error("variant")
    gpusim.run("analyze", out, "--model", "latency-hidden", "--option", "variant=papr").require_code(1).require_error("paper")
    sheet = gpusim.scratch / "sheet.json"
    sheet.write_text('{"machine": "M", "figures": []}')
    gpusim.run("analyze", out, "--model", "latency-hidden", "--option",
               f"parameters={sheet}").require_code(1).require_error("no figure 'shared.conflict_cycles'", "gpusim microbench")


def _check_steps(gpusim: Gpusim) -> None:
    """The shape of a curve: rates of both sides from one size to the next."""
    files = []
    for n in (64, 32, 96):  # sorted by size, however they are named
        files.append(gpusim.scratch / f"curve_{n}.h5")
        ptx = CASES["matmul_naive_16x16"].ptx(gpusim.source)
        gpusim.run("--config", MACHINE, ptx, "--param", f"N={n}", "--out", files[-1], "--quiet").require_code(0)
    model = gpusim.run("analyze", *files, "--model", "latency-hidden", "--option", "x=N", "--json").require_code(0).json()["models"][0]
    cycles = {n: p for n, p in zip((64, 32, 96), model["predictions"])}
    steps = [p for p in model["predictions"] if p["quantity"] == "step of the rate"]
    require_equal("steps", [s["kernel"].rpartition(", ")[2] for s in steps], ["N 32 to 64", "N 64 to 96"])
    for step, (a, b) in zip(steps, ((32, 64), (64, 96))):
        for side in ("predicted", "simulated"):
            rate = (b / a) ** 3 * cycles[a][side] / cycles[b][side]
            require(abs(step[side] / rate - 1) < 1e-6, f"{a} to {b}: {side} {step[side]}, by hand {rate}")
    for what, machine, options in (("machine", "tesla_v100", ()), ("number of SMs", MACHINE, ("--sms", "2")),
                                   ("machine", MACHINE, ("--core-clock", "648MHz"))):
        other = gpusim.scratch / "other.h5"
        gpusim.run("--config", machine, ptx, "--param", "N=48", "--out", other, "--quiet", *options).require_code(0)
        gpusim.run("analyze", files[0], other, "--model", "latency-hidden", "--option",
                   "x=N").require_code(1).require_error(f"is of another {what} than in")
