"""Compares nmt-score with sacreBLEU: whole command lines, standard output byte for byte, and exit codes.

Needs Python with sacrebleu 2.6.0 (scripts/dev_python.sh makes one). Run through scoring_compare.sh.
"""

import argparse
import gzip
import os
import random
import subprocess
import sys
import tempfile
import traceback
import unicodedata
from pathlib import Path

EXPECTED_VERSION = "2.6.0"
QUICK_SHARE = 6  # of the quick set: every so many-th command line of each group


# ---------------------------------------------------------------- text

def unicode_alphabet():
    """Assigned code points of all planes, by class, so that rare classes come up too."""
    groups = {"L": [], "M": [], "N": [], "P": [], "S": [], "Z": [], "C": []}
    for code in range(0x20, 0x110000):
        if 0xD800 <= code <= 0xDFFF:
            continue
        category = unicodedata.category(chr(code))
        if category in ("Cn", "Co"):
            continue
        groups[category[0]].append(chr(code))
    return groups


def random_line(rng, groups):
    kind = rng.randrange(12)
    if kind == 0:
        return ""
    if kind == 1:  # odd white space
        spaces = "\t\x0b\x0c\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2009\u2028\u2029\u202f\u205f\u3000\u200b\ufeff\u180e"
        return "".join(rng.choice([rng.choice(spaces), rng.choice("abc.,")]) for _ in range(rng.randrange(1, 20)))
    if kind == 2:  # runs of punctuation
        return "".join(rng.choice("..,,--''\"&;<>()[]{}!?…„“«»$%1234 a") for _ in range(rng.randrange(1, 40)))
    if kind == 3:  # escapes and other special strings
        parts = ["&quot;", "&amp;", "&lt;", "&gt;", "&apos;", "&amp;lt;", "<skipped>", "-", "'s ", "Jim's", "3-4", "1.5", "5."]
        return " ".join(rng.choice(parts) for _ in range(rng.randrange(1, 12)))
    if kind == 4:  # right to left, with combining marks
        return "".join(rng.choice("שָׁלוֹם عَلَيْكُم ,.؟ 123") for _ in range(rng.randrange(1, 30)))
    if kind == 5:  # East Asian
        return "".join(rng.choice("中文测试，。日本語りカタカナー、「」한국어 ＡＢ１２.,ｱ𠮷野") for _ in range(rng.randrange(1, 30)))
    if kind == 6:  # case: dotted I, final sigma, titlecase
        return " ".join(rng.choice(["İstanbul", "ΣΑΣ", "ΑΣ.", "ΑΣ'Α", "ẞtraße", "Ǆ", "ŉ", "ΐ", "Σ", "ÀÉ", "ДА", "Ա"])
                        for _ in range(rng.randrange(1, 10)))
    if kind == 7:  # every class
        return "".join(rng.choice(groups[rng.choice("LMNPSZ")]) for _ in range(rng.randrange(1, 25)))
    if kind == 8:
        return "".join(rng.choice(groups[rng.choice("LLLLMNPSZC")]) for _ in range(rng.randrange(1, 40)))
    words = ["the", "cat", "sat", "on", "a", "mat", ".", ",", "The", "dog's", "U.S.", "10,000", "e.g.", "(hi)", "x"]
    return " ".join(rng.choice(words) for _ in range(rng.randrange(1, 30)))


def perturbed(rng, line, groups):
    """A translation that is partly right."""
    words = line.split(" ")
    for _ in range(rng.randrange(4)):
        where = rng.randrange(len(words))
        change = rng.randrange(5)
        if change == 0:
            del words[where]
        elif change == 1:
            words.insert(where, rng.choice(["foo", "the", "."]))
        elif change == 2:
            words[where] = rng.choice([words[where].lower(), words[where][::-1], random_line(rng, groups)])
        elif change == 3 and len(words) > 3:
            a, b = sorted(rng.sample(range(len(words) + 1), 2))
            piece = words[a:b]
            del words[a:b]
            at = rng.randrange(len(words) + 1)
            words[at:at] = piece
        if not words:
            words = [""]
    return " ".join(words).replace("\n", " ")


