#!/usr/bin/env python3
"""What each part of the quality kit brings: one small model on Multi30k, equal updates. Prints a Markdown table.

    scripts/ablation_table.py [--programs build] [--work runs/ablation] [--seeds 1 2] [--updates 3000]
                              [--set KEY=VALUE ...] [VARIANT ...]

The plain model is configs/multi30k_de_en.yaml without averaging and without dropout on attention weights; every variant
changes what its row names. BLEU and chrF2 are those of the test set, by nmt-eval; mean and half of the range over the
seeds. What is finished is not run again; a run that was interrupted goes on.
"""

import argparse
import json
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
CONFIG = SOURCE / "configs" / "multi30k_de_en.yaml"

PLAIN = {"training.average_checkpoints": 0, "model.attention_dropout_rate": 0, "training.num_epochs": 0}
VARIANTS = {
    "plain": {},
    "attention_dropout": {"model.attention_dropout_rate": 0.1},
    "rdrop": {"training.objective": "rdrop"},
    "simcut": {"training.objective": "simcut"},
    "bpe_dropout": {"training.bpe_dropout1": 0.1, "training.bpe_dropout2": 0.1},
    "ema": {"training.ema_decay": 0.999},
    "average_last": {"training.average_checkpoints": 5},
    "average_best": {"training.average_best": 5},
    "all_with_rdrop": {"model.attention_dropout_rate": 0.1, "training.objective": "rdrop", "training.bpe_dropout1": 0.1,
                       "training.bpe_dropout2": 0.1, "training.ema_decay": 0.999, "training.average_checkpoints": 5},
}


def run(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, cwd=SOURCE)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}")
    return done.stdout


def train_and_score(options, variant, seed):
    """One run: {"BLEU", "chrF2", "minutes", "best"}."""
    folder = options.work / f"{variant}-{options.updates}-{seed}"
    result = folder.with_suffix(".json")
    if result.exists():
        return json.loads(result.read_text())
    changes = PLAIN | VARIANTS[variant] | {
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
    row = {"minutes": state["seconds"] / 60, "best": best}
    for name in ("BLEU", "chrF2"):
        row[name] = next(float(line.split(" = ")[1].split()[0]) for line in scores if line.startswith(name + "|"))
    result.write_text(json.dumps(row))
    return row


def spread(values):
    mean = sum(values) / len(values)
    return f"{mean:.2f}" + (f" ± {(max(values) - min(values)) / 2:.2f}" if len(values) > 1 else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "runs" / "ablation")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--updates", type=int, default=3000)
    parser.add_argument("--set", dest="changes", metavar="KEY=VALUE", action="append", default=[])
    parser.add_argument("variants", nargs="*", metavar="VARIANT", default=list(VARIANTS),
                        help=f"of {', '.join(VARIANTS)}")
    options = parser.parse_args()
    unknown = set(options.variants) - set(VARIANTS)
    if unknown:
        parser.error(f"no such variant: {', '.join(sorted(unknown))}; there are {', '.join(VARIANTS)}")
    options.programs, options.work = options.programs.resolve(), options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    print("| variant | changes | BLEU | chrF2 | minutes | best weights |\n| --- | --- | --- | --- | --- | --- |",
          flush=True)
    for variant in options.variants:
        rows = [train_and_score(options, variant, seed) for seed in options.seeds]
        changes = ", ".join(f"`{key.split('.')[1]}: {value}`" for key, value in VARIANTS[variant].items())
        best = "; ".join(row["best"].replace("average of updates", "average of") for row in rows)
        print(f"| {variant} | {changes or 'none'} | {spread([row['BLEU'] for row in rows])} | "
              f"{spread([row['chrF2'] for row in rows])} | {spread([row['minutes'] for row in rows])} | {best} |", flush=True)


if __name__ == "__main__":
    main()
