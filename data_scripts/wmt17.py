#!/usr/bin/env python3
"""WMT17 German-English: Europarl v7, Common Crawl, News Commentary v12 and Rapid 2016; newstest2016 and 2017."""

import sys

import fetch
import wmt

_TASK = "data.statmt.org/wmt17/translation-task"

CORPUS = wmt.corpus(
    name="wmt17",
    about=__doc__,
    archives=(
        wmt.EUROPARL,
        wmt.COMMON_CRAWL,
        fetch.Archive(wmt.addresses(f"{_TASK}/training-parallel-nc-v12.tgz"), "training-parallel-nc-v12.tgz",
                      md5="fc6b83b809347e64f511d291e4bc8731",
                      sha256="2b45f30ef1d550d302fd17dd3a5cbe19134ccc4c2cf50c2dae534aee600101a2"),
        fetch.Archive(wmt.addresses(f"{_TASK}/rapid2016.tgz"), "rapid2016.tgz", md5="17a3a1846433ad26acb95da02f93af93"),
        fetch.Archive(wmt.addresses(f"{_TASK}/dev.tgz"), "dev.tgz", md5="9b1aa63c1cf49dccdd20b962fe313989"),
        fetch.Archive(wmt.addresses(f"{_TASK}/test.tgz"), "test.tgz", md5="86a1724c276004aa25455ae2a04cef26"),
    ),
    training=("europarl-v7.de-en", "commoncrawl.de-en", "news-commentary-v12.de-en", "rapid2016.de-en"),
    valid=wmt.news_test(2016, pair="-deen"),
    test=wmt.news_test(2017, pair="-deen"),
    expected={"valid": 2999, "test": 3004},
)

if __name__ == "__main__":
    sys.exit(fetch.main(CORPUS))