class Corpora:
    """Files for the command lines, made in a temporary folder."""

    def __init__(self, folder, data, seed):
        self.folder = folder
        self.rng = random.Random(seed)
        self.groups = unicode_alphabet()
        self.names = []
        if data:
            self.real("wmt", self.read(data / "wmt17_en_de/reference.de.gz"),
                      [self.read(data / "wmt17_en_de/LIUM-NMT.de.gz"), self.read(data / "wmt17_en_de/KIT.de.gz")], None)
            self.real("wmt200", self.read(data / "wmt17_en_de/reference.de.gz")[:200],
                      [self.read(data / f"wmt17_en_de/{system}.de.gz")[:200] for system in ("LIUM-NMT", "KIT")], None)
            for name, path in (("multi30k", "multi30k/val.de.gz"), ("multi30k_en", "multi30k/test_2016_flickr.en.gz"),
                               ("tatoeba", "tatoeba/val.de.gz")):
                lines = self.read(data / path)[:200]
                self.real(name, lines, None, 3)
        for index in range(4):
            lines = [random_line(self.rng, self.groups).replace("\n", " ").replace("\r", " ") for _ in range(120)]
            self.real(f"random{index}", lines, None, 3)
        long = " ".join(self.rng.choice(["alpha", "beta", "gamma", "delta", ",", "."]) for _ in range(1500))
        self.real("long", [long, "x" * 20000, "a " * 800], None, 2)
        self.real("empty", ["", " ", "", "\t\t", ""], [["", "a", " ", "", "b c"], ["", "", "", "", ""]], None)
        self.real("one", ["It is one line ."], [["It is a line ."], ["One ?"]], None)
        self.real("none", [], [[], []], None)

    @staticmethod
    def read(path):
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
            return [line.rstrip("\n") for line in file]

    def write(self, name, lines, end="\n"):
        (self.folder / name).write_bytes("".join(line + end for line in lines).encode("utf-8"))

    def real(self, name, reference, systems, made):
        """NAME.ref, NAME.ref2, NAME.ref3, NAME.tabs (all references), NAME.a, NAME.b, NAME.stdin (a and b)."""
        rng = self.rng
        if systems is None:
            systems = [[perturbed(rng, line, self.groups) for line in reference] for _ in range(2)]
        references = [reference] + [[perturbed(rng, line, self.groups) for line in reference] for _ in range(2)]
        for suffix, lines in zip(("ref", "ref2", "ref3"), references):
            self.write(f"{name}.{suffix}", lines)
        for suffix, lines in zip("ab", systems):
            self.write(f"{name}.{suffix}", lines)
        clean = [[line.replace("\t", " ") or "x" for line in lines] for lines in references]
        self.write(f"{name}.tabs", ["\t".join(parts) + " ." for parts in zip(*clean)])
        self.write(f"{name}.stdin", ["\t".join(line.replace("\t", " ") for line in parts) + "\tz" for parts in zip(*systems)])
        with gzip.open(self.folder / f"{name}.ref.gz", "wb") as file:
            file.write((self.folder / f"{name}.ref").read_bytes())
        self.names.append(name)


# ---------------------------------------------------------------- command lines

class Case:
    def __init__(self, group, arguments, stdin=None, environment=None):
        self.group, self.stdin, self.environment = group, stdin, environment or {}
        self.arguments = arguments if isinstance(arguments, list) else arguments.split()


