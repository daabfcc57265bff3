"""scripts/count_tests.py on results as ctest, GoogleTest and unittest write them."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import count_tests  # noqa: E402

GOOGLETEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="5" failures="1" disabled="1" errors="0" time="0.1" name="AllTests">
  <testsuite name="File">
    <testcase name="Reads" status="run" result="completed" classname="File" />
    <testcase name="Writes" status="run" result="completed" classname="File" />
    {last}
    <testcase name="NeedsData" status="run" result="skipped" classname="File"><skipped message="/x/file_test.cpp:9&#x0A;Skipped&#x0A;no GPU&#x0A;" /></testcase>
    <testcase name="DISABLED_Old" status="notrun" result="suppressed" classname="File" />
  </testsuite>
</testsuites>"""
GOOD = '<testcase name="Syncs" status="run" result="completed" classname="File" />'
BAD = '<testcase name="Syncs" status="run" result="completed" classname="File"><failure message="x" type="" /></testcase>'

OWN = """import unittest
class Own(unittest.TestCase):
    def test_skips(self):
        for i in range(3):
            with self.subTest(i=i):
                self.skipTest("no GPU")
    def test_fails(self):
        for i in range(3):
            with self.subTest(i=i):
                self.fail()
    def test_passes(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail()
class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise ValueError
    def test_none(self): pass
"""


def entry(name, status="run", output="", reason=""):
    skipped = f'<skipped message="{reason}"/>' if reason else ""
    return f'<testcase name="{name}" status="{status}">{skipped}<system-out>{output}</system-out></testcase>'


class CountTestsTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def count(self, *entries, options=(), **programs):
        """(exit code, lines) for these entries of ctest and files of GoogleTest."""
        (self.folder / "ctest.xml").write_text(f'<testsuite name="x">{"".join(entries)}</testsuite>', encoding="utf-8")
        for name, text in programs.items():
            (self.folder / f"{name}.xml").write_text(text, encoding="utf-8")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = count_tests.main([*options, str(self.folder)])
        return code, out.getvalue().splitlines()

    def test_counts_the_cases_of_a_program(self):
        code, lines = self.count(entry("unit_base"), test_base=GOOGLETEST.format(last=GOOD))
        self.assertEqual((code, lines[-1]), (0, "3 passed, 0 failed, 1 skipped"))

    def test_names_what_failed(self):
        code, lines = self.count(entry("unit_base", "fail"), test_base=GOOGLETEST.format(last=BAD))
        self.assertEqual((code, lines[-1]), (1, "2 passed, 1 failed, 1 skipped"))
        self.assertIn("  failed: File.Syncs", lines)

    def test_a_program_that_crashed_has_failed(self):
        for programs in ({}, {"test_base": GOOGLETEST[:100]}):
            code, lines = self.count(entry("unit_base", "fail"), **programs)
            self.assertEqual((code, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))

    def test_a_program_that_leaked_after_its_cases_has_failed(self):
        code, lines = self.count(entry("unit_base", "fail"), test_base=GOOGLETEST.format(last=GOOD))
        self.assertEqual((code, lines[-1]), (1, "3 passed, 1 failed, 1 skipped"))

    def test_an_entry_of_another_kind_is_one(self):
        code, lines = self.count(entry("system_a"), entry("system_b", "notrun", reason="SKIP_RETURN_CODE=77"),
                                 entry("system_c", "fail"))
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 1 skipped"))
        self.assertIn("  failed: system_c", lines)

    def test_what_could_not_be_started_has_failed(self):
        code, lines = self.count(entry("unit_base", "notrun", reason="Unable to find executable"), entry("b", "disabled"))
        self.assertEqual((code, lines[-1]), (1, "0 passed, 1 failed, 1 skipped"))
        self.assertIn("  failed: unit_base: Unable to find executable", lines)

    def test_counts_the_cases_of_unittest(self):
        cases = (
            ("Ran 7 tests in 0.1s\n\nOK", "run", (7, 0, 0)),
            ("Ran 1 test in 0.1s\n\nOK (skipped=1)", "run", (0, 0, 1)),
            ("FAIL: test_x (a.B)\nERROR: test_y (a.B)\nRan 9 tests in 1s\n\nFAILED (failures=1, errors=1, skipped=2)", "fail",
             (5, 2, 2)),
        )
        for output, status, (passed, failed, skipped) in cases:
            code, lines = self.count(entry("unit_scripts", status, output))
            self.assertEqual(lines[-1], f"{passed} passed, {failed} failed, {skipped} skipped")
            self.assertEqual(code, 1 if failed else 0)
        self.assertIn("  failed: unit_scripts: test_y (a.B)", lines)

    def test_a_case_counts_once_whatever_its_subtests_did(self):
        skipping = ("test_a (m.C.test_a) ... \n  test_a (m.C.test_a) (i=0) ... skipped 'no CUDA device'\n"
                    "  test_a (m.C.test_a) [b] (i=1) ... skipped 'too slow'\n  test_a (m.C.test_a) (i=2) ... skipped 'no GPU'\n"
                    "test_b (m.C.test_b)\nWhat it does. ... \n  test_b (m.C.test_b) (i=0)\nWhat it does. ... skipped 'no GPU'\n"
                    "Ran 2 tests in 1s\n\nOK (skipped=4)\n")
        code, lines = self.count(entry("unit_scripts", output=skipping))
        self.assertEqual((code, lines[-1]), (0, "0 passed, 0 failed, 2 skipped"))
        self.assertEqual(lines[1:3], ["  skipped: unit_scripts: test_a (m.C.test_a) [b] (i=1): too slow",
                                      "  skipped: unit_scripts: What it does.: no GPU"])
        failing = ("test_a (m.C.test_a) ... \n  test_a (m.C.test_a) (i=0) ... skipped 'no GPU'\n"
                   "  test_a (m.C.test_a) (i=1) ... FAIL\n  test_a (m.C.test_a) (i=2) ... FAIL\ntest_b (m.C.test_b) ... ok\n"
                   "FAIL: test_a (m.C.test_a) (i=1)\nFAIL: test_a (m.C.test_a) (i=2)\n"
                   "Ran 2 tests in 1s\n\nFAILED (failures=2, skipped=1)\n")
        code, lines = self.count(entry("unit_scripts", "fail", failing))
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("  failed: unit_scripts: test_a (m.C.test_a)", lines)

    def test_failures_that_are_expected_are_none(self):
        for output, status, (passed, failed) in (
                ("Ran 3 tests in 1s\n\nOK (expected failures=1)", "run", (3, 0)),
                ("UNEXPECTED SUCCESS: test_x (a.B)\nRan 3 tests in 1s\n\nFAILED (unexpected successes=1)", "fail", (2, 1)),
                ("ERROR: setUpClass (a.B)\nRan 0 tests in 1s\n\nFAILED (errors=1)", "fail", (0, 1))):
            code, lines = self.count(entry("unit_scripts", status, output))
            self.assertEqual((code, lines[-1]), (1 if failed else 0, f"{passed} passed, {failed} failed, 0 skipped"))

    def test_a_class_that_is_skipped_has_no_case(self):
        output = ("test_a (m.C.test_a) ... noise of a library\nskipped 'no GPU'\nskipped 'no CUDA device'\n"
                  "Ran 1 test in 1s\n\nOK (skipped=2)\n")
        code, lines = self.count(entry("unit_scripts", output=output))
        self.assertEqual((code, lines[-1]), (0, "0 passed, 0 failed, 2 skipped"))
        self.assertIn("  skipped: unit_scripts: test_a (m.C.test_a): no GPU", lines)
        self.assertIn("  skipped: unit_scripts: a class: no CUDA device", lines)

    def test_what_unittest_itself_writes(self):
        (self.folder / "test_own.py").write_text(OWN)
        done = subprocess.run([sys.executable, "-B", "-m", "unittest", "discover", "-v", "-s", str(self.folder)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        counts = count_tests.unittest_counts("own", done.stdout)
        self.assertEqual(counts.passed, 2, done.stdout)
        self.assertEqual(len(counts.failures), 2, done.stdout)
        self.assertTrue(any("test_skips" in title for title, _ in counts.skips), done.stdout)

    def test_names_what_was_skipped_and_why(self):
        output = ("test_a (m.C.test_a) ... skipped 'needs ../shared/data/iwslt14'\n"
                  "test_b (m.C.test_b)\nWhat it does. ... skipped \"it isn't here\"\n"
                  "Ran 3 tests in 1s\n\nOK (skipped=2)\n")
        entries = (entry("unit_base"), entry("system_a", output=output),
                   entry("system_b", "notrun", "skipped: no Python with transformers and CTranslate2; make one\n",
                         "SKIP_RETURN_CODE=77"))
        programs = {"test_base": GOOGLETEST.format(last=GOOD)}
        code, lines = self.count(*entries, **programs)
        self.assertEqual((code, lines[-1]), (0, "4 passed, 0 failed, 4 skipped"))
        self.assertEqual([line for line in lines if "skipped:" in line], [
            "  skipped: File.NeedsData: no GPU",
            "  skipped: system_a: test_a (m.C.test_a): needs ../shared/data/iwslt14",
            "  skipped: system_a: What it does.: it isn't here",
            "  skipped: system_b: no Python with transformers and CTranslate2; make one"])
        code, lines = self.count(*entries, options=["--strict"], **programs)
        self.assertEqual(code, 1)
        self.assertIn("skipped without an excuse that count_tests.py knows: system_a: What it does.", lines)

    def test_an_entry_whose_cases_were_all_skipped_has_their_reasons(self):
        output = ("test_a (m.C.test_a) ... skipped 'needs ../shared/data/iwslt14'\n"
                  "test_b (m.C.test_b) ... skipped 'no GPU'\n\nRan 2 tests in 0.001s\n\nOK (skipped=2)\n")
        code, lines = self.count(entry("unit_base"), entry("long_a", "notrun", output, "SKIP_RETURN_CODE=77"),
                                 options=["--strict"], test_base=GOOGLETEST.format(last=GOOD))
        self.assertEqual((code, lines[-1]), (0, "3 passed, 0 failed, 3 skipped"), lines)
        self.assertIn("  skipped: long_a: test_b (m.C.test_b): no GPU", lines)

    def test_strictly_taken_some_reasons_are_none(self):
        for reason, code in (("needs /x/shared/data/iwslt14", 0), ("no CUDA device here", 0), ("too quick to tell", 1), ("", 1)):
            output = f"setUpClass (m.C) ... skipped '{reason}'\nRan 0 tests in 1s\n\nOK (skipped=1)\n"
            found, lines = self.count(entry("long_a", output=output), options=["--strict"])
            self.assertEqual((found, lines[-1]), (code, "0 passed, 0 failed, 1 skipped"), reason)

    def test_nothing_run_is_no_success(self):
        self.assertEqual(self.count(), (1, [f"{self.folder.name}: 0 passed, 0 failed, 0 skipped",
                                            "0 passed, 0 failed, 0 skipped"]))

    def test_a_stage_whose_ctest_died_has_failed(self):
        good = self.folder / "good"
        good.mkdir()
        (good / "ctest.xml").write_text(f'<testsuite name="x">{entry("system_a")}</testsuite>')
        died = self.folder / "died"
        died.mkdir()
        for wrong in (None, '<testsuite name="x"><testcase'):
            if wrong:
                (died / "ctest.xml").write_text(wrong)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = count_tests.main([str(good), str(died)])
            lines = out.getvalue().splitlines()
            self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))
            self.assertIn("died: ctest did not finish ctest.xml" if wrong else "  failed: died: ctest wrote no ctest.xml",
                          out.getvalue())
        (died / "ctest.xml").write_text('<testsuite name="x"/>')  # no test matched
        self.assertEqual(count_tests.folder_counts(died).failures, [])


if __name__ == "__main__":
    unittest.main()
