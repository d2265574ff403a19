#!/usr/bin/env python3
"""Writes one .ptx per instruction form into this folder: a kernel and its `// vector:` lines (inputs -> result, raw bits).

The expected values are computed here with Python's unbounded integers and exact fractions, independently of the
simulator's C++. Run it again after changing it; its output is checked in. `// tolerance: x` asks for |result - expected|
<= x * max(|expected|, floor) instead of equal bits.
"""
import vectors
from catalog import describe_all

if __name__ == "__main__":
    for old in vectors.HERE.glob("*.ptx"):
        old.unlink()
    describe_all(vectors.write_file)
