#!/usr/bin/env python3
"""Two corpora mixed by shares, with changed case, typos and joined lines, by the batches of nmt-train and by OpusTrainer, in turns.

    bench/data/mix_beside_opustrainer.py --shared DIR --opustrainer VENV [--programs build] [--pairs 100000] [--rounds 3]

The pairs are the noisy ones of clean_beside_opusfilter.py, in two halves that come three to one. VENV has
`pip install opustrainer==0.5`. Ours are batches of padded pieces (epoch_bench, whose preparation by nmt-prepro is not counted),
its output is text, which a trainer encodes: each figure is pairs a second, and processor seconds for each 100,000.
"""
import argparse
import collections
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from clean_beside_opusfilter import noisy_pairs  # noqa: E402
from measuring import conditions, median, spread  # noqa: E402

CONFIG = """base: small_text
data: {dir: prepared, source_language: de, target_language: en, train_tsv: [half1.tsv, half2.tsv], train1: [], train2: [], eval1: val.de,
  eval2: val.en, test1: "", test2: "", alignment: false, drop_duplicates: false}
training: {guided_alignment: 0, corpus_weights: [1.5, 0.5], augment_upper: 0.05, augment_title: 0.05, augment_typos: 0.1,
  augment_joined: 0.05}
decoding: {alignment_head: 0}
run: {dir: run}
"""
STAGES = """datasets: {half1: half1.tsv, half2: half2.tsv}
stages: [only]
only: [half1 0.75, half2 0.25, until half2 1]
modifiers:
- UpperCase: 0.05
- TitleCase: 0.05
- Typos: 0.1
- Merge: 0.05
  min_lines: 2
  max_lines: 2
seed: 1
"""


def measured(command, work, count):
    """(pairs a second, processor seconds for 100,000 pairs); count: the pairs, of what the command prints."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([str(part) for part in command], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    pairs = count(done.stdout)
    return pairs / seconds, processor / pairs * 1e5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--opustrainer", type=Path, required=True)
    parser.add_argument("--programs", type=Path, default=Path("build"))
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    data, programs = options.shared.resolve() / "data", options.programs.resolve()
    print(conditions(1, options.rounds), flush=True)
    with tempfile.TemporaryDirectory(prefix="nmt-mix-") as folder:
        work = Path(folder)
        rows = [f"{source}\t{target}\n" for source, target, _ in noisy_pairs(data, options.pairs) if "\t" not in source + target]
        for name, part in (("half1.tsv", rows[::2]), ("half2.tsv", rows[1::2])):
            (work / name).write_text("".join(part), encoding="utf-8")
        for side in ("de", "en"):
            subprocess.run(f"gzip -dc {data}/multi30k/val.{side}.gz >val.{side}", shell=True, cwd=work, check=True)
        (work / "config.yaml").write_text(CONFIG)
        (work / "stages.yaml").write_text(STAGES)
        subprocess.run([programs / "nmt-prepro", "-c", "config.yaml"], cwd=work, check=True, stdout=subprocess.DEVNULL)
        trainer = options.opustrainer.resolve() / "bin" / "opustrainer-train"
        commands = {"nmt-train's batches": ([programs / "bench" / "epoch_bench", "config.yaml"], lambda text: int(text)),
                    **{f"OpusTrainer, {count} worker{'s' * (count > 1)}":
                       ([trainer, "-c", "stages.yaml", "-d", "-j", count, "cat"], lambda text: text.count("\n")) for count in (1, 2)}}
        rounds = collections.defaultdict(list)
        for _ in range(options.rounds):
            for name, (command, count) in commands.items():
                rounds[name].append(measured(command, work, count))
    print("|  | pairs/s | processor seconds for 100,000 pairs |\n| -- | -- | -- |")
    for name, figures in rounds.items():
        speeds, costs = zip(*figures)
        print(f"| {name} | {spread(speeds)} | {spread(costs, '{:.2f}')} |")
    ours, *theirs = (median([speed for speed, _ in figures]) for figures in rounds.values())
    print(f"{ours / max(theirs):.1f} times as fast")


if __name__ == "__main__":
    main()
