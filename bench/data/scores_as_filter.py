#!/usr/bin/env python3
"""Scores of models and of the aligner as a filter: of a text in which a share of the pairs is spoiled in seven ways, how many
of them each score finds, and BLEU with and without it. Prints two tables.

    bench/data/scores_as_filter.py --data multi30k --work /tmp/scores [--spoiled 0.3] [--updates 10000] [--scoring-updates 5000]
                                   [--programs build]

The models that score are trained on the spoiled text itself, one in each direction. As many trainings run side by side as
there are --threads, each with one thread. --data also has train.fr.gz, line by line. Precision: the spoiled among those that
are dropped; recall: those that are dropped among the spoiled.
"""

import argparse
import concurrent.futures
import pathlib
import random
import sys

import synthetic

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from measuring import conditions  # noqa: E402

KINDS = ("other target", "cut target", "copied source", "copied target", "French target", "mixed words", "joined target")


def spoiled(kind, number, train, chance):
    """The two sides of a pair that does not say the same."""
    source, target = train["de"][number], train["en"][number]
    other = train["en"][chance.randrange(len(train["en"]))]
    words = target.split()
    chance.shuffle(words)
    return {"other target": (source, other), "cut target": (source, " ".join(target.split()[:max(1, len(words) // 4)])),
            "copied source": (source, source), "copied target": (target, target), "French target": (source, train["fr"][number]),
            "mixed words": (source, " ".join(words)), "joined target": (source, f"{target} {other}")}[kind]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    synthetic.add_options(parser)
    parser.add_argument("--test", default="test_2016_flickr")
    parser.add_argument("--spoiled", type=float, default=0.3)
    parser.add_argument("--scoring-updates", type=int, default=5000, help="of training each model that scores")
    options = parser.parse_args()
    side_by_side = concurrent.futures.ThreadPoolExecutor(options.threads)
    options.threads = 1
    bench, work = synthetic.Bench(options), options.work
    train = {side: synthetic.lines_of(options.data / f"train.{side}.gz") for side in (*synthetic.SIDES, "fr")}
    chance = random.Random(options.seed)
    size = len(train["de"])
    kinds = {number: KINDS[place % len(KINDS)]
             for place, number in enumerate(chance.sample(range(size), round(size * options.spoiled)))}
    pairs = [spoiled(kinds[number], number, train, chance) if number in kinds else (train["de"][number], train["en"][number])
             for number in range(size)]
    for place, side in enumerate(synthetic.SIDES):
        synthetic.write_lines(work / f"noisy.{side}", [pair[place] for pair in pairs])
    texts = {"train1": [work / "noisy.de"], "train2": [work / "noisy.en"]}
    all_pairs = ["--set", "data.drop_duplicates=false", "--set", "data.drop_test_overlap=false", "--set", "data.alignment=true"]
    bench.prepare("noisy", "de", "en", texts, all_pairs)
    bench.prepare("reverse", "en", "de", {"train1": texts["train2"], "train2": texts["train1"]})
    short = ["--set", f"training.max_updates={options.scoring_updates}"]

    def score(name, settings, folder):
        """Trains a model and writes its column of scores; the seconds of the latter."""
        model = bench.train(name, settings, folder)
        return bench.run("nmt-translate", "-m", model, "--score-corpus", work / "noisy.data", "--threads", options.threads)

    seconds = list(side_by_side.map(score, ("noisy", "reverse"), ([*all_pairs, *short], short), ("scoring", "reverse")))

    scores = {}
    for name in ("forward", "backward", "aligner"):
        scores[name] = [float(line) for line in synthetic.lines_of(work / "noisy.data" / f"{name}.scores")[1:]]
        if len(scores[name]) != size:
            raise SystemExit(f"{name}: {len(scores[name])} scores for {size} pairs")
    scores["dual"] = [(f + b) / 2 - abs(f - b) for f, b in zip(scores["forward"], scores["backward"])]
    print(f"{conditions(options.threads, 1)}; {size:,} pairs scored in {seconds[0]:,.0f} and {seconds[1]:,.0f} s\n")
    print(f"| score | precision | recall | {' | '.join(KINDS)} |\n|{' -- |' * (3 + len(KINDS))}")
    for name, values in scores.items():
        dropped = sorted(range(size), key=values.__getitem__)[:len(kinds)]
        found = {kind: sum(kinds.get(number) == kind for number in dropped) for kind in KINDS}
        counts = [f"{100 * found[kind] / sum(one == kind for one in kinds.values()):.0f} %" for kind in KINDS]
        right = sum(found.values())
        print(f"| {name} | {100 * right / len(dropped):.1f} % | {100 * right / len(kinds):.1f} % | {' | '.join(counts)} |")

    share = 1 - options.spoiled
    trainings = {"all pairs": [], **{f"keep_best {name} {share:g}": ["--set", f"data.keep_best={name} {share:g}"] for name in scores},
                 "pair_weights dual": ["--set", "training.pair_weights=dual"]}

    def measured(title):
        return bench.bleu(bench.train("noisy", [*all_pairs, *trainings[title]], title.replace(" ", "_")))

    print("\n| training | BLEU |\n| -- | -- |", flush=True)
    for title, score in zip(trainings, side_by_side.map(measured, trainings)):
        print(f"| {title} | {score:.2f} |", flush=True)


if __name__ == "__main__":
    main()
