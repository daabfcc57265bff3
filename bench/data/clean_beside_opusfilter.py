#!/usr/bin/env python3
"""100,000 noisy pairs through `nmt-prepro --clean` and OpusFilter with the same rules, in turns: what each drops, how long it takes.

    bench/data/clean_beside_opusfilter.py --shared DIR --opusfilter VENV [--programs build] [--rounds 3]

The pairs are captions, sentences of Tatoeba and of Europarl (DIR/data), a tenth of them spoiled in nine ways. VENV has
`pip install opusfilter==3.3.1 pycld2==0.42`. Both programs run on one thread; OpusFilter gets the thresholds of data.clean as
far as its filters have them.
"""
import argparse
import collections
import gzip
import itertools
import json
import os
import random
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from compare import run  # noqa: E402
from measuring import conditions, median, spread  # noqa: E402

ADDRESS = r"(?i)https?://|www\.|\w@\w+\.\w"
SPOILED = ("target copied", "French target", "shuffled", "cut to a quarter", "address", "digits and signs", "other number",
           "one letter repeated", "near duplicate")


def lines(folder, name):
    with gzip.open(folder / f"{name}.gz", "rt", encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def written(file):
    return file.read_text(encoding="utf-8").split("\n")[:-1]


def noisy_pairs(data, count):
    """[(source, target, kind)], `count` of them, German to English."""
    dice = random.Random(7)
    rows = [pair for corpus in ("multi30k", "tatoeba", "europarl")
            for pair in zip(lines(data / corpus, "train.de"), lines(data / corpus, "train.en"))]
    french = iter(lines(data / "multi30k", "train.fr"))
    dice.shuffle(rows)
    good = rows[:count * 9 // 10]
    others = itertools.cycle(good)

    def spoil(kind, number):
        source, target = next(others)
        words = target.split()
        return {"target copied": (source, source), "French target": (source, next(french) if kind == "French target" else ""),
                "shuffled": (source, next(others)[1] if kind == "shuffled" else ""),
                "cut to a quarter": (source, " ".join(words[:max(1, len(words) // 4)])),
                "address": (f"{source} http://www.example.org/{number}", target),
                "digits and signs": (f"{number} / {3 * number} -- ***",) * 2,
                "other number": (f"{source} {number % 80 + 15}", f"{target} {number % 80 + 16}"),
                "one letter repeated": ("a" * (number % 50 + 10),) * 2,
                "near duplicate": (source.upper(), target.rstrip(".") + " !")}[kind]

    bad = [(*spoil(kind, number), kind) for number, kind in zip(range(count - len(good)), itertools.cycle(SPOILED))]
    rows = [(source, target, "as it is") for source, target in good] + [row for row in bad if row[2] != "near duplicate"]
    dice.shuffle(rows)
    return rows + [row for row in bad if row[2] == "near duplicate"]


def dropped(rows, kept):
    """How many of each kind are not among the kept pairs; OpusFilter takes the spaces at the end of a line away."""
    counts, left = collections.Counter(), collections.Counter((source.strip(), target.strip()) for source, target in kept)
    for source, target, kind in rows:
        pair = source.strip(), target.strip()
        counts[kind] += left[pair] == 0
        left[pair] -= left[pair] > 0
    return counts


def opusfilter_steps(held_out):
    rules = [{"LengthFilter": {"unit": "char", "min_length": 1, "max_length": 10_000}},
             {"LengthRatioFilter": {"unit": "char", "threshold": 3}}, {"AlphabetRatioFilter": {"threshold": 0.4}},
             {"CharacterScoreFilter": {"scripts": ["Latin", "Latin"], "thresholds": [0.4, 0.4]}},
             {"SimilarityFilter": {"unit": "word", "threshold": 0.8}}, {"RepetitionFilter": {"threshold": 4, "min_length": 1}},
             {"NonZeroNumeralsFilter": {"threshold": 1.0}}, {"RegExpFilter": {"regexps": [ADDRESS, ADDRESS]}}, {"HtmlTagFilter": {}},
             {"TerminalPunctuationFilter": {"threshold": -2}},
             {"Cld2Filter": {"languages": ["de", "en"], "thresholds": [0, 0], "options": {"bestEffort": True}}}]
    folded = {"compare": "all", "letters_only": True, "lowercase": True}
    steps = [("filter", {"inputs": ["in.de", "in.en"], "outputs": ["a.de", "a.en"], "filters": rules}),
             ("remove_duplicates", {"inputs": ["a.de", "a.en"], "outputs": ["b.de", "b.en"], "overlap": held_out, **folded}),
             ("remove_duplicates", {"inputs": ["b.de", "b.en"], "outputs": ["c.de", "c.en"], **folded})]
    return {"common": {"output_directory": ".", "default_n_jobs": 1},
            "steps": [{"type": kind, "parameters": parameters} for kind, parameters in steps]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--opusfilter", type=Path, required=True)
    parser.add_argument("--programs", type=Path, default=Path("build"))
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    captions = options.shared.resolve() / "data" / "multi30k"
    print(conditions(1, options.rounds), flush=True)
    with tempfile.TemporaryDirectory(prefix="nmt-clean-") as folder:
        work = Path(folder)
        rows = [row for row in noisy_pairs(captions.parent, options.pairs) if "\t" not in row[0] + row[1]]
        for name, text in (("in.tsv", (f"{source}\t{target}\n" for source, target, _ in rows)),
                           ("in.de", (f"{row[0]}\n" for row in rows)), ("in.en", (f"{row[1]}\n" for row in rows)),
                           ("val.de", (f"{line}\n" for line in lines(captions, "val.de"))),
                           ("val.en", (f"{line}\n" for line in lines(captions, "val.en")))):
            (work / name).write_text("".join(text), encoding="utf-8")
        (work / "steps.yaml").write_text(json.dumps(opusfilter_steps(["val.de", "val.en"])))  # JSON is YAML
        ours = [options.programs.resolve() / "nmt-prepro", "--clean", "in.tsv", "out.tsv",
                *(f"--set=data.{option}" for option in ("clean=all", "max_length_ratio=3", "drop_duplicates=true", "eval1=val.de", "eval2=val.en"))]
        commands = {"nmt-prepro --clean": ours, "OpusFilter": [options.opusfilter.resolve() / "bin" / "opusfilter", "--overwrite", "steps.yaml"]}
        measured = collections.defaultdict(list)
        for _ in range(options.rounds):
            for name, command in commands.items():
                measured[name].append(run(command, work, env={**os.environ, "OMP_NUM_THREADS": "1"})[:2])
        kept = {"nmt-prepro --clean": [tuple(line.split("\t")) for line in written(work / "out.tsv")],
                "OpusFilter": list(zip(written(work / "c.de"), written(work / "c.en")))}
        counts = {name: dropped(rows, pairs) for name, pairs in kept.items()}
        kinds = collections.Counter(kind for *_, kind in rows)
    print("|  | pairs | " + " | ".join(f"dropped by {name}" for name in commands) + " |\n| -- | -- | -- | -- |")
    for kind in ("as it is", *SPOILED):
        print(f"| {kind} | {kinds[kind]:,} | " + " | ".join(f"{counts[name][kind]:,}" for name in commands) + " |")
    for name, rounds in measured.items():
        print(f"{name}: {spread([seconds for seconds, _ in rounds], '{:.2f}')} s, {median([memory for _, memory in rounds]):.0f} MB")
    ours, theirs = (median([seconds for seconds, _ in measured[name]]) for name in commands)
    print(f"{theirs / ours:.1f} times as fast")


if __name__ == "__main__":
    main()
