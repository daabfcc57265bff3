#!/usr/bin/env python3
"""How long training takes to a BLEU: ours beside plain PyTorch, one after the other. Prints a Markdown table.

    bench/training/time_to_bleu.py --peers DIR [--config configs/multi30k_de_en.yaml] [--set KEY=VALUE ...]
                                   [--pytorch-epochs 14] [--threads 2] [--precision fp32] [--programs build]
                                   [--work runs/time_to_bleu]

DIR is the folder of the other toolkits (compare.py), with eager_pytorch.py: the small Transformer of plain PyTorch,
which prints minutes and the greedy BLEU of Multi30k's validation set after each epoch. Ours trains as the configuration
says (--set training.num_epochs=N), from the same files, and validates greedily after each epoch. Compared is the first
epoch whose BLEU reaches that of PyTorch's last. Minutes are those of training, without validation, on both sides. What
--work has already is not made again: an interrupted training resumes.
"""

import argparse
import json
import pathlib
import re

from compare import run

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def pytorch(options):
    """[(epoch, minutes, BLEU)]"""
    log = options.work / "pytorch.log"
    if not log.exists():
        command = [options.peers / "venv/bin/python", "eager_pytorch.py", "--dropout", 0.3, "--bleu",
                   "--epochs", options.pytorch_epochs, "--precision", options.precision, "--threads", options.threads]
        log.write_text("".join(run(command, options.peers, options.threads)))
    found = [re.match(r"epoch (\d+) training ([\d.]+) min val ([\d.]+)", line) for line in log.read_text().splitlines()]
    return [(int(match[1]), float(match[2]), float(match[3])) for match in found if match]


def ours(options):
    """[(epoch, minutes, BLEU)], the BLEU of the weights that validated best in this epoch"""
    folder = options.work / "run"
    settings = ["-c", options.config]
    own = {"run.threads": options.threads, "run.precision": options.precision, "run.dir": folder,
           "data.dir": options.work / "prepared", "validation.every": 0, "validation.beam_size": 1}
    for change in [f"{key}={value}" for key, value in own.items()] + options.changes:
        settings += ["--set", change]
    if not (options.work / "prepared" / "manifest.json").exists():
        run([options.programs / "nmt-prepro", *settings], SOURCE, options.threads)
    run([options.programs / "nmt-train", *settings], SOURCE, options.threads)
    lines = [line.split("\t") for line in (folder / "validations.tsv").read_text().splitlines()]
    bleu = {}
    for row in (dict(zip(lines[0], line)) for line in lines[1:]):
        bleu[int(row["epoch"])] = max(bleu.get(int(row["epoch"]), 0), float(row["bleu"]))
    minutes, before = dict.fromkeys(bleu, 0.0), 0  # each line of the log: tokens since the one before, and their speed
    for line in map(json.loads, (folder / "metrics.jsonl").read_text().splitlines()):
        spent = (line["target_tokens"] - before) / line["target_tokens_per_second"] / 60
        before = line["target_tokens"]
        for epoch in minutes:
            minutes[epoch] += spent if line["epoch"] <= epoch else 0
    return [(epoch, minutes[epoch], bleu[epoch]) for epoch in sorted(bleu)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=pathlib.Path, required=True)
    parser.add_argument("--config", type=pathlib.Path, default=SOURCE / "configs" / "multi30k_de_en.yaml")
    parser.add_argument("--set", dest="changes", metavar="KEY=VALUE", action="append", default=[])
    parser.add_argument("--pytorch-epochs", type=int, default=14)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--programs", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "runs" / "time_to_bleu")
    options = parser.parse_args()
    for name in ("peers", "config", "programs", "work"):
        setattr(options, name, getattr(options, name).resolve())
    options.work.mkdir(parents=True, exist_ok=True)

    here, there = ours(options), pytorch(options)
    print("| program | epoch | minutes of training | BLEU of the validation set, greedy |\n| --- | --- | --- | --- |")
    for name, rows in (("this toolkit", here), ("plain PyTorch", there)):
        for epoch, spent, score in rows:
            print(f"| {name}, {options.precision} | {epoch} | {spent:.1f} | {score:.2f} |")
    epochs, all_minutes, goal = there[-1]
    reached = next((row for row in here if row[2] >= goal), None)
    if not reached:
        print(f"\nOurs has not reached {goal:.2f}, the BLEU of PyTorch's epoch {epochs}.")
    else:
        print(f"\nOurs reaches {goal:.2f}, the BLEU of PyTorch's epoch {epochs}, in epoch {reached[0]}: "
              f"{reached[1]:.1f} minutes, {reached[1] / all_minutes:.0%} of PyTorch's {all_minutes:.1f}.")


if __name__ == "__main__":
    main()
