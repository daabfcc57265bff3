#!/usr/bin/env python3
"""One model between English and German, French and Czech in both directions beside bilingual ones. Prints a table.

    bench/data/several_languages.py --data multi30k --work /tmp/languages [--updates 10000] [--into-english 0.5]
                                    [--synthetic-updates 600]

The preset multi30k_best with data.tags, a share of the pairs into English and a rate that falls linearly to nothing; BLEU of
the validation sets (there is no French or Czech test set), and from French to German, which no corpus has; the same after
--synthetic-updates more with text for that, the English side translated by the model itself. docs/results.md has the
bilingual models.
"""

import argparse
import gzip
import json
import pathlib
import sys

import synthetic

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from measuring import conditions  # noqa: E402

PRESET = pathlib.Path(__file__).resolve().parents[2] / "configs" / "multi30k_best.yaml"
OTHERS = ("de", "fr", "cs")
PAIRS = [*((other, "en") for other in OTHERS), *(("en", other) for other in OTHERS)]


WITHOUT_TEXT = ("fr", "de")


def link_text(options, pair, code):
    """One side of a corpus under the pair's name: a stage names a corpus by its file, so each has a file of its own."""
    link = options.work / f"{'-'.join(pair)}.{code}.gz"
    link.unlink(missing_ok=True)
    link.symlink_to((options.data / f"train.{code}.gz").resolve())


def write_config(options, name, shares, lines):
    """Writes WORK/NAME.yaml: the preset with the pairs of languages in the given shares, and lines of its own."""
    work, data = options.work, options.data
    for pair in PAIRS:
        for code in pair:
            link_text(options, pair, code)
    sides = [", ".join(f"{work}/{'-'.join(pair)}.{pair[side]}.gz" for pair in shares) for side in (0, 1)]
    sets = [pair for pair in PAIRS if pair[1] == "en"] + [("en", "de")] + [pair for pair in shares if pair not in PAIRS]
    stage = ", ".join(f"{'-'.join(pair)}: {share:.4f}" for pair, share in shares.items())
    (work / f"{name}.yaml").write_text(
        f"base: {PRESET}\ndata:\n  dir: {work}/{name}.data\n  train1: [{sides[0]}]\n  train2: [{sides[1]}]\n"
        f"  languages: [{', '.join('-'.join(pair) for pair in shares)}]\n  tags: target\n"
        "  eval1: ''\n  eval2: ''\n  test1: ''\n  test2: ''\n  eval:\n"
        + "".join(f"    - {{name: {a}-{b}, languages: {a}-{b}, source: {data}/val.{a}.gz, target: {data}/val.{b}.gz}}\n" for a, b in sets)
        + f"training:\n  schedule: linear\n  stages: [{{shares: {{{stage}}}}}]\n{lines}"
        f"run: {{dir: {work}/{name}, threads: {options.threads}, seed: {options.seed}, tensorboard: false}}\n", encoding="utf-8")


def print_table(bench, model):
    options = bench.options
    print(f"{conditions(options.threads, 1)}\n\n| pair | BLEU, validation set |\n| -- | -- |")
    for source, target in [*PAIRS, WITHOUT_TEXT]:
        bench.run("nmt-eval", "-m", model, "--source", options.data / f"val.{source}.gz", "--reference", options.data / f"val.{target}.gz",
                  "--target-language", target, "--no-loss", "--report", options.work / "pair.json", "--threads", options.threads)
        score = json.loads((options.work / "pair.json").read_text(encoding="utf-8"))["systems"][0]["scores"][0]["score"]
        print(f"| {source} to {target} | {score:.2f} |", flush=True)


def with_synthetic_text(bench, model, shares):
    """The model after --synthetic-updates in which a tenth of the pairs have their German from its own translation."""
    options, work = bench.options, bench.options.work
    source, target = WITHOUT_TEXT
    name = "-".join(WITHOUT_TEXT)
    bench.run("nmt-translate", "-m", model, "-q", "-i", options.data / "train.en.gz", "-o", work / "translated.txt",
              "--target-language", target, "--beam-size", 1, "--threads", options.threads)
    (work / f"{name}.{target}.gz").write_bytes(gzip.compress((work / "translated.txt").read_bytes()))
    link_text(options, WITHOUT_TEXT, source)
    every = max(1, options.synthetic_updates // 2)
    write_config(options, "more", {**{pair: 0.9 * share for pair, share in shares.items()}, WITHOUT_TEXT: 0.1},
                 f"  lr: 0.0005\n  warmup_steps: 100\n  decay_updates: {options.synthetic_updates}\n"
                 f"validation: {{best_of: mean, every: {every}}}\n")
    bench.run("nmt-prepro", "-c", work / "more.yaml", "--overwrite", "--from-model", model)
    bench.run("nmt-train", "-c", work / "more.yaml", "--restart", "--from-model", model, "--set",
              f"training.max_updates={options.synthetic_updates}", "--set", "training.num_epochs=0")
    return work / "more" / "best"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    synthetic.add_options(parser)
    parser.add_argument("--into-english", type=float, default=0.5, help="share of the training pairs")
    parser.add_argument("--synthetic-updates", type=int, default=0)
    options = parser.parse_args()
    bench = synthetic.Bench(options)
    shares = {pair: (options.into_english if pair[1] == "en" else 1 - options.into_english) / len(OTHERS) for pair in PAIRS}
    write_config(options, "all", shares, f"  decay_updates: {options.updates}\n"
                 f"validation: {{best_of: mean, every: {max(1, options.updates // 10)}}}\n")
    bench.run("nmt-prepro", "-c", options.work / "all.yaml", "--overwrite")
    model = bench.train("all")
    print_table(bench, model)
    if options.synthetic_updates > 0:
        print()
        print_table(bench, with_synthetic_text(bench, model, shares))


if __name__ == "__main__":
    main()
