"""A figure is the same wherever it is printed: by validation while training, nmt-eval, nmt-score and sacreBLEU.

    same_figures_test.py --programs BUILD_FOLDER [unittest arguments]

Python's standard library only; sacreBLEU is compared with where NMT_DEV_PYTHON names a Python that has it.
"""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]

CONFIG = """
data:
  dir: {work}/prepared
  train1: {work}/corpus/train.de
  train2: {work}/corpus/train.en
  eval1: {work}/corpus/valid.de
  eval2: {work}/corpus/valid.en
  vocab_size: 400
  character_coverage: 1
model: {{d_model: 48, d_ff: 96, num_blocks: 1, num_heads: 2, norm: pre, dropout_rate: 0.1}}
training: {{batch_type: tokens, batch_size: 1024, num_epochs: 0, max_updates: 400, lr: 0.008, warmup_steps: 50,
            checkpoint_every: 0}}
validation: {{every: 400, metrics: [loss, bleu, chrf]}}
run: {{dir: {work}/run, threads: 1, precision: fp32}}
"""

PROGRAMS = None  # set by main


def run(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


class SameFigures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.temporary.name)
        config = cls.work / "config.yaml"
        config.write_text(CONFIG.format(work=cls.work))
        run(sys.executable, SOURCE / "data_scripts" / "make_builtin_corpus.py", "--out", cls.work / "corpus", "--pairs",
            "5000")
        run(PROGRAMS / "nmt-prepro", "-c", config)
        run(PROGRAMS / "nmt-train", "-c", config)
        cls.reference, cls.hypotheses = cls.work / "corpus" / "valid.en", cls.work / "hypotheses.en"
        run(PROGRAMS / "nmt-eval", "-c", config, "--split", "valid", "--beam-size", "1", "--precision", "fp32", "--width",
            "6", "--hypotheses-out", cls.hypotheses, "--report", cls.work / "report.json", "-q")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def scores(self, *command):
        """{"bleu": ..., "chrf": ...} as a program in sacreBLEU's manner prints them."""
        found = json.loads(run(*command, self.reference, "-i", self.hypotheses, "-m", "bleu", "chrf", "-w", "6"))
        return {metric["name"].lower()[:4]: metric["score"] for metric in found}

    def validation(self):
        with open(self.work / "run" / "validations.tsv", newline="") as file:
            return list(csv.DictReader(file, delimiter="\t"))[-1]

    def test_the_model_translates_something(self):
        self.assertGreater(self.scores(PROGRAMS / "nmt-score")["bleu"], 1)

    def test_validation_prints_what_nmt_score_prints(self):
        row = self.validation()  # two digits after the point
        for metric, score in self.scores(PROGRAMS / "nmt-score").items():
            self.assertEqual(float(row[metric]), round(score, 2))

    def test_nmt_eval_prints_what_nmt_score_prints(self):
        printed = json.dumps(json.loads((self.work / "report.json").read_text()))
        lines = run(PROGRAMS / "nmt-score", self.reference, "-i", self.hypotheses, "-m", "bleu", "chrf", "-w", "6", "-f",
                    "text").splitlines()
        lines = [line.strip() for line in lines]
        self.assertEqual(len(lines), 2)
        evaluated = run(PROGRAMS / "nmt-eval", "-m", self.work / "run" / "best", "--source", self.work / "corpus" / "valid.de",
                        "--reference", self.reference, "--beam-size", "1", "--precision", "fp32", "--width", "6", "-q")
        for line in lines:
            self.assertIn(line, evaluated)
            self.assertIn(line.split(" = ")[0], printed)

    def test_nmt_eval_has_the_perplexity_of_the_validation(self):
        loss = json.loads((self.work / "report.json").read_text())["systems"][0]["loss"]
        self.assertEqual(loss["too_long"], 0)
        self.assertAlmostEqual(float(self.validation()["perplexity"]), loss["perplexity"], delta=1.5e-4 * loss["perplexity"])
        self.assertAlmostEqual(float(self.validation()["accuracy"]), loss["accuracy"], delta=2e-5 + 1 / loss["target_tokens"])

    def test_nmt_eval_prints_loss_and_perplexity(self):
        lines = run(PROGRAMS / "nmt-eval", "-m", self.work / "run" / "best", "--source", self.work / "corpus" / "valid.de",
                    "--reference", self.reference, "--beam-size", "1", "-q").splitlines()
        loss = json.loads((self.work / "report.json").read_text())["systems"][0]["loss"]
        self.assertIn(f"perplexity = {loss['perplexity']:.4f} (", lines[-1])
        self.assertTrue(lines[-1].startswith(f"loss = {loss['loss']:.4f}, "), lines[-1])

    def test_sacrebleu_prints_what_nmt_score_prints(self):
        python = os.environ.get("NMT_DEV_PYTHON")
        if not python:
            self.skipTest("NMT_DEV_PYTHON names no Python with sacreBLEU (scripts/dev_python.sh makes one)")
        self.assertEqual(self.scores(PROGRAMS / "nmt-score"), self.scores(python, "-m", "sacrebleu"))


def main():
    global PROGRAMS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True)
    options, rest = parser.parse_known_args()
    PROGRAMS = pathlib.Path(options.programs).resolve()
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
