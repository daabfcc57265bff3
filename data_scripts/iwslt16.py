#!/usr/bin/env python3
"""IWSLT 2016 German-English: lays out the original train.tags and xml files that the Kyubyong preset reads."""

import shutil
import sys

import fetch
import text

_TRAIN = ("train.tags.de-en.de", "train.tags.de-en.en")
_TESTS = tuple(f"IWSLT16.TED.{year}.de-en.{side}.xml" for year in ("tst2013", "tst2014") for side in ("de", "en"))


def layout(find, folder):
    """Copies the files byte by byte and counts what nmt-prepro will find in them."""
    for name in _TRAIN + _TESTS:
        shutil.copyfile(find(name), folder / name)
    kept = [len(text.read_tags(folder / name)) for name in _TRAIN]
    text.check_equal("train.tags.de-en", *kept)
    counts = {"train": kept[0]}
    for year in ("tst2013", "tst2014"):
        source, _ = text.read_pair(*(folder / f"IWSLT16.TED.{year}.de-en.{side}.xml" for side in ("de", "en")))
        counts[year] = len(source)
    return counts


CORPUS = fetch.Corpus(
    name="iwslt16",
    about="IWSLT 2016 de-en (WIT3 release 2016-01), TED talks: the original train.tags and xml files, unchanged.\n"
          "WIT3 hands the release out by hand now (2016-01.tgz, or its de-en.tgz): both work with --from.",
    archives=(fetch.Archive(("https://wit3.fbk.eu/archive/2016-01/texts/de/en/de-en.tgz",), "de-en.tgz"),),
    files=_TRAIN + _TESTS,
    layout=layout,
    expected={"tst2013": 993, "tst2014": 1305},
    nested="de/en/de-en.tgz",
)

if __name__ == "__main__":
    sys.exit(fetch.main(CORPUS))
