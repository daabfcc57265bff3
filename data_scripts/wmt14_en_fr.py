#!/usr/bin/env python3
"""WMT14 English-French: Europarl v7, Common Crawl, UN, News Commentary v9 and the 10^9 corpus (about 40 million pairs,
7 GB to fetch); newstest2013 and newstest2014 (full)."""

import sys

import fetch
import wmt

CORPUS = wmt.corpus(
    name="wmt14_en_fr",
    about=__doc__,
    archives=(
        wmt.EUROPARL,
        wmt.COMMON_CRAWL,
        fetch.Archive(wmt.addresses("www.statmt.org/wmt13/training-parallel-un.tgz"), "training-parallel-un.tgz",
                      md5="bb25a213ba9140023e4cc82c778bef53"),
        wmt.NEWS_COMMENTARY_V9,
        fetch.Archive(wmt.addresses("www.statmt.org/wmt10/training-giga-fren.tar"), "training-giga-fren.tar",
                      md5="0b12e20027d5b5f0dfcca290c72c8953"),
        *wmt.WMT14_SETS,
    ),
    training=("europarl-v7.fr-en", "commoncrawl.fr-en", "undoc.2000.fr-en", "news-commentary-v9.fr-en",
              "giga-fren.release2.fixed"),
    valid=wmt.news_test(2013, language="fr"),
    test=wmt.news_test(2014, pair="-fren", language="fr"),
    expected={"valid": 3000, "test": 3003},
    language="fr",
)

if __name__ == "__main__":
    sys.exit(fetch.main(CORPUS))
