#!/usr/bin/env python3
"""Unpacks the built-in German-English toy corpus: no download, Python's standard library only.

German is the source, English the target. Writes train, valid, test and test_novel (.de, .en), README.txt and
manifest.json. A seeded grammar wrote the sentences; --pairs takes the first of them, which gives smaller files.
"""

import argparse
import pathlib
import sys
import tarfile
import tempfile

ARCHIVE = pathlib.Path(__file__).with_name("builtin_corpus.tar.gz")
PAIRS = 20000  # in the archive's train, valid and test together
HELD_OUT = 500  # in valid, and in test


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="data/builtin", help="folder to write (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=PAIRS,
                        help="pairs of train, valid and test together (default: %(default)s, all that there are)")
    options = parser.parse_args(arguments)
    if not 5000 <= options.pairs <= PAIRS:
        parser.error(f"--pairs {options.pairs}: must be 5000 to {PAIRS}")
    return options


def corpus_files(pairs):
    """{name: bytes} of the whole corpus."""
    with tarfile.open(ARCHIVE) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive}
    for side in ("de", "en"):
        text = b"".join(files[f"{name}.{side}"] for name in ("train", "valid", "test"))
        lines = text.splitlines(keepends=True)[:pairs]
        files[f"train.{side}"] = b"".join(lines[:-2 * HELD_OUT])
        files[f"valid.{side}"] = b"".join(lines[-2 * HELD_OUT:-HELD_OUT])
        files[f"test.{side}"] = b"".join(lines[-HELD_OUT:])
    return files


def write(out, files):
    """The folder appears whole or not at all."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as holder:
        folder = pathlib.Path(holder) / out.name
        folder.mkdir()
        for name, body in files.items():
            (folder / name).write_bytes(body)
        folder.replace(out)


def main(arguments=None):
    options = parse_arguments(arguments)
    out = pathlib.Path(options.out)
    files = corpus_files(options.pairs)
    try:
        there = list(out.iterdir()) if out.exists() else []
        if there and {path.name: path.is_file() and path.read_bytes() for path in there} == files:
            print(f"{options.out}: already in place ({options.pairs} pairs), nothing to do")
            return 0
        if there:
            print(f"make_builtin_corpus: {options.out}: holds something else; give another --out", file=sys.stderr)
            return 2
        write(out.absolute(), files)
    except OSError as error:
        print(f"make_builtin_corpus: cannot write {options.out}: {error}", file=sys.stderr)
        return 1
    print(f"{options.out}: train {options.pairs - 2 * HELD_OUT}, valid {HELD_OUT}, test {HELD_OUT}, test_novel 200 pairs "
          "(a toy corpus)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
