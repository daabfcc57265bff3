"""nmt-init as a user calls it: what it writes, that the other programs take it as it stands, and what it refuses.

    init_test.py --programs BUILD_FOLDER [unittest arguments]      such as Refusals

The text is the built-in corpus. Python's standard library only.
"""

import argparse
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = None  # set by main
TINY = ["model.d_model=16", "model.d_ff=16", "model.num_heads=2", "model.num_blocks=1", "training.max_updates=2",
        "validation.max_sentences=2", "run.threads=1", "run.device=cpu"]


def commands_of_readme():
    """Those of "Your own two files", without their comments."""
    section = (SOURCE / "README.md").read_text().partition("## Your own two files")[2]
    return [line.partition("#")[0].strip() for line in section.split("```")[1].strip().splitlines()]


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.work = pathlib.Path(temporary.name)
        subprocess.run([sys.executable, SOURCE / "data_scripts" / "make_builtin_corpus.py", "--out", cls.work / "corpus",
                        "--pairs", "5000"], check=True, stdout=subprocess.DEVNULL)

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(dir=self.work)
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        for side in ("de", "en"):
            (self.folder / f"train.{side}").symlink_to(self.work / "corpus" / f"train.{side}")

    def run_program(self, *command, text=None, code=0):
        done = subprocess.run([str(part) for part in command], cwd=self.folder, input=text, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def init(self, *arguments, code=0):
        return self.run_program(PROGRAMS / "nmt-init", *arguments, code=code)

    def lines(self, name):
        return (self.folder / name).read_text().splitlines()


class Files(Case):
    def test_from_two_files_to_a_translation_by_the_commands_that_it_prints(self):
        program, *arguments = commands_of_readme()[0].split()
        self.assertEqual(program, "build/nmt-init")
        output = self.init(*arguments)
        self.assertLessEqual(len(self.lines("mine.yaml")), 20)
        self.assertRegex(output, r"mine.yaml: small_text, \d+ epochs of about [\d,]+ updates")
        self.assertRegex(output, r"takes about \d+ minutes on .*table of speeds")
        held_out = set()
        for part in ("valid", "test"):
            for side in ("de", "en"):
                lines = self.lines(f"mine/text/{part}.{side}")
                self.assertGreater(len(lines), 40)
                held_out |= set(lines)
        training = set(self.lines("mine/text/train.de")) | set(self.lines("mine/text/train.en"))
        self.assertEqual(held_out & training, set())

        printed = [line.strip() for line in output.partition("next:\n")[2].splitlines()]
        self.assertEqual([f"build/{line}" for line in printed], commands_of_readme()[1:])
        commands = [shlex.split(line) for line in printed]
        self.assertEqual([command[0] for command in commands],
                         ["nmt-prepro", "nmt-train", "nmt-eval", "nmt-translate"])
        table = self.run_program(PROGRAMS / commands[0][0], *commands[0][1:])
        self.assertIn("train.de + train.en", table)
        if not (PROGRAMS / "nmt-train").exists():
            self.skipTest("a build without LibTorch")
        tiny = [part for setting in TINY for part in ("--set", setting)]
        self.run_program(PROGRAMS / commands[1][0], *commands[1][1:], *tiny)
        short = ["--set", "decoding.max_length_ratio=0", "--set", "decoding.max_length_offset=3"]
        self.assertIn("BLEU", self.run_program(PROGRAMS / commands[2][0], *commands[2][1:], *tiny, *short))
        translate = commands[3][1:commands[3].index("<")]
        self.assertEqual(self.run_program(PROGRAMS / commands[3][0], *translate, "-q", text="Ja.\n").count("\n"), 1)

    def test_given_sets_are_taken_and_the_text_is_not_copied(self):
        for side in ("de", "en"):
            for part in ("valid", "test"):
                (self.folder / f"{part}.{side}").symlink_to(self.work / "corpus" / f"{part}.{side}")
        self.init("mine.yaml", "--train", "train.de", "train.en", "--valid", "valid.de", "valid.en", "--test", "test.de",
                  "test.en")
        self.assertFalse((self.folder / "mine").exists())
        written = "\n".join(self.lines("mine.yaml"))
        for line in ("base: small_text", "source_language: de", "eval2: valid.en", "test1: test.de"):
            self.assertIn(line, written)
        self.run_program(PROGRAMS / "nmt-prepro", "-c", "mine.yaml")

    def test_one_file_with_both_sides(self):
        both = zip(self.lines("train.de"), self.lines("train.en"))
        (self.folder / "both.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in both))
        self.init("mine.yaml", "--train", "both.tsv", "--languages", "de", "cs")
        self.assertGreater(len(self.lines("mine/text/valid.cs")), 40)

    def test_again_only_with_force(self):
        self.init("mine.yaml", "--train", "train.de", "train.en")
        first = self.lines("mine/text/test.de")
        self.assertEqual(self.init("mine.yaml", "--train", "train.de", "train.en", code=2),
                         "nmt-init: mine.yaml: is there; give another name, or --force to replace it\n")
        self.init("mine.yaml", "--train", "train.de", "train.en", "--force")
        self.assertEqual(self.lines("mine/text/test.de"), first)


class Refusals(Case):
    def test_each_is_one_line_and_leaves_nothing(self):
        (self.folder / "empty.en").write_text("")
        (self.folder / "short.en").write_text("one\n")
        for side in ("de", "en"):
            (self.folder / f"few.{side}").write_text("".join(f"Satz {i}\n" for i in range(499)))
        (self.folder / "latin.en").write_bytes("".join(self.lines("train.en")[0] + "\n").encode() + b"caf\xe9\n")
        rows = [
            (["--train", "train.de", "none.en"], "--train none.en: "),
            (["--train", "train.de", "short.en"], "--train short.en: 1 sentences, train.de has "),
            (["--train", "train.de", "empty.en"], "--train empty.en: 0 sentences, train.de has "),
            (["--train", "empty.en", "empty.en", "--languages", "de", "en"], "--train empty.en: has no sentence"),
            (["--train", "few.de", "few.en"], "--train few.de: 499 pairs; a model needs at least 500"),
            (["--train", "train.de", "latin.en"], "--train latin.en:2: byte 4 (0xE9) is not UTF-8"),
            (["--train", "train.de"], "--train: names one file; give one for each language"),
            (["--train", "train.de", "train.de"], "--train: the names do not end with two languages"),
            (["--train", "train.de", "train.en", "--valid", "no.de", "no.en"], "--valid no.de: "),
            ([], "--train is required"),
        ]
        before = sorted(self.folder.iterdir())
        for arguments, message in rows:
            with self.subTest(arguments):
                error = self.init("mine.yaml", *arguments, code=2)
                self.assertTrue(error.startswith("nmt-init: " + message), error)
                self.assertEqual(error.count("\n"), 1, error)
                self.assertEqual(sorted(self.folder.iterdir()), before)
        self.assertEqual(self.init("mine.txt", "--train", "train.de", "train.en", code=2),
                         "nmt-init: mine.txt: a configuration ends with .yaml; name it so\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    PROGRAMS = options.programs.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
