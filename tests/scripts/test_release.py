"""scripts/release.sh --check in a small repository of its own, and scripts/sbom.py with stand-ins for the programs."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHANGELOG = """# Changelog

## [Unreleased]

## [0.2.0] - 2026-12-01

### Added
- Packages.

## [0.1.0] - 2026-11-01
- First.
"""


class Release(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        (self.folder / "scripts").mkdir()
        for name in ("release.sh", "common.sh"):
            shutil.copy2(ROOT / "scripts" / name, self.folder / "scripts")
        (self.folder / "CMakeLists.txt").write_text('project(nmt VERSION 0.2.0 DESCRIPTION "x" LANGUAGES CXX)\n')
        (self.folder / "CHANGELOG.md").write_text(CHANGELOG)
        self.git("init", "-q")
        self.commit()

    def tearDown(self):
        self.temporary.cleanup()

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments], cwd=self.folder,
                       check=True, stdout=subprocess.DEVNULL)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x", "--allow-empty")

    def check(self, version="0.2.0"):
        done = subprocess.run([str(self.folder / "scripts" / "release.sh"), "--check", version], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def refused(self, *words, version="0.2.0"):
        code, text = self.check(version)
        self.assertEqual(code, 1, text)
        for word in words:
            self.assertIn(word, text)

    def change(self, name, old, new):
        path = self.folder / name
        self.assertIn(old, path.read_text())
        path.write_text(path.read_text().replace(old, new, 1))
        self.commit()

    def test_a_tree_that_is_ready(self):
        self.assertEqual(self.check(), (0, "== 0.2.0 can be released\n"))

    def test_the_version_is_that_of_the_tree_and_of_semver(self):
        self.refused("CMakeLists.txt says 0.2.0", version="0.3.0")
        for version in ("0.2", "v0.2.0", "0.02.0", "0.2.0-rc1"):
            self.refused("not MAJOR.MINOR.PATCH", version=version)
        (self.folder / "pyproject.toml").write_text('[project]\nversion = "0.1.9"\n')
        self.commit()
        self.refused("pyproject.toml says 0.1.9")

    def test_the_changelog_has_a_dated_section_and_nothing_is_left_over(self):
        self.change("CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n- Left over.\n")
        self.refused("below [Unreleased]")
        self.change("CHANGELOG.md", "- Left over.\n", "")
        self.change("CHANGELOG.md", "- Packages.\n", "")
        self.refused("lists no change")
        self.change("CHANGELOG.md", " - 2026-12-01", "")
        self.refused("YYYY-MM-DD")
        self.change("CHANGELOG.md", "## [0.2.0]\n", "")
        self.refused("has no section 0.2.0")

    def test_nothing_is_uncommitted_and_the_tag_is_new(self):
        (self.folder / "new").write_text("")
        self.refused("not committed")
        self.commit()
        self.git("tag", "v0.2.0")
        self.refused("v0.2.0 is there already")


    def test_it_is_made_of_a_clone_only(self):
        shutil.rmtree(self.folder / ".git")
        self.refused("no git clone")
        # Inside somebody else's clone, which is clean.
        inner = self.folder / "inner"
        inner.mkdir()
        for name in ("scripts", "CMakeLists.txt", "CHANGELOG.md"):
            (self.folder / name).rename(inner / name)
        self.git("init", "-q")
        (self.folder / ".gitignore").write_text("inner\n")
        self.commit()
        self.folder = inner
        self.refused("no git clone")


class BillOfMaterials(unittest.TestCase):
    def check_by_spdx_tools(self, text):
        checker = pathlib.Path(os.environ.get("NMT_DEV_PYTHON", "/nowhere/python")).with_name("pyspdxtools")
        if not checker.exists():
            self.skipTest("this Python has no spdx-tools")  # scripts/dev_python.sh installs it
        with tempfile.NamedTemporaryFile(suffix=".spdx.json") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([str(checker), "-i", file.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_it_names_what_is_inside(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "bin").mkdir()
            documents = folder / "share" / "doc" / "nmt"
            documents.mkdir(parents=True)
            for program, line in (("nmt-train", "LibTorch 2.13.0+cpu"), ("nmt-prepro", "SentencePiece 0.2.1")):
                (folder / "bin" / program).write_text(f"#!/bin/sh\necho {line}\n")
                (folder / "bin" / program).chmod(0o755)
            (documents / "libraries.tsv").write_text("library\tpackage\tversion\nlibicuuc.so.72\tlibicu72\t72.1-3\n"
                                                     "libicudata.so.72\tlibicu72\t72.1-3\nliblzma.so.5\tliblzma5\t5.4.1\n")
            artifact = folder / "nmt.deb"
            artifact.write_bytes(b"deb")
            command = [sys.executable, str(ROOT / "scripts" / "sbom.py"), "--version", "0.2.0", "--folder", name, "--notice",
                       str(ROOT / "NOTICE"), "--artifact", str(artifact), "--linked", "nanobind=3.1.0"]
            environment = {**os.environ, "SOURCE_DATE_EPOCH": "86400"}
            text = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment).stdout
            self.assertEqual(text, subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment).stdout)
        document = json.loads(text)
        self.assertEqual(document["creationInfo"]["created"], "1970-01-02T00:00:00Z")
        packages = {package["name"]: package for package in document["packages"]}
        self.assertEqual(packages["LibTorch"]["versionInfo"], "2.13.0+cpu")
        self.assertEqual(packages["LibTorch"]["licenseDeclared"], "BSD-3-Clause")
        self.assertEqual(packages["LibTorch"]["externalRefs"][0]["referenceLocator"], "pkg:pypi/torch@2.13.0")
        self.assertEqual(packages["libicu72"]["licenseDeclared"], "Unicode-3.0")
        self.assertEqual((packages["nanobind"]["versionInfo"], packages["nanobind"]["licenseDeclared"]), ("3.1.0", "BSD-3-Clause"))
        self.assertEqual(packages["liblzma5"]["licenseDeclared"], "NOASSERTION")  # NOTICE does not say it
        self.assertEqual(packages["nmt.deb"]["checksums"][0]["checksumValue"],
                         hashlib.sha256(b"deb").hexdigest())
        ids = {package["SPDXID"] for package in document["packages"]} | {"SPDXRef-DOCUMENT"}
        self.assertEqual(len(ids), len(document["packages"]) + 1)
        self.assertGreaterEqual(len(document["relationships"]), len(document["packages"]))
        for relationship in document["relationships"]:
            self.assertTrue({relationship["spdxElementId"], relationship["relatedSpdxElement"]} <= ids)
        self.check_by_spdx_tools(text)


if __name__ == "__main__":
    unittest.main()
