#!/usr/bin/env python3
"""What each part of the quality kit brings: one small model on Multi30k, equal updates. Prints two Markdown tables.

    scripts/ablation_table.py [--programs build] [--work runs/ablation] [--seeds 1,2] [--updates 2080]
                              [--set KEY=VALUE ...] [VARIANT ...]

The plain model is configs/positions_multi30k.yaml with rotary positions, batches of half the size and no dropout on
attention weights; every variant changes what its row names. A moving average and means of checkpoints leave training as
it is, so that every run measures them all: the first table has the greedy BLEU of the validation set with each kind of
weights, the second the scores of the test set (nmt-eval, beam search) with those that validated best. Mean and half of
the range over the seeds; "-" where a run has none of that kind. What is finished is not run again; a run that was
interrupted resumes. Another --set needs another --work.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import kept_results

SOURCE = pathlib.Path(__file__).resolve().parents[1]
CONFIG = SOURCE / "configs" / "positions_multi30k.yaml"

COMMON = {"model.positions": "rotary", "model.attention_dropout_rate": 0, "training.batch_size": 2048,
          "training.warmup_steps": 800, "training.num_epochs": 0, "training.max_minutes": 0, "training.ema_decay": 0.998,
          "training.average_checkpoints": 3, "training.average_best": 3}
VARIANTS = {
    "plain": {},
    "attention_dropout": {"model.attention_dropout_rate": 0.1},
    "bpe_dropout": {"training.bpe_dropout1": 0.1, "training.bpe_dropout2": 0.1},
    "rdrop": {"training.objective": "rdrop"},
    "simcut": {"training.objective": "simcut"},
}
KINDS = ("last", "moving average", "mean of the last", "mean of the best")


def run(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, cwd=SOURCE)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}")
    return done.stdout


def validated(folder, updates, average_checkpoints):
    """Greedy BLEU of the validation set after the last update, by kind of weights, of those that there are."""
    lines = [line.split("\t") for line in (folder / "validations.tsv").read_text().splitlines()]
    rows = [dict(zip(lines[0], line)) for line in lines[1:]]
    last = [row for row in rows if int(row["update"]) == updates]
    found = {}
    validations = sorted({int(row["update"]) for row in rows if not row["weights"]})
    standing = validations[-average_checkpoints:] if average_checkpoints > 1 else []
    for row in last:
        if not row["weights"]:
            found["last"] = float(row["bleu"])
        elif row["weights"].startswith("moving"):
            found["moving average"] = float(row["bleu"])
        else:
            averaged = [int(update) for update in row["weights"].removeprefix("average of updates ").split(", ")]
            found["mean of the last" if averaged == standing else "mean of the best"] = float(row["bleu"])
    if "mean of the last" in found:
        found.setdefault("mean of the best", found["mean of the last"])  # the last were the best: one mean for both
    return found


def folder_of(options, variant, seed):
    return options.work / f"{variant}-{options.updates}-{seed}"


def finished(options, variant, seed):
    return kept_results.read(folder_of(options, variant, seed).with_suffix(".json"), options.changes)


def train_and_score(options, variant, seed):
    """One run: {"BLEU", "chrF2", "minutes", "weights", "validated"}."""
    folder = folder_of(options, variant, seed)
    row = finished(options, variant, seed)
    if row is not None:
        return row
    changes = COMMON | VARIANTS[variant] | {
        "data.dir": options.work / "prepared", "run.dir": folder, "run.seed": seed,
        "training.max_updates": options.updates}
    settings = ["-c", CONFIG]
    for change in [f"{key}={value}" for key, value in changes.items()] + options.changes:
        settings += ["--set", change]
    if not (options.work / "prepared" / "manifest.json").exists():
        run(options.programs / "nmt-prepro", *settings)
    run(options.programs / "nmt-train", *settings)
    scores = run(options.programs / "nmt-eval", *settings, "-q").splitlines()
    checkpoint = max((folder / "checkpoints").iterdir(), key=lambda path: path.name)
    state = json.loads((checkpoint / "state.json").read_text())
    best = json.loads((folder / "best" / "model.json").read_text())["summary"]["weights"]
    averaged = int((changes | kept_results.settings_of(options.changes))["training.average_checkpoints"])
    row = {"minutes": state["seconds"] / 60, "weights": best, "validated": validated(folder, options.updates, averaged)}
    for name in ("BLEU", "chrF2"):
        row[name] = next(float(line.split(" = ")[1].split()[0]) for line in scores if line.startswith(name + "|"))
    kept_results.write(folder.with_suffix(".json"), row, options.changes)
    return row


def spread(values):
    if None in values:
        return "-"
    mean = sum(values) / len(values)
    return f"{mean:.2f}" + (f" ± {(max(values) - min(values)) / 2:.2f}" if len(values) > 1 else "")


def print_tables(results):
    def row(variant, cells):
        changes = ", ".join(f"`{key.split('.')[1]}: {value}`" for key, value in VARIANTS[variant].items())
        print(f"| {variant} | {changes or 'nothing'} | {' | '.join(cells)} |")

    print(f"| variant | changes | {' | '.join(KINDS)} |\n|{' --- |' * 6}")
    for variant, runs in results.items():
        row(variant, [spread([one["validated"].get(kind) for one in runs]) for kind in KINDS])
    print(f"\n| variant | changes | BLEU | chrF2 | minutes | weights |\n|{' --- |' * 6}")
    for variant, runs in results.items():
        weights = "; ".join(one["weights"].replace("average of updates", "mean of") or "last" for one in runs)
        row(variant, [spread([one[name] for one in runs]) for name in ("BLEU", "chrF2", "minutes")] + [weights])


def seed_list(text):
    return [int(seed) for seed in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "runs" / "ablation")
    parser.add_argument("--seeds", type=seed_list, default=[1, 2],
                        metavar="SEED,...")
    parser.add_argument("--updates", type=int, default=2080)
    parser.add_argument("--set", dest="changes", metavar="KEY=VALUE", action="append", default=[])
    parser.add_argument("variants", nargs="*", metavar="VARIANT", default=list(VARIANTS),
                        help=f"of {', '.join(VARIANTS)}")
    options = parser.parse_args()
    unknown = set(options.variants) - set(VARIANTS)
    if unknown:
        parser.error(f"no such variant: {', '.join(sorted(unknown))}; there are {', '.join(VARIANTS)}")
    options.programs, options.work = options.programs.resolve(), options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    for variant in options.variants:  # said before the first run, not after hours
        for seed in options.seeds:
            finished(options, variant, seed)
    print_tables({variant: [train_and_score(options, variant, seed) for seed in options.seeds]
                  for variant in options.variants})


if __name__ == "__main__":
    main()