def cases(names, slow):
    """All command lines; `slow`: corpora too large for TER under Python in the quick set."""
    found = []

    def add(group, arguments, **more):
        found.append(Case(group, arguments, **more))

    # JSON of paired tests has all digits, and those of float sums are others before Python 3.12.
    has_exact_sums = sys.version_info >= (3, 12)
    exact = "" if has_exact_sums else "-f text -w 4"
    small = [name for name in names if name not in ("wmt", "none")]
    texts = [name for name in small if name not in ("long", "empty", "one")]
    tokenizers = ("13a", "intl", "zh", "char", "none")
    for name in names:
        for tokenizer in tokenizers:
            add("tokenizer", f"{name}.ref -i {name}.a -tok {tokenizer} -w 4")
        add("lowercase", f"{name}.ref -i {name}.a -lc -w 4")
        add("all metrics", f"{name}.ref -i {name}.a -m bleu chrf -w 4 -f text")
        add("many references", f"{name}.ref {name}.ref2 {name}.ref3 -i {name}.a -m bleu chrf -w 4")
        add("tabs", f"{name}.tabs -nr 3 -i {name}.a -m bleu chrf -w 4")
        add("gzip", f"{name}.ref.gz -i {name}.a")
        add("systems", f"{name}.ref -i {name}.a {name}.b -m chrf bleu -w 3")
        add("systems", f"{name}.ref -i {name}.a {name}.b -m bleu -f text -sh")
        add("systems", f"{name}.ref -i {name}.a {name}.b -m bleu chrf -f latex -w 2")
        add("stdin", f"{name}.ref -f text", stdin=f"{name}.a")
        add("stdin", f"{name}.ref -f text -w 2", stdin=f"{name}.stdin")
    for name in small:
        for tokenizer in tokenizers:
            add("sentences", f"{name}.ref -i {name}.a -sl -tok {tokenizer} -w 4")
        for flags in ("", "-lc -b", "-sh -s floor", "-s add-k -sv 0.5", "-s none", "-s floor -sv 0.01"):
            add("sentences", f"{name}.ref {name}.ref2 -i {name}.b -sl -w 4 {flags}")
        for flags in ("", "-cw 2", "-cw 1 --chrf-lowercase", "--chrf-whitespace", "--chrf-eps-smoothing -cw 2",
                      "-cc 3 --chrf-beta 1", "-cc 0 -cw 2", "-cc 12 -cw 4"):
            add("chrf sentences", f"{name}.ref {name}.ref3 -i {name}.a -m chrf -sl -w 4 {flags}")
            add("chrf", f"{name}.ref {name}.ref3 -i {name}.a -m chrf -w 4 {flags}")
        add("sentences from stdin", f"{name}.ref -sl", stdin=f"{name}.a")
        for bits in range(16):
            flags = [flag for bit, flag in enumerate(("--ter-case-sensitive", "--ter-asian-support", "--ter-no-punct",
                                                      "--ter-normalized")) if bits >> bit & 1]
            if name == "long" and bits % 5:
                continue
            add("ter sentences", [f"{name}.ref", f"{name}.ref2", "-i", f"{name}.a", "-m", "ter", "-sl", "-w", "4", *flags])
        add("ter", f"{name}.ref -i {name}.a {name}.b -m ter bleu chrf -w 4 -f text")
    for name in texts + (["wmt"] if "wmt" in names else []):
        for smoothing in ("exp", "none", "floor", "add-k", "floor -sv 0.5", "add-k -sv 2", "add-k -sv 0.3", "exp -sv 3"):
            add("smoothing", f"{name}.ref -i {name}.a -s {smoothing} -w 4 -f text")
        add("interval", f"{name}.ref -i {name}.a -ci -w 4 -f text")
        add("interval", f"{name}.ref {name}.ref2 -i {name}.a -ci -cin 200 -w 4 -m bleu chrf")
        add("interval", f"{name}.ref -i {name}.b --confidence -cin 39 -s add-k -w 3 -f text -sh",
            environment={"SACREBLEU_SEED": "42"})
        add("interval", f"{name}.ref -i {name}.b -ci -cin 100 -w 4 -m chrf -cw 2 -b", environment={"SACREBLEU_SEED": "123456789012345678901234567890"})
        add("paired bootstrap", f"{name}.ref -i {name}.a {name}.b -pbs -w 4 -f text -m bleu chrf -cw 2")
        add("paired bootstrap", f"{name}.ref -i {name}.b {name}.a {name}.ref2 -pbs -pbsn 150 -w 4 -f latex -m chrf bleu -sh")
        add("paired bootstrap", f"{name}.ref {name}.ref3 -i {name}.b {name}.a {name}.b -pbs -pbsn 0 -w 4 -f text -s floor")
        add("paired bootstrap", f"{name}.ref -pbs -pbsn 80 -w 2 -f text", stdin=f"{name}.stdin",
            environment={"SACREBLEU_SEED": "7"})
        add("approximate randomization", f"{name}.ref -i {name}.a {name}.b -par -parn 200 -w 4 -f text -m bleu chrf")
        add("approximate randomization", f"{name}.ref -i {name}.a {name}.b -par -parn 333 -s add-k -sv 1.5 {exact}",
            environment={"SACREBLEU_SEED": "99"})
        add("approximate randomization", f"{name}.ref {name}.ref2 -i {name}.a {name}.b -par -parn 90 -m chrf -f latex")
    for name in texts:
        add("paired bootstrap", f"{name}.ref {name}.ref2 {name}.ref3 -i {name}.a {name}.b -pbs -pbsn 60 -w 4 -f text -m ter")
        add("approximate randomization", f"{name}.ref -i {name}.a {name}.b -par -parn 60 -m ter")
    name = small[0]
    files = f"{name}.ref -i {name}.a"
    for flags in ("-w 0", "-w 4", "-w 3 -b", "-m bleu chrf ter -b", "-m bleu chrf ter -b -f text", "-m ter bleu -f text -w 2",
                  "-q", "-sh", "-sh -f text", "-d", "-d -f text", "-d -m bleu chrf", "-nc", "--force", "-l en-de", "-l en-zh",
                  "-l en-zh -tok 13a", "-l de-en-zh", "-e utf-8", "-e UTF8", "-e latin-1", "-qb", "-w3", "-w=3",
                  "--width=2", "-m bleu bleu", "-ci -cin 1",
                  "-ci -cin 0 -f text", "-ci -cin 2 -f text", "-ci -f text -b -m bleu chrf", "-pbsn 5",
                  "--no-color -f latex", "-w 10 -f text", "--version-of", "-cc 6 -cw -1 -m chrf -f text", "--chrf-beta 3 -m chrf -f text",
                  "--chrf-beta 0 -m chrf -f text", "-cc 1 -m chrf", "-s add-k -sv 1e1 -f text", "-s floor -sv 0 -f text",
                  "-j 2", "-parn 3 -f text"):
        add("options", f"{files} {flags}")
    for style in ("json", "TEXT", "latex", "nonsense", ""):
        add("environment", f"{files} -m bleu chrf", environment={"SACREBLEU_FORMAT": style})
        add("environment", f"{name}.ref -i {name}.a {name}.b", environment={"SACREBLEU_FORMAT": style})
    for arguments in ("", f"{name}.ref", f"-i {name}.a", f"{name}.ref -i missing", f"missing -i {name}.a", f"{name}.ref -i {name}.a {name}.a",
                      f"{name}.ref -i {name}.a {name}.a -pbs", f"{name}.ref -i {name}.a {name}.b {name}.a -pbs -pbsn 9 -f text",
                      f"{name}.ref -i {name}.a {name}.b {name}.b -pbs -pbsn 9", f"{name}.ref -i {name}.a {name}.b -ci",
                      f"{name}.ref -i {name}.a -pbs", f"{name}.ref -i {name}.a {name}.b -sl", f"{files} -sl -m bleu chrf",
                      f"{files} -sl -ci", f"{files} -sl -m bleu bleu", f"{name}.ref -nr 2 -i {name}.a", f"{files} -nr 0",
                      f"{files} -nr -1", f"{name}.ref {name}.ref2 -nr 2 -i {name}.a", f"{name}.tabs -nr 4 -i {name}.a",
                      f"{name}.tabs -nr 2 -i {name}.a", f"one.ref -i {name}.a", f"{name}.ref one.ref -i {name}.a",
                      f"{name}.ref -i one.a", "none.ref -i none.a", f"none.ref -i {name}.a", f"{name}.ref -i none.a",
                      f"{files} -m meteor", f"{files} -tok nothing", f"{files} -w x", f"{files} -w", f"{files} -w -1",
                      f"{files} -sv x", f"{files} -s", f"{files} --c", f"{files} -pbs -par", f"{files} --unknown",
                      f"{files} -zzz", f"{name}.ref -q {name}.ref2 -i {name}.a", f"-q {name}.ref -i {name}.a",
                      f"{files} -- {name}.ref2", f"-i {name}.a -- {name}.ref", f"{files} -l en", f"{files} -t nosuchset -l en-de",
                      f"-t nosuchset -i {name}.a", f"{files} --origlang de", f"{files} --subset x", f"{files} --citation",
                      f"{files} --echo src", f"{files} -e nonsense", "bad.ref -i one.a", "one.ref -i bad.ref",
                      "bad.ref -i missing", "fields.ref -nr 2 -i bad.ref", "cr.ref -i cr.ref -f text",
                      f"{files} -m chrf -cc 0 -cw 0 -f text", f"{files} -m chrf -cc 0 --chrf-eps-smoothing",
                      f"{files} -s add-k -sv -5000000", f"{files} -tok ko-mecab"):
        add("errors and edges", arguments)
    for stdin in ("cr.ref", "crlf.ref", "lone_cr.ref", "fields.ref", "bad.ref", "none.ref", "one.stdin"):
        add("stdin", "one.ref -f text -m bleu chrf --chrf-whitespace -w 4", stdin=stdin)
        add("stdin", "cr.ref -f text -m bleu chrf -w 4", stdin=stdin)
        add("stdin", "one.ref -pbs -pbsn 10 -f text", stdin=stdin)
        if stdin != "fields.ref":  # which has a mistake of its own
            add("stdin", "none.ref", stdin=stdin)
    for name in texts:  # what sacreBLEU fails at on NumPy 2
        add("known differences", f"{name}.ref -i {name}.a {name}.b -pbs -pbsn 20 -m chrf")
        add("known differences", f"{name}.ref -i {name}.a {name}.b -pbs -pbsn 20 -m bleu ter")
    add("known differences", "empty.ref -i empty.a -ci -cin 50 -m chrf -f text")
    if slow:
        add("ter", "wmt.ref -i wmt.a wmt.b -m ter -w 4")
        add("ter", "wmt.ref -i wmt.a -m ter --ter-normalized -w 4 -f text")
    if has_exact_sums:
        for case in found:
            case.arguments = ["12" if previous == "-w" and word == "4" else word
                              for previous, word in zip([""] + case.arguments, case.arguments)]
    return found


