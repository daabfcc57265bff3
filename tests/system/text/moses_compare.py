"""nmt-prepro --tokenize and --detokenize beside sacremoses 0.2.0: equal line for line?

    moses_compare.py --nmt-prepro PROGRAM [--data FOLDER] [--characters]

10,000 lines of each language, as many from each corpus that is there, and made-up lines of what is hard: tokens
with and without entities, with dashes split, joined again, and the lines themselves joined as if they were tokens.
--characters: lines with each character of Unicode, too. Ends with 77 where sacremoses is missing.
"""

import argparse
import gzip
import random
import subprocess
import sys
from pathlib import Path

try:
    from sacremoses import MosesDetokenizer, MosesTokenizer
except ImportError:
    print("skipped: this Python has no sacremoses (scripts/dev_python.sh makes one that has)")
    sys.exit(77)

LINES = 10000
CORPORA = ["multi30k", "tatoeba", "europarl", "iwslt_sample"]
PIECES = """
. .. ... , ' " - -- ` `` '' & &amp; &apos; &am&bar;p; < > [ ] | ( ) { } ¿ ¡ $ € £ % ! ? ; : \\ / @ @-@ # „ “ ” ’ » … – —
a b s Z ß ä 1 2 10 5,300 1.5 Dr Dr. No No. pp. Art. z.B. e.g. usw. Prof. 3. DOT MULTI DOTMULTI DOTDOTMULTI
THISISPROTECTED000 http://a.b/c?d=e&f x@y.de 中 국 가 が ｶ Ⅷ ½ ² ٣ à 😀 𝐚 𐐨 don't 's Jones 'tis the der Und l'eau qu' d'1 éd. tél. MM. etc. « » c'est
""".split()
PIECES += [" "] * 12 + list("\t\0\x01\x1b\x1c\x1f\x7f\x85\xa0\u2028\u3000\u200b\ufeff\ufffd\u0308\u093c\u094d\u25cc")
PIECES += ["\U00011a34", "\U00020000"]


def corpus_lines(data, language):
    files = [f for name in CORPORA for f in [data / name / f"train.{language}.gz"] if f.exists()]
    lines = []
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8", newline="\n") as text:
            for _, line in zip(range(LINES // len(files)), text):
                lines.append(line.rstrip("\n"))
    return lines


def made_up_lines(count):
    chance = random.Random(1)
    some = ["".join(chance.choice(PIECES) for _ in range(chance.randint(0, 14))) for _ in range(count)]
    few = ["".join(chance.choice("a.,'1 -sB\"") for _ in range(chance.randint(0, 9))) for _ in range(count)]
    return some + few


def lines_of_characters():
    characters = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000 and c != 10 and (c < 0x30000 or c > 0x10FFF0)]
    groups = [characters[i : i + 16] for i in range(0, len(characters), 16)]
    within = [" | ".join(f"x. {c} a{c}b 1,{c},2 {c}'{c} x'{c} {c}-{c} {c}." for c in group) for group in groups]
    apart = [" ".join(f"x {c} '{c} {c}{c}" for c in group) for group in groups]
    return within + apart


def our_lines(program, arguments, lines):
    text = "".join(line + "\n" for line in lines).encode()
    output = subprocess.run([program, *arguments], input=text, stdout=subprocess.PIPE, check=True).stdout
    return output.decode().split("\n")[:-1]


class Comparison:
    def __init__(self, program):
        self.program, self.differences, self.compared = program, 0, 0

    def expect(self, arguments, lines, expected):
        ours = our_lines(self.program, arguments, lines)
        if len(ours) != len(lines):
            sys.exit(f"{' '.join(arguments)}: {len(lines)} lines in, {len(ours)} out")
        self.compared += len(lines)
        for line, theirs, own in zip(lines, expected, ours):
            if theirs != own:
                self.differences += 1
                if self.differences <= 10:
                    print(f"{' '.join(arguments)}\n  line       {line!r}\n  sacremoses {theirs!r}\n  nmt-prepro {own!r}")

    def run(self, language, lines):
        tokenizer, detokenizer = MosesTokenizer(language), MosesDetokenizer(language)
        for options, flags in (
            ({}, []),
            ({"escape": False}, ["--no-escape"]),
            ({"aggressive_dash_splits": True}, ["--split-dashes"]),
        ):
            tokens = [tokenizer.tokenize(line, return_str=True, **options) for line in lines]
            self.expect(["--tokenize", language, *flags], lines, tokens)
            if "--no-escape" in flags:
                joined = [detokenizer.detokenize(line.split(), unescape=False) for line in tokens]
                self.expect(["--detokenize", language, *flags], tokens, joined)
            else:
                joined = [detokenizer.detokenize(line.split()) for line in tokens]
                self.expect(["--detokenize", language], tokens, joined)
        self.expect(["--detokenize", language], lines, [detokenizer.detokenize(line.split()) for line in lines])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nmt-prepro", required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--characters", action="store_true")
    arguments = parser.parse_args()
    comparison = Comparison(arguments.nmt_prepro)
    for language in ("de", "en", "fr"):
        lines = corpus_lines(arguments.data, language) if arguments.data else []
        if not lines:
            print(f"notice: no {language} corpus in {arguments.data}; made-up lines only")
        lines += made_up_lines(1000)
        if arguments.characters:
            lines += lines_of_characters()
        comparison.run(language, lines)
        print(f"{language}: {len(lines)} lines")
    print(f"{comparison.compared} results compared, {comparison.differences} differ")
    sys.exit(comparison.differences > 0)


main()
