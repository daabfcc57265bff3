"""The .debs of a build folder: made twice by CPack, looked at, unpacked, and run where they were unpacked.

    deb_test.py --build BUILD_FOLDER --cmake CMAKE --torch FOLDER [--python PYTHON]

LibTorch's .deb is empty here. tests/system/packages/packages_test.sh installs whole ones in a bare Debian. PYTHON: the one that
the Python package of the build is for, where it was built.
"""

import argparse
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

OPTIONS = None  # set by main
HERE = pathlib.Path(__file__).resolve().parent
EPOCH = 1_600_000_000  # 2020-09-13


def run(*command, **settings):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120, **settings)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


class Debs(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        for program in ("dpkg-deb", "dpkg-shlibdeps", "file"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"no {program}: packages are made on Debian")
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cache = (OPTIONS.build / "CMakeCache.txt").read_text()
        cls.torch = str(OPTIONS.torch)
        cls.version = re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$", cache, re.M).group(1)
        cls.minor = cls.version.rpartition(".")[0]
        cls.debs = cls.make("first")
        cls.root = cls.folder / "root"
        for deb in cls.debs.values():
            run("dpkg-deb", "-x", deb, cls.root)

    @classmethod
    def make(cls, name):
        """Package to its .deb."""
        folder = cls.folder / name
        components = ["programs", "library", "development"] + (["python"] if OPTIONS.python else [])
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)}
        run(OPTIONS.cmake, "-S", HERE / "deb", "-B", folder, f"-DNMT_BUILT={OPTIONS.build}", f"-DNMT_VERSION={cls.version}",
            f"-DNMT_COMPONENTS={';'.join(components)}", f"-DNMT_TORCH={cls.torch}", env=environment)
        run(OPTIONS.cmake.with_name("cpack"), "-G", "DEB", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=zstd", cwd=folder, env=environment)
        return {path.name.partition("_")[0]: path for path in sorted(folder.glob("*.deb"))}

    def field(self, package, name):
        return run("dpkg-deb", "-f", self.debs[package], name).strip()

    def test_each_part_has_a_package_that_says_what_it_is(self):
        expected = {"nmt", "nmt-libtorch", f"libnmt{self.minor}", "libnmt-dev"} | ({"python3-nmt"} if OPTIONS.python else set())
        self.assertEqual(set(self.debs), expected)
        for package in sorted(expected):
            with self.subTest(package):
                self.assertEqual(self.field(package, "Package"), package)
                self.assertEqual(self.field(package, "Version"), self.version + "-1")
                self.assertEqual(self.field(package, "Architecture"), run("dpkg", "--print-architecture").strip())
                self.assertRegex(self.field(package, "Description"), r"^(neural machine translation|LibTorch)")
                documents = self.root / "usr/share/doc" / package
                self.assertTrue((documents / "copyright").is_file() and (documents / "NOTICE").is_file())
                with gzip.open(documents / "changelog.Debian.gz", "rt") as changes:
                    self.assertIn("Sun, 13 Sep 2020", changes.read())

    def test_the_guides_are_there(self):
        guides = {guide.name for guide in (HERE.parents[2] / "docs").glob("*.md")}
        self.assertEqual({guide.name for guide in (self.root / "usr/share/doc/nmt/docs").glob("*.md")}, guides)

    def test_they_depend_on_each_other_and_on_what_they_load(self):
        same = f"(= {self.version}-1)"
        for package in set(self.debs) - {"nmt-libtorch", "libnmt-dev"}:
            depends = self.field(package, "Depends")
            self.assertTrue(depends.startswith(f"nmt-libtorch {same}"), depends)
            self.assertRegex(depends, r"\blibc6 .*\blibicu\d+ .*\blibstdc\+\+6 ", package)
        self.assertEqual(self.field("libnmt-dev", "Depends"), f"libnmt{self.minor} {same}")
        self.assertEqual(self.field("nmt-libtorch", "Depends"), "")

    def test_files_belong_to_root_and_only_root_writes_them(self):
        for package, deb in self.debs.items():
            for line in run("dpkg-deb", "-c", deb, env={**os.environ, "TZ": "UTC"}).splitlines():
                mode, owner, _, date, _, name = line.split(None, 5)
                self.assertEqual((owner, date), ("root/root", "2020-09-13"), f"{package}: {line}")
                self.assertRegex(mode, r"^(lrwxrwxrwx|[d-]rw[x-]r-[x-]r-[x-])$", f"{package}: {line}")
                self.assertTrue(name.startswith("./usr/"), f"{package}: {line}")

    def test_what_dpkg_keeps_of_them(self):
        for package, deb in self.debs.items():
            folder = self.folder / f"control of {package}"
            run("dpkg-deb", "-e", deb, folder)
            for line in (folder / "md5sums").read_text().splitlines():
                digest, name = line.split("  ", 1)
                self.assertEqual(hashlib.md5((self.root / name).read_bytes()).hexdigest(), digest, name)
            for script in ("postinst", "prerm", "postrm"):
                if (folder / script).exists():
                    self.assertTrue(os.access(folder / script, os.X_OK))
                    run("sh", "-n", folder / script)
        shlibs = self.folder / f"control of libnmt{self.minor}" / "shlibs"
        self.assertEqual(shlibs.read_text(), f"libnmt {self.minor} libnmt{self.minor} (>= {self.version})\n")
        if OPTIONS.python:
            self.assertIn("py3compile -p python3-nmt", (self.folder / "control of python3-nmt" / "postinst").read_text())

    def test_programs_pages_and_completions_are_there_and_work(self):
        usr = self.root / "usr"
        self.assertTrue(run(usr / "bin" / "nmt", "score", "--version").startswith(f"nmt-score {self.version}"))
        for program in (path.name for path in (usr / "bin").iterdir()):
            run(usr / "bin" / program, "--version", env={**os.environ, "LD_LIBRARY_PATH": self.torch})
            self.assertIn(f".TH {program.upper().replace('-', chr(92) + '-')}",
                          gzip.decompress((usr / "share/man/man1" / f"{program}.1.gz").read_bytes()).decode().replace('"', ""))
            self.assertTrue((usr / "share/bash-completion/completions" / program).is_file(), program)
        run("bash", "-c", '. "$0"; complete -p nmt nmt-train', usr / "share/bash-completion/completions/nmt")
        unit = (usr / "lib/systemd/system/nmt.service").read_text()
        self.assertIn("ExecStart=/usr/bin/nmt-translate", unit)
        self.assertNotIn("/usr/local", unit)

    def test_the_library_and_its_headers_come_apart(self):
        names = {package: [line.split(None, 5)[5] for line in run("dpkg-deb", "-c", self.debs[package]).splitlines()]
                 for package in (f"libnmt{self.minor}", "libnmt-dev")}
        libraries, development = ("\n".join(names[package]) for package in names)
        self.assertRegex(libraries, rf"/libnmt\.so\.{re.escape(self.version)}\n|/libnmt\.so\.{re.escape(self.version)}$")
        self.assertRegex(libraries, rf"/libnmt\.so\.{re.escape(self.minor)} -> ")
        self.assertNotIn("include", libraries)
        for wanted in ("/include/nmt.h", "/include/nmt/translator.h", "/libnmt.so -> ", "/cmake/nmt/nmtConfig.cmake",
                       "/pkgconfig/nmt.pc", "/doc/nmt/examples/CMakeLists.txt"):
            self.assertIn(wanted, development)

    def test_python_finds_the_package(self):
        if not OPTIONS.python:
            self.skipTest("the build has no Python package")
        folder, = self.root.glob("usr/lib/python3*/*-packages")
        found = run(OPTIONS.python, "-B", "-c", "import nmt; print(nmt.__file__, nmt.__version__)", cwd=self.folder,
                    env={**os.environ, "PYTHONPATH": str(folder), "LD_LIBRARY_PATH": self.torch})
        self.assertEqual(found.split(), [str(folder / "nmt/__init__.py"), self.version])

    def test_the_same_files_give_the_same_bytes(self):
        again = self.make("second place")
        for package, deb in self.debs.items():
            self.assertTrue(deb.read_bytes() == again[package].read_bytes(), package)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--cmake", required=True, type=pathlib.Path)
    parser.add_argument("--torch", required=True, type=pathlib.Path, help="the folder of LibTorch's libraries")
    parser.add_argument("--python", default="")
    OPTIONS, rest = parser.parse_known_args()
    os.umask(0o022)  # as in scripts/package.sh
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
