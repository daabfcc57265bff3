"""The vocabulary shortlist from nmt-prepro to nmt-eval, with a small model that is trained for it on the built-in corpus.

    translate_shortlist_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import json
import shutil

from translate_support import PROGRAMS, Case, main, run, translate

NAME = "shortlist.bin"


class Shortlist(Case):
    def sources(self, count=64):
        return "\n".join(PROGRAMS.sources()[:count]) + "\n"

    def copy_of_the_model(self):
        copy = self.folder / "model"
        shutil.copytree(PROGRAMS.model, copy)
        return copy

    def test_the_lexicon_travels_with_the_model(self):
        made = (PROGRAMS.work / "prepared" / NAME).read_bytes()
        self.assertEqual((PROGRAMS.model / NAME).read_bytes(), made)
        checkpoints = list((PROGRAMS.work / "run" / "checkpoints").glob(f"*/{NAME}"))
        self.assertGreater(len(checkpoints), 0)
        for path in checkpoints:
            self.assertEqual(path.read_bytes(), made)

    def bleu(self, lines):
        (self.folder / "reference").write_text("\n".join(self.references) + "\n")
        done = run("nmt-score", self.folder / "reference", "-b", text="\n".join(lines) + "\n")
        return float(self.lines_of(done)[0])

    def test_translates_nearly_as_without_it(self):
        self.references = (PROGRAMS.work / "corpus" / "train.en").read_text().splitlines()[:64]
        whole = self.lines_of(translate(text=self.sources()))
        short = self.lines_of(translate("--shortlist", 30, text=self.sources()))
        self.assertEqual(len(short), 64)
        self.assertGreaterEqual(sum(a == b for a, b in zip(whole, short)), 60)
        self.assertGreater(self.bleu(whole), 80)  # these are lines that it has learnt by heart
        self.assertGreater(self.bleu(short), self.bleu(whole) - 1)

    def test_the_text_does_not_depend_on_the_batch(self):
        for precision in ("fp32", "bf16", "int8"):
            found = [self.lines_of(translate("--shortlist", 5, "--shortlist-frequent", 10, "--precision", precision,
                                             "--batch-size", size, "--threads", threads, text=self.sources()))
                     for size, threads in ((1, 1), (7, 2), (64, 1), (64, 2))]
            for other in found[1:]:
                self.assertEqual(other, found[0])

    def test_a_list_of_everything_changes_nothing(self):
        options = ("--n-best", 3, "--scores", "--token-scores")
        for precision in ("fp32", "bf16", "int8"):
            whole = translate(*options, "--precision", precision, text=self.sources())
            listed = translate(*options, "--precision", precision, "--shortlist", 1, "--shortlist-frequent", 1000000,
                               text=self.sources())
            self.assertEqual(self.lines_of(listed), self.lines_of(whole))

    def test_a_short_list_is_a_limit(self):
        whole = self.lines_of(translate(text=self.sources()))
        least = self.lines_of(translate("--shortlist", 1, "--shortlist-frequent", 1, text=self.sources()))
        self.assertNotEqual(least, whole)

    def test_what_must_appear_appears(self):
        foreign = self.lines_of(translate(text=self.sources(64)))[40].split()[0]
        done = translate("--shortlist", 1, "--shortlist-frequent", 1, "--must", foreign, "--prefix", foreign,
                         text=self.sources(5))
        for line in self.lines_of(done):
            self.assertTrue(line.startswith(foreign), line)

    def test_models_together(self):
        both = ("-m", PROGRAMS.model)  # beside the model that translate() names
        whole = self.lines_of(translate(*both, text=self.sources()))
        least = self.lines_of(translate(*both, "--shortlist", 1, "--shortlist-frequent", 1, text=self.sources()))
        self.assertEqual(len(least), 64)
        self.assertNotEqual(least, whole)

    def test_evaluation(self):
        report = self.folder / "report.json"
        done = run("nmt-eval", "-c", PROGRAMS.config, "--shortlist", 30, "--report", report)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(json.loads(report.read_text())["systems"][0]["search"]["shortlist"], 30)

    def test_errors(self):
        self.assert_error(translate("--shortlist", 31, text="a\n"), "lexicon holds 30 candidates")
        self.assert_error(translate("--shortlist-frequent", 5, text="a\n"), "decoding.shortlist")
        (self.folder / "targets").write_text("b\n")
        self.assert_error(translate("--shortlist", 5, "--score", self.folder / "targets", text="a\n"),
                          "--score", "leave out --shortlist")
        copy = self.copy_of_the_model()
        bytes_ = bytearray((copy / NAME).read_bytes())
        bytes_[len(bytes_) // 2] ^= 4
        (copy / NAME).write_bytes(bytes_)
        self.assert_error(translate("--shortlist", 5, model=copy, text="a\n"), NAME, "damaged: its checksum differs")
        self.lines_of(translate(model=copy, text="a\n"))  # nobody asks for it
        (copy / NAME).unlink()
        self.assert_error(translate("--shortlist", 5, model=copy, text="a\n"), f"{NAME} is missing", "data.shortlist")
        shutil.copy(PROGRAMS.work / "prepared" / NAME, copy / NAME)  # what the message says to do
        self.lines_of(translate("--shortlist", 5, model=copy, text="a\n"))


if __name__ == "__main__":
    main(__doc__)
