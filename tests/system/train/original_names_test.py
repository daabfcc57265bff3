"""Whole runs of nmt-prepro, nmt-train and nmt-eval: files under the names of the original programs, word vectors,
attention pictures, and a task that is no translation.

    original_names_test.py --programs BUILD_FOLDER [unittest arguments]

Python's standard library only.
"""

import argparse
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = None

CONFIG = """
data: {dir: prepared, train1: train.in, train2: train.out, eval1: valid.in, eval2: valid.out, test1: test.in,
       test2: test.out, tokenizer: words}
model: {d_model: 64, d_ff: 128, num_blocks: 2, num_heads: 4, norm: pre, dropout_rate: 0, embedding_init: normal}
training: {batch_type: tokens, batch_size: 2048, num_epochs: 2, lr: 0.003, warmup_steps: 100}
validation: {metrics: [loss, bleu], best_metric: loss, max_sentences: 10}
decoding: {beam_size: 1}
run: {log_every: 100, threads: 1, device: cpu}
"""


def digits(generator, count, known):
    """Lines of three to eight digits that are not in `known` yet."""
    lines = []
    while len(lines) < count:
        line = tuple(generator.randrange(10) for _ in range(generator.randint(3, 8)))
        if line not in known:
            known.add(line)
            lines.append(line)
    return lines


