"""Bad input and bad configuration, a kind a test: each ends with exit code 2 and one line on standard error that says
what, where and what to do; standard output stays empty and no file is made, changed or left half written.

Finds the programs in the folder $NMT_PROGRAMS; those that are not there (a build without LibTorch) are skipped.
"""

import gzip
import hashlib
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass, field
from typing import Callable

PROGRAMS = pathlib.Path(os.environ.get("NMT_PROGRAMS", "."))
LOG_LINE = re.compile(r"\d\d:\d\d:\d\d ")  # what a logger writes, such as warnings, before the error
SECONDS = 120

CONFIG = """\
data:
  dir: prepared
  train1: train.de
  train2: train.en
  eval1: valid.de
  eval2: valid.en
  test1: test.de
  test2: test.en
  vocab_size: 60
model:
  d_model: 8
  d_ff: 16
  num_blocks: 1
  num_heads: 2
training:
  batch_size: 16
  max_updates: 2
  checkpoint_every: 1
  warmup_steps: 10
run:
  dir: run
  device: cpu
  threads: 1
"""


# ---------------------------------------------------------------- the folder that every case starts from

def made_up_lines(seed, count):
    rng = random.Random(seed)
    words = ["haus", "baum", "hund", "katze", "rot", "grün", "und", "geht", "sieht", "kommt"]
    return [" ".join(rng.choices(words, k=rng.randint(2, 8))) + " ." for _ in range(count)]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


def make_folder(folder):
    """Texts and config.yaml; prepared/ and run/ (two updates of a tiny model) where the programs are there."""
    for name, seed, count in (("train", 1, 200), ("valid", 2, 8), ("test", 3, 8)):
        for side in ("de", "en"):
            write(folder / f"{name}.{side}", "\n".join(made_up_lines(f"{seed} {side}", count)) + "\n")
    write(folder / "config.yaml", CONFIG)
    for program in ("nmt-prepro", "nmt-train"):
        if (PROGRAMS / program).exists():
            done = start(program, ["-c", "config.yaml"], folder)
            if done.returncode != 0:
                raise RuntimeError(f"{program} on good input: exit code {done.returncode}: {done.stderr}")


def start(program, arguments, folder, text=""):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TERM": "dumb"}
    return subprocess.run([str(PROGRAMS / program), *arguments], cwd=folder, input=text, text=True, errors="replace",
                          capture_output=True, timeout=SECONDS, env=environment)


