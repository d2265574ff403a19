"""Threads together: warps, groups, memory that they share."""

from functools import reduce
from typing import Callable, Sequence

from corpus import M32, M64, ffs, mix, mix64, popcount, signed, write


def shuffles(blocks: int) -> None:
    results, wide, reals = [], [], []
    for i in range(64 * blocks):
        lane, base = i % 32, i - i % 32
        m = lambda l: mix(base + l)

        def near(target: int, width: int) -> int:
            """The lane itself where the target lies outside its segment."""
            return m(target) if target // width == lane // width and target >= 0 else m(lane)

        segment = lane // 8 * 8
        results += [m(mix(i) >> 8 & 31), near(lane - 3, 32), near(lane + 5, 32), m(lane ^ 0x15),
                    m(segment + (lane + 1) % 8), near(lane - 2, 16), near(lane + 1, 4),
                    # xor 6 with segments of 4: only a target below the segment's end is taken
                    m(lane ^ 6) if (lane ^ 6) <= (lane | 3) else m(lane)]
        wide.append(mix64(base + (lane ^ 9)))
        reals.append(sum(map(m, range(32))) * 0.25 if lane == 0 else 0.0)
    write("warp_shuffles", "u4", results)
    write("warp_wide", "u8", wide)
    write("warp_reals", "f8", reals)


def votes(blocks: int) -> None:
    results, barriers = [], []
    for i in range(64 * blocks):
        lane, base, start = i % 32, i - i % 32, i - i % 64
        m = [mix(base + l) for l in range(32)]
        block = [mix(start + t) for t in range(64)]
        ballot = lambda p: sum(1 << l for l in range(32) if p(l))
        low = (1 << lane) - 1
        odd = ballot(lambda l: m[l] & 1)
        first = ffs(odd) - 1
        if m[lane] & 1:
            part = [popcount(odd) + 100 * popcount(odd & low), m[first], ballot(lambda l: l & 2) & odd]
        else:
            part = [sum(v for v in m if not v & 1), ffs(~odd & M32), ~odd >> 31 & 1]
        results += [ballot(lambda l: m[l] & 4), any(v % 40 == 0 for v in m) << 1 | all(v % 32 != 5 for v in m),
                    ballot(lambda l: m[l] % 5 == m[lane] % 5), M32 ^ 1, ballot(lambda l: m[l] % 3 == m[lane] % 3),
                    sum(m), min(map(signed, m)), *part, low * 3 + (~low & M32)]
        barriers.append(sum(v & 2 != 0 for v in block) * 4 + any(v % 100 == 0 for v in block) * 2
                        + all(v % 50 for v in block))
    write("warp_votes", "u4", results)
    write("barrier_reductions", "u4", barriers)


