#!/usr/bin/env python3
"""What a glossary costs: BLEU and time of a translation with and without, and the share of terms that are there.

terms.py --model DIR --source FILE --reference FILE --links FILE [--terms 200] [--beams 5 8] [--programs build]

LINKS are word alignments of SOURCE and REFERENCE (alignment_bench). The glossary holds the most frequent capitalised
words of SOURCE, each with the words of the reference that it is linked with most: terms that a translator would ask for.
A second one has words drawn from the references instead, which fit nowhere: the hard case.
"""
import argparse
import collections
import pathlib
import random
import re
import subprocess
import tempfile
import time


def bare(word):
    return re.sub(r"^\W+|\W+$", "", word)


def count_links(source, reference, links):
    counts = collections.defaultdict(collections.Counter)
    for source_line, reference_line, line in zip(source, reference, links):
        source_words, reference_words = source_line.split(), reference_line.split()
        of_word = collections.defaultdict(list)
        for link in line.split():
            s, t = map(int, link.split("-"))
            of_word[s].append(t)
        for s, targets in of_word.items():
            word = bare(source_words[s])
            together = max(targets) - min(targets) + 1 == len(targets)
            if together and len(word) > 3 and word[0].isupper() and word.isalpha():
                phrase = bare(" ".join(reference_words[t] for t in sorted(targets)))
                if phrase:
                    counts[word][phrase] += 1
    return counts


def fitting_terms(counts, number):
    frequent = sorted(counts, key=lambda word: (-sum(counts[word].values()), word))
    terms = {}
    for word in frequent:
        if word.lower() not in (own.lower() for own in terms):
            terms[word] = counts[word].most_common(1)[0][0]
        if len(terms) == number:
            break
    return terms


def translate(arguments, beam, glossary, out):
    command = [str(pathlib.Path(arguments.programs) / "nmt-translate"), "-m", arguments.model, "-q", "--beam-size", str(beam),
               "-i", arguments.source, "-o", str(out)]
    if glossary:
        command += ["--glossary", str(glossary)]
    start = time.monotonic()
    subprocess.run(command, check=True)
    return time.monotonic() - start


def bleu(arguments, out):
    score = subprocess.run([str(pathlib.Path(arguments.programs) / "nmt-score"), arguments.reference, "-i", str(out), "-b"],
                           check=True, capture_output=True, text=True)
    return score.stdout.strip()


def there(source, translations, terms):
    """Occurrences in the source, and those whose term stands in the translation."""
    wanted = found = 0
    for source_line, translation in zip(source, translations):
        for word, target in terms.items():
            if re.search(r"(?<!\w)" + re.escape(word) + r"(?!\w)", source_line, re.IGNORECASE):
                wanted += 1
                found += target in translation
    return wanted, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--model", "--source", "--reference", "--links"):
        parser.add_argument(name, required=True)
    parser.add_argument("--terms", type=int, default=200)
    parser.add_argument("--beams", type=int, nargs="+", default=[5, 8])
    parser.add_argument("--programs", default="build")
    arguments = parser.parse_args()
    source, reference, links = (pathlib.Path(name).read_text(encoding="utf-8").splitlines()
                                for name in (arguments.source, arguments.reference, arguments.links))
    fitting = fitting_terms(count_links(source, reference, links), arguments.terms)
    words = sorted({bare(word) for line in reference for word in line.split() if len(bare(word)) > 3})
    draw = random.Random(1)
    foreign = {word: draw.choice(words) for word in fitting}
    print("| beam | glossary | terms in the text | there | BLEU | seconds |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        for beam in arguments.beams:
            for name, terms in (("none", {}), ("fitting", fitting), ("drawn", foreign)):
                glossary = pathlib.Path(folder) / "terms.tsv" if terms else None
                if terms:
                    glossary.write_text("".join(f"{word}\t{target}\n" for word, target in terms.items()), encoding="utf-8")
                translate(arguments, beam, glossary, out)
                seconds = translate(arguments, beam, glossary, out)
                translations = out.read_text(encoding="utf-8").splitlines()
                wanted, found = there(source, translations, terms or fitting)
                print(f"| {beam} | {name} | {wanted} | {100 * found / wanted:.1f} % | {bleu(arguments, out)} | {seconds:.1f} |",
                      flush=True)


if __name__ == "__main__":
    main()
