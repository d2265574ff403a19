#!/usr/bin/env python3
"""Writes the inputs and the expected results (NAME.npy) of this folder: Python integers, exact fractions, libm."""

import sys

sys.dont_write_bytecode = sys.pycache_prefix is None

from expected_floats import conversions, double_math, single_math  # noqa: E402
from expected_halves import bfloat16, half  # noqa: E402
from expected_integers import bits, division64  # noqa: E402
from expected_objects import (  # noqa: E402
    function_pointers, lambdas, local_arrays, recursion, structs, switches, templates, virtual_calls)
from expected_threads import (  # noqa: E402
    atomics, cooperative, memory_spaces, shuffles, votes, waiting_lanes, wmma)


def main() -> None:
    for part in (virtual_calls, lambdas, templates, local_arrays, recursion, switches, function_pointers, structs,
                 division64, bits, cooperative, atomics, memory_spaces, conversions, double_math, single_math, half,
                 bfloat16, waiting_lanes, wmma):
        part()
    shuffles(2)
    votes(2)


if __name__ == "__main__":
    main()
