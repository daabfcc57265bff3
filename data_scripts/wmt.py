"""What the WMT scripts share: training corpora joined, news test sets from sgm files.

The MD5 sums are those that Sockeye's autopilot publishes for the same addresses.
"""

import fetch
import text

EUROPARL = fetch.Archive(("http://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz",),
                         "training-parallel-europarl-v7.tgz", md5="c52404583294a1b609e56d45b2ed06f5", folder="wmt")
COMMON_CRAWL = fetch.Archive(("http://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz",),
                             "training-parallel-commoncrawl.tgz", md5="7e0acbe86b0d7816300e14650f5b2bd4", folder="wmt")


def news_test(year, pair=""):
    """Names of a news test set's files: newstest2014-deen-src.de.sgm and so on."""
    return f"newstest{year}{pair}-src.de.sgm", f"newstest{year}{pair}-ref.en.sgm"


def corpus(name, about, archives, training, valid, test, expected):
    """A corpus whose training files are PREFIX.de and PREFIX.en; `valid` and `test` are pairs of sgm names."""

    def layout(find, folder):
        found = [(find(f"{prefix}.de"), find(f"{prefix}.en")) for prefix in training]
        tests = {key: [find(file) for file in files] for key, files in (("valid", valid), ("test", test))}
        counts = {"train": text.join_corpora(folder, "train", found)}
        for key, files in tests.items():
            counts[key] = text.write_pair(folder, key, *text.read_pair(*files))
        return counts

    files = tuple(f"{prefix}.{side}" for prefix in training for side in ("de", "en")) + valid + test
    return fetch.Corpus(name=name, about=about, archives=archives, files=files, layout=layout, expected=expected)
