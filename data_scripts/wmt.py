"""What the WMT scripts share: training corpora joined, news test sets from sgm files.

The MD5 sums are those that Sockeye's autopilot and sacreBLEU publish for the same addresses, the SHA-256 sums those of
TensorFlow Datasets. The hosts speak https, not always with success: http is the second way, as the sums are known.
"""

import fetch
import text


def addresses(host_and_path):
    return f"https://{host_and_path}", f"http://{host_and_path}"


EUROPARL = fetch.Archive(addresses("www.statmt.org/wmt13/training-parallel-europarl-v7.tgz"),
                         "training-parallel-europarl-v7.tgz", md5="c52404583294a1b609e56d45b2ed06f5",
                         sha256="0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7", folder="wmt")
COMMON_CRAWL = fetch.Archive(addresses("www.statmt.org/wmt13/training-parallel-commoncrawl.tgz"),
                             "training-parallel-commoncrawl.tgz", md5="7e0acbe86b0d7816300e14650f5b2bd4",
                             sha256="c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5", folder="wmt")

NEWS_COMMENTARY_V9 = fetch.Archive(addresses("www.statmt.org/wmt14/training-parallel-nc-v9.tgz"),
                                   "training-parallel-nc-v9.tgz", md5="92e42b68f9d3c2ae9722e6d1c2623e21",
                                   sha256="cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485",
                                   folder="wmt14")
WMT14_SETS = (
    fetch.Archive(addresses("www.statmt.org/wmt14/dev.tgz"), "dev.tgz", md5="88ba3fc60b2278d59277122e1c7dd6e7",
                  folder="wmt14"),
    fetch.Archive(addresses("www.statmt.org/wmt14/test-full.tgz"), "test-full.tgz",
                  md5="a8cd784e006feb32ac6f3d9ec7eb389a", folder="wmt14"),
)


def news_test(year, pair="", language="de"):
    """Names of a news test set's files: newstest2014-deen-src.de.sgm and so on."""
    return f"newstest{year}{pair}-src.{language}.sgm", f"newstest{year}{pair}-ref.en.sgm"


def corpus(name, about, archives, training, valid, test, expected, language="de"):
    """A corpus whose training files are PREFIX.LANGUAGE and PREFIX.en; `valid` and `test` are pairs of sgm names."""
    languages = (language, "en")

    def layout(find, folder):
        found = [tuple(find(f"{prefix}.{side}") for side in languages) for prefix in training]
        tests = {key: [find(file) for file in files] for key, files in (("valid", valid), ("test", test))}
        counts = {"train": text.join_corpora(folder, "train", found, languages)}
        for key, files in tests.items():
            counts[key] = text.write_pair(folder, key, *text.read_pair(*files, languages), languages)
        return counts

    files = tuple(f"{prefix}.{side}" for prefix in training for side in languages) + valid + test
    return fetch.Corpus(name=name, about=about, archives=archives, files=files, layout=layout, expected=expected)
