#!/usr/bin/env python3
"""How long training takes to a BLEU: ours beside plain PyTorch, one after the other. Prints a Markdown table.

    bench/training/time_to_bleu.py --peers DIR --source TEST.de --reference TEST.en
                                   [--config configs/multi30k_de_en.yaml] [--set KEY=VALUE ...]
                                   [--pytorch-epochs 14] [--pytorch-runs 14] [--threads 2] [--precision fp32]
                                   [--programs build] [--work runs/time_to_bleu]

DIR is the folder of the other toolkits (compare.py), with eager_pytorch.py: the small Transformer of plain PyTorch,
which prints minutes and greedy BLEU of the test set after each epoch. --pytorch-runs: epochs that are run; with fewer
than --pytorch-epochs the minutes of the rest are worked out from them, and the table says so. Ours trains as the
configuration says (--set training.num_epochs=N) and is measured at its end, greedily, by the weights that validated
best. Minutes are those of training, without validation, on both sides; what an interrupted run had done counts.
"""

import argparse
import json
import pathlib
import re

from compare import run

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def pytorch(options):
    """[(epoch, minutes, BLEU)]"""
    command = [options.peers / "venv/bin/python", "eager_pytorch.py", "--dropout", 0.3, "--bleu",
               "--epochs", options.pytorch_runs, "--precision", options.precision, "--threads", options.threads]
    found = [re.match(r"epoch (\d+) training ([\d.]+) min val [\d.]+ test_2016 ([\d.]+)", line)
             for line in run(command, options.peers, options.threads)]
    return [(int(match[1]), float(match[2]), float(match[3])) for match in found if match]


def ours(options):
    """(epochs, minutes, BLEU, weights)"""
    settings = ["-c", options.config]
    own = {"run.threads": options.threads, "run.precision": options.precision, "run.dir": options.work / "run",
           "data.dir": options.work / "prepared"}
    for change in [f"{key}={value}" for key, value in own.items()] + options.changes:
        settings += ["--set", change]
    if not (options.work / "prepared" / "manifest.json").exists():
        run([options.programs / "nmt-prepro", *settings], SOURCE, options.threads)
    run([options.programs / "nmt-train", *settings], SOURCE, options.threads)
    folder = options.work / "run"
    state = json.loads((max((folder / "checkpoints").iterdir()) / "state.json").read_text())
    lines = [line.split("\t") for line in (folder / "validations.tsv").read_text().splitlines()]
    rows = [dict(zip(lines[0], line)) for line in lines[1:]]
    minutes = (state["seconds"] - sum(float(row["seconds"]) for row in rows)) / 60
    scores = run([options.programs / "nmt-eval", "-m", folder / "best", "--source", options.source, "--reference",
                  options.reference, "--beam-size", 1, "-q"], SOURCE, options.threads)
    bleu = next(float(line.split(" = ")[1].split()[0]) for line in scores if line.startswith("BLEU|"))
    weights = json.loads((folder / "best" / "model.json").read_text())["summary"]["weights"]
    return max(int(row["epoch"]) for row in rows), minutes, bleu, weights


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--reference", type=pathlib.Path, required=True)
    parser.add_argument("--config", type=pathlib.Path, default=SOURCE / "configs" / "multi30k_de_en.yaml")
    parser.add_argument("--set", dest="changes", metavar="KEY=VALUE", action="append", default=[])
    parser.add_argument("--pytorch-epochs", type=int, default=14)
    parser.add_argument("--pytorch-runs", type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--programs", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "runs" / "time_to_bleu")
    options = parser.parse_args()
    options.pytorch_runs = options.pytorch_runs or options.pytorch_epochs
    for name in ("peers", "source", "reference", "config", "programs", "work"):
        setattr(options, name, getattr(options, name).resolve())
    options.work.mkdir(parents=True, exist_ok=True)

    epochs, minutes, bleu, weights = ours(options)
    theirs = pytorch(options)
    all_minutes = theirs[-1][1] / theirs[-1][0] * options.pytorch_epochs
    print("| program | epochs | minutes of training | BLEU of the test set, greedy |\n| --- | --- | --- | --- |")
    print(f"| this toolkit, {options.precision} | {epochs} | {minutes:.1f} | {bleu:.2f} ({weights}) |")
    for epoch, spent, score in theirs:
        print(f"| plain PyTorch, {options.precision} | {epoch} | {spent:.1f} | {score:.2f} |")
    if options.pytorch_runs < options.pytorch_epochs:
        print(f"| plain PyTorch, {options.precision} | {options.pytorch_epochs} | {all_minutes:.1f}, worked out from "
              f"{options.pytorch_runs} of them | not run |")
    print(f"\nOurs takes {minutes / all_minutes:.0%} of the time of {options.pytorch_epochs} epochs of plain PyTorch.")


if __name__ == "__main__":
    main()
