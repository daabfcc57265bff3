#!/usr/bin/env python3
"""Target tokens a second of training, ours and other toolkits', one after the other. Prints Markdown tables.

    bench/training/compare.sh --peers DIR [--size small|base] [--rounds 3] [--programs build] [--work runs/compare] [NAME ...]

DIR is a folder with the environment `venv` of the other toolkits, their configurations (opennmt_small.yaml, ...),
eager_pytorch.py, and Multi30k German-English as m30k/{train,val}.{de,en} with the 8,000-piece model m30k/spm8k.model.
All train the same model on the same pieces: 4,096 padded tokens a batch, dropout 0.1, smoothing 0.1, tied embeddings.
Tokens are real target tokens with </s>. A program's speed is that of its updates after the first ones, in which
buffers are made. With several rounds the programs take turns; ratios are of the medians. NAME: ours-bf16 ours-fp32 opennmt joeynmt pytorch-bf16 pytorch-fp32 (default: all that apply).
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "bench"))
from measuring import conditions, median, spread  # noqa: E402

SIZES = {"small": {"d_model": 256, "d_ff": 1024, "num_blocks": 3, "num_heads": 4},
         "base": {"d_model": 512, "d_ff": 2048, "num_blocks": 6, "num_heads": 8}}
# Updates of each program: enough for a steady figure, few enough to wait for; the slow ones do less.
UPDATES = {"small": {"ours-bf16": 120, "ours-fp32": 80, "opennmt": 60, "joeynmt": 40, "pytorch-bf16": 60,
                     "pytorch-fp32": 50},
           "base": {"ours-bf16": 50, "ours-fp32": 30, "opennmt": 30, "joeynmt": 30, "pytorch-bf16": 30,
                    "pytorch-fp32": 30}}
EVERY = 10  # updates a figure
WARM_UP = 2  # figures that do not count

LABELS = {"ours-bf16": ("this toolkit", "bf16, float masters"), "ours-fp32": ("this toolkit", "fp32"),
          "opennmt": ("OpenNMT-py", "fp32"), "joeynmt": ("JoeyNMT", "fp32"),
          "pytorch-bf16": ("plain PyTorch", "bf16 autocast"), "pytorch-fp32": ("plain PyTorch", "fp32")}


class Interval:
    """Some updates: real target tokens, seconds, mean smoothed loss a token (None where a program prints another)."""

    def __init__(self, tokens, seconds, loss):
        self.tokens, self.seconds, self.loss = tokens, seconds, loss


def run(command, cwd, threads, done=None):
    """The output of a command; `done`, where given, sees it and says when it may end."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    process = subprocess.Popen([str(part) for part in command], cwd=cwd, env=environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    lines = []
    for line in process.stdout:
        lines.append(line)
        if done and done(lines):
            os.killpg(process.pid, signal.SIGTERM)
            break
    process.stdout.close()
    if process.wait() != 0 and not (done and done(lines)):
        sys.exit(f"{' '.join(map(str, command))}: exit code {process.returncode}\n{''.join(lines[-20:])}")
    return lines


