#!/usr/bin/env python3
"""Multi30k German-English: lays out train, val and test_2016_flickr as plain text, just as released."""

import sys

import fetch
import text

_FOLDER = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
_SETS = ("train", "val", "test_2016_flickr")
# Checksums of the text, as docs/results.md uses it: the address is a branch, which may change.
_SHA256 = {
    "train.de": "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72",
    "train.en": "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
    "val.de": "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
    "val.en": "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
    "test_2016_flickr.de": "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
    "test_2016_flickr.en": "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
}
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
    sha256=_SHA256,
)

if __name__ == "__main__":
    sys.exit(fetch.main(CORPUS))
