"""The built-in corpus: unpacked as it was checked in, its sets apart, held-out combinations absent from training."""

import contextlib
import hashlib
import io
import json
import pathlib
import re
import tempfile
import unittest

import support
from support import lines

import make_builtin_corpus

_PAIRS = 8000
_SETS = ("train", "valid", "test", "test_novel")
_SHA256_OF_ALL_TRAIN_DE = "c5079f1973a469cac77cd7b27cab34e06f84df9e7be5bd9b42905c8736a7f8c2"


class BuiltinCorpusTest(support.FolderTest):
    """Tests on one corpus that is unpacked once."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.out = pathlib.Path(holder.name) / "builtin"
        with contextlib.redirect_stdout(io.StringIO()):
            code = make_builtin_corpus.main(["--out", str(cls.out), "--pairs", str(_PAIRS)])
        if code != 0:
            raise AssertionError("the corpus was not unpacked")
        cls.text = {(name, side): lines(cls.out / f"{name}.{side}") for name in _SETS for side in ("de", "en")}
        cls.manifest = json.loads((cls.out / "manifest.json").read_text(encoding="utf-8"))

    def test_counts_are_as_asked(self):
        counts = {"train": _PAIRS - 1000, "valid": 500, "test": 500, "test_novel": 200}
        for (name, side), text in self.text.items():
            self.assertEqual(len(text), counts[name], f"{name}.{side}")

    def test_all_pairs_are_the_text_that_results_were_measured_with(self):
        train = make_builtin_corpus.corpus_files(make_builtin_corpus.PAIRS)["train.de"]
        self.assertEqual(hashlib.sha256(train).hexdigest(), _SHA256_OF_ALL_TRAIN_DE)

    def test_no_sentence_stands_in_two_places_on_either_side(self):
        for side in ("de", "en"):
            all_lines = [line for name in _SETS for line in self.text[name, side]]
            self.assertEqual(len(all_lines), len(set(all_lines)), side)

    def test_second_run_changes_nothing(self):
        before = {path.name: path.stat().st_mtime_ns for path in self.out.iterdir()}
        code, out, _ = self.run_main(make_builtin_corpus.main, ["--out", str(self.out), "--pairs", str(_PAIRS)])
        self.assertEqual(code, 0)
        self.assertIn("already in place", out)
        self.assertEqual(before, {path.name: path.stat().st_mtime_ns for path in self.out.iterdir()})

    def test_held_out_conjunctions_and_verbs_never_meet_in_training(self):
        held = self.manifest["held_out"]["conjunction_verb"]
        self.assertGreaterEqual(len(held), 10)
        for conjunction, verb in held:
            for line in self.text["train", "de"]:
                words = set(re.findall(r"\w+", line.lower()))
                self.assertFalse(conjunction in words and verb in words, line)

    def test_training_has_every_word_of_the_novel_set(self):
        files = make_builtin_corpus.corpus_files(make_builtin_corpus.PAIRS)
        for side in ("de", "en"):
            known = set(re.findall(r"\w+", files[f"train.{side}"].decode("utf-8").lower()))
            for line in self.text["test_novel", side]:
                self.assertEqual(set(re.findall(r"\w+", line.lower())) - known, set(), line)

    def test_another_folder_is_not_overwritten(self):
        out = self.folder / "kept"
        out.mkdir()
        (out / "train.de").write_text("mine")
        code, _, err = self.run_main(make_builtin_corpus.main, ["--out", str(out)])
        self.assertEqual(code, 2)
        self.assertIn("another --out", err)
        self.assertEqual(self.left_overs(), [])
        self.assertEqual([(path.name, path.read_text()) for path in out.iterdir()], [("train.de", "mine")])

    def test_numbers_of_pairs_that_are_not_there_are_refused(self):
        for pairs in ("10", "20001"):
            code, _, err = self.run_main(make_builtin_corpus.main, ["--out", str(self.folder / "x"), "--pairs", pairs])
            self.assertEqual(code, 2)
            self.assertIn(f"--pairs {pairs}", err)
        self.assertFalse((self.folder / "x").exists())


if __name__ == "__main__":
    unittest.main()
