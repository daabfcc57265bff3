"""Adds up the results of ctest and of the test programs below it.

    count_tests.py [--strict] FOLDER...

Each FOLDER holds ctest.xml (ctest --output-junit) and, for each GoogleTest program that ran, its own XML file. An entry
of ctest counts as its cases where they are known (GoogleTest's file, or the closing lines of Python's unittest), else as
one. Names what failed, and what was skipped with the reason that it gave; prints "N passed, N failed, N skipped" as the last
line. Exit code 1 if anything failed or nothing ran; with --strict also if a case was skipped for a reason that EXCUSES does
not know.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field


# Reasons of a skipped case for which nobody can be blamed: no GPU, or data and programs of others that are not here.
EXCUSES = (
    r"no GPU$", r"no CUDA device",
    r"no Multi30k below", r"no real data \(NMT_SHARED\)$", r"set NMT_SHARED: no newstest2017", r"needs \S*data/",
    r"needs a model in \$NMT_MULTI30K_MODEL",
    r"(no|this) Python (with|has no) (transformers|sacremoses|sacreBLEU|tensorboard|spdx-tools)", r"tokenizer 'ja-mecab': ",
    r"no Python with torch and sentencepiece", r"what \S+ compares with could not be installed",
    r"NMT_LIBRETRANSLATE is not set", r"LibTorch's random numbers have other bits here",
    r"not under QEMU$", r"no build for ARM64 in ", r"no qemu-aarch64",
    r"\S+ is not in this build",  # the programs with LibTorch, under the sanitizers
    r"a sanitizer has its own memory for each thread",
)


@dataclass
class Counts:
    passed: int = 0
    failures: list = field(default_factory=list)
    skips: list = field(default_factory=list)  # (name, reason)

    def add(self, other):
        self.passed += other.passed
        self.failures += other.failures
        self.skips += other.skips

    def __str__(self):
        return f"{self.passed} passed, {len(self.failures)} failed, {len(self.skips)} skipped"


def last_line(text):
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def googletest_counts(path):
    """The cases of one GoogleTest file; None if the program did not live to finish it."""
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError:
        return None
    counts = Counts()
    for case in root.iter("testcase"):
        if case.get("status") == "notrun":  # disabled or filtered out
            continue
        if case.find("failure") is not None:
            counts.failures.append(f"{case.get('classname')}.{case.get('name')}")
        elif case.get("result") == "skipped" or case.find("skipped") is not None:
            # The message begins with the place of GTEST_SKIP().
            skipped = case.find("skipped")
            counts.skips.append((f"{case.get('classname')}.{case.get('name')}",
                                 last_line(skipped.get("message") if skipped is not None else "")))
        else:
            counts.passed += 1
    return counts


def is_excused(reason):
    return any(re.match(excuse, reason) for excuse in EXCUSES)


CASE = re.compile(r"\s*(\w+ \([^()\s]+\))")  # "test_x (module.Class.test_x)", before what a subTest adds
OUTSIDE = re.compile(r"(setUp|tearDown)(Class|Module) \(")  # none of the cases that "Ran N tests" counts


def unittest_skips(output):
    """[(case, "" where the line of none of them was begun; title; reason)]: one for each time that unittest says so."""
    found = []
    case = ""
    for line in output.splitlines():
        begun = CASE.match(line)
        case = begun.group(1) if begun else case
        skip = re.match(r"(?:\s*(.+?) \.\.\. .*?)?skipped (['\"])(.*)\2$", line)
        if skip:
            found.append((case, skip.group(1) or case or "a class", skip.group(3)))
        if skip or re.search(r"(?:^| )(?:ok|FAIL|ERROR|expected failure|unexpected success)$", line):
            case = ""
    return found


def unittest_counts(name, output):
    """The cases of Python's unittest, told by its closing lines; None where there are none. Each case counts once,
    however many of its subTests failed or were skipped."""
    ran = re.search(r"^Ran (\d+) tests? in ", output, re.MULTILINE)
    if not ran:
        return None
    end = re.search(r"^(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?\s*$", output[ran.end():], re.MULTILINE)
    told = (end.group(1) or "").split(", ") if end else []
    numbers = {kind: int(number) for kind, _, number in (part.partition("=") for part in told) if number.isdigit()}
    times_failed = sum(numbers.get(kind, 0) for kind in ("failures", "errors", "unexpected successes"))
    titles = re.findall(r"^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (.+)$", output, re.MULTILINE)[:times_failed]
    failed = list(dict.fromkeys(CASE.match(title).group(1) if CASE.match(title) else title for title in titles))
    failed += ["a case"] * (times_failed - len(titles))

    times_skipped = numbers.get("skipped", 0)
    named = unittest_skips(output)[:times_skipped]
    in_cases, skips = {}, []
    for case, title, reason in named:
        if not case or OUTSIDE.match(case):
            skips.append((title, reason))  # what setUpClass skips is a skip without a case that ran
        elif case not in failed and (case not in in_cases or is_excused(in_cases[case][1])):
            in_cases[case] = title, reason  # of several reasons the one that nobody may have foreseen
    ran_and_failed = sum(1 for title in failed if not OUTSIDE.match(title))
    # Without their lines nobody knows of how many cases they are: of no more than there were.
    others = min(times_skipped - len(named), max(0, int(ran.group(1)) - ran_and_failed - len(in_cases)))
    skips = [*in_cases.values(), *skips, *[("a case", "")] * others]
    return Counts(passed=max(0, int(ran.group(1)) - ran_and_failed - len(in_cases) - others),
                  skips=[(f"{name}: {title}", reason) for title, reason in skips],
                  failures=[f"{name}: {title}" for title in failed])


def entry_counts(entry, folder):
    """The counts of one entry of ctest."""
    name = entry.get("name")
    program = "test_" + name.removeprefix("unit_")
    own = folder / f"{program}.xml"
    counts = googletest_counts(own) if own.exists() else None
    if counts is None:
        counts = unittest_counts(name, entry.findtext("system-out") or "")
    reason = entry.find("skipped").get("message") if entry.find("skipped") is not None else ""
    if entry.get("status") == "notrun" and not reason.startswith("SKIP_"):  # its program is missing, say
        return Counts(failures=[f"{name}: {reason}"])
    if entry.get("status") == "fail":
        if counts is None or not counts.failures:  # it crashed, ran out of time, or leaked
            counts = counts or Counts()
            counts.failures.append(name)
        return counts
    if entry.get("status") == "run":
        return counts or Counts(passed=1)
    output = entry.findtext("system-out") or ""
    said = re.findall(r"^skipped: (.+)$", output, re.MULTILINE)
    if counts is not None and counts.skips and not said:
        return counts
    return Counts(skips=[(name, said[-1] if said else last_line(output))])


def folder_counts(folder):
    # ctest writes it at its end, and where no test matches, too: without it, it died.
    report = folder / "ctest.xml"
    if not report.exists():
        return Counts(failures=[f"{folder.name}: ctest wrote no ctest.xml"])
    try:
        entries = list(ElementTree.parse(report).getroot().iter("testcase"))
    except ElementTree.ParseError as error:
        return Counts(failures=[f"{folder.name}: ctest did not finish ctest.xml ({error})"])
    counts = Counts()
    for entry in entries:
        counts.add(entry_counts(entry, folder))
    return counts


def main(arguments):
    strict = "--strict" in arguments
    folders = [argument for argument in arguments if argument != "--strict"]
    total = Counts()
    for folder in map(pathlib.Path, folders):
        counts = folder_counts(folder)
        print(f"{folder.name}: {counts}")
        for failure in counts.failures:
            print(f"  failed: {failure}")
        for name, reason in counts.skips:
            print(f"  skipped: {name}: {reason or 'no reason given'}")
        total.add(counts)
    unexcused = [name for name, reason in total.skips if not is_excused(reason)]
    if strict and unexcused:
        print(f"skipped without an excuse that {pathlib.Path(__file__).name} knows: {', '.join(unexcused)}")
    print(total)
    nothing_ran = not total.passed and not total.skips
    return 1 if total.failures or nothing_ran or (strict and unexcused) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
