"""scripts/site.sh: the site is built strictly, and what is wrong with guides, headers and pages is found."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "site"))
import check_site  # noqa: E402


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = ROOT / "build-site" / "html"
        shutil.rmtree(cls.site, ignore_errors=True)
        cls.built = subprocess.run([ROOT / "scripts" / "site.sh"], capture_output=True, text=True)
        for reason in ("no Doxygen", "no .deps/site"):
            if f"site.sh: {reason}" in cls.built.stderr:
                print(f"skipped: {reason}: see scripts/site.sh", file=sys.stderr)
                sys.exit(77)

    def test_it_is_built_without_a_warning(self):
        self.assertEqual(self.built.returncode, 0, self.built.stderr)
        self.assertEqual(self.built.stdout.strip(), str(self.site))

    def test_links_lead_somewhere_and_every_page_is_reached_and_nothing_is_loaded_from_elsewhere(self):
        faults, pages = check_site.check(self.site)
        self.assertEqual(faults, [])
        self.assertGreater(pages, len(list((ROOT / "docs").glob("*.md"))))

    def test_guides_and_reference_are_there(self):
        for page in ("index", "guides", "training", "contributing", "changelog", "reference/cpp/translator", "reference/c/index"):
            self.assertTrue((self.site / f"{page}.html").is_file(), page)
        text = (self.site / "reference" / "cpp" / "translator.html").read_text(encoding="utf-8")
        self.assertIn('id="translatortranslate_stream"', text)

    def test_faults_of_a_page_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "index.html").write_text('<h1 id="a">A</h1><a href="b.html#none">b</a> <a href="gone.html">c</a>'
                                               '<img src="https://host.invalid/x.png">', encoding="utf-8")
            (folder / "b.html").write_text('<a href="index.html#a">a</a>', encoding="utf-8")
            (folder / "alone.html").write_text("x", encoding="utf-8")
            (folder / "site.css").write_text("@import url(//host.invalid/font.css);", encoding="utf-8")
            self.assertEqual(check_site.check(folder)[0], [
                "index.html: b.html#none: there is no such heading", "index.html: gone.html: there is no such file",
                "index.html: loads https://host.invalid/x.png", "site.css: loads //host.invalid/font.css",
                "alone.html: no page leads here"])

    def test_a_public_name_without_a_comment_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            include, package = folder / "include", folder / "package"
            shutil.copytree(ROOT / "interfaces" / "library" / "include", include)
            header = include / "nmt" / "prepare.h"
            header.write_text(header.read_text(encoding="utf-8").replace("NMT_API_END", "void silent();\nNMT_API_END"),
                              encoding="utf-8")
            package.mkdir()
            (package / "__init__.py").write_text('"""A."""\n\ndef f() -> None:\n    pass\n\n__all__ = ["f"]\n', encoding="utf-8")
            ran = subprocess.run([sys.executable, "-B", ROOT / "scripts" / "site" / "reference.py", include, package, "1.2.3",
                                  folder / "out" / "pages"], capture_output=True, text=True)
            self.assertEqual(ran.returncode, 1)
            self.assertRegex(ran.stderr, r"nmt/prepare.h:\d+: silent has no comment\n.*__init__.py:3: f has no docstring\n$")


if __name__ == "__main__":
    unittest.main()
