#!/usr/bin/env python3
"""Wraps plain parallel files into the files of an IWSLT 2016 release: train.tags.de-en.* and TED xml sets.

For trying the IWSLT path of nmt-prepro on small samples. Each file may be plain or .gz.
"""

import argparse
import gzip
import html
import os
import pathlib
import shutil
import sys
import tempfile
import zlib

_LANGUAGES = {"de": "german", "en": "english"}


class WrapError(Exception):
    """One line that says which input is wrong."""


def read_lines(path):
    path = pathlib.Path(path)
    data = path.read_bytes()
    try:
        data = gzip.decompress(data) if path.suffix == ".gz" else data
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise WrapError(f"{path}: not a sound .gz file ({error})") from error
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise WrapError(f"{path}: not UTF-8 (byte {error.start})") from error
    return lines[:-1] if lines[-1] == "" else lines


def read_pair(paths):
    source, target = (read_lines(path) for path in paths)
    if len(source) != len(target):
        raise WrapError(f"{paths[0]}: {len(source)} lines, {paths[1]}: {len(target)}; they must be as many")
    return source, target


def _talks(lines, size):
    return [lines[start:start + size] for start in range(0, len(lines), size)]


def _header(number):
    speaker = f"Speaker {number}"
    keywords = f"<keywords>talks, sample, talk {number}</keywords>"
    return [f"<url>http://www.example.org/talks/{number}</url>", keywords, f"<speaker>{speaker}</speaker>",
            f"<talkid>{number}</talkid>", f"<title>{speaker}: Talk {number} of the sample</title>",
            f"<description>TED Talk Subtitles and Transcript: Talk {number} of the sample.</description>"]


def train_tags(lines, size):
    """Text of train.tags: the lines between the markup lines of talks of `size` lines."""
    out = []
    for number, talk in enumerate(_talks(lines, size), 1):
        out += _header(number)
        out += talk
        out += ['<reviewer href="http://www.example.org/profiles/1">Reviewer</reviewer>',
                '<translator href="http://www.example.org/profiles/2">Translator</translator>']
    return "\n".join(out) + "\n"


def xml_set(lines, size, side, set_id):
    """Text of one side of a test set; the German one is the source, the English one the reference."""
    kind = "srcset" if side == "de" else "refset"
    target = "" if side == "de" else ' trglang="english"'
    out = ['<?xml version="1.0" encoding="UTF-8"?>', "<mteval>",
           f'<{kind} setid="{set_id}" srclang="german"{target}>']
    for number, talk in enumerate(_talks(lines, size), 1):
        reference = "" if side == "de" else ' sysid="ref"'
        out.append(f'<doc docid="{number}" genre="lectures"{reference}>')
        out += _header(number)
        out += [f'<seg id="{i}"> {html.escape(line.strip(), quote=False)} </seg>' for i, line in enumerate(talk, 1)]
        out.append("</doc>")
    return "\n".join([*out, f"</{kind}>", "</mteval>"]) + "\n"


def wrap(options, folder):
    counts = {}
    sides = read_pair(options.train)
    for path, lines in zip(options.train, sides):
        bad = next((i for i, line in enumerate(lines, 1) if line.startswith("<")), None)
        if bad:
            raise WrapError(f"{path}:{bad}: a training line that begins with '<' would be read as markup; remove it")
    for side, lines in zip(_LANGUAGES, sides):
        _write(folder / f"train.tags.de-en.{side}", train_tags(lines, options.talk))
    counts["train"] = len(sides[0])
    for name, year in (("valid", "tst2013"), ("test", "tst2014")):
        sides = read_pair(getattr(options, name))
        for side, lines in zip(_LANGUAGES, sides):
            _write(folder / f"IWSLT16.TED.{year}.de-en.{side}.xml",
                   xml_set(lines, options.talk, side, f"iwslt2016-{year}"))
        counts[name] = len(sides[0])
    return counts


def _write(path, body):
    path.write_text(body, encoding="utf-8", newline="\n")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, becomes in (("train", "train.tags"), ("valid", "tst2013"), ("test", "tst2014")):
        parser.add_argument(f"--{name}", nargs=2, required=True, metavar=("DE", "EN"),
                            help=f"plain files for {becomes}")
    parser.add_argument("--out", required=True, help="folder for the six files")
    parser.add_argument("--talk", type=int, default=100, help="lines a talk (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.talk < 1:
        parser.error(f"--talk {options.talk}: must be at least 1")
    return options


def main(arguments=None):
    options = parse(arguments)
    out = pathlib.Path(options.out).absolute()
    try:
        out.mkdir(parents=True, exist_ok=True)
        scratch = pathlib.Path(tempfile.mkdtemp(prefix=".wrap-", dir=out))
        try:
            counts = wrap(options, scratch)
            for path in sorted(scratch.iterdir()):
                os.replace(path, out / path.name)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except (WrapError, FileNotFoundError) as error:
        print(f"wrap_iwslt: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"wrap_iwslt: {error}", file=sys.stderr)
        return 1
    print(f"{options.out}: " + ", ".join(f"{name} {count}" for name, count in counts.items()) + " pairs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
