#!/usr/bin/env python3
"""Training speed on a GPU: target tokens a second and the share of the card's peak, by size and precision.

    bench/training/gpu.sh --data DIR [--device cuda] [--peak-tflops 989] [--tokens 25000] [--updates 100]

DIR is what nmt-prepro has written for any corpus of some 100,000 pairs or more. Tokens are real ones, </s> counted. The
utilisation counts what the model needs and nothing else (no padding, no recomputation): 6 operations for each weight of
the encoder and each source token, for each weight of the decoder and of the output layer and each target token, plus
12 d_model for each pair of tokens that attention joins, a layer (PaLM, Chowdhery et al. 2022, appendix B).
--peak-tflops: the card's dense bf16 peak, in 10^12 operations a second; an H100 has 989.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SIZES = {"tiny": {"d_model": 16, "d_ff": 32, "num_blocks": 1, "num_heads": 2},  # to try this script with
         "small": {"d_model": 256, "d_ff": 1024, "num_blocks": 3, "num_heads": 4},
         "base": {"d_model": 512, "d_ff": 2048, "num_blocks": 6, "num_heads": 8},
         "big": {"d_model": 1024, "d_ff": 4096, "num_blocks": 6, "num_heads": 16}}
EVERY = 10  # updates a figure
WARM_UP = 3  # figures that do not count


def floating_point_operations(size, classes, source, target, pairs):
    """The operations of one update: `source` and `target` tokens in `pairs` sentence pairs of about the same length."""
    d, ff, blocks = size["d_model"], size["d_ff"], size["num_blocks"]
    encoder = blocks * (4 * d * d + 2 * d * ff)
    decoder = blocks * (8 * d * d + 2 * d * ff)
    s, t = source / pairs, target / pairs
    joined = pairs * (s * s + t * (t + 1) / 2 + s * t)  # by self-attention, causal self-attention, cross-attention
    # Keys and values of cross-attention are made for source tokens: their 2 d^2 weights of the decoder's 8.
    return (6 * (encoder + blocks * 2 * d * d) * source + 6 * (decoder - blocks * 2 * d * d + classes * d) * target +
            12 * d * blocks * joined)


def measure(options, manifest, size, precision, folder):
    """(target tokens, seconds, classes of the output layer)"""
    config = folder / "config.yaml"
    data = "".join(f"  {name}: {value}\n" for name, value in {**manifest["options"], "dir": options.data}.items())
    model = "".join(f"  {name}: {value}\n" for name, value in SIZES[size].items())
    config.write_text(f"""data:
{data}model:
{model}  dropout_rate: 0.1
training:
  batch_type: tokens
  batch_size: {options.tokens}
  num_epochs: 0
  max_updates: {options.updates}
  lr: 1
  schedule: noam
  warmup_steps: 4000
  smoothing: 0.1
  checkpoint_every: 1000000
validation:
  every: 1000000
  max_sentences: 1
run:
  dir: {folder / 'run'}
  device: {options.device}
  precision: {precision}
  log_every: {EVERY}
  tensorboard: false
""")
    done = subprocess.run([options.programs / "nmt-train", "-c", config, "--restart"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"gpu.sh: nothing measured: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    entries = [json.loads(line) for line in (folder / "run" / "metrics.jsonl").read_text().splitlines()]
    entries = [entry for entry in entries if "target_tokens_per_second" in entry]
    tokens = seconds = 0
    for before, entry in zip(entries[WARM_UP - 1:], entries[WARM_UP:]):
        new = entry["target_tokens"] - before["target_tokens"]
        tokens += new
        seconds += new / entry["target_tokens_per_second"]
    description = json.loads(next((folder / "run" / "checkpoints").glob("*/model.json")).read_text())
    return tokens, seconds, description["target_vocabulary"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--programs", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--peak-tflops", type=float, default=989)
    parser.add_argument("--tokens", type=int, default=25000, help="padded tokens of a batch")
    parser.add_argument("--updates", type=int, default=100)
    parser.add_argument("--size", choices=SIZES, action="append")
    parser.add_argument("--precision", choices=["bf16", "fp16", "fp32"], action="append")
    options = parser.parse_args()
    options.programs = options.programs.resolve()
    if options.updates < EVERY * (WARM_UP + 1):
        parser.error(f"--updates {options.updates}: {EVERY * (WARM_UP + 1)} or more, the first ones do not count")
    options.data = options.data.resolve()
    manifest = json.loads((options.data / "manifest.json").read_text())
    train = next(split for split in manifest["splits"] if split["name"] == "train")
    all_target = train["target_pieces"] + train["pairs"]  # with </s>
    source_share, pair_share = (train["source_pieces"] + train["pairs"]) / all_target, train["pairs"] / all_target
    print(f"| size | precision | target tokens/s | share of {options.peak_tflops:g} TFLOP/s |\n"
          "| --- | --- | --- | --- |", flush=True)
    for size in options.size or ("small", "base", "big"):
        for precision in options.precision or ["bf16", "fp32"]:
            with tempfile.TemporaryDirectory() as folder:
                tokens, seconds, classes = measure(options, manifest, size, precision, pathlib.Path(folder))
            work = floating_point_operations(SIZES[size], classes, tokens * source_share, tokens, tokens * pair_share)
            print(f"| {size} | {precision} | {tokens / seconds:,.0f} | {work / seconds / options.peak_tflops / 1e12:.1%} |",
                  flush=True)


if __name__ == "__main__":
    main()
