"""Installs into a fresh folder and runs what stands there.

    install_test.py --build BUILD_FOLDER --cmake CMAKE --torch 0|1
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

OPTIONS = None  # set by main

TORCH_FREE = {"nmt-init", "nmt-prepro", "nmt-score"}


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.temporary.name) / "installed here"
        done = subprocess.run([OPTIONS.cmake, "--install", OPTIONS.build, "--prefix", str(cls.prefix)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stdout)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def run_program(self, program, *arguments, text=None):
        environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
        return subprocess.run([str(self.prefix / "bin" / program), *arguments], input=text, cwd=self.temporary.name,
                              env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)

    def test_every_program_of_the_build_is_installed_and_starts(self):
        installed = {path.name for path in (self.prefix / "bin").iterdir()}
        built = {path.name for path in pathlib.Path(OPTIONS.build).glob("nmt-*") if os.access(path, os.X_OK)}
        self.assertEqual(installed, (built | {"nmt"}) - {"nmt-document"})
        self.assertTrue(TORCH_FREE <= installed)
        self.assertEqual("nmt-train" in installed, OPTIONS.torch == "1")
        for program in sorted(installed):
            with self.subTest(program):
                done = self.run_program(program, "--version")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(program, done.stdout)

    def test_the_reader_of_documents_stands_apart(self):
        done = subprocess.run([str(self.prefix / "libexec/nmt/nmt-document")], stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("use nmt-translate --format-in", done.stderr)

    def test_the_front_door_opens_the_programs_beside_it(self):
        done = self.run_program("nmt", "score", "--version")
        self.assertEqual((done.returncode, done.stdout.split()[0]), (0, "nmt-score"), done.stderr)

    def test_manual_pages_and_completions_are_installed(self):
        share = self.prefix / "share"
        for program in (path.name for path in (self.prefix / "bin").iterdir()):
            for path in (f"man/man1/{program}.1.gz", f"bash-completion/completions/{program}",
                         f"fish/vendor_completions.d/{program}.fish"):
                self.assertTrue((share / path).is_file(), path)
        self.assertTrue((share / "man/man5/nmt-config.5.gz").is_file())
        self.assertTrue((share / "zsh/site-functions/_nmt").is_file())
        for name in ("LICENSE", "NOTICE", "nmt.service"):
            self.assertTrue((share / "doc/nmt" / name).is_file(), name)

    def test_the_presets_are_installed_and_are_read(self):
        presets = sorted((self.prefix / "share" / "nmt" / "configs").glob("*.yaml"))
        self.assertIn("quickstart.yaml", [path.name for path in presets])
        done = self.run_program("nmt-prepro", "-c", str(presets[0]), "--print-config")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("training:", done.stdout)

    def test_without_the_library_the_programs_are_installed(self):
        rules = (pathlib.Path(OPTIONS.build) / "cmake_install.cmake").read_text()
        if "libnmt.so" not in rules:
            self.skipTest("a build without the library")
        folder = pathlib.Path(self.temporary.name)
        (folder / "rules.cmake").write_text(rules.replace("libnmt.so", "libnmt_that_is_not_built.so"))
        done = subprocess.run([OPTIONS.cmake, f"-DCMAKE_INSTALL_PREFIX={folder / 'programs'}", "-P", "rules.cmake"],
                              cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("Installing the programs alone; cmake --build ", done.stdout)
        self.assertTrue({"bin", "share"} <= {path.name for path in (folder / "programs").iterdir()})
        self.assertFalse((folder / "programs" / "include").exists())

    def test_the_numbers_are_right_here(self):
        if OPTIONS.torch == "0":
            self.skipTest("nmt-eval needs LibTorch")
        done = self.run_program("nmt-eval", "--self-test")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(done.stdout.startswith("ok      attention by hand\n"), done.stdout)

    def test_the_scorer_scores(self):
        reference = pathlib.Path(self.temporary.name) / "reference"
        reference.write_text("the cat sat on the mat\n")
        done = self.run_program("nmt-score", str(reference), "-b", text="the cat sat on the mat\n")
        self.assertEqual((done.returncode, done.stdout), (0, "100.0\n"), done.stderr)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("build", "cmake", "torch"):
        parser.add_argument(f"--{name}", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
