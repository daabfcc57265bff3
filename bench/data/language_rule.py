#!/usr/bin/env python3
"""What the rule `language` of data.clean drops: right pairs, pairs with one side in another language, exchanged sides.

    bench/data/language_rule.py --shared DIR [--programs build]

DIR/data has multi30k and tatoeba. Of each language of Multi30k the first 1,000 lines, in every pair of them (only lines with
20 letters or more on both sides: shorter ones need both sides); of Tatoeba the first 1,000 pairs.
"""
import argparse
import gzip
import itertools
import subprocess
import tempfile
from pathlib import Path

LANGUAGES = ("de", "en", "fr", "cs")


def lines(file):
    with gzip.open(file, "rt", encoding="utf-8") as text:
        return list(itertools.islice((line.rstrip("\n") for line in text), 1000))


def letters(text):
    return sum(c.isalpha() for c in text)


def dropped(program, folder, pairs, source, target):
    """Of how many pairs how many the rule drops."""
    table = folder / "in.tsv"
    table.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
    subprocess.run([program, "--clean", table, folder / "out.tsv", "--set", "data.clean=language",
                    "--set", f"data.source_language={source}", "--set", f"data.target_language={target}"],
                   check=True, capture_output=True)
    kept = (folder / "out.tsv").read_text(encoding="utf-8").count("\n")
    return f"{len(pairs) - kept} of {len(pairs)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--programs", type=Path, default=Path("build"))
    arguments = parser.parse_args()
    program, data = arguments.programs.resolve() / "nmt-prepro", arguments.shared / "data"
    text = {language: lines(data / "multi30k" / f"train.{language}.gz") for language in LANGUAGES}
    german, english = lines(data / "tatoeba" / "train.de.gz"), lines(data / "tatoeba" / "train.en.gz")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)

        def row(what, pairs, source, target):
            print(f"| {what} | {source}-{target} | {dropped(program, folder, pairs, source, target)} |", flush=True)

        def long(source, target):
            return [pair for pair in zip(text[source], text[target]) if min(map(letters, pair)) >= 20]

        print("| pairs | languages | dropped |\n| -- | -- | -- |")
        for source, target in itertools.combinations(LANGUAGES, 2):
            row("right", long(source, target), source, target)
            for other in LANGUAGES:
                if other not in (source, target):
                    row(f"target in {other}", long(source, other), source, target)
        pairs = list(zip(german, english))
        row("Tatoeba, right", pairs, "de", "en")
        row("Tatoeba, sides exchanged", [(b, a) for a, b in pairs], "de", "en")
        row("Tatoeba, German on both sides", [(a, a) for a, b in pairs if letters(a) < 20], "de", "en")


if __name__ == "__main__":
    main()
