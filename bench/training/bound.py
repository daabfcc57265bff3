#!/usr/bin/env python3
"""The bound of training: what the matrix products of an update take alone, at the rates measured for their shapes.

    bench/training/bound.py [--build build] [--size small|base] [--precision bf16|fp32] [--set NAME ...] [--threads 2]

Each product of an update stands in the table with its number of calls and the best rate that training_product_bench finds
for it, of the toolkit's kernels of each set and LibTorch's; the last lines hold them against a whole update of step_bench, which has
the same rows. Products inside attention are not among them. Needs a build with -DNMT_BUILD_BENCH=ON.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "bench"))
from measuring import conditions  # noqa: E402

SIZES = {"small": (256, 1024, 3), "base": (512, 2048, 6)}
VOCABULARY = 8000
SETS = {"bf16": ("avx512_bf16", "avx512", "avx2"), "fp32": ("avx512", "avx2")}  # what the processor has of them
KINDS = ("y", "gradient of x", "gradient of the weight")


def products(size):
    """{(rows, in, out): (what, calls an update)} of the model of compare.py with 8,000 pieces."""
    width, hidden, blocks = SIZES[size]
    return {(3700, width, 3 * width): ("queries, keys, values of self-attention", 2 * blocks),
            (3700, width, 2 * width): ("keys, values of cross-attention", blocks),
            (3700, width, width): ("outputs of attention, queries of cross-attention", 4 * blocks),
            (3700, width, hidden): ("feed-forward, inner", 2 * blocks),
            (3700, hidden, width): ("feed-forward, outer", 2 * blocks),
            (512, width, VOCABULARY): ("output layer, blocks of 512 rows", 3700 / 512)}


def output_of(command, or_nothing=False):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        if or_nothing:
            return ""
        sys.exit(f"{command[0]}: exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def measured_rates(arguments):
    """{(rows, in, out): GFLOP/s of the three products, the best of all}."""
    rates = {}
    for kernels in arguments.set or SETS[arguments.precision]:
        for line in output_of([arguments.build / "bench" / "training_product_bench", arguments.threads, kernels,
                               arguments.precision], or_nothing=True).splitlines():
            shape = re.match(r" *(\d+) x +(\d+) -> +(\d+)", line)
            if shape:
                best = rates.setdefault(tuple(map(int, shape.groups())), [0, 0, 0])
                for i, pair in enumerate(re.findall(r"(\d+) \( *(\d+)\)", line)):
                    best[i] = max(best[i], *map(int, pair))
    if not rates:
        sys.exit(f"training_product_bench {arguments.precision}: this processor has none of the sets; name one by --set")
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=SOURCE / "build")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--precision", choices=("bf16", "fp32"), default="bf16")
    parser.add_argument("--set", action="append", help="of training_product_bench; default: all that may be the fastest")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    rates = measured_rates(arguments)
    print(f"{arguments.size}, {arguments.precision}: {conditions(arguments.threads, 1)}\n")
    print("| product | rows x in x out | calls | GFLOP | " + " | ".join(f"{kind}, GFLOP/s" for kind in KINDS) + " | ms |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    total = total_flop = 0
    for shape, (what, calls) in products(arguments.size).items():
        flop = 2e-9 * shape[0] * shape[1] * shape[2] * calls
        milliseconds = sum(1e3 * flop / rate for rate in rates[shape])
        total, total_flop = total + milliseconds, total_flop + 3 * flop
        print(f"| {what} | {' x '.join(map(str, shape))} | {calls:.0f} | {3 * flop:.1f} | "
              + " | ".join(map(str, rates[shape])) + f" | {milliseconds:.1f} |")
    print(f"| all products | | | {total_flop:.1f} | | | | {total:.1f} |")
    shown = output_of([arguments.build / "bench" / "step_bench", arguments.size, arguments.precision, 20, arguments.threads])
    rate, update = (float(number) for number in re.search(r"(\d+) target tokens/s, ([\d.]+) ms", shown).groups())
    print(f"\nA whole update takes {update:.0f} ms ({rate:,.0f} target tokens/s): the products are {total / update:.0%} of it. "
          f"Alone they would allow {rate * update / total:,.0f} tokens/s; 85 % of that is {0.85 * rate * update / total:,.0f}.")


if __name__ == "__main__":
    main()