class Case(unittest.TestCase):
    """A folder with lines of digits and the same lines sorted, prepared."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="nmt-original-names-")
        cls.addClassCleanup(holder.cleanup)
        cls.work = pathlib.Path(holder.name)
        generator, known = random.Random(1), set()
        for split, count in (("train", 8000), ("valid", 50), ("test", 100)):
            lines = digits(generator, count, known)
            for side, order in (("in", list), ("out", sorted)):
                text = "".join(" ".join(map(str, order(line))) + "\n" for line in lines)
                (cls.work / f"{split}.{side}").write_text(text)
        (cls.work / "config.yaml").write_text(CONFIG)
        cls.run_program("nmt-prepro", "--config", "config.yaml")

    @classmethod
    def run_program(cls, program, *arguments, code=0):
        """Standard output and standard error together."""
        done = subprocess.run([str(PROGRAMS / program), *map(str, arguments)], cwd=cls.work, timeout=300, text=True,
                              env=os.environ | {"OMP_NUM_THREADS": "1"}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == code, f"{program}: exit code {done.returncode}\n{done.stdout}"
        return done.stdout

    def train(self, run, *settings):
        self.run_program("nmt-train", "-c", "config.yaml", "--run-dir", run,
                         *[part for setting in settings for part in ("--set", setting)])
        return self.work / run

    def evaluate(self, run, *arguments, naming="plain"):
        return self.run_program("nmt-eval", "-c", "config.yaml", "--set", f"run.dir={run}", "--set",
                                f"run.naming={naming}", *arguments)


class OriginalNames(Case):
    def test_kyubyong2019(self):
        run = self.train("one", "run.naming=kyubyong2019", "run.tensorboard_tags=kyubyong2019")
        models = sorted(path.name for path in run.glob("iwslt2016_*"))
        self.assertEqual([re.sub(r"L\d\.\d\d-", "-", name) for name in models],
                         ["iwslt2016_E01-27", "iwslt2016_E02-54"])
        self.assertEqual(json.loads((run / "hparams").read_text())["d_model"], 64)
        # The loss in a name is the mean of the epoch, which with this interval is one of the log.
        mean = next(json.loads(line)["loss"] for line in (run / "metrics.jsonl").read_text().splitlines()
                    if json.loads(line)["update"] == 27)
        self.assertEqual(models[0], f"iwslt2016_E01L{mean:.2f}-27")
        first, *variables = (run / "specs").read_text().split("\n")
        shapes = [[int(size) for size in re.findall(r"\d+", line.split("===")[1])] for line in variables]
        total = sum(math.prod(shape) for shape in shapes)
        self.assertEqual(first, f"num_params: {total}")
        for path in (run / "eval").iterdir():
            self.assertRegex(path.name, r"^iwslt2016_E0[12]L\d\.\d\dB\d+\.\d\d$")
            lines = path.read_text().split("\n")
            self.assertEqual(len(lines), 11)
            self.assertRegex(lines[-1], r"^BLEU = [\d.]+, [\d./]+ \(BP=[\d.]+, ration=[\d.]+\)$")

        by_best = self.evaluate("one", "-q", naming="kyubyong2019")
        by_name = self.evaluate("one", "-m", run / models[-1], "-q")
        self.assertEqual(by_best.splitlines()[-2:], by_name.splitlines()[-2:])
        results = list((run / "test").iterdir())
        self.assertEqual(len(results), 1)
        self.assertTrue(results[0].name.startswith(models[-1] + "B"), results[0].name)
        written = results[0].read_text()
        self.evaluate("one", "-q", "--split", "valid", naming="kyubyong2019")  # of another text: not written there
        self.assertEqual([(path.name, path.read_text()) for path in (run / "test").iterdir()],
                         [(results[0].name, written)])

    def test_names_do_not_depend_on_a_stop(self):
        settings = ["run.naming=kyubyong2019", "training.checkpoint_every=10"]
        whole = self.train("whole", *settings)
        for updates in (13, 27, 40):
            parts = self.train("parts", *settings, f"training.max_updates={updates}")
        parts = self.train("parts", *settings)
        for folder in (".", "eval"):
            names = [sorted(path.name for path in (run / folder).glob("iwslt2016_*")) for run in (whole, parts)]
            self.assertEqual(names[0], names[1])

    def test_folders_of_kyubyong2019(self):
        names = ["run.naming=kyubyong2019", "run.evaldir=eval/1", "run.testdir=test/1"]
        self.train("log/1", *names, "training.num_epochs=1")
        self.assertEqual(len(list((self.work / "eval/1").glob("iwslt2016_E01L*B*"))), 1)
        self.run_program("nmt-eval", "-c", "config.yaml", "-q", "--set", "run.dir=log/1",
                         *[part for name in names for part in ("--set", name)])
        self.assertEqual(len(list((self.work / "test/1").glob("iwslt2016_E01L*-27B*"))), 1)
        self.assertFalse((self.work / "log/1/eval").exists() or (self.work / "log/1/test").exists())

    def test_kyubyong2017(self):
        run = self.train("two", "run.naming=kyubyong2017")
        names = sorted(path.name for path in run.glob("model_*"))
        self.assertEqual(names, ["model_epoch_01_gs_27", "model_epoch_02_gs_54"])
        self.evaluate("two", "-m", run / names[0], naming="kyubyong2017")
        lines = (run / "results" / names[0]).read_text().split("\n")
        self.assertEqual(lines[0][:10], "- source: ")
        self.assertRegex(lines[-1], r"^Bleu Score = \d+(\.\d+)?$")

    def test_attention_pictures(self):
        run = self.train("four", "training.max_updates=5", "run.naming=plain")
        self.evaluate("four", "--attention-out", "pictures", "--attention-sentences", "2", "5")
        folder = self.work / "pictures"
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["2.json", "2.svg", "5.json", "5.svg"])
        layers = json.loads((folder / "5.json").read_text())["layers"]
        self.assertEqual(len(layers), 2 + 2 * 2)
        source = (self.work / "test.in").read_text().split("\n")[4].split()
        self.assertEqual(layers[-1]["keys"], source + ["</S>"])
        for row in layers[-1]["weights"][3]:
            self.assertAlmostEqual(sum(row), 1, places=4)
        for picture in (folder / "5.svg", next((run / "attention").glob("*.svg"))):
            root = xml.etree.ElementTree.parse(picture).getroot()
            self.assertEqual(len(root.findall(".//{http://www.w3.org/2000/svg}image")), 4)
        refusal = self.run_program("nmt-eval", "-c", "config.yaml", "--set", "run.dir=four", "--attention-out",
                                   "pictures", "--attention-sentences", "101", code=2)
        self.assertIn("--attention-sentences 101: the test set has 100 sentences", refusal)

    def test_word_vectors(self):
        (self.work / "vectors.txt").write_text("".join(f"{digit} {' '.join(['0.5'] * 64)}\n" for digit in range(10)))
        said = self.run_program("nmt-train", "-c", "config.yaml", "--run-dir", "five", "--set",
                                "training.max_updates=1", "--set", "model.word_vectors1=vectors.txt")
        self.assertIn("vectors.txt: vectors for 10 of 14 pieces", said)
        (self.work / "vectors.txt").unlink()
        said = self.run_program("nmt-train", "-c", "config.yaml", "--run-dir", "five", "--set",
                                "training.max_updates=2", "--set", "model.word_vectors1=vectors.txt")
        self.assertIn("resuming from", said)
        (self.work / "vectors.txt").write_text("1 0.5 0.5\n")
        refusal = self.run_program("nmt-train", "-c", "config.yaml", "--run-dir", "six", "--set",
                                   "model.word_vectors1=vectors.txt", code=2)
        self.assertIn("vectors.txt:1: 2 numbers behind the word", refusal)
        self.assertFalse((self.work / "six").exists())


    def test_a_run_resumes_without_the_model_that_it_began_with(self):
        self.run_program("nmt-train", "-c", "config.yaml", "--run-dir", "first", "--set", "training.max_updates=1")
        # The model says what stands in the sections that are left out.
        sections = [line for line in CONFIG.splitlines() if not line.startswith(("model:", "decoding:"))]
        (self.work / "second.yaml").write_text("\n".join(sections))
        train = ("nmt-train", "-c", "second.yaml", "--from-model", "first/best", "--run-dir", "second", "--set")
        self.run_program(*train, "training.max_updates=1")
        (self.work / "first").rename(self.work / "elsewhere")
        self.assertIn("resuming from", self.run_program(*train, "training.max_updates=2"))
        self.run_program("nmt-eval", "-c", "second.yaml", "--set", "training.init_from=first/best", "--set",
                         "run.dir=second", "-q")
        refusal = self.run_program(*train[:-3], "--run-dir", "third", code=2)
        self.assertIn("training.init_from first/best: no such model directory", refusal)


class AnotherTask(Case):
    def test_sorts_digits(self):
        self.train("sort", "training.num_epochs=20", "training.adam_beta2=0.98", "validation.metrics=[loss]", "run.tensorboard=false")
        self.evaluate("sort", "-q", "--hypotheses-out", "sorted.txt")
        found = (self.work / "sorted.txt").read_text().splitlines()
        expected = (self.work / "test.out").read_text().splitlines()
        right = sum(a == b for a, b in zip(found, expected, strict=True))
        self.assertGreaterEqual(right, 95)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    PROGRAMS = options.programs.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
