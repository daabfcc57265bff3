"""Adds up the results of ctest and of the test programs below it.

    count_tests.py FOLDER...

Each FOLDER holds ctest.xml (ctest --output-junit) and, for each GoogleTest program that ran, its own XML file. An entry
of ctest counts as its cases where they are known (GoogleTest's file, or the closing lines of Python's unittest), else as
one. Names what failed, prints "N passed, N failed, N skipped" as the last line; exit code 1 if anything failed or nothing
ran.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field


@dataclass
class Counts:
    passed: int = 0
    skipped: int = 0
    failures: list = field(default_factory=list)

    def add(self, other):
        self.passed += other.passed
        self.skipped += other.skipped
        self.failures += other.failures

    def __str__(self):
        return f"{self.passed} passed, {len(self.failures)} failed, {self.skipped} skipped"


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
            counts.skipped += 1
        else:
            counts.passed += 1
    return counts


def unittest_counts(name, output):
    """The cases of Python's unittest, told by its closing lines; None where there are none."""
    ran = re.search(r"^Ran (\d+) tests? in ", output, re.MULTILINE)
    if not ran:
        return None
    end = re.search(r"^(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?\s*$", output[ran.end():], re.MULTILINE)
    numbers = dict(re.findall(r"(\w+)=(\d+)", end.group(1) or "")) if end else {}
    failed = sum(int(numbers.get(kind, 0)) for kind in ("failures", "errors"))
    titles = re.findall(r"^(?:FAIL|ERROR): (.+)$", output, re.MULTILINE)
    skipped = int(numbers.get("skipped", 0))
    return Counts(passed=int(ran.group(1)) - failed - skipped, skipped=skipped,
                  failures=[f"{name}: {titles[i] if i < len(titles) else 'a case'}" for i in range(failed)])


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
    return Counts(skipped=1)


def folder_counts(folder):
    counts = Counts()
    report = folder / "ctest.xml"
    if not report.exists():
        return counts
    for entry in ElementTree.parse(report).getroot().iter("testcase"):
        counts.add(entry_counts(entry, folder))
    return counts


def main(folders):
    total = Counts()
    for folder in map(pathlib.Path, folders):
        counts = folder_counts(folder)
        print(f"{folder.name}: {counts}")
        for failure in counts.failures:
            print(f"  failed: {failure}")
        total.add(counts)
    print(total)
    return 1 if total.failures or not total.passed + total.skipped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