def cooperative() -> None:
    results, votes, together = [], [], []
    for i in range(128):
        t, lane, base = i % 64, i % 32, i - i % 32
        m = [mix(base + l) & 0xFFFF for l in range(32)]
        rank, start = lane % 8, lane // 8 * 8
        tile, pair = m[start:start + 8], m[lane & ~1:(lane & ~1) + 2]
        results += [
            sum(m), max(tile), reduce(lambda a, b: a ^ b, tile), min(pair) - 30000, tile[5] + tile[rank ^ 3],
            (m[lane + 7] if lane < 25 else m[lane]) ^ (tile[rank - 2] if rank >= 2 else tile[rank]),
            rank << 16 | lane // 8 << 8 | 2, sum(tile[:rank + 1]), sum(m[:lane]), t + 64000 + i // 64 * 100000]
        votes += [sum((v & 1) << k for k, v in enumerate(tile)), any(v % 9 == 0 for v in tile),
                  all(v % 5 for v in tile),
                  sum(1 << k for k, v in enumerate(tile) if v & 3 == tile[rank] & 3)]
        full = [mix(base + l) for l in range(32)]
        chosen = [l for l in range(32) if full[l] % 3 == 0]
        if lane in chosen:
            together.append(len(chosen) * 100 + chosen.index(lane) + full[chosen[0]] % 1000 * 10000)
        else:
            together.append(sum(v % 1000 for v in full if v % 3))
    write("cooperative_tiles", "u4", results)
    write("tile_votes", "u4", votes)
    write("cooperative_coalesced", "u4", together)
    write("cooperative_counter", "u4", [sum(mix(i) % 3 == 0 for i in range(128))])
    write("cooperative_sums", "u4", (sum(mix(128 * b + t) for t in range(128)) for b in range(3)))


def atomics() -> None:
    n = 300
    groups = [[i for i in range(n) if i % 4 == k] for k in range(4)]

    def folded(f: Callable, start: int, value: Callable) -> list[int]:
        return [reduce(f, (value(i) for i in group), start) for group in groups]

    def wound(old: int, limit: int, count: int, down: bool) -> int:
        for _ in range(count):
            old = (limit if old == 0 or old > limit else old - 1) if down else (0 if old >= limit else old + 1)
        return old

    add, both, either, differ = (lambda a, b: a + b), (lambda a, b: a & b), (lambda a, b: a | b), (lambda a, b: a ^ b)
    words = folded(add, 1, mix) + folded(lambda a, b: a - b, 1, mix) + folded(min, M32, mix)
    words += folded(max, -(1 << 31), lambda i: signed(mix(i)))
    words += folded(both, M32, lambda i: mix(i) | 0xFF00FF00 >> i % 4) + folded(either, 0, lambda i: 1 << (mix(i) & 31))
    words += folded(differ, 0, mix)
    words += [wound(3, 12 + k, len(groups[k]), False) for k in range(4)]
    words += [wound(30, 12 + k, len(groups[k]), True) for k in range(4)]
    write("atomics_words", "u4", words)
    write("atomics_words_start", "u4", [1] * 8 + [M32] * 4 + [1 << 31] * 4 + [M32] * 4 + [0] * 8 + [3] * 4 + [30] * 4)
    longs = folded(add, 9, mix64) + folded(min, (1 << 63) - 1, lambda i: signed(mix64(i), 64)) + folded(max, 0, mix64)
    longs += folded(differ, 0, mix64) + folded(both, M64, lambda i: mix64(i) | 0xFFFFFFFF0)
    write("atomics_longs", "u8", longs)
    write("atomics_longs_start", "u8", [9] * 4 + [(1 << 63) - 1] * 4 + [0] * 8 + [M64] * 4)
    write("atomics_floats", "f4", folded(add, 0, lambda i: mix(i) % 64 * 0.25))
    write("atomics_doubles", "f8", folded(add, 0, lambda i: mix(i) * 0.5) + folded(max, 0, lambda i: mix(i) * 1e-3))
    write("atomics_halves", "u2", folded(lambda a, b: a * b, 1, lambda i: mix(i) | 1))
    write("atomics_taken", "u4", [1] * 500)
    n = 1000
    bins = [sum(mix(i) & 15 == k for i in range(n)) for k in range(15)] + [3 * 0xABCD]
    write("atomics_bins", "u4", bins)
    write("atomics_sums", "u8", (sum(mix64(i) for i in range(n) if mix(i) >> 4 & 3 == k) for k in range(4)))
    write("atomics_scaled", "f4", (0.125 * sum(mix(i) >> 6 & 3 == k for i in range(n)) for k in range(4)))


def memory_spaces() -> None:
    text = b"corpus\0"
    limits = [3, 1, 4, 1, 5, 9, 2, 6]

    def total(values: Sequence[int]) -> int:
        return reduce(lambda s, v: s * 3 + v, values, 0)

    results, reals = [], []
    for block in range(3):
        thread = [64 * block + t for t in range(64)]
        dynamic = [[thread[t], mix(thread[t]), t * t, limits[t & 7]] for t in range(64)]
        words = sum(dynamic, [])
        fixed = [mix(t) + block for t in range(33)]
        for t in range(64):
            source = [[thread[t], mix(thread[t]), t], fixed[t % 30:], words[4 * (63 - t):], limits[t % 5:]][mix(t) & 3]
            data, offset = ([1, 2], 7) if t & 1 else ([20, 30], -3)
            results += [total(source[:3]), words[(t * 7 + 3) & 255] + (mix(thread[t ^ 5]) >> 3 & 255),
                        total(data) + offset + text[t % 7], reduce(lambda a, b: a ^ b, dynamic[t ^ 33])]
            reals.append((-2.25 if t & 1 else 1.5) * t)
    write("memory_spaces", "u4", results)
    write("memory_spaces_reals", "f4", reals)
    write("memory_spaces_transposed", "f4", (16 * column + row for row in range(16) for column in range(16)))


def waiting_lanes() -> None:
    write("waiting_lanes_order", "u4", (3 * (31 - turn) + 1 for turn in range(32)))
    sums = [sum(mix(20 * pair + i) for i in range(20)) for pair in range(16)]
    write("waiting_lanes_sums", "u4", (sums[lane // 2] for lane in range(32)))


def wmma() -> None:
    def small(i: int, span: int) -> int:
        return mix(i) % (2 * span + 1) - span

    def matrix(seed: int, rows: int, columns: int, span: int) -> list[list[int]]:
        return [[small(seed + i * columns + j, span) for j in range(columns)] for i in range(rows)]

    def product(a: list[list[int]], b: list[list[int]]) -> list[list[int]]:
        return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]

    def changed(m: int, n: int, k: int, seed: int) -> list[int]:
        a = [[max(v, 0) for v in row] for row in matrix(seed, m, k, 4)]
        c = matrix(seed + 2000, m, n, 16)
        p = product(a, matrix(seed + 1000, k, n, 4))
        values = [3 * (p[i][j] + c[i][j]) - 1 for i in range(m) for j in range(n)]
        return values + [0] * (256 - m * n)

    def clamped(v: int, clamp: bool) -> int:
        return min(max(v, -1 << 31), (1 << 31) - 1) if clamp else signed(v)

    def integers(m: int, n: int, seed: int, is_signed: bool, clamp: bool) -> list[int]:
        a, b = ([[v if is_signed else v & 255 for v in row] for row in matrix(s, rows, columns, 127)]
                for s, rows, columns in ((seed, m, 16), (seed + 1000, 16, n)))
        p = [v for row in product(a, b) for v in row]
        starts = [(0x7FFF0000, -0x7FFF0000, i)[i % 3] for i in range(256)]
        return [clamped(clamped(c + v, clamp) + v, clamp) for c, v in zip(starts, p)]

    shapes = [(16, 16)] * 4 + [(32, 8)] * 3 + [(8, 32)] * 3
    write("wmma_products", "f4", (v for i, (m, n) in enumerate(shapes) for v in changed(m, n, 16, 10000 * i)))
    forms = [(16, 16, True, False), (16, 16, False, False), (32, 8, True, True), (32, 8, False, True),
             (8, 32, True, True), (8, 32, False, False)]
    write("wmma_integers", "i4", (v for i, (m, n, is_signed, clamp) in enumerate(forms)
                                  for v in integers(m, n, 10000 * i + 5, is_signed, clamp)))
    newer = [(16, 16, 16), (32, 8, 16), (8, 32, 16), (8, 8, 4)]
    write("wmma_newer", "f4", (v for i, shape in enumerate(newer) for v in changed(*shape, 10000 * i + 7)))
