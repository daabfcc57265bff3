"""packaging/bundle_libraries.py on a program of one line: what the tar.gz does with libraries, without a gigabyte.

    bundle_test.py --compiler C++COMPILER
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

OPTIONS = None  # set by main
ROOT = pathlib.Path(__file__).resolve().parents[3]

PROGRAM = """#include <zlib.h>
#include <cstdio>
int main() { std::puts(zlibVersion()); }
"""


class Bundle(unittest.TestCase):
    def setUp(self):
        if not shutil.which("dpkg-query"):
            self.skipTest("no dpkg: packages are made on Debian")
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name) / "nmt 1"
        (self.folder / "bin").mkdir(parents=True)
        (self.folder / "lib" / "nmt").mkdir(parents=True)
        (self.folder / "share" / "doc" / "nmt").mkdir(parents=True)

    def tearDown(self):
        self.temporary.cleanup()

    def build(self, *flags):
        subprocess.run([OPTIONS.compiler, "-x", "c++", "-", "-o", str(self.folder / "bin" / "nmt-x"), *flags, "-lz"],
                       input=PROGRAM, text=True, check=True)

    def bundle(self, readme="README.tar.txt"):
        return subprocess.run([sys.executable, str(ROOT / "packaging" / "bundle_libraries.py"), str(self.folder), "1.2.3", readme],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def test_all_but_the_c_library_stands_beside_the_program_wherever_it_is_moved(self):
        self.build("-Wl,-rpath,$ORIGIN/../lib/nmt", "-Wl,--disable-new-dtags")
        done = self.bundle()
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        names = {path.name for path in (self.folder / "lib" / "nmt").iterdir()}
        self.assertIn("libz.so.1", names)
        self.assertFalse({name for name in names if name.startswith(("libc.so", "libm.so", "ld-linux"))}, names)
        documents = self.folder / "share" / "doc" / "nmt"
        rows = [row.split("\t") for row in (documents / "libraries.tsv").read_text().splitlines()]
        self.assertEqual(rows[0], ["library", "package", "version"])
        self.assertEqual({row[0] for row in rows[1:]}, names)
        self.assertIn(["libz.so.1", "zlib1g"], [row[:2] for row in rows])
        self.assertTrue((documents / "licences" / "zlib1g.copyright").stat().st_size > 0)
        text = (self.folder / "README.txt").read_text()
        self.assertRegex(text, r"glibc 2\.\d+ or newer")
        self.assertNotIn("@", text)
        self.assertEqual(self.bundle("README.translator.txt").returncode, 0)
        text = (self.folder / "README.txt").read_text()
        self.assertRegex(text, r"the translator alone[^@]*nmt-1\.2\.3-linux-[^@]*glibc 2\.\d+ or newer[^@]*$")
        moved = self.folder.with_name("moved")
        self.folder.rename(moved)
        loaded = subprocess.run(["ldd", str(moved / "bin" / "nmt-x")], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertIn(f"=> {moved}/", loaded.replace("/bin/../", "/"))
        done = subprocess.run([str(moved / "bin" / "nmt-x")], stdout=subprocess.PIPE, text=True, env={"PATH": os.defpath})
        self.assertRegex(done.stdout, r"^1\.")

    def test_a_program_that_would_look_elsewhere_is_refused(self):
        self.build()  # without a run path
        done = self.bundle()
        self.assertEqual(done.returncode, 1)
        self.assertIn("nmt-x: would load libz.so.1 from /", done.stdout)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
