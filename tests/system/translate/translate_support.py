"""What the system tests of nmt-translate and nmt-eval share: a small model, trained on the built-in corpus, and the
programs run as users run them. Python's standard library only.

    translate_support.py --programs BUILD_FOLDER --work FOLDER      trains the model, unless it is there

The model stays in FOLDER and is used again as long as the programs are older.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
SENTENCES = 1500  # that the model is trained on
PATIENCE = 120  # seconds for what takes one; the machine may be busy

CONFIG = """
data:
  dir: {work}/prepared
  train1: {work}/corpus/train.de
  train2: {work}/corpus/train.en
  eval1: {work}/corpus/valid.de
  eval2: {work}/corpus/valid.en
  test1: {work}/corpus/test.de
  test2: {work}/corpus/test.en
  vocab_size: 600
  character_coverage: 1
  shortlist: 30
model: {{d_model: 64, d_ff: 128, num_blocks: 2, num_heads: 2, norm: pre, dropout_rate: 0}}
training: {{batch_type: tokens, batch_size: 1024, num_epochs: 0, max_updates: 1000, lr: 0.005, warmup_steps: 100,
            checkpoint_every: 0}}
validation: {{every: 1000, max_sentences: 50}}
decoding: {{beam_size: 3}}
run: {{dir: {work}/run, threads: 1}}
"""


class Programs:
    """The programs under test, and the model and corpus that the tests use."""

    def set(self, folder, work):
        self.folder, self.work = pathlib.Path(folder).resolve(), pathlib.Path(work).resolve()
        self.config = self.work / "config.yaml"
        self.model = self.work / "run" / "best"

    def path(self, name):
        return str(self.folder / name)

    def prepare(self):
        """Corpus, prepared data and model, unless they are there."""
        if (self.model / "model.json").exists():
            newest = max(os.path.getmtime(self.path(name)) for name in ("nmt-train", "nmt-prepro"))
            if os.path.getmtime(self.model / "model.json") > newest:
                return
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.config.write_text(CONFIG.format(work=self.work))
        maker = SOURCE / "data_scripts" / "make_builtin_corpus.py"
        self.must(sys.executable, str(maker), "--out", str(self.work / "corpus"), "--pairs", "5000")
        for side in ("de", "en"):  # few enough to be learnt by heart: the tests translate them
            path = self.work / "corpus" / f"train.{side}"
            path.write_text("".join(path.read_text().splitlines(keepends=True)[:SENTENCES]))
        self.must(self.path("nmt-prepro"), "-c", str(self.config))
        self.must(self.path("nmt-train"), "-c", str(self.config))

    @staticmethod
    def must(*command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        if done.returncode != 0:
            raise RuntimeError(f"{command}: exit code {done.returncode}\n{done.stdout.decode()}")

    def sources(self):
        return (self.work / "corpus" / "train.de").read_text().splitlines()


PROGRAMS = Programs()  # filled by main()


def run(*command, text=None, cwd=None, timeout=PATIENCE, env=None):
    """Runs a program with `text` (str or bytes) as its standard input."""
    data = text.encode() if isinstance(text, str) else text
    command = [PROGRAMS.path(command[0]), *map(str, command[1:])]
    return subprocess.run(command, input=data, stdin=subprocess.DEVNULL if data is None else None, cwd=cwd,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, env=env)


def translate(*arguments, text=None, model=None, **settings):
    return run("nmt-translate", "-m", model or PROGRAMS.model, *arguments, text=text, **settings)


class Case(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def lines_of(self, done):
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode().splitlines()

    def assert_error(self, done, *parts, code=2):
        """One line on standard error with all of parts, nothing on standard output."""
        message = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, message)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(len(message.splitlines()), 1, message)
        for part in parts:
            self.assertIn(part, message)


def main(description):
    """Runs the tests of the file that calls it, after making the model where it is missing."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--work", required=True)
    arguments, rest = parser.parse_known_args()
    PROGRAMS.set(arguments.programs, arguments.work)
    PROGRAMS.prepare()
    unittest.main(module="__main__", argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main(__doc__)  # has no tests of its own
