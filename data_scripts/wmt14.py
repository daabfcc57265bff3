#!/usr/bin/env python3
"""WMT14 German-English: Europarl v7, Common Crawl and News Commentary v9; newstest2013 and newstest2014 (full)."""

import sys

import fetch
import wmt

CORPUS = wmt.corpus(
    name="wmt14",
    about=__doc__,
    archives=(wmt.EUROPARL, wmt.COMMON_CRAWL, wmt.NEWS_COMMENTARY_V9, *wmt.WMT14_SETS),
    training=("europarl-v7.de-en", "commoncrawl.de-en", "news-commentary-v9.de-en"),
    valid=wmt.news_test(2013),
    test=wmt.news_test(2014, pair="-deen"),
    expected={"valid": 3000, "test": 3003},
)

if __name__ == "__main__":
    sys.exit(fetch.main(CORPUS))
