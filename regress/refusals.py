#!/usr/bin/env python3
"""Which of the PTX files in folders run, and what keeps the others from it.

    regress/refusals.py build/release/bin/gpusim FOLDER...

checks every .ptx of the folders with `gpusim check` and prints how many programs and kernels are good, and the reasons for which
the others are not, by how many programs they stop. PTX of public programs comes from `nvcc -ptx -arch=sm_90 FILE.cu`.
"""

import argparse
import collections
import json
import re
import subprocess
from pathlib import Path

LIMIT_S = 600


def kind(message: str) -> str:
    """The message without what differs from program to program."""
    message = re.sub(r"'_Z\w*'", "'...'", message)
    message = re.sub(r"%\w+", "%r", message)
    return re.sub(r"\d{4,}", "N", message)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpusim", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--lowering", default="clean", help="none, clean (default) or schedule")
    arguments = parser.parse_args()
    programs = good = kernels = lowered = 0
    stopped: collections.Counter[str] = collections.Counter()
    example: dict[str, str] = {}
    for path in sorted(file for folder in arguments.folders for file in folder.rglob("*.ptx")):
        command = [arguments.gpusim, "check", "--json", "--lowering", arguments.lowering, path]
        programs += 1
        kernels += len(re.findall(r"^\s*(?:\.\w+\s+)*\.entry\s", path.read_text(errors="replace"), re.MULTILINE))
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
            program = json.loads(done.stdout)["programs"][0]
        except (subprocess.TimeoutExpired, json.JSONDecodeError) as error:
            stopped[f"gpusim itself: {type(error).__name__}"] += 1
            continue
        lowered += len(program["kernels"])
        good += program["good"]
        for reason in {kind(m["message"]) for m in program["messages"] if m["severity"] == "error"}:
            stopped[reason] += 1
            example.setdefault(reason, path.name)
    print(f"{good} of {programs} programs are good, {lowered} of {kernels} kernels")
    for reason, count in stopped.most_common():
        print(f"{count:5}  {reason[:150]}  ({example.get(reason, '')})")


if __name__ == "__main__":
    main()
