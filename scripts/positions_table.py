#!/usr/bin/env python3
"""Every kind of positions with one small model on Multi30k. Prints the Markdown table of docs/results.md.

    scripts/positions_table.py [--programs build] [--work runs/positions_table] [--set KEY=VALUE ...] [KIND ...]

Trains configs/positions_multi30k.yaml with model.positions=KIND (at most training.max_minutes each) and evaluates
test_2016. What is finished is not run again; a run that was interrupted resumes. Another --set needs another --work.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import kept_results

SOURCE = pathlib.Path(__file__).resolve().parents[1]
CONFIG = SOURCE / "configs" / "positions_multi30k.yaml"
KINDS = ["sinusoidal", "learned", "hierarchical", "product", "recurrent", "convolution", "complex", "shaw", "t5",
         "transformer_xl", "deberta", "rotary", "alibi", "none"]


def run(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, cwd=SOURCE)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}")
    return done.stdout


def train_and_score(programs, work, kind, changes):
    result = work / f"{kind}.json"
    row = kept_results.read(result, changes)
    if row is not None:
        return row
    settings = ["-c", CONFIG, "--set", f"data.dir={work / 'prepared'}", "--set", f"run.dir={work / kind}",
                "--set", f"model.positions={kind}", *(part for change in changes for part in ("--set", change))]
    if not (work / "prepared" / "manifest.json").exists():
        run(programs / "nmt-prepro", *settings)
    run(programs / "nmt-train", *settings)
    scores = run(programs / "nmt-eval", *settings, "-q").splitlines()
    log = [json.loads(line) for line in (work / kind / "metrics.jsonl").read_text().splitlines()]
    row = {"kind": kind, "updates": max(line.get("update", 0) for line in log)}
    for name in ("BLEU", "chrF2"):
        row[name] = next(float(line.split(" = ")[1].split()[0]) for line in scores if line.startswith(name + "|"))
    kept_results.write(result, row, changes)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "runs" / "positions_table")
    parser.add_argument("--set", dest="changes", metavar="KEY=VALUE", action="append", default=[])
    parser.add_argument("kinds", nargs="*", metavar="KIND", default=KINDS)
    options = parser.parse_args()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    for kind in options.kinds:  # said before the first run, not after hours
        kept_results.read(work / f"{kind}.json", options.changes)
    print("| positions | BLEU | chrF2 | updates |\n| --- | --- | --- | --- |", flush=True)
    for kind in options.kinds:
        row = train_and_score(options.programs.resolve(), work, kind, options.changes)
        print(f"| `{kind}` | {row['BLEU']:.2f} | {row['chrF2']:.2f} | {row['updates']} |", flush=True)


if __name__ == "__main__":
    main()
