"""Reads the manual pages of a build: mandoc and man find nothing to say, and every option stands in them.

    manual_test.py --build BUILD_FOLDER
"""

import argparse
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

OPTIONS = None  # set by main


def pages():
    return sorted((pathlib.Path(OPTIONS.build) / "manual" / "man").glob("man*/*.gz"))


def programs():
    return [path.stem for path in sorted((pathlib.Path(OPTIONS.build) / "manual").glob("nmt-*.json"))]


def source(name, section=1):
    path = pathlib.Path(OPTIONS.build) / "manual" / "man" / f"man{section}" / f"{name}.{section}.gz"
    return gzip.decompress(path.read_bytes()).decode()


def plain(text):
    """roff without its escapes."""
    for escape, meaning in ((r"\-", "-"), (r"\&", ""), (r"\(aq", "'"), (r"\(ga", "`"), (r"\(ha", "^"), (r"\(ti", "~"),
                            (r"\fB", ""), (r"\fI", ""), (r"\fR", ""), (r"\e", "\\")):
        text = text.replace(escape, meaning)
    return text


class Manual(unittest.TestCase):
    def test_there_is_a_page_for_every_program_and_for_the_configuration(self):
        names = [page.name for page in pages()]
        self.assertEqual(names, sorted(["nmt.1.gz", *(f"{name}.1.gz" for name in programs())]) + ["nmt-config.5.gz"])
        self.assertIn("nmt-score", programs())

    def test_the_same_text_gives_the_same_bytes(self):
        for page in pages():
            self.assertEqual(page.read_bytes()[3:8], b"\0" * 5, f"{page}: gzip's head has a name or a time")

    def test_every_option_of_help_is_in_the_page(self):
        for program in programs():
            described = json.loads((pathlib.Path(OPTIONS.build) / "manual" / f"{program}.json").read_text())
            text = plain(source(program))
            shown = subprocess.run([pathlib.Path(OPTIONS.build) / program, "--help"], stdout=subprocess.PIPE, text=True,
                                   check=True).stdout
            of_help = set(re.findall(r"(?m)^ {2,}(?:-\w+, ?)*(--[\w-]+)", shown))
            of_page = {name for option in described["options"] for name in option["names"]}
            self.assertTrue(of_help, program)
            self.assertEqual(of_help - of_page, set(), program)
            for option in described["options"]:
                self.assertIn(f".TP\n{', '.join(option['names'])}", text)
                for word in option["help"].split():
                    self.assertIn(word, text)

    def test_every_option_of_the_configuration_is_in_its_page(self):
        text = plain(source("nmt-config", 5))
        reference = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "options.md").read_text()
        section, count = None, 0
        for line in reference.splitlines():
            if heading := re.match(r"## (\w+)", line):
                section = heading.group(1)
            elif row := re.match(r"\| `(\w+)` ", line):
                self.assertIn(f".TP\n{section}.{row.group(1)}\n", text)
                count += 1
        self.assertGreater(count, 100)

    def test_mandoc_finds_nothing(self):
        if not shutil.which("mandoc"):
            self.skipTest("no mandoc (apt-get install mandoc)")
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for page in pages():
                names.append(page.stem)
                (pathlib.Path(folder) / page.stem).write_bytes(gzip.decompress(page.read_bytes()))
            done = subprocess.run(["mandoc", "-T", "lint", *names], cwd=folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            # That a page it knows nothing of is referred to is no fault: they are not installed yet.
            found = [line for line in done.stdout.splitlines() if "referenced manual not found" not in line]
            self.assertEqual(found, [])

    def test_man_shows_them_without_a_warning(self):
        if not shutil.which("man") or not shutil.which("groff"):
            self.skipTest("no man-db with groff (apt-get install man-db groff-base)")
        for page in pages():
            done = subprocess.run(["man", "--warnings", "-l", str(page)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
            self.assertEqual((done.returncode, done.stderr.decode()), (0, ""), page)
            self.assertIn(b"NAME\n", done.stdout)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
