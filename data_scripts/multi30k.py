#!/usr/bin/env python3
"""Multi30k German-English: lays out train, val and test_2016_flickr as plain text, just as released."""

import sys

import fetch
import text

_FOLDER = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
_SETS = ("train", "val", "test_2016_flickr")
_FILES = tuple(f"{name}.{side}" for name in _SETS for side in ("de", "en"))


def layout(find, folder):
    return {name: text.join_corpora(folder, name, [(find(f"{name}.de"), find(f"{name}.en"))]) for name in _SETS}


CORPUS = fetch.Corpus(
    name="multi30k",
    about="Multi30k de-en (Elliott et al. 2016), image captions, raw text: train, val, test_2016_flickr. For research.",
    archives=tuple(fetch.Archive((f"{_FOLDER}/{name}.gz",), f"{name}.gz") for name in _FILES),
    files=_FILES,
    layout=layout,
    expected={"train": 29000, "val": 1014, "test_2016_flickr": 1000},
)

if __name__ == "__main__":
    sys.exit(fetch.main(CORPUS))
