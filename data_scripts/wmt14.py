#!/usr/bin/env python3
"""WMT14 German-English: Europarl v7, Common Crawl and News Commentary v9; newstest2013 and newstest2014 (full)."""

import sys

import fetch
import wmt

CORPUS = wmt.corpus(
    name="wmt14",
    about=__doc__,
    archives=(
        wmt.EUROPARL,
        wmt.COMMON_CRAWL,
        fetch.Archive(wmt.addresses("www.statmt.org/wmt14/training-parallel-nc-v9.tgz"), "training-parallel-nc-v9.tgz",
                      md5="92e42b68f9d3c2ae9722e6d1c2623e21",
                      sha256="cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485"),
        fetch.Archive(wmt.addresses("www.statmt.org/wmt14/dev.tgz"), "dev.tgz", md5="88ba3fc60b2278d59277122e1c7dd6e7"),
        fetch.Archive(wmt.addresses("www.statmt.org/wmt14/test-full.tgz"), "test-full.tgz",
                      md5="a8cd784e006feb32ac6f3d9ec7eb389a"),
    ),
    training=("europarl-v7.de-en", "commoncrawl.de-en", "news-commentary-v9.de-en"),
    valid=wmt.news_test(2013),
    test=wmt.news_test(2014, pair="-deen"),
    expected={"valid": 3000, "test": 3003},
)

if __name__ == "__main__":
    sys.exit(fetch.main(CORPUS))
