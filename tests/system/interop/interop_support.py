"""What the tests of nmt-export share: small models trained on the built-in corpus, programs, comparisons."""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
SKIPPED = 77  # for ctest

CONFIG = """
data:
  dir: {work}/prepared-{train}
  train1: {work}/corpus/{train}.de
  train2: {work}/corpus/{train}.en
  eval1: {work}/corpus/valid.de
  eval2: {work}/corpus/valid.en
  test1: {work}/corpus/test.de
  test2: {work}/corpus/test.en
  vocab_size: 500
  character_coverage: 1
  maxlen1: 60
  maxlen2: 60
model: {{d_model: 48, d_ff: 96, num_blocks: 2, num_heads: 4{model}}}
training: {{batch_type: tokens, batch_size: 1024, num_epochs: 0, max_updates: {updates}, lr: 0.004, warmup_steps: 80,
            checkpoint_every: 0{training}}}
validation: {{every: {updates}, max_sentences: 20}}
run: {{dir: {work}/{name}, threads: 1}}
"""

@dataclasses.dataclass(frozen=True)
class Recipe:
    model: str = ""
    training: str = ""
    dropout: float = 0.1
    train: str = "train"


UPDATES = 800
FEW = 1500  # sentences of the file `few`
PRE_NORM = ", norm: pre, activation: swish, tie_embeddings: none, output_bias: true"
MODELS = {
    "post": Recipe(),
    "pre": Recipe(PRE_NORM),
    # It knows its few sentences by heart: what another arithmetic changes in its translations is a fault, no hesitation.
    "sure": Recipe(PRE_NORM, training=", smoothing: 0", dropout=0, train="few"),
    "rms": Recipe(", norm: pre, norm_form: rms, activation: swiglu, key_value_heads: 2, positions: none"),
    "unfinished": Recipe(", norm: pre, final_norm: false, activation: geglu_tanh, sinusoid: half_split_t2t, attention_bias: false"),
    "learned": Recipe(", positions: learned, max_positions: 200, attention_output_projection: false, activation: gelu"),
}


# Linux counts what a process held before it became the program, so a small one starts it.
MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=open(sys.argv[1], "w"))
sys.exit(code)
"""


def rerun_in_environment():
    """Starts the test again under the Python that has transformers and CTranslate2; leaves where there is none."""
    python = os.environ.get("NMT_INTEROP_PYTHON", str(SOURCE / ".deps" / "interop" / "bin" / "python"))
    if os.environ.get("NMT_INTEROP_RUNS"):
        return
    if not os.access(python, os.X_OK):
        print("skipped: no Python with transformers and CTranslate2; scripts/interop_python.sh makes one")
        sys.exit(SKIPPED)
    environment = dict(os.environ, NMT_INTEROP_RUNS="1", HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1",
                       PYTHONWARNINGS="ignore")
    os.execve(python, [python, "-B", *sys.argv], environment)


class Programs:
    def __init__(self, folder, work):
        self.folder, self.work = pathlib.Path(folder).resolve(), pathlib.Path(work).resolve()

    def path(self, name):
        return str(self.folder / name)

    def call(self, *command, text=None):
        return subprocess.run([self.path(command[0]), *map(str, command[1:])], capture_output=True, timeout=600,
                              input=None if text is None else text.encode())

    def call_measured(self, *command):
        """The same as call(); also the most memory that the program held, in bytes."""
        with tempfile.NamedTemporaryFile("r") as peak:
            done = subprocess.run([sys.executable, "-S", "-E", "-c", MEASURE, peak.name, self.path(command[0]),
                                   *map(str, command[1:])], capture_output=True, timeout=600)
            return done, int(peak.read()) * 1024

    def must(self, *command, text=None):
        done = self.call(*command, text=text)
        if done.returncode != 0:
            raise RuntimeError(f"{command}: exit code {done.returncode}\n{done.stderr.decode()}")
        return done.stdout.decode()

    def model(self, name):
        """The model directory of one of MODELS, trained where it is not there yet or older than the program."""
        best = self.work / name / "best"
        made = best / "model.json"
        if made.exists() and made.stat().st_mtime > os.path.getmtime(self.path("nmt-train")):
            return best
        self.corpus()
        config = self.work / f"{name}.yaml"
        recipe = MODELS[name]
        config.write_text(CONFIG.format(work=self.work, name=name, train=recipe.train, updates=UPDATES,
                                        model=f", dropout_rate: {recipe.dropout}{recipe.model}", training=recipe.training))
        self.must("nmt-prepro", "-c", config)
        shutil.rmtree(self.work / name, ignore_errors=True)
        self.must("nmt-train", "-c", config)
        return best

    def corpus(self):
        """The folder of the built-in corpus, made where it is not there yet."""
        corpus = self.work / "corpus"
        if not (corpus / "train.de").exists():
            self.work.mkdir(parents=True, exist_ok=True)
            maker = SOURCE / "data_scripts" / "make_builtin_corpus.py"
            subprocess.run([sys.executable, str(maker), "--out", str(corpus), "--pairs", "5000"],
                           check=True, stdout=subprocess.DEVNULL)
        for side in ("de", "en"):
            lines = (corpus / f"train.{side}").read_text(encoding="utf-8").splitlines(keepends=True)
            (corpus / f"few.{side}").write_text("".join(lines[:FEW]), encoding="utf-8")
        return corpus

    def sources(self, count):
        return (self.corpus() / "train.de").read_text().splitlines()[:count]

    def translate(self, model, lines, beam, *options, length_penalty=0):
        """nmt-translate, log-probabilities alone deciding."""
        return self.must("nmt-translate", "-q", "-m", model, "--beam-size", beam, "--length-penalty", length_penalty,
                         "--max-length-ratio", 0, "--max-length-offset", LIMIT, "--threads", 1,
                         "--precision", "fp32", *options, text="".join(line + "\n" for line in lines)).splitlines()


LIMIT = 60  # tokens of a translation, </s> counted


class Case(unittest.TestCase):
    maxDiff = 2000
    programs = None  # set by main

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assert_same(self, found, expected, share=0.01):
        """Equal, but for ties: less than a hundredth of the lines."""
        self.assertEqual(len(found), len(expected))
        different = [pair for pair in zip(found, expected) if pair[0] != pair[1]]
        self.assertLessEqual(len(different), share * len(expected), different[:3])

    def assert_refused(self, done, *parts, output=None):
        """One line, exit code 2, nothing written."""
        message = done.stderr.decode(errors="replace")
        self.assertEqual((done.returncode, done.stdout), (2, b""), message)
        self.assertEqual(len(message.splitlines()), 1, message)
        for part in parts:
            self.assertIn(part, message)
        if output:
            self.assertEqual(sorted(output.parent.glob(output.name + "*")), [])


def main(description):
    import argparse
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--work", required=True)
    arguments, rest = parser.parse_known_args()
    Case.programs = Programs(arguments.programs, arguments.work)
    result = unittest.main(argv=[sys.argv[0], *rest], verbosity=2, exit=False).result
    if result.testsRun and len(result.skipped) == result.testsRun:
        sys.exit(SKIPPED)
    sys.exit(not result.wasSuccessful())
