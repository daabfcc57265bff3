#!/usr/bin/env python3
"""Splits lines into the tokens of spaCy's rules for a language, joined by blanks: the words of Ben Trevett's tutorials.

    python3 data_scripts/spacy_tokens.py de <train.de >train.tokens.de

Needs the package spacy; no trained pipeline (spacy.blank has the rules). One line out for each line in.
"""

import argparse
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("language", help="de, en, ...")
    parser.add_argument("--lowercase", action="store_true")
    arguments = parser.parse_args()
    try:
        import spacy
    except ImportError:
        sys.exit("spacy_tokens.py: needs the package spacy (pip install spacy)")
    try:
        pipeline = spacy.blank(arguments.language)
    except (ImportError, OSError, ValueError) as error:
        print(f"spacy_tokens.py: {arguments.language}: spaCy has no rules for it ({error})".split("\n")[0], file=sys.stderr)
        sys.exit(2)
    for line in sys.stdin.buffer:
        text = line.decode("utf-8").rstrip("\r\n")
        tokens = [token.text for token in pipeline.tokenizer(text) if not token.is_space]
        words = " ".join(tokens)
        sys.stdout.buffer.write((words.lower() if arguments.lowercase else words).encode("utf-8") + b"\n")


if __name__ == "__main__":
    main()
