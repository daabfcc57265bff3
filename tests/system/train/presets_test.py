"""Runs every preset of configs/, made tiny, from raw text to translations: nmt-prepro, a few updates of nmt-train,
nmt-eval, and nmt-translate from the saved model and from a copy of it.

    presets_test.py --programs BUILD_FOLDER [unittest arguments]      such as Presets.test_quickstart

The text is the built-in corpus. Python's standard library only.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PRESETS = sorted(path.stem for path in (SOURCE / "configs").glob("*.yaml"))
TRAINING_PAIRS, SENTENCES, UPDATES, D_MODEL = 500, 6, 4, 16
TINY = {
    "data.vocab_size": 300, "model.d_model": D_MODEL,
    "training.max_updates": UPDATES, "training.num_epochs": 0, "training.accumulate": 1, "training.checkpoint_every": 2,
    "validation.every": 2, "validation.max_sentences": 3,
    "decoding.max_length_ratio": 1, "decoding.max_length_offset": 5,
    "run.threads": 1, "run.device": "cpu", "run.log_every": 1,
}
# These keep their share of d_model, where the preset has them: some must be equal, or one half of another.
SIZES = ("model.embedding_size", "model.encoder_size", "model.attention_size", "model.readout_size")


class Preset:
    """One preset's way through the programs, in a folder of its own."""

    def __init__(self, name, programs, work):
        self.name, self.programs, self.work = name, programs, work
        self.folder = work / name
        self.folder.mkdir()
        self.settings = []

    def run(self, program, *arguments, with_config=True):
        command = [str(self.programs / program)]
        if with_config:
            command += ["-c", str(SOURCE / "configs" / (self.name + ".yaml"))]
            command += [part for setting in self.settings for part in ("--set", setting)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(command + [str(argument) for argument in arguments], cwd=self.folder, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command[:3])}: exit code {done.returncode}\n{done.stderr.decode()}")
        return done.stdout.decode()

    def options(self):
        """What --print-config says: {"section.name": text}."""
        section, options = "", {}
        for line in self.run("nmt-prepro", "--print-config").splitlines():
            if match := re.match(r"(\w+):$", line):
                section = match[1]
            elif match := re.match(r"  (\w+): *(.*)$", line):
                options[f"{section}.{match[1]}"] = match[2]
        return options

    def shrink(self):
        options = self.options()
        corpus = self.work / "corpus"
        changes = dict(TINY, **{"run.dir": self.folder / "run"})
        languages = ("de", "en") if options["data.source_language"] == "de" else ("en", "de")
        for side, language in zip("12", languages):
            for split, name in (("train", "train"), ("eval", "valid"), ("test", "test")):
                changes[f"data.{split}{side}"] = corpus / f"{name}.{language}"
        changes["training.batch_size"] = 300 if options["training.batch_type"] == "tokens" else 12
        if options["training.schedule"] != "constant":
            changes["training.warmup_steps"] = 2
        if options["data.tokenizer"] == "words":
            changes |= {"data.min_cnt": 2}
        else:
            changes |= {"data.character_coverage": 1}
        if options["model.architecture"] == "transformer":
            changes |= {"model.d_ff": 24, "model.num_heads": 2}
        if options["run.naming"] == "kyubyong2019":
            changes["validation.every"] = 0  # their files are named by the validation of an epoch
        if options["evaluation.whole_batches"] == "true":
            changes["decoding.batch_size"] = 2  # few of the test pairs are short enough
        self.evaluates_all = options["evaluation.whole_batches"] == options["evaluation.only_within_maxlen"] == "false"
        if int(options["model.num_blocks"]) > 2:
            changes["model.num_blocks"] = 2
        changes |= {name: max(2, int(options[name]) * D_MODEL // int(options["model.d_model"]))
                    for name in SIZES if options[name] != "0"}
        self.settings = [f"{name}={value}" for name, value in changes.items()]
        self.source = changes["data.test1"]

    def prepare(self, prepared):
        """Presets whose data options are equal share what is prepared. prepared: their options -> folder, lock."""
        wanted = tuple(sorted((name, value) for name, value in self.options().items()
                              if name.startswith("data.") and name != "data.dir"))
        with prepared["lock"]:
            folder, lock = prepared.setdefault(wanted, (self.work / f"prepared{len(prepared)}", threading.Lock()))
        self.settings.append(f"data.dir={folder}")
        with lock:
            if not folder.exists():
                self.run("nmt-prepro")

    def go(self, prepared):
        self.shrink()
        self.prepare(prepared)
        self.run("nmt-train")
        model = self.folder / "run" / "best"
        summary = json.loads((model / "model.json").read_text())
        hypotheses = self.folder / "hypotheses"
        self.run("nmt-eval", "--hypotheses-out", hypotheses)
        self.evaluated = hypotheses.read_text()
        copy = shutil.copytree(model, self.folder / "copy")
        self.translated, self.of_copy = (
            self.run("nmt-translate", "-q", "--scores", "-m", place, "-i", self.source, with_config=False)
            for place in (model, copy))
        return summary


class Presets(unittest.TestCase):
    """One test a preset; they run two at a time before the first is looked at."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        work = pathlib.Path(temporary.name)
        subprocess.run([sys.executable, SOURCE / "data_scripts" / "make_builtin_corpus.py", "--out", work / "whole",
                        "--pairs", "5000"], check=True, stdout=subprocess.DEVNULL)
        (work / "corpus").mkdir()
        for name, count in (("train", TRAINING_PAIRS), ("valid", SENTENCES), ("test", SENTENCES)):
            for side in ("de", "en"):
                lines = (work / "whole" / f"{name}.{side}").read_text().splitlines()
                (work / "corpus" / f"{name}.{side}").write_text("\n".join(lines[:count]) + "\n")
        wanted = cls.wanted()
        cls.presets = {name: Preset(name, PROGRAMS, work) for name in wanted}
        prepared = {"lock": threading.Lock()}
        pool = concurrent.futures.ThreadPoolExecutor(max_workers=2)
        cls.addClassCleanup(pool.shutdown)
        cls.results = {name: pool.submit(preset.go, prepared) for name, preset in cls.presets.items()}

    @staticmethod
    def wanted():
        named = [argument.rpartition("test_")[2] for argument in sys.argv if ".test_" in argument]
        return named or PRESETS

    def check(self, name):
        summary = self.results[name].result()
        preset = self.presets[name]
        self.assertGreater(summary["parameters"], 0)
        translated = preset.translated.splitlines()
        self.assertEqual(len(translated), SENTENCES)
        self.assertEqual(preset.of_copy, preset.translated, "a model that is loaded again translates the same")
        for line in translated:
            self.assertRegex(line, r"\t-\d+\.\d+$")  # a log-probability
        evaluated, texts = preset.evaluated.splitlines(), [line.rpartition("\t")[0] for line in translated]
        if preset.evaluates_all:
            self.assertEqual(evaluated, texts)
        else:  # some of them, in their order
            remaining = iter(texts)
            self.assertTrue(evaluated and all(text in remaining for text in evaluated), evaluated)


def add_tests():
    for name in PRESETS:
        setattr(Presets, "test_" + name, lambda self, name=name: self.check(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    arguments, rest = parser.parse_known_args()
    global PROGRAMS
    PROGRAMS = pathlib.Path(arguments.programs).resolve()
    add_tests()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