def write_odd_files(folder):
    (folder / "bad.ref").write_bytes(b"fine\nnot \xff fine\n")
    (folder / "cr.ref").write_bytes(b"a b\rc d\n\re f  \r\n")
    (folder / "crlf.ref").write_bytes(b"a b c\r\nd e f\r\n")
    (folder / "lone_cr.ref").write_bytes(b"a b c\rd e f")
    (folder / "fields.ref").write_bytes(b"a\tb\nc\n")


# ---------------------------------------------------------------- running

def environment_of(case):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SACREBLEU")}
    environment.update(case.environment)
    return environment


def run_nmt_score(program, case, folder):
    stdin = open(folder / case.stdin, "rb") if case.stdin else subprocess.DEVNULL
    done = subprocess.run([program, *case.arguments], cwd=folder, stdin=stdin, capture_output=True,
                          env=environment_of(case), check=False)
    return done.returncode, done.stdout, done.stderr


def run_sacrebleu(case, folder):
    """In a child of this process, which has sacreBLEU loaded already; otherwise as its command does."""
    out, err = folder / "stdout", folder / "stderr"
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment_of(case))
            for number, path, flags in ((0, case.stdin or os.devnull, os.O_RDONLY),
                                        (1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
                                        (2, err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)):
                file = os.open(path, flags)
                os.dup2(file, number)
            sys.argv = ["sacrebleu", *case.arguments]
            sys.stderr = open(2, "w", buffering=1, closefd=False)
            from sacrebleu.sacrebleu import main
            main()
            code = 0
        except SystemExit as end:
            code = 0 if end.code is None else end.code if isinstance(end.code, int) else 1
        except BaseException:  # as the interpreter would
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), out.read_bytes(), err.read_bytes()


