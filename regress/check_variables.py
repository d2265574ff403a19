"""[[variable]] of launch files: the host sets .const and .global variables of the PTX, compares, copies and dumps them."""

import ast
import struct
from pathlib import Path
from typing import Any

from runner import Gpusim, require, require_equal


def ptx_of(gpusim: Gpusim) -> Path:
    return gpusim.source / "regress" / "variables" / "polynomial.ptx"


def read_npy(path: Path) -> tuple[str, list[Any]]:
    """Type and values of a file that --dump wrote."""
    data = path.read_bytes()
    length, = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10:10 + length].decode())
    count, = header["shape"]
    code = {"<u4": "I", "<f4": "f", "<u8": "Q", "|u1": "B"}[header["descr"]]
    return header["descr"], list(struct.unpack_from(f"<{count}{code}", data, 10 + length))


def edited(gpusim: Gpusim, name: str, old: str, new: str) -> Path:
    text = ptx_of(gpusim).with_suffix(".toml").read_text()
    require(old in text, f"{old!r} is not in the launch file")
    path = gpusim.scratch / f"{name}.toml"
    path.write_text(text.replace(old, new))
    return path


def check_values(gpusim: Gpusim) -> None:
    """Kernels read what the launch file sets, timed, for values only and under --check; --dump shows what they wrote."""
    ptx = ptx_of(gpusim)
    machine = ["--config", gpusim.source / "configs" / "tesla_v100.cfg", "--json", "--out", "none"]
    for mode in ([], ["--functional"], ["--check", "all"], ["--lowering", "none"]):
        files = [f"{name}=" + str(gpusim.scratch / f"{name}.npy") for name in ("above", "coefficients", "sink", "y")]
        done = gpusim.run(*machine, ptx, *mode, *(word for f in files for word in ("--dump", f))).require_code(0)
        report = done.json()
        require_equal("warnings", done.err.replace("check memory,race,init,sync: 0 findings, 0 occurrences\n", ""), "")
        require_equal("verdicts", [(e.get("buffer"), e.get("variable"), e["verdict"]) for e in report["expect"]],
                      [("y", None, "pass"), ("z", None, "pass"), (None, "above", "pass")])
        require_equal("above", read_npy(gpusim.scratch / "above.npy"), ("<u4", [10]))
        require_equal("coefficients", read_npy(gpusim.scratch / "coefficients.npy"), ("<f4", [1, 0.5, 0.25]))
        require_equal("type of sink", read_npy(gpusim.scratch / "sink.npy")[0], "<u8")
        if mode != ["--functional"]:
            copy, = report["copies"]
            require_equal("copy", (copy["variable"], copy["bytes"], copy["direction"]), ("coefficients", 12, "to_device"))
    wrong = edited(gpusim, "wrong", "init = 0.125", "init = 0.25")
    gpusim.run(*machine, ptx, "--launch", wrong).require_code(3).require_error("y: 7 of 8 elements are wrong")


def check_linked(gpusim: Gpusim) -> None:
    """A variable of a linked file, private there or not; a name that two files have of their own is refused."""
    text = ptx_of(gpusim).read_text()
    header, variable = ".version 6.3\n.target sm_70\n.address_size 64\n", ".const .align 4 .f32 cubic;"
    main, library = gpusim.scratch / "main.ptx", gpusim.scratch / "library.ptx"
    launch = edited(gpusim, "main", "[params]", 'link = ["library.ptx"]\n[params]')
    command = ["--config", gpusim.source / "configs" / "tesla_v100.cfg", main, "--functional"]
    main.write_text(text.replace(variable, ".extern .const .align 4 .f32 cubic;"))
    library.write_text(f"{header}.visible .const .align 4 .f32 cubic;\n")
    gpusim.run(*command).require_code(0)
    launch.write_text(launch.read_text().replace("link = ", "# link = "))
    gpusim.run(*command).require_code(1).require_error(
        "main.toml:23:8: error: variable 'cubic' is declared .extern and defined in no file of the program", "main.ptx:8:")
    launch.write_text(launch.read_text().replace("# link = ", "link = "))
    main.write_text(text)
    library.write_text(f"{header}{variable}\n")
    gpusim.run(*command).require_code(1).require_error(
        "main.toml:23:8: error: several files of the program have a variable 'cubic' of their own", "main.ptx:8:", "library.ptx:4:")


def check_warnings(gpusim: Gpusim) -> None:
    """A buffer that nothing uses, or that is taken for a variable, and a constant that nobody sets."""
    ptx = ptx_of(gpusim)
    command = ["--config", gpusim.source / "configs" / "tesla_v100.cfg", ptx, "--functional", "--quiet", "--launch"]
    unset = edited(gpusim, "unset", 'name = "cubic"\ninit = 0.125', 'name = "above"')
    done = gpusim.run(*command, unset).require_code(3)
    require_equal("warning", [line for line in done.err.splitlines() if "warning" in line],
                  [f"{ptx}:8:22: warning: kernel 'polynomial' reads constant variable 'cubic', which has no initial value "
                   f"and which no [[variable]] of {unset} sets: it holds zeros"])
    buffer = '[[buffer]]\nname = "{}"\ntype = "f32"\ncount = 1\n'
    idle = edited(gpusim, "idle", "[[copy]] ", buffer.format("idle") + buffer.format("cubic_") + "[[copy]] ")
    done = gpusim.run(*command, idle).require_code(0)
    require_equal("warnings", done.err.splitlines(),
                  [f"{idle}:{line}:8: warning: buffer '{name}' is not used: no launch, copy, expect or texture names it"
                   for line, name in ((32, "idle"), (36, "cubic_"))])
    done = gpusim.run(*command, edited(gpusim, "taken", '[[variable]]\nname = "rows"\ninit = ["address(z)", "address(z, 4*N)"]',
                                       buffer.format("rows") + '[[copy]]\nbuffer = "rows"')).require_code(2)
    done.require_error("warning: no kernel gets buffer 'rows'; the .global variable 'rows' of the PTX is another thing, which "
                       "[[variable]] sets")
    gpusim.run("--config", gpusim.source / "configs" / "tesla_v100.cfg", ptx, "--dump", "abov=a.npy").require_code(1).require_error(
        "error: no buffer 'abov' in ", "and no .global or .const variable of that name in ", "did you mean 'above'?")


CHECKS = {"values": check_values, "linked": check_linked, "warnings": check_warnings}
