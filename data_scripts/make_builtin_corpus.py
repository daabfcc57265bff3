#!/usr/bin/env python3
"""Makes the built-in German-English toy corpus: a seeded grammar, no download, Python's standard library only.

German is the source, English the target. Writes train, valid, test and test_novel (.de, .en), README.txt and
manifest.json. The same seed and the same number of pairs give the same bytes.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import sys
import tempfile

from builtin import corpus

VERSION = 1  # raised whenever the same seed gives other sentences


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="data/builtin", help="folder to write (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=20000,
                        help="distinct pairs of train, valid and test together (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the grammar (default: %(default)s)")
    parser.add_argument("--force", action="store_true", help="replace a folder made with other options")
    options = parser.parse_args(arguments)
    if options.pairs < 5000:
        parser.error(f"--pairs {options.pairs}: must be at least 5000, so that training covers every word")
    return options


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def in_place(out, request):
    """True if the folder holds exactly what was asked for, unharmed."""
    try:
        manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
        return manifest["request"] == request and all(
            digest(out / name) == sha256 for name, sha256 in manifest["sha256"].items())
    except (OSError, ValueError, KeyError, AttributeError):
        return False


def readme(request, counts):
    lines = [
        "Built-in German-English corpus", "",
        "This is a toy. A small grammar with a lexicon of a few hundred words wrote every sentence; a score on it says",
        "that a system works, and nothing about translating real text.", "",
        f"seed {request['seed']}, generator version {request['version']}", "",
        *(f"{name + '.de, ' + name + '.en':28} {count:7d} pairs" for name, count in counts.items()), "",
        "No sentence of one file stands in another. test_novel joins verbs with object nouns and conjunctions with",
        "verbs that never meet in one sentence of train, valid or test (listed in manifest.json), though train has",
        "each word by itself. German is the source.", "",
        "The text is under the licence of the toolkit that made it.",
    ]
    return "\n".join(lines) + "\n"


def write(folder, made, request):
    for name, pairs in made.sets.items():
        for side, suffix in enumerate(("de", "en")):
            text = "".join(pair[side] + "\n" for pair in pairs)
            (folder / f"{name}.{suffix}").write_text(text, encoding="utf-8", newline="\n")
    counts = {name: len(pairs) for name, pairs in made.sets.items()}
    (folder / "README.txt").write_text(readme(request, counts), encoding="utf-8", newline="\n")
    manifest = {
        "what": "toy corpus of a seeded German-English grammar", "request": request, "pairs": counts,
        "held_out": {"verb_noun": sorted(made.pairs), "conjunction_verb": sorted(made.clauses)},
        "sha256": {path.name: digest(path) for path in sorted(folder.iterdir())},
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8", newline="\n")
    return counts


def replace(out, folder):
    """Puts the finished folder in its place; whatever stood there before goes only then."""
    old = None
    if out.exists():
        old = pathlib.Path(tempfile.mkdtemp(prefix=f".{out.name}-old-", dir=out.parent))
        os.replace(out, old / out.name)
    os.replace(folder, out)
    if old:
        shutil.rmtree(old)


def fail(message):
    print(f"make_builtin_corpus: {message}", file=sys.stderr)
    return 2


def main(arguments=None):
    options = parse_arguments(arguments)
    out = pathlib.Path(options.out).absolute()
    request = {"version": VERSION, "seed": options.seed, "pairs": options.pairs}
    if in_place(out, request):
        print(f"{options.out}: already in place (seed {options.seed}, {options.pairs} pairs), nothing to do")
        return 0
    if out.exists() and not out.is_dir():
        return fail(f"{options.out}: is a file; give another folder with --out")
    foreign = out.is_dir() and any(out.iterdir())
    if foreign and not options.force:
        return fail(f"{options.out}: holds something else (other seed, pairs or version, or changed files); "
                    "add --force to replace it or give another --out")
    shown = sys.stderr.isatty()

    def progress(done, wanted):
        if shown and done % 500 == 0:
            print(f"\r{done} of {wanted} pairs", end="\n" if done == wanted else "", file=sys.stderr)

    try:
        made = corpus.generate(options.pairs, options.seed, progress=progress)
    except corpus.TooFew as error:
        return fail(f"--pairs {options.pairs}: {error}")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        try:
            counts = write(folder, made, request)
            folder.chmod(0o755)
            replace(out, folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    except OSError as error:
        print(f"make_builtin_corpus: cannot write {options.out}: {error}", file=sys.stderr)
        return 1
    print(f"{options.out}: " + ", ".join(f"{name} {count}" for name, count in counts.items())
          + f" pairs (a toy corpus, seed {options.seed})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
