#!/usr/bin/env python3
"""What tagged back-translation brings where there are few pairs (Sennrich et al. 2016, Caswell et al. 2019). Prints a table.

    bench/data/back_translation.py --data tatoeba --work /tmp/bt [--pairs 5000] [--lines 40000] [--updates 10000] [--noise 0]
                                   [--search "--sampling --top-k 10 --beam-size 1"] [--upsample 4] [--programs build]

Every ninth pair of the training text is a pair, up to --pairs; of the others the English side alone is used, without lines
that equal, folded, one of the validation or test set or an earlier one's. A model from English to German, of the pairs
alone, translates them.
"""

import argparse
import pathlib
import sys

import synthetic

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from measuring import conditions  # noqa: E402


def monolingual(options, english, pairs):
    held_out = {synthetic.folded(line) for part in ("val", options.test)
                for line in synthetic.lines_of(options.data / f"{part}.en.gz")}
    lines = []
    for number, line in enumerate(english):
        if number not in pairs and synthetic.folded(line) not in held_out:
            lines.append(line)
    return lines[:options.lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    synthetic.add_options(parser)
    parser.add_argument("--test", default="test")
    parser.add_argument("--pairs", type=int, default=5000)
    parser.add_argument("--lines", type=int, default=40000)
    parser.add_argument("--upsample", type=float, default=4, help="how often an epoch has the pairs")
    parser.add_argument("--noise", type=float, default=0)
    parser.add_argument("--search", default="--sampling --top-k 10 --beam-size 1")
    options = parser.parse_args()
    bench, work = synthetic.Bench(options), options.work
    train = {side: synthetic.lines_of(options.data / f"train.{side}.gz") for side in synthetic.SIDES}
    chosen = list(range(8, len(train["de"]), 9))[:options.pairs]
    files = {side: work / f"pairs.{side}" for side in synthetic.SIDES}
    for side, path in files.items():
        synthetic.write_lines(path, [train[side][number] for number in chosen])
    lines = monolingual(options, train["en"], set(chosen))
    synthetic.write_lines(work / "mono.en", lines)

    bench.prepare("reverse", "en", "de", {"train1": [files["en"]], "train2": [files["de"]]})
    reverse = bench.train("reverse")
    noise = ["--noise", options.noise] if options.noise else []
    seconds = bench.run("nmt-translate", "-m", reverse, "-i", work / "mono.en", "--synthesize", work / "bt.tsv", "--tag",
                        "<BT>", "--seed", options.seed, "--threads", options.threads, *noise, *options.search.split())
    pairs = {"train1": [files["de"]], "train2": [files["en"]]}
    bench.prepare("alone", "de", "en", pairs)
    alone = bench.bleu(bench.train("alone"))
    symbols = ["--set", "data.user_symbols=[<BT>]"]
    bench.prepare("tagged", "de", "en", pairs | {"train_tsv": [work / "bt.tsv"]}, symbols)
    tagged = bench.bleu(bench.train("tagged", [*symbols, "--set", f"training.corpus_weights=[{options.upsample}, 1]"]))
    print(f"{conditions(options.threads, 1)}; {len(lines):,} lines translated in {seconds:,.0f} s by {options.search}\n")
    print(f"| training text | BLEU |\n| -- | -- |\n| {len(chosen):,} pairs | {alone:.2f} |")
    print(f"| the same and {len(lines):,} tagged back-translations | {tagged:.2f} ({tagged - alone:+.2f}) |")


if __name__ == "__main__":
    main()