def ours(options, size, precision, updates):
    peers = options.peers
    work = options.work / size
    config = work / "config.yaml"
    work.mkdir(parents=True, exist_ok=True)
    model = "".join(f"  {name}: {value}\n" for name, value in SIZES[size].items())
    m30k = peers / "m30k"
    config.write_text(f"""data:
  dir: {options.work / 'prepared'}
  train1: {m30k / 'train.de'}
  train2: {m30k / 'train.en'}
  eval1: {m30k / 'val.de'}
  eval2: {m30k / 'val.en'}
  spm_model1: {m30k / 'spm8k.model'}
model:
{model}  norm: pre
  dropout_rate: 0.1
training:
  batch_type: tokens
  batch_size: 4096
  num_epochs: 0
  max_updates: {updates}
  lr: 1
  schedule: noam
  warmup_steps: 400
  adam_beta2: 0.98
  smoothing: 0.1
  checkpoint_every: 1000000
validation:
  every: 1000000
run:
  dir: {work / precision}
  precision: {precision}
  threads: {options.threads}
  log_every: {EVERY}
  tensorboard: false
""")
    if not (options.work / "prepared" / "manifest.json").exists():
        run([options.programs / "nmt-prepro", "-c", config], SOURCE, options.threads)
    run([options.programs / "nmt-train", "-c", config, "--restart"], SOURCE, options.threads)
    intervals, tokens = [], 0
    for line in (work / precision / "metrics.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if "target_tokens_per_second" not in entry:
            continue
        new = entry["target_tokens"] - tokens
        tokens = entry["target_tokens"]
        intervals.append(Interval(new, new / entry["target_tokens_per_second"], entry["loss"]))
    return intervals


def opennmt(options, size, updates):
    config = options.peers / f"compare_opennmt_{size}.yaml"
    text = (options.peers / f"opennmt_{size}.yaml").read_text()
    text = re.sub(r"train_steps: \d+", f"train_steps: {updates}", text)
    config.write_text(re.sub(r"report_every: \d+", f"report_every: {EVERY}", text))
    lines = run([options.peers / "venv/bin/onmt_train", "-config", config], options.peers, options.threads)
    found = [re.search(r"xent:\s*([\d.]+).*bsz:\s*\d+/\s*(\d+)/.*?\d+/(\d+) tok/s", line) for line in lines]
    found = [match.groups() for match in found if match]
    return [Interval(int(batch) * EVERY, int(batch) * EVERY / int(speed), float(loss)) for loss, batch, speed in found]


def joeynmt(options, size, updates):
    config = options.peers / f"compare_joeynmt_{size}.yaml"
    text = (options.peers / "joeynmt_small.yaml").read_text()
    for key, name in (("embedding_dim", "d_model"), ("hidden_size", "d_model"), ("ff_size", "d_ff"),
                      ("num_layers", "num_blocks"), ("num_heads", "num_heads")):
        text = re.sub(rf"\b{key}: \d+", f"{key}: {SIZES[size][name]}", text)
    config.write_text(re.sub(r"logging_freq: \d+", f"logging_freq: {EVERY}", text))
    pattern = re.compile(r"Step:\s*\d+.*Tokens per Sec:\s*(\d+)")
    lines = run([options.peers / "venv/bin/python", "-m", "joeynmt", "train", config, "--skip-test"], options.peers,
                options.threads, lambda seen: sum(bool(pattern.search(line)) for line in seen) >= updates // EVERY)
    speeds = [int(match.group(1)) for match in map(pattern.search, lines) if match]
    return [Interval(speed, 1.0, None) for speed in speeds]  # it prints no smoothed loss and no number of tokens


def pytorch(options, size, precision, updates):
    sizes = SIZES[size]
    lines = run([options.peers / "venv/bin/python", "eager_pytorch.py", "--precision", precision, "--dim",
                 sizes["d_model"], "--ff", sizes["d_ff"], "--heads", sizes["num_heads"], "--layers",
                 sizes["num_blocks"], "--updates", updates, "--threads", options.threads], options.peers,
                options.threads)
    found = [re.search(r"loss ([\d.]+) target tok/s (\d+)", line) for line in lines]
    return [Interval(int(match.group(2)), 1.0, None) for match in found if match]  # its loss is of one batch, its rate


def measure(options, name, size):
    updates = UPDATES[size][name]
    if name.startswith("ours"):
        return ours(options, size, name.split("-")[1], updates)
    if name.startswith("pytorch"):
        return pytorch(options, size, name.split("-")[1], updates)
    return opennmt(options, size, updates) if name == "opennmt" else joeynmt(options, size, updates)


def speed(intervals):
    steady = intervals[WARM_UP:]
    return sum(i.tokens for i in steady) / sum(i.seconds for i in steady)


def loss_after(intervals, tokens):
    """The loss of the interval in which so many target tokens were reached; None where there is no comparable loss."""
    reached = 0
    for interval in intervals:
        reached += interval.tokens
        if reached >= tokens:
            return interval.loss
    return None


def print_tables(rounds, size, options):
    """rounds: for each program the intervals of each of its runs."""
    speeds = {name: [speed(intervals) for intervals in runs] for name, runs in rounds.items()}
    print(f"\n{size}: {conditions(options.threads, options.rounds)}\n")
    others = [name for name in ("opennmt", "joeynmt") if name in speeds]
    print("| program | precision | target tokens/s |" + "".join(f" x {LABELS[name][0]} |" for name in others))
    print("| --- | --- | --- |" + " --- |" * len(others))
    for name, values in speeds.items():
        ratios = "".join(f" {median(values) / median(speeds[other]):.2f} |" for other in others)
        print(f"| {LABELS[name][0]} | {LABELS[name][1]} | {spread(values)} |{ratios}")
    print_losses({name: runs[0] for name, runs in rounds.items()})


def print_losses(results):
    with_loss = {name: i for name, i in results.items() if i and i[-1].loss is not None}
    if len(with_loss) > 1:
        common = min(sum(i.tokens for i in intervals) for intervals in with_loss.values())
        marks = [round(common * part / 4) for part in (1, 2, 3, 4)]
        print("\nLoss (smoothed, nats a token) after so many target tokens, mean of 10 updates:\n")
        print("| program |" + "".join(f" {mark:,} |" for mark in marks))
        print("| --- |" + " --- |" * len(marks))
        for name, intervals in with_loss.items():
            losses = [loss_after(intervals, mark - 1) for mark in marks]
            print(f"| {' '.join(LABELS[name])} |" + "".join(f" {loss:.3f} |" for loss in losses))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=pathlib.Path, required=True)
    parser.add_argument("--programs", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "runs" / "compare_training")
    parser.add_argument("--size", choices=SIZES, action="append")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    for folder in ("peers", "programs", "work"):
        setattr(options, folder, getattr(options, folder).resolve())
    if unknown := [name for name in options.names if name not in LABELS]:
        parser.error(f"{unknown[0]}: none of {' '.join(LABELS)}")
    for size in options.size or SIZES:
        names = [name for name in options.names or UPDATES[size] if name in UPDATES[size]]
        rounds = {name: [] for name in names}
        for number in range(options.rounds):
            for name in names:
                rounds[name].append(measure(options, name, size))
                print(f"{size} round {number + 1}, {name}: {speed(rounds[name][-1]):,.0f} target tokens/s", file=sys.stderr,
                      flush=True)
        print_tables(rounds, size, options)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
