#!/usr/bin/env python3
"""Writes the matrix of cg_thread.toml and cg_warp.toml: sparse, symmetric, positive definite, seven values a row in the
mean, more in the rows with small numbers. `cg_matrix.py 7000 FOLDER` writes the one with the rows of class W, 14000 of class A;
copies of the launch files beside it, with that ROWS, run it. A third number is the pairs of values that each row adds: with 66
the matrix of 14000 rows has as many values as that of class A, some 130 a row."""

import random
import struct
import sys
from pathlib import Path

PAIRS_PER_ROW = 3


def write(path: Path, kind: str, code: str, values: list) -> None:
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack(f"<{len(values)}{code}", *values))


def matrix(rows: int, pairs: int) -> list[dict[int, float]]:
    numbers = random.Random(rows)
    row: list[dict[int, float]] = [{} for _ in range(rows)]
    for i in range(rows):
        for _ in range(pairs):
            j = int(rows * numbers.random() ** 2)
            if j != i:
                row[i][j] = row[j][i] = numbers.randint(-32, 32) / 64
    for i in range(rows):
        row[i][i] = 1 + sum(map(abs, row[i].values()))
    return row


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1400
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).resolve().parent
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else PAIRS_PER_ROW
    starts, columns, values = [0], [], []
    for row in matrix(rows, pairs):
        for column, value in sorted(row.items()):
            columns.append(column)
            values.append(value)
        starts.append(len(columns))
    write(folder / "cg_row_start.npy", "i4", "i", starts)
    write(folder / "cg_column.npy", "i4", "i", columns)
    write(folder / "cg_value.npy", "f8", "d", values)


if __name__ == "__main__":
    main()
