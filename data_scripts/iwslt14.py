#!/usr/bin/env python3
"""IWSLT 2014 German-English: lays out the customary train/valid/test split as raw text.

The split is the one that fairseq made customary: cleaned training pairs, every 23rd of them for validation, and
dev2010, TEDX.dev2012, tst2010, tst2011 and tst2012 joined for the test. Unlike there, nothing is tokenised or
lower-cased: the text is kept raw. Lengths (1 to 175) and their ratio (at most 1.5) are counted in words and
punctuation marks, close to, but not exactly, the Moses tokens of the original, so the counts differ a little.
"""

import re
import sys

import fetch
import text

_TRAIN = ("train.tags.de-en.de", "train.tags.de-en.en")
_TEST_SETS = ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012")
_TESTS = tuple(f"IWSLT14.{name}.de-en.{side}.xml" for name in _TEST_SETS for side in ("de", "en"))
_KEPT_MARKUP = re.compile(r"</?(?:title|description)>")
_TOKEN = re.compile(r"\w+(?:[-.,]\w+)*|[^\w\s]")
_MAX_TOKENS, _MAX_RATIO, _VALID_EVERY = 175, 1.5, 23


def training_lines(path):
    """Lines of train.tags: titles and descriptions without their tags, other lines of markup dropped."""
    return text.read_tags(path, lambda line: _KEPT_MARKUP.sub("", line))


def is_clean(source, target):
    lengths = len(_TOKEN.findall(source)), len(_TOKEN.findall(target))
    return min(lengths) >= 1 and max(lengths) <= _MAX_TOKENS and max(lengths) <= _MAX_RATIO * min(lengths)


def layout(find, folder):
    german, english = (training_lines(find(name)) for name in _TRAIN)
    text.check_equal("train.tags.de-en", len(german), len(english))
    pairs = [pair for pair in zip(german, english) if is_clean(*pair)]
    print(f"train.tags: {len(german)} pairs, {len(german) - len(pairs)} dropped as empty, over {_MAX_TOKENS} tokens or "
          f"over ratio {_MAX_RATIO}", file=sys.stderr)
    sets = {"train": [p for i, p in enumerate(pairs, 1) if i % _VALID_EVERY],
            "valid": pairs[_VALID_EVERY - 1::_VALID_EVERY], "test": []}
    for name in _TEST_SETS:
        sets["test"] += zip(*text.read_pair(*(find(f"IWSLT14.{name}.de-en.{side}.xml") for side in ("de", "en"))))
    return {name: text.write_pair(folder, name, [p[0] for p in chosen], [p[1] for p in chosen])
            for name, chosen in sets.items()}


CORPUS = fetch.Corpus(
    name="iwslt14",
    about=__doc__,
    archives=(fetch.Archive(("https://dl.fbaipublicfiles.com/fairseq/data/iwslt14/de-en.tgz",
                             "https://wit3.fbk.eu/archive/2014-01/texts/de/en/de-en.tgz"), "de-en.tgz"),),
    files=_TRAIN + _TESTS,
    layout=layout,
    expected={"test": 6750},
    nested="de/en/de-en.tgz",
)

if __name__ == "__main__":
    sys.exit(fetch.main(CORPUS))