def is_known_difference(theirs):
    """docs/scoring.md, "What differs": failures of sacreBLEU on NumPy 2, at float32 in JSON and beside other numbers."""
    messages = (b"TypeError: Object of type float32 is not JSON serializable", b"TypeError: don't know how to coerce")
    return theirs[0] == 1 and any(message in theirs[2] for message in messages)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nmt-score", required=True)
    parser.add_argument("--data", help="folder with wmt17_en_de, multi30k, tatoeba; without: made-up text only")
    parser.add_argument("--quick", action="store_true", help="a sample of the command lines")
    parser.add_argument("--seed", type=int, default=20261121, help="of the made-up text")
    options = parser.parse_args()

    import colorama  # noqa: F401  loaded here once, for all children
    import numpy
    import regex  # noqa: F401
    import sacrebleu
    import sacrebleu.metrics.bleu
    import sacrebleu.sacrebleu
    import sacrebleu.significance  # noqa: F401
    print(f"sacreBLEU {sacrebleu.__version__}, Python {sys.version.split()[0]}, NumPy {numpy.__version__}")
    if sacrebleu.__version__ != EXPECTED_VERSION:
        sys.exit(f"sacreBLEU {EXPECTED_VERSION} is what nmt-score reproduces")
    data = Path(options.data) if options.data and (Path(options.data) / "wmt17_en_de").exists() else None
    if not data:
        print("no real text found: made-up text only")

    program = os.path.abspath(options.nmt_score)
    with tempfile.TemporaryDirectory(prefix="nmt-scoring-") as name:
        folder = Path(name)
        corpora = Corpora(folder, data, options.seed)
        write_odd_files(folder)
        everything = cases(corpora.names, slow=bool(data) and not options.quick)
        if options.quick:
            seen = {}
            for case in everything:
                seen.setdefault(case.group, []).append(case)
            everything = [case for group in seen.values() for case in group[::QUICK_SHARE]]
        failures, known, empty = [], 0, 0
        for number, case in enumerate(everything, 1):
            if number % 100 == 0:
                print(f"{number} of {len(everything)} command lines", flush=True)
            ours, theirs = run_nmt_score(program, case, folder), run_sacrebleu(case, folder)
            empty += not theirs[1]
            if ours[:2] == theirs[:2]:
                continue
            if is_known_difference(theirs):
                known += 1
                continue
            failures.append(case)
            print(f"\nDIFFERENT: {case.arguments} stdin={case.stdin} {case.environment}")
            print(f"  exit codes: {ours[0]}, sacreBLEU {theirs[0]}")
            mine, other = ours[1].splitlines(), theirs[1].splitlines()
            shown = 0
            for index in range(max(len(mine), len(other))):
                left = mine[index] if index < len(mine) else None
                right = other[index] if index < len(other) else None
                if left != right and shown < 3:
                    print(f"  line {index + 1}:\n    {left}\n    {right}")
                    shown += 1
            print(f"  messages: {ours[2][-300:]!r}\n  sacreBLEU: {theirs[2][-300:]!r}")
        print(f"{len(everything)} command lines, {len(everything) - empty} of them with output: "
              f"{len(failures)} differences, {known} failures of sacreBLEU that docs/scoring.md lists")
        if failures or empty == len(everything):
            sys.exit(1)


if __name__ == "__main__":
    main()