def snapshot(folder):
    """Each file and folder below, with a hash of the bytes."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
            for path in sorted(folder.rglob("*"))}


# ---------------------------------------------------------------- the table

@dataclass
class Case:
    name: str
    program: str
    arguments: list
    message: str  # regular expression of the line behind "PROGRAM: "
    files: dict = field(default_factory=dict)  # written into the folder first
    change: Callable = None  # done to the folder first
    text: str = ""  # standard input


def replaced(old, new):
    assert old in CONFIG, old
    return {"config.yaml": CONFIG.replace(old, new)}


def cut_file(name, share):
    def cut(folder):
        path = folder / name
        os.truncate(path, int(path.stat().st_size * share))
    return cut


def remove(name):
    def change(folder):
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return change


C = ["-c", "config.yaml"]
M = ["-m", "run/best"]
TEST_SET = ["--source", "test.de", "--reference", "test.en"]


FRESH = [*C, "--set", "data.dir=fresh"]  # data that is not prepared yet


def setting(value, of=tuple(C)):
    return [*of, "--set", value]


COMMAND_LINE = [
    Case("no configuration given", "nmt-prepro", [], r"--config is required; see nmt-prepro --help"),
    Case("an option that does not exist", "nmt-prepro", [*C, "--overwite"], r".*--overwite.*see nmt-prepro --help"),
    Case("a file of configuration that is missing", "nmt-prepro", ["-c", "no.yaml"],
         r"no\.yaml: cannot read \(No such file or directory\)"),
    Case("a folder as configuration", "nmt-prepro", ["-c", "run-x"], r"run-x: is a folder; name a file",
         files={"run-x/file": ""}),
    Case("a setting without value", "nmt-prepro", setting("data.vocab_size"), r".*--set data\.vocab_size: .*="),
    Case("a setting of an unknown key", "nmt-prepro", setting("data.vocab_sise=50"),
         r"--set.* data\.vocab_sise.*vocab_size"),
    Case("a setting of the wrong type", "nmt-prepro", setting("data.vocab_size=many"),
         r"--set.*data\.vocab_size.*many"),
    Case("a setting out of range", "nmt-prepro", setting("data.vocab_size=3"),
         r"--set.*data\.vocab_size.*3.*at least 8"),
    Case("no configuration for training", "nmt-train", [], r"--config is required; see nmt-train --help"),
    Case("neither configuration nor model", "nmt-eval", [], r"give -c CONFIG .*or -m DIR"),
    Case("no model to translate with", "nmt-translate", [], r"--model is required; see nmt-translate --help"),
    Case("two sources of text at once", "nmt-translate", [*M, "-i", "test.de", "-t", "hund"],
         r"--input excludes --text; see nmt-translate --help"),
]

CONFIGURATION = [
    Case("no YAML", "nmt-prepro", C, r"config\.yaml:\d+: ", files={"config.yaml": "data:\n  dir: [a, b\nmodel: x\n"}),
    Case("bytes that are not UTF-8", "nmt-prepro", C, r"config\.yaml:2: .*UTF-8",
         files={"config.yaml": b"data:\n  dir: b\xff\n"}),
    Case("an unknown section", "nmt-prepro", C, r"config\.yaml:10: .*modle.*model", files=replaced("model:", "modle:")),
    Case("an unknown key", "nmt-prepro", C, r"config\.yaml:9: .*vocab_sizes.*vocab_size",
         files=replaced("vocab_size", "vocab_sizes")),
    Case("a key of another section", "nmt-prepro", C, r"config\.yaml:11: .*beam_size; did you mean \w+\.beam_size\?",
         files=replaced("d_model: 8", "beam_size: 8")),
    Case("a key twice", "nmt-prepro", C,
         r"config\.yaml:12: .*d_model.*line 11", files=replaced("d_ff: 16", "d_model: 16")),
    Case("a text where a number belongs", "nmt-prepro", C, r"config\.yaml:11: .*d_model.*whole number, not \'eight\'",
         files=replaced("d_model: 8", "d_model: eight")),
    Case("a fraction where a whole number belongs", "nmt-prepro", C,
         r"config\.yaml:11: .*d_model.*whole number, not \'8\.5\'",
         files=replaced("d_model: 8", "d_model: 8.5")),
    Case("a list where one text belongs", "nmt-prepro", C, r"config\.yaml:2: .*dir.*text",
         files=replaced("dir: prepared", "dir: [a, b]")),
    Case("a number out of range", "nmt-prepro", C, r"config\.yaml:12: .*d_ff.*0.*at least 1",
         files=replaced("d_ff: 16", "d_ff: 0")),
    Case("a word that is none of the choices", "nmt-prepro", C,
         r"config\.yaml:11: .*norm.*\'prenorm\' is not one of: post, pre",
         files=replaced("d_model: 8", "norm: prenorm")),
    Case("heads that do not divide the model size", "nmt-prepro", C, r"config\.yaml:14: .*num_heads.*3.*d_model.*8",
         files=replaced("num_heads: 2", "num_heads: 3")),
    Case("a best metric that is not measured", "nmt-train", setting("validation.metrics=[loss]"),
         r".*validation\.best_metric: bleu is not in validation\.metrics"),
    Case("a base that is missing", "nmt-prepro", C, r"config\.yaml:1: base: no such file other\.yaml",
         files={"config.yaml": "base: other.yaml\n" + CONFIG}),
    Case("bases that go in a circle", "nmt-prepro", C,
         r"other\.yaml:1: base: .*config\.yaml -> other\.yaml -> config\.yaml",
         files={"config.yaml": "base: other.yaml\n", "other.yaml": "base: config.yaml\n"}),
    Case("a base that is no regular file", "nmt-prepro", C, r"config\.yaml:1: base: /dev/zero is no regular file",
         files={"config.yaml": "base: /dev/zero\n" + CONFIG}),
    Case("a setting of two values", "nmt-prepro", setting("data.train1=[train.de], train.de"),
         r"--set data\.train1=.*: more than one value"),
    Case("nothing to train on", "nmt-prepro", C,
         r"data\.train1, data\.train2: no training text is set.*data\.train_tsv",
         files=replaced("  train1: train.de\n  train2: train.en\n", "")),
    Case("one side of the training text only", "nmt-prepro", C, r"config\.yaml:3: data\.train1: .*train2",
         files=replaced("  train2: train.en\n", "")),
    Case("a device that is none", "nmt-train", [*C, "--device", "gpu"], r".*run\.device: 'gpu' is not allowed.*cuda"),
    Case("a precision that is none", "nmt-train", [*C, "--precision", "fp8"], r".*run\.precision.*fp8.*bf16"),
]

TEXT = [
    Case("a training text that is missing", "nmt-prepro", setting("data.train1=no.de", FRESH),
         r"data\.train1 no\.de: cannot read \(No such file"),
    Case("sides of unequal length", "nmt-prepro", FRESH, r"data\.train2 train\.en: 3 sentences, train\.de has 200",
         files={"train.en": "a\nb\nc\n"}),
    Case("bytes of the text that are not UTF-8", "nmt-prepro", FRESH,
         r"data\.train1 train\.de:2: byte 3 .*UTF-8.*data\.repair_utf8",
         files={"train.de": b"eins\nzw\xffei\n", "train.en": "one\ntwo\n"}),
    Case("a damaged gzip file", "nmt-prepro", setting("data.train1=train.gz", FRESH),
         r"data\.train1 train\.gz: damaged gzip after line \d+",
         files={"train.gz": gzip.compress("\n".join(made_up_lines("z", 200)).encode(), mtime=0)[:-60]}),
    Case("a line without tab in a TSV file", "nmt-prepro", FRESH, r"data\.train_tsv pairs\.tsv:2: no tab",
         files={**replaced("  train1: train.de\n  train2: train.en\n", "  train_tsv: pairs.tsv\n"),
                "pairs.tsv": "eins\tone\nzwei two\n"}),
    Case("a training text without a usable pair", "nmt-prepro", FRESH,
         r"SentencePiece: the training text has no line to learn from",
         files={"train.de": "\n\n", "train.en": "\n\n"}),
    Case("a vocabulary larger than the text allows", "nmt-prepro", setting("data.vocab_size=5000", FRESH),
         r"data\.vocab_size: 5000 is too large.*at most \d+"),
    Case("a vocabulary smaller than the letters need", "nmt-prepro", setting("data.vocab_size=8", FRESH),
         r"data\.vocab_size: 8 is too small.*at least \d+"),
    Case("a SentencePiece model that is none", "nmt-prepro", setting("data.spm_model1=train.de", FRESH),
         r".*train\.de.*SentencePiece"),
    Case("validation sides of unequal length", "nmt-prepro", setting("data.eval2=train.en", FRESH),
         r"data\.eval2 train\.en: 200 sentences, valid\.de has 8"),
    Case("a file where the prepared folder belongs", "nmt-prepro", setting("data.dir=train.de"),
         r".*train\.de: is a file; name a folder"),
    Case("prepared data of other options", "nmt-prepro", setting("data.vocab_size=50"),
         r"data\.dir prepared: .*vocab_size: 60 -> 50.*--overwrite"),
]

TRAINING = [
    Case("data that was never prepared", "nmt-train", setting("data.dir=nowhere"), r".*nowhere.*nmt-prepro"),
    Case("prepared data that was cut off", "nmt-train", C,
         r"prepared/train\.bin: cut short.*nmt-prepro", change=cut_file("prepared/train.bin", 0.6)),
    Case("a manifest that is no JSON", "nmt-train", C,
         r"prepared/manifest\.json: damaged.*nmt-prepro", files={"prepared/manifest.json": "{"}),
    Case("a vocabulary of prepared data that is missing", "nmt-train", C,
         r"prepared/spm\.model: cannot read", change=remove("prepared/spm.model")),
    Case("a file where the run directory belongs", "nmt-train", [*C, "--run-dir", "train.de"],
         r"run\.dir train\.de: cannot make the folder"),
    Case("a run begun with another model", "nmt-train", setting("model.d_model=16"),
         r"run\.dir run: .*model\.d_model: 8 -> 16.*--restart"),
    Case("a run begun with another seed", "nmt-train", setting("run.seed=2"),
         r"run\.dir run: .*run\.seed: 1 -> 2.*--restart"),
    Case("a run whose configuration names another file", "nmt-train", C,
         r"run/config\.yaml:1: base: stands in a configuration file only",
         files={"run/config.yaml": "base: /dev/zero\n"}),
    Case("a report alone, and a run anew", "nmt-train", ["--report-only", "run", "--restart"],
         r"--restart: not with --report-only"),
    Case("a report alone, and a configuration", "nmt-train", ["--report-only", "run", *C],
         r"--config: not with --report-only"),
    Case("two runs on a page, and a configuration", "nmt-train", ["--compare", "run", "run", *C],
         r"--config: not with --compare"),
    Case("a seed twice", "nmt-train", [*C, "--seeds", "1,2,1"], r"--seeds: 1 stands twice"),
    Case("seeds and a dry run", "nmt-train", [*C, "--seeds", "1", "--dry-run"],
         r"--dry-run: does not go with --seeds"),
    Case("a run whose configuration is damaged", "nmt-train", C, r"run/config\.yaml:\d: not YAML",
         files={"run/config.yaml": "model: [1\n"}),
]

EVALUATION = [
    Case("a model without text", "nmt-eval", M, r"-m alone needs --source FILE and --reference FILE"),
    Case("a source without reference", "nmt-eval", [*M, "--source", "test.de"],
         r"--source test\.de: has no reference.*--reference"),
    Case("a reference without source", "nmt-eval", [*C, "--reference", "test.en"], r"--reference requires --source"),
    Case("a model that is missing", "nmt-eval", ["-m", "nowhere", *TEST_SET], r"nowhere: no such model directory"),
    Case("a folder that is no model", "nmt-eval", ["-m", "prepared", *TEST_SET], r"prepared.*model\.json"),
    Case("a run that has no model yet", "nmt-eval", setting("run.dir=other"), r"other/best: .*nmt-train"),
    Case("test sides of unequal length", "nmt-eval", [*M, "--source", "test.de", "--reference", "train.en"],
         r"--reference train\.en: 200 sentences, test\.de has 8"),
    Case("an empty test set", "nmt-eval", [*M, "--source", "empty", "--reference", "empty"], r"--source empty: has no sentence",
         files={"empty": ""}),
    Case("a report in a folder that is missing", "nmt-eval", [*M, *TEST_SET, "--report", "no/r.json"],
         r"no/r\.json: the folder no does not exist"),
    Case("a report on standard output", "nmt-eval", [*M, *TEST_SET, "--report", "-"],
         r"--report -: standard output has the scores"),
    Case("a report over the base of the configuration", "nmt-eval", ["-c", "child.yaml", "--report", "config.yaml"],
         r"--report config\.yaml: is the same file as --config ", files={"child.yaml": "base: config.yaml\n"}),
    Case("a split and a text of one's own", "nmt-eval", [*C, "--split", "valid", *TEST_SET],
         r".*--split excludes --source|.*--source excludes --split"),
    Case("a form of BLEU twice", "nmt-eval", [*M, *TEST_SET, "--tokenized-bleu", "cased", "cased"],
         r"--tokenized-bleu: cased stands twice"),
    Case("a share of teacher forcing that is no number", "nmt-eval", [*M, *TEST_SET, "--teacher-forcing", "nan"],
         r"--teacher-forcing nan: give a number from 0 to 1"),
    Case("teacher forcing of an ensemble", "nmt-eval", [*M, *M, "--ensemble", *TEST_SET, "--teacher-forcing", "0.5"],
         r"--teacher-forcing: is of the loss, which an ensemble has not"),
    Case("a model whose configuration names another file", "nmt-translate", M,
         r"run/best/model\.json:1: base: stands in a configuration file only",
         change=lambda folder: write(folder / "run/best/model.json",
                                     (folder / "run/best/model.json").read_text().replace(
                                         '"configuration": {', '"configuration": {"base": "/etc/passwd",'))),
    Case("two files of hypotheses for one model", "nmt-eval",
         [*M, *TEST_SET, "--hypotheses-out", "a", "--hypotheses-out", "b"], r"--hypotheses-out: 2 given for 1"),
    Case("a beam of nothing", "nmt-eval", [*M, *TEST_SET, "--beam-size", "0"], r"--beam-size 0: .* at least 1"),
    Case("a model description that is no JSON", "nmt-translate", M, r"run/best/model\.json: damaged",
         files={"run/best/model.json": "{\"format_version\": 1"}),
    Case("weights that were cut off", "nmt-translate", M, r"run/best/model\.safetensors: damaged",
         change=cut_file("run/best/model.safetensors", 0.7)),
    Case("weights of another shape", "nmt-translate", M, r"run/best/model\.safetensors: tensor .* is F32 \[16, 8\]",
         change=lambda folder: write(folder / "run/best/model.json",
                                     (folder / "run/best/model.json").read_text().replace('"d_ff": 16', '"d_ff": 32'))),
    Case("a model without its vocabulary", "nmt-translate", M,
         r"run/best/spm\.model: cannot read", change=remove("run/best/spm.model")),
    Case("an input that is missing", "nmt-translate", [*M, "-i", "no.txt"], r"no\.txt: cannot read \(No such file"),
    Case("an input that is a damaged gzip file", "nmt-translate", [*M, "-i", "in.gz", "-o", "out.txt"],
         r"in\.gz: damaged gzip after line \d+",
         files={"in.gz": gzip.compress("\n".join(made_up_lines("z", 200)).encode(), mtime=0)[:-60]}),
    Case("an output in a folder that is missing", "nmt-translate", [*M, "-i", "test.de", "-o", "no/out.txt"],
         r"no/out\.txt: the folder no does not exist"),
    Case("more translations than hypotheses", "nmt-translate", [*M, "-i", "test.de", "--n-best", "9"],
         r"n-best 9: use 1 to 4, the beam size"),
    Case("threads below zero", "nmt-translate", [*M, "-i", "test.de", "--threads=-1"], r"--threads -1: use 1 to 1024"),
]

TABLE = [*COMMAND_LINE, *CONFIGURATION, *TEXT, *TRAINING, *EVALUATION]


# ---------------------------------------------------------------- the test

class ErrorsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.start_folder = pathlib.Path(holder.name) / "start"
        cls.start_folder.mkdir()
        make_folder(cls.start_folder)

    def check(self, case):
        if not (PROGRAMS / case.program).exists():
            self.skipTest(f"{case.program} is not in this build")
        with tempfile.TemporaryDirectory() as holder:
            folder = pathlib.Path(holder) / "case"
            shutil.copytree(self.start_folder, folder)
            for name, content in case.files.items():
                write(folder / name, content)
            if case.change:
                case.change(folder)
            before = snapshot(folder)
            done = start(case.program, case.arguments, folder, case.text)
            after = snapshot(folder)
        if os.environ.get("NMT_SHOW_ERRORS"):
            print(f"{case.name}:\n    {done.stderr.strip()}", flush=True)
        errors = [line for line in done.stderr.splitlines() if not LOG_LINE.match(line)]
        told = f"exit code {done.returncode}; standard error:\n{done.stderr}"
        self.assertEqual(done.returncode, 2, told)
        self.assertEqual(len(errors), 1, told)
        self.assertRegex(errors[0], f"^{case.program}: {case.message}")
        self.assertEqual(done.stdout, "", told)
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        self.assertEqual(changed, set(), f"files were changed; {told}")


def add_tests():
    names = set()
    for case in TABLE:
        name = "test_" + re.sub(r"\W+", "_", f"{case.program} {case.name}")
        assert name not in names, name
        names.add(name)
        setattr(ErrorsTest, name, lambda self, case=case: self.check(case))


add_tests()

if __name__ == "__main__":
    if not (PROGRAMS / "nmt-prepro").exists():
        sys.exit(f"no nmt-prepro in {PROGRAMS} (NMT_PROGRAMS)")
    unittest.main()
