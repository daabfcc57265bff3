#!/usr/bin/env python3
"""Rules, scores of models and those of the aligner as a filter: of a text in which a share of the pairs is spoiled in seven ways,
how many of them each finds, and BLEU with and without it. Prints two tables.

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


def noisy_text(options):
    """Writes WORK/noisy.{de,en,tsv}; {number of a spoiled pair: kind}, and how many pairs there are."""
    train = {side: synthetic.lines_of(options.data / f"train.{side}.gz") for side in (*synthetic.SIDES, "fr")}
    chance = random.Random(options.seed)
    size = len(train["de"])
    kinds = {number: KINDS[place % len(KINDS)]
             for place, number in enumerate(chance.sample(range(size), round(size * options.spoiled)))}
    pairs = [spoiled(kinds[number], number, train, chance) if number in kinds else (train["de"][number], train["en"][number])
             for number in range(size)]
    options.work.mkdir(parents=True, exist_ok=True)
    for place, side in enumerate(synthetic.SIDES):
        synthetic.write_lines(options.work / f"noisy.{side}", [pair[place] for pair in pairs])
    synthetic.write_lines(options.work / "noisy.tsv", ["\t".join(side.replace("\t", " ") for side in pair) for pair in pairs])
    return kinds, size


def dropped_by_rules(bench):
    """{number of a pair: the rule that drops it}."""
    bench.run("nmt-prepro", "--clean", bench.work / "noisy.tsv", bench.work / "clean.tsv",
              *(f"--set=data.{option}" for option in ("clean=all", "max_length_ratio=3", "source_language=de", "target_language=en")))
    rows = (line.split("\t", 3) for line in synthetic.lines_of(bench.work / "clean.dropped.tsv"))
    return {int(row[0]) - 1: row[2] for row in rows}


def scores_of(folder, size):
    """{score: one for each pair}, as nmt-train computes `dual`."""
    scores = {}
    for name in ("forward", "backward", "aligner"):
        scores[name] = [float(line) for line in synthetic.lines_of(folder / f"{name}.scores")[1:]]
        if len(scores[name]) != size:
            raise SystemExit(f"{name}: {len(scores[name])} scores for {size} pairs")
    scores["dual"] = [(f + b) / 2 - abs(f - b) for f, b in zip(scores["forward"], scores["backward"])]
    return scores


def print_found(rules, scores, kinds):
    """The table of what each finds; a score drops as many pairs as are spoiled."""
    def worst(score, already=()):
        rest = [number for number in range(len(score)) if number not in already]
        return [*already, *sorted(rest, key=score.__getitem__)[:len(kinds) - len(already)]]

    dropped = {f"rule {rule}": [number for number, by in rules.items() if by == rule] for rule in dict.fromkeys(rules.values())}
    dropped = {name: numbers for name, numbers in dropped.items() if len(numbers) >= 100}
    dropped |= {"all rules": list(rules), **{name: worst(score) for name, score in scores.items()},
                "all rules, then dual": worst(scores["dual"], rules)}
    print(f"| filter | pairs | precision | recall | {' | '.join(KINDS)} |\n|{' -- |' * (4 + len(KINDS))}")
    for name, numbers in dropped.items():
        found = {kind: sum(kinds.get(number) == kind for number in numbers) for kind in KINDS}
        counts = [f"{100 * found[kind] / sum(one == kind for one in kinds.values()):.0f} %" for kind in KINDS]
        right = sum(found.values())
        print(f"| {name} | {len(numbers):,} | {100 * right / len(numbers):.1f} % | {100 * right / len(kinds):.1f} % | {' | '.join(counts)} |")


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
    kinds, size = noisy_text(options)
    rules = dropped_by_rules(bench)
    all_pairs = ["--set", "data.drop_duplicates=false", "--set", "data.drop_test_overlap=false", "--set", "data.alignment=true"]
    noisy = {"train1": [work / "noisy.de"], "train2": [work / "noisy.en"]}
    bench.prepare("noisy", "de", "en", noisy, all_pairs)
    bench.prepare("reverse", "en", "de", {"train1": noisy["train2"], "train2": noisy["train1"]})
    bench.prepare("clean", "de", "en", {"train1": [], "train2": [], "train_tsv": [work / "clean.tsv"]}, all_pairs)
    short = ["--set", f"training.max_updates={options.scoring_updates}"]

    def score(name, settings, folder):
        """Trains a model and writes its columns of scores; the seconds of that of the whole text."""
        model = bench.train(name, settings, folder)
        bench.run("nmt-translate", "-m", model, "--score-corpus", work / "clean.data", "--threads", 1)
        return bench.run("nmt-translate", "-m", model, "--score-corpus", work / "noisy.data", "--threads", 1)

    seconds = list(side_by_side.map(score, ("noisy", "reverse"), ([*all_pairs, *short], short), ("scoring", "reverse")))
    scores = scores_of(work / "noisy.data", size)
    print(f"{conditions(options.threads, 1)}; {size:,} pairs scored in {seconds[0]:,.0f} and {seconds[1]:,.0f} s\n")
    print_found(rules, scores, kinds)

    share = 1 - options.spoiled
    trainings = {"all pairs": ("noisy", []),
                 **{f"keep_best {name} {share:g}": ("noisy", ["--set", f"data.keep_best={name} {share:g}"]) for name in scores},
                 "pair_weights dual": ("noisy", ["--set", "training.pair_weights=dual"]), "all rules": ("clean", [])}
    rest = (size - len(kinds)) / (size - len(rules))
    trainings[f"all rules, keep_best dual {rest:.3f}"] = ("clean", ["--set", f"data.keep_best=dual {rest:.3f}"])

    def measured(title):
        name, settings = trainings[title]
        return bench.bleu(bench.train(name, [*all_pairs, *settings], title.replace(" ", "_").replace(",", "")))

    print("\n| training | BLEU |\n| -- | -- |", flush=True)
    for title, bleu in zip(trainings, side_by_side.map(measured, trainings)):
        print(f"| {title} | {bleu:.2f} |", flush=True)


if __name__ == "__main__":
    main()
