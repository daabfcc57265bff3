"""Which LibTorch scripts/common.sh takes, of folders made up here."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"


class FindTorchTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name).resolve()
        (self.root / "project/scripts").mkdir(parents=True)
        shutil.copy(SCRIPTS / "common.sh", self.root / "project/scripts")
        # A PATH without compilers, whose python3 knows the packages of one folder only.
        (self.root / "bin").mkdir()
        for tool in ("bash", "sort", "head", "sed", "tr", "dirname"):
            (self.root / "bin" / tool).symlink_to(shutil.which(tool))
        python = self.root / "bin/python3"
        python.write_text(f'#!/bin/sh\nPYTHONPATH={self.root}/site exec {shutil.which("python3")} -S "$@"\n')
        python.chmod(0o755)

    def make_torch(self, package, version):
        """A package folder of LibTorch; returns the folder of its TorchConfig.cmake."""
        cmake = self.root / package / "share/cmake/Torch"
        cmake.mkdir(parents=True)
        (self.root / package / "__init__.py").touch()
        (cmake / "TorchConfigVersion.cmake").write_text(f'set(PACKAGE_VERSION "{version}")\n')
        return str(cmake)

    def find(self, **environment):
        """(folder, messages)"""
        done = subprocess.run(
            ["bash", "-c", "source scripts/common.sh; find_torch"], cwd=self.root / "project", text=True,
            capture_output=True, env={"PATH": str(self.root / "bin"), **environment})
        return done.stdout.strip(), done.stderr

    def test_there_is_none(self):
        self.assertEqual(self.find(), ("", ""))

    def test_the_users_choice_comes_first_then_the_projects_own_then_pythons(self):
        of_python = self.make_torch("site/torch", "2.11.0")
        self.assertEqual(self.find()[0], of_python)
        own = self.make_torch("project/.deps/torch/lib/python3.11/site-packages/torch", "2.13.0+cpu")
        self.assertEqual(self.find()[0], own)
        of_prefix = self.make_torch("prefix", "2.12.0")
        prefix = f"/nowhere:{self.root}/prefix"
        self.assertEqual(self.find(CMAKE_PREFIX_PATH=prefix)[0], of_prefix)
        self.assertEqual(self.find(CMAKE_PREFIX_PATH=f"{self.root}/prefix/share/cmake")[0], of_prefix)
        named = self.make_torch("named", "2.14.0")
        self.assertEqual(self.find(CMAKE_PREFIX_PATH=prefix, Torch_DIR=named)[0], named)

    def test_an_old_one_is_passed_over(self):
        self.make_torch("site/torch", "2.9.1")
        found, messages = self.find()
        self.assertEqual(found, "")
        self.assertRegex(messages, "LibTorch 2.9.1 in .*/site/torch/share/cmake/Torch is not used: 2.11 or newer is needed")

    def test_a_folder_that_the_user_names_counts_alone(self):
        self.make_torch("site/torch", "2.11.0")
        found, messages = self.find(Torch_DIR="/typo/share/cmake/Torch")
        self.assertEqual(found, "")
        self.assertIn("Torch_DIR=/typo/share/cmake/Torch: no TorchConfigVersion.cmake there; name the folder", messages)

    def test_a_relative_folder_is_that_of_the_user(self):
        named = self.make_torch("project/named", "2.14.0")
        done = subprocess.run(["bash", "-c", "source ../scripts/common.sh; find_torch"], cwd=self.root / "project/named",
                              text=True, capture_output=True,
                              env={"PATH": str(self.root / "bin"), "Torch_DIR": "share/cmake/Torch"})
        self.assertEqual(done.stdout.strip(), named, done.stderr)


if __name__ == "__main__":
    unittest.main()
