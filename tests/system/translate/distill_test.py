"""nmt-distill: a student of the small model of translate_support.py, in one command, in parts, again, and where it fails.

    distill_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import json
import shutil

from translate_support import PROGRAMS, Case, main, run, translate

TINY = ["data.vocab_size=400", "data.character_coverage=1", "model.d_model=16", "model.d_ff=16", "model.num_heads=2", "model.encoder_blocks=1",
        "model.decoder_blocks=1", "training.max_updates=3", "validation.every=3", "validation.max_sentences=4", "decoding.beam_size=2"]


class Distill(Case):
    def setUp(self):
        super().setUp()
        for side in ("de", "en"):
            lines = (PROGRAMS.work / "corpus" / f"train.{side}").read_text().splitlines(keepends=True)
            (self.folder / f"train.{side}").write_text("".join(lines[:200]))
            for part in ("valid", "test"):
                (self.folder / f"{part}.{side}").write_text("".join(lines[:20]))
        self.student = self.folder / "student"

    def distill(self, *arguments, reference=True):
        settings = [part for setting in TINY for part in ("--set", setting)]
        sets = ["--valid", "valid.de", "valid.en", "--test", "test.de", "test.en"]
        references = ["--reference", "train.en", "--beam-size", "3"] if reference else []
        return run("nmt-distill", "-m", PROGRAMS.model, "--source", "train.de", *references, *sets, "-o", "student", "--device", "cpu",
                   "--threads", "1", *settings, *arguments, cwd=self.folder, timeout=300)

    def test_one_command_makes_a_student_and_says_what_it_costs(self):
        done = self.distill()
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        pairs = [line.split("\t") for line in (self.student / "distilled.tsv").read_text().splitlines()]
        self.assertEqual([source for source, _ in pairs], (self.folder / "train.de").read_text().splitlines())
        nearest = [target for _, target in pairs]
        translate("-q", "-i", self.folder / "train.de", "--synthesize", self.folder / "same.tsv", "--synthetic-side", "target", "--beam-size", "3",
                  "--n-best", "3", "--nearest", self.folder / "train.en")
        self.assertEqual(nearest, [line.split("\t")[1] for line in (self.folder / "same.tsv").read_text().splitlines()])
        self.assertIn("base: student", (self.student / "student.yaml").read_text())

        rows = json.loads((self.student / "gap.json").read_text())
        systems = ["teacher", "teacher, int8", "student", "student, int8", "student, int8, shortlist"]
        self.assertEqual([(row["system"], row["beam_size"]) for row in rows], [(name, beam) for beam in (2, 1) for name in systems])
        for row in rows:
            self.assertEqual(row["precision"] == "int8", "int8" in row["system"], row)
            self.assertGreater(row["target_tokens_per_second"], 0)
            self.assertGreater(row["peak_memory"], 1e6)
        deployed = sum(path.stat().st_size for path in (self.student / "model").iterdir())
        self.assertEqual(rows[3]["bytes_of_model"], deployed)
        self.assertLess(deployed, rows[2]["bytes_of_model"])
        table = [line.split(" | ") for line in done.stdout.decode().splitlines()[-10:]]
        self.assertEqual([cells[0].removeprefix("| ").partition(" (")[0] for cells in table], systems * 2)
        score = run("nmt-eval", "-m", self.student / "model", "--source", "test.de", "--reference", "test.en", "--beam-size", "2", "--no-loss",
                    "-q", "--precision", "int8", cwd=self.folder)
        self.assertIn(f"= {rows[3]['scores'][0]['score']:.2f} ", score.stdout.decode())

        again = self.distill()
        self.assertEqual(again.returncode, 0, again.stderr.decode())
        for part in ("distilled.tsv: is there", "gap.json: is there", "is up to date: nothing to do"):
            self.assertIn(part, again.stderr.decode() + again.stdout.decode())
        self.assertNotIn("nmt-eval", again.stderr.decode())
        self.assertEqual(again.stdout.decode().splitlines()[-10:], done.stdout.decode().splitlines()[-10:])

        tokens = self.distill("--set", "evaluation.tokenized_bleu=[as_is]")  # the table alone is made again
        self.assertEqual(tokens.returncode, 0, tokens.stderr.decode())
        self.assertIn("is up to date: nothing to do", tokens.stderr.decode() + tokens.stdout.decode())
        self.assertEqual(tokens.stdout.decode().splitlines()[-12].split(" | ")[2:5], ["BLEU", "chrF2", "BLEU of tokens as they are"])
        self.assertEqual(len(tokens.stdout.decode().splitlines()[-1].split(" | ")), 8)
        self.assertEqual(self.distill().returncode, 0)

        config = (self.student / "student.yaml").read_bytes()
        self.assert_failed(self.distill("--set", "model.d_model=32"), "begun with other options (model.d_model: 16 -> 32)")
        self.assertEqual((self.student / "student.yaml").read_bytes(), config)
        source = (self.folder / "train.de").read_text()
        (self.folder / "train.de").write_text(source.replace("e", "a", 1))
        self.assert_failed(self.distill(), "distilled.tsv: was made of another train.de; name another -o")
        (self.folder / "train.de").write_text(source)

        before = (self.student / "distilled.tsv").read_bytes()
        self.assert_failed(self.distill(reference=False), "distilled.tsv: was made by another command")
        self.assertEqual((self.student / "distilled.tsv").read_bytes(), before)
        self.student.rename(self.folder / "other")
        self.student.mkdir()
        for name in ("distilled.tsv", "distilled.tsv.json"):
            shutil.copy(self.folder / "other" / name, self.student)
        done = self.distill("--set", "training.max_updates=1", "--word-level")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn("distilled.tsv: is there", done.stderr.decode())
        self.assertIn("objective: distillation", (self.student / "student.yaml").read_text())

    def test_parts_of_the_text_are_translated_apart(self):
        several = ("-m", PROGRAMS.model)  # teachers, as an ensemble
        for number in ("1/2", "2/2"):
            done = self.distill(*several, "--shard", number, reference=False)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            if number == "1/2":
                self.assert_failed(self.distill(*several, reference=False), "distilled.2-of-2.tsv: is not complete; run this command with --shard 2/2")
        done = self.distill(*several, reference=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assert_failed(self.distill(), "distilled.1-of-2.tsv: was made by another command")
        parts = "".join((self.student / f"distilled.{number}-of-2.tsv").read_text() for number in (1, 2))
        self.assertEqual([line.split("\t")[0] for line in parts.splitlines()], (self.folder / "train.de").read_text().splitlines())
        self.assertFalse((self.student / "distilled.tsv").exists())

    def assert_failed(self, done, part):
        self.assertEqual(done.returncode, 2, done.stderr.decode())
        self.assertIn(part, done.stderr.decode().splitlines()[-1])

    def test_what_makes_no_sense_is_one_line(self):
        self.assert_failed(self.distill("--set", "model.d_modle=3"), "did you mean model.d_model?")
        self.assert_failed(self.distill("--set", "data.dir=x"), "--set data.dir: is set by -o here; use that")
        (self.folder / "train.en").write_text("One line.\n")
        self.assert_failed(self.distill(), "--reference: train.de has 200 lines, train.en has 1; align the files")


if __name__ == "__main__":
    main(__doc__)
