#!/usr/bin/env python3
"""Prints the golden values of tests/nn/positions/positions_test.cpp and relative_positions_test.cpp, by the formulas alone.

    make_positions.py

Plain Python, in double; T5's buckets by whole numbers only: a distance n is in bucket exact + b where b is the largest
number with n^m >= exact^(m-b) * max^b (m = buckets - exact), which is the published logarithm without rounding.
"""

import math


def sinusoid(variant, position, size):
    """The vector of one position, by the table of the variants in docs/positions.md."""
    half = size // 2
    row = []
    for k in range(size):
        if variant in ("half_split", "half_split_t2t"):
            i, sine = k % half, k < half
            power = 2 * i / size if variant == "half_split" else i / (half - 1)
        else:
            even, sine = k - k % 2, k % 2 == 0
            power = {"interleaved": even, "doubled": 2 * even, "legacy_raw": 2 * k}[variant] / size
        angle = position / 10000**power
        row.append(math.sin(angle) if sine else math.cos(angle))
    return row


def t5_bucket(distance, buckets, largest, two_sided):
    start, steps = 0, max(-distance, 0)
    if two_sided:
        buckets //= 2
        start, steps = (buckets if distance > 0 else 0), abs(distance)
    exact = buckets // 2
    if steps < exact:
        return start + steps
    rest = buckets - exact
    above = max(b for b in range(rest + 1) if steps**rest >= exact ** (rest - b) * largest**b)
    return start + min(exact + above, buckets - 1)


def main():
    for variant in ("interleaved", "half_split", "half_split_t2t", "doubled", "legacy_raw"):
        for position in (1, 2):
            print(variant, position, " ".join(f"{x:.6f}" for x in sinusoid(variant, position, 8)))
    for variant in ("interleaved", "doubled"):
        for position in (2, 10):
            row = sinusoid(variant, position, 512)
            print(variant, position, "features 0-7  ", " ".join(f"{x:.8e}" for x in row[:8]))
            print(variant, position, "features 504-511", " ".join(f"{x:.8e}" for x in row[504:]))
        a, b = sinusoid(variant, 2, 512), sinusoid(variant, 10, 512)
        norm = math.sqrt(math.fsum(x * x for x in a) * math.fsum(x * x for x in b))
        print(variant, "cosine of positions 2 and 10:", f"{math.fsum(x * y for x, y in zip(a, b)) / norm:.10f}")
    for two_sided in (True, False):
        for buckets, largest in ((32, 128), (8, 20)):
            values = [t5_bucket(d, buckets, largest, two_sided) for d in range(-140, 141)]
            print(f"t5 two_sided={two_sided} buckets={buckets} max={largest}: first distance of each bucket")
            changes = [(d, v) for d, v, before in zip(range(-140, 141), values, [None] + values) if v != before]
            print("  " + ", ".join(f"{{{d}, {v}}}" for d, v in changes))


if __name__ == "__main__":
    main()
