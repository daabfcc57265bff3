"""Times nmt-score beside the Python sacreBLEU: whole processes, one processor each, in turn.

  compare_with_sacrebleu.py --nmt-score PROGRAM [--data FOLDER] [--pairs 5] [--million]

Run it with a Python that has sacrebleu 2.6.0 (scripts/dev_python.sh). Prints a table of medians, the ratio of each pair,
and peak memory. Outputs are compared first: a benchmark of wrong figures ends with exit code 1. --million: also the time
and memory of nmt-score alone for a million segments.
"""

import argparse
import gzip
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = [
    ("BLEU", "ref -i a"),
    ("chrF++", "ref -i a -m chrf -cw 2"),
    ("TER", "ref -i a -m ter"),
    ("paired bootstrap, BLEU", "ref -i a b --paired-bs -f text"),
    ("paired bootstrap, chrF++", "ref -i a b --paired-bs -f text -m chrf -cw 2"),
    ("BLEU with interval", "ref -i a --confidence"),
]
MILLION_CASES = [("BLEU", "ref -i a"), ("chrF++", "ref -i a -m chrf -cw 2"), ("TER", "ref -i a -m ter"),
                 ("BLEU, paired bootstrap", "ref -i a b --paired-bs -pbsn 100 -f text")]


def read(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().splitlines(keepends=False)


def corpus(data):
    """Reference and two systems: newstest2017, or made-up sentences."""
    if data:
        folder = Path(data) / "wmt17_en_de"
        return [read(folder / name) for name in ("reference.de.gz", "LIUM-NMT.de.gz", "KIT.de.gz")]
    rng = random.Random(1)
    words = ["".join(rng.choice("abcdefghijklmnoprstuvwäöü") for _ in range(rng.randrange(2, 11))) for _ in range(8000)]
    reference = [" ".join(words[min(7999, int(rng.paretovariate(0.7)))] for _ in range(rng.randrange(5, 40))) + "."
                 for _ in range(3004)]
    systems = []
    for _ in range(2):
        lines = []
        for line in reference:
            parts = [word if rng.random() < 0.6 else rng.choice(words) for word in line.split(" ")]
            at = rng.randrange(len(parts))
            lines.append(" ".join(parts[at:] + parts[:at]) if rng.random() < 0.3 else " ".join(parts))
        systems.append(lines)
    return [reference, *systems]


def measure(command, folder, processor):
    """Wall seconds, processor seconds, peak memory (MiB) and standard output of one run."""
    out = folder / "out"
    with open(out, "wb") as file:
        start = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, stdout=file, stderr=subprocess.DEVNULL,
                                 preexec_fn=lambda: os.sched_setaffinity(0, {processor}))
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
    if child.returncode != 0:
        sys.exit(f"{command} ends with {child.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nmt-score", required=True)
    parser.add_argument("--data", help="folder with wmt17_en_de; without: made-up text")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--million", action="store_true")
    options = parser.parse_args()

    import numpy
    import sacrebleu
    data = options.data if options.data and (Path(options.data) / "wmt17_en_de").exists() else None
    texts = corpus(data)
    processor = sorted(os.sched_getaffinity(0))[-1]
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    print(f"{model}; sacreBLEU {sacrebleu.__version__}, Python {sys.version.split()[0]}, NumPy {numpy.__version__}; "
          f"{len(texts[0])} segments of {'newstest2017 en-de' if data else 'made-up text'}; {options.pairs} pairs of runs, "
          "one processor, after one warm-up each")
    print("| task | nmt-score, s | sacreBLEU, s | times as fast: median (smallest, largest) | CPU time, times | memory, MiB |")
    print("| --- | --- | --- | --- | --- | --- |")

    program = os.path.abspath(options.nmt_score)
    with tempfile.TemporaryDirectory(prefix="nmt-bench-") as name:
        folder = Path(name)
        for file, lines in zip(("ref", "a", "b"), texts):
            (folder / file).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        for task, arguments in CASES:
            ours, theirs = [program, *arguments.split()], [sys.executable, "-m", "sacrebleu", *arguments.split()]
            if measure(ours, folder, processor)[3] != measure(theirs, folder, processor)[3]:
                sys.exit(f"{task}: the outputs differ")
            pairs = [(measure(ours, folder, processor), measure(theirs, folder, processor)) for _ in range(options.pairs)]
            ratios = [their[0] / our[0] for our, their in pairs]
            cpu = statistics.median(their[1] / our[1] for our, their in pairs)
            median = [statistics.median(pair[side][0] for pair in pairs) for side in (0, 1)]
            memory = [max(pair[side][2] for pair in pairs) for side in (0, 1)]
            print(f"| {task} | {median[0]:.3f} | {median[1]:.2f} | {statistics.median(ratios):.0f} ({min(ratios):.0f}, "
                  f"{max(ratios):.0f}) | {cpu:.0f} | {memory[0]:.0f} / {memory[1]:.0f} |", flush=True)
        if options.million:
            print("\n| a million segments, nmt-score, one processor | s | memory, MiB |\n| --- | --- | --- |")
            for file, lines in zip(("ref", "a", "b"), texts):
                text = "".join(line + "\n" for line in lines)
                copies, rest = divmod(1_000_000, len(lines))
                with open(folder / file, "w", encoding="utf-8") as out:
                    for _ in range(copies):
                        out.write(text)
                    out.writelines(line + "\n" for line in lines[:rest])
            for task, arguments in MILLION_CASES:
                wall, _, memory, _ = measure([program, *arguments.split()], folder, processor)
                print(f"| {task} | {wall:.1f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
