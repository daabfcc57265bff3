#!/usr/bin/env python3
"""One model between English and German, French and Czech in both directions beside bilingual ones. Prints a table.

    bench/data/several_languages.py --data multi30k --work /tmp/languages [--updates 10000] [--into-english 0.5]
                                    [--settings SECTION.KEY=VALUE ...]

The preset multi30k_best with data.tags, a share of the pairs into English and a rate that falls linearly to nothing; BLEU of
the validation sets (there is no French or Czech test set), and from French to German, which no corpus has. docs/results.md
has the bilingual models.
"""

import argparse
import json
import pathlib
import sys

import synthetic

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from measuring import conditions  # noqa: E402

PRESET = pathlib.Path(__file__).resolve().parents[2] / "configs" / "multi30k_best.yaml"
OTHERS = ("de", "fr", "cs")
PAIRS = [*((other, "en") for other in OTHERS), *(("en", other) for other in OTHERS)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    synthetic.add_options(parser)
    parser.add_argument("--into-english", type=float, default=0.5, help="share of the training pairs")
    parser.add_argument("--settings", nargs="*", default=[])
    options = parser.parse_args()
    bench, work, data = synthetic.Bench(options), options.work, options.data
    shares = {}
    for pair in PAIRS:  # a stage names a corpus by its file, so each has a file of its own
        name = "-".join(pair)
        shares[name] = (options.into_english if pair[1] == "en" else 1 - options.into_english) / len(OTHERS)
        for code in pair:
            (work / f"{name}.{code}.gz").unlink(missing_ok=True)
            (work / f"{name}.{code}.gz").symlink_to((data / f"train.{code}.gz").resolve())
    sides = {f"train{side}": ", ".join(f"{work}/{'-'.join(pair)}.{pair[side - 1]}.gz" for pair in PAIRS) for side in (1, 2)}
    stage = ", ".join(f"{name}: {share:.4f}" for name, share in shares.items())
    sets = [pair for pair in PAIRS if pair[1] == "en"] + [("en", "de")]
    rows = "".join(f"    - {{name: {a}-{b}, languages: {a}-{b}, source: {data}/val.{a}.gz, target: {data}/val.{b}.gz}}\n" for a, b in sets)
    (work / "all.yaml").write_text(
        f"base: {PRESET}\ndata:\n  dir: {work}/all.data\n  train1: [{sides['train1']}]\n  train2: [{sides['train2']}]\n"
        f"  languages: [{', '.join('-'.join(pair) for pair in PAIRS)}]\n  tags: target\n  eval1: ''\n  eval2: ''\n  test1: ''\n  test2: ''\n  eval:\n{rows}"
        f"training:\n  schedule: linear\n  decay_updates: {options.updates}\n  stages: [{{shares: {{{stage}}}}}]\n"
        f"validation: {{best_of: mean, every: {max(1, options.updates // 10)}}}\nrun: {{dir: {work}/all, threads: {options.threads}, seed: {options.seed}, tensorboard: false}}\n",
        encoding="utf-8")
    settings = [word for setting in options.settings for word in ("--set", setting)]
    bench.run("nmt-prepro", "-c", work / "all.yaml", "--overwrite", *settings)
    model = bench.train("all", settings)
    print(f"{conditions(options.threads, 1)}\n\n| pair | BLEU, validation set |\n| -- | -- |")
    for source, target in [*PAIRS, ("fr", "de")]:
        bench.run("nmt-eval", "-m", model, "--source", data / f"val.{source}.gz", "--reference", data / f"val.{target}.gz",
                  "--target-language", target, "--no-loss", "--report", work / "pair.json", "--threads", options.threads)
        score = json.loads((work / "pair.json").read_text(encoding="utf-8"))["systems"][0]["scores"][0]["score"]
        print(f"| {source} to {target} | {score:.2f} |", flush=True)


if __name__ == "__main__":
    main()
