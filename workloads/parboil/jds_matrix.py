#!/usr/bin/env python3
"""Writes the matrix of spmv.toml in jagged diagonals: rows sorted by length, value d of all rows that have one side by side.
jds_matrix.py [ROWS] [FOLDER]; without arguments the one that is stored here."""

import random
import struct
import sys
from pathlib import Path


def write(path: Path, values: list) -> None:
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack(f"<{len(values)}i", *values))


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).resolve().parent
    numbers = random.Random(rows)
    # Most rows are short, few are long, and columns lie near the diagonal more often than not.
    length = [min(48, 1 + int(numbers.expovariate(1 / 8))) for _ in range(rows)]
    order = sorted(range(rows), key=lambda i: -length[i])
    chosen = []
    for i in order:
        near = {(i + numbers.randint(-64, 64)) % rows if numbers.random() < 0.75 else numbers.randrange(rows)
                for _ in range(length[i])}
        chosen.append(sorted(near))
    chosen_order = sorted(range(rows), key=lambda k: -len(chosen[k]))
    chosen, order = [chosen[k] for k in chosen_order], [order[k] for k in chosen_order]
    starts, columns = [], []
    for d in range(len(chosen[0])):
        starts.append(len(columns))
        columns += [row[d] for row in chosen if len(row) > d]
    write(folder / "jds_starts.npy", starts)
    write(folder / "jds_columns.npy", columns)
    write(folder / "jds_lengths.npy", [len(row) for row in chosen])
    write(folder / "jds_rows.npy", order)
    print(f"{rows} rows, {len(columns)} values, {len(starts)} diagonals")


if __name__ == "__main__":
    main()
