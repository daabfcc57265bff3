"""The commands of the first screen of each guide: the code blocks before its first heading, or else its first one.

    guides_test.py --programs BUILD_FOLDER [unittest arguments]      such as Guides.test_scoring

A line of such a block is run, or stands in NOT_RUN with the reason; a block without commands stands in NO_COMMANDS. README's
commands: readme_test.py. Python's standard library only.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request
import zipfile

from readme_test import GENERAL, SOURCE, TINY, without_comment, yaml_of_guide

PROGRAMS = None  # set by main
CARD, BUILDS = "needs a card", "installs or builds"
MACHINES = "needs several processes, of MPI or cards: train/processes.py"
# (guide, beginning of the command): why it is not run here.
NOT_RUN = {
    ("building", "./scripts/"): BUILDS,
    ("extending", "ninja "): BUILDS + ", and is a unit test itself",
    ("gpu", "nmt-train -c mine.yaml --device cuda:1"): CARD,
    ("gpu", "nmt-translate -m mine/run/best --device cuda"): CARD,
    ("gpu", "torchrun "): CARD,
    ("gpu", "./scripts/gpu_check.sh"): CARD,
    ("installing", ""): "packages/bundle_test.py unpacks one",
    ("interop", "nmt-export --from marian -i opus-2020-02-26"): "a model of Marian's own: interop/marian_npz_test.py",
    ("interop", "nmt-export --from t5"): "a T5 of transformers: interop/t5_test.py",
    ("interop", "nmt-export --from m2m"): "an M2M-100 of transformers: interop/m2m_test.py",
    ("library", ""): "lines of CMake: library/library_test.py",
    ("python", ""): "python/guide_test.py",
    ("results", ""): "a training of half an hour, of a corpus that is not here",
    ("scaling", ""): MACHINES,
    ("systems", "./data_scripts/multi30k.py"): "downloads a corpus",
    ("systems", "nmt-prepro -c configs/multi30k_best.yaml"): "of that corpus: train/presets_test.py runs every preset",
}
# (guide, number of the block on its first screen): what stands there.
NO_COMMANDS = {
    ("attention_by_hand", 1): "numbers", ("decoding_state", 1): "a drawing", ("design", 1): "a drawing",
    ("evaluating", 2): "output", ("markup", 2): "a document and its translation", ("prepro", 2): "output",
    ("prepro", 3): "forms of the command", ("tour", 1): "names of libraries", ("training", 3): "forms of the command",
}
NO_BLOCKS = {"README", "comparison", "glossary", "options", "security"}
GUIDES = sorted(path.stem for path in (SOURCE / "docs").glob("*.md"))
SERVE = re.compile(r"--serve \S+")
STUDENT = (" --device cpu --threads 1 --set data.vocab_size=400 --set data.character_coverage=1 --set model.d_model=16 --set model.d_ff=16"
           " --set model.num_heads=2 --set training.max_updates=2 --set validation.max_sentences=2")
FLAT = """
train1: train.de
train2: train.en
eval1: valid.de
eval2: valid.en
vocab_size: 500
d_model: 16
d_ff: 16
num_heads: 2
num_blocks: 1
data: {dir: flat, joint_vocabulary: true}
run: {dir: mine/flat}
"""
SERVICE = "models:\n  - {directory: model, source: de, target: en}\n"
OFFICE = "http://schemas.openxmlformats.org"
PARTS = (f'<Relationships xmlns="{OFFICE}/package/2006/relationships"><Relationship Id="r1" Target="word/document.xml" '
         f'Type="{OFFICE}/officeDocument/2006/relationships/officeDocument"/></Relationships>')
DOCUMENT = (f'<w:document xmlns:w="{OFFICE}/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Ja.</w:t></w:r></w:p>'
            '</w:body></w:document>')


def first_screen(guide):
    """The code blocks of a guide that a reader sees first, without the names of their languages."""
    text = (SOURCE / "docs" / f"{guide}.md").read_text(encoding="utf-8")
    fence = r"(?ms)^```\w*\n(.*?)^```"
    return re.findall(fence, re.split(r"(?m)^## ", text)[0]) or re.findall(fence, text)[:1]


def commands_of(guide):
    """What a reader types: without prompts, comments and, where there are prompts, output."""
    commands = []
    for number, block in enumerate(first_screen(guide), 1):
        if (guide, number) in NO_COMMANDS:
            continue
        lines = block.replace("\\\n", "").splitlines()
        if any(line.startswith("$ ") for line in lines):
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        commands += [without_comment(line) for line in lines if without_comment(line)]
    return commands


def reason_not_to_run(guide, command):
    return next((reason for (name, beginning), reason in NOT_RUN.items() if name == guide and command.startswith(beginning)), None)


class Guides(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.template = pathlib.Path(temporary.name) / "template"
        cls.template.mkdir()
        subprocess.run([sys.executable, SOURCE / "data_scripts" / "make_builtin_corpus.py", "--out", cls.template / "corpus", "--pairs", "5000"],
                       check=True, stdout=subprocess.DEVNULL)
        cls.folder = cls.template
        for side in ("de", "en"):
            for part in ("train", "valid", "test"):
                lines = (cls.template / "corpus" / f"{part}.{side}").read_text().splitlines(keepends=True)
                cls.write(f"{part}.{side}", "".join(lines[:500 if part == "train" else 20]))
        cls.write("general.yaml", GENERAL)
        for command in ("nmt-prepro -c general.yaml", "nmt-train -c general.yaml" + TINY,
                        "nmt-export -m mine/run/best --to marian -o opus-mt-de-en", "mv mine/run/best model", "rm -r mine corpus",
                        "cat valid.de test.de | gzip > input.de.gz", "cp test.de new.de"):
            cls.run_command(command)
        general = GENERAL.replace("dir: prepared", "dir: mine/prepared").replace("eval1", "test1: test.de, test2: test.en, eval1")
        cls.write("mine.yaml", general)

    @classmethod
    def write(cls, name, text):
        (cls.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (cls.folder / name).write_text(text)

    @classmethod
    def run_command(cls, command):
        environment = os.environ | {"PATH": f"{PROGRAMS}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=cls.folder, env=environment, text=True, input="Ja.\n",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        if done.returncode:
            raise AssertionError(f"{command}\n{done.stdout}")
        return done.stdout

    def serve(self, command, work=None):
        """Starts the service on a free port, calls `work` with its address, and ends it."""
        self.assertRegex(command, SERVE)
        words = SERVE.sub("--serve 127.0.0.1:0", command).split()
        server = subprocess.Popen([PROGRAMS / words[0], *words[1:]], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            address = server.stdout.readline().strip()
            self.assertRegex(address, r"^https?://127\.0\.0\.1:\d+$", command)
            if address.startswith("http:"):
                self.assertIn(b"ok", urllib.request.urlopen(address + "/health").read())
            if work:
                work(address)
        finally:
            server.terminate()
            server.communicate(timeout=30)

    def with_model(self, prepared=True):
        """mine/run/best is a model; with `prepared` its text is prepared, too."""
        shutil.copytree(self.folder / "model", self.folder / "mine" / "run" / "best")
        if prepared:
            self.run_command("nmt-prepro -c mine.yaml")

    def check(self, guide, prepare=lambda: None):
        with tempfile.TemporaryDirectory(dir=self.template.parent) as temporary:
            type(self).folder = pathlib.Path(temporary) / guide
            shutil.copytree(self.template, self.folder)
            (self.folder / "build").symlink_to(PROGRAMS)
            prepare()
            for command in commands_of(guide):
                if reason_not_to_run(guide, command):
                    continue
                with self.subTest(command):
                    self.run_as_typed(command)

    def run_as_typed(self, command):
        if "--serve " in command:
            return self.serve(command)
        if command.startswith("curl "):
            return self.serve("nmt-translate -m model --serve 8080", lambda address: self.assertIn(
                '"translated', self.run_command(command.replace("localhost:8080", address))))
        parts = command.split(" && ")
        for part in parts:
            tiny = TINY if "nmt-train " in part else STUDENT if part.startswith("nmt distill ") else ""
            self.run_command(part + tiny)

    # Which guides there are, and which of their lines are run nowhere.

    def test_every_line_is_run_or_said_not_to_be(self):
        tests = {name.removeprefix("test_") for name in dir(self) if name.startswith("test_")}
        for guide in GUIDES:
            with self.subTest(guide):
                self.assertEqual(bool(first_screen(guide)), guide not in NO_BLOCKS, "a first code block")
                runs = any(reason_not_to_run(guide, command) is None for command in commands_of(guide))
                self.assertEqual(runs, guide in tests, "a test of its own: where a command is to be run")
        for guide, beginning in NOT_RUN:
            self.assertTrue(any(command.startswith(beginning) for command in commands_of(guide)), f"{guide}: {beginning} is no command of it")
        for guide, number in NO_COMMANDS:
            self.assertLessEqual(number, len(first_screen(guide)), guide)

    # One for each guide.

    def test_data(self):
        def prepare():
            self.run_command("paste train.de train.en > web.tsv")
        self.check("data", prepare)

    def test_evaluating(self):
        self.check("evaluating", self.with_model)

    def test_gpu(self):
        self.check("gpu", lambda: self.run_command("nmt-prepro -c mine.yaml"))

    def test_interop(self):
        def prepare():
            self.run_command("rm -r model && cp test.de input.de")
            self.write("adapt.yaml", yaml_of_guide())
        self.check("interop", prepare)

    def test_kyubyong(self):
        def prepare():
            self.run_command("nmt-prepro -c mine.yaml")
            self.write("hparams.yaml", FLAT)
        self.check("kyubyong", prepare)

    def test_markup(self):
        def prepare():
            with zipfile.ZipFile(self.folder / "letter.docx", "w") as archive:
                archive.writestr("_rels/.rels", PARTS)
                archive.writestr("word/document.xml", DOCUMENT)
        self.check("markup", prepare)

    def test_positions(self):
        self.check("positions", lambda: self.run_command("nmt-prepro -c mine.yaml"))

    def test_prepro(self):
        def prepare():
            self.run_command("rm mine.yaml && mv train.de corpus.de && mv train.en corpus.en")
        self.check("prepro", prepare)

    def test_recipes(self):
        self.check("recipes", lambda: self.run_command("rm mine.yaml"))

    def test_scoring(self):
        def prepare():
            for name in ("reference.de", "a.de", "b.de"):
                self.run_command(f"cp test.de {name}")
            for name in ("output.de", "base.de", "new.de", "source.en"):
                self.run_command(f"cp valid.de {name}")
        self.check("scoring", prepare)

    def test_serving(self):
        def prepare():
            self.run_command("cp -r model one && cp -r model two")
            self.write("service.yaml", SERVICE)
            self.write("keys", "k-3f8a77c0d1 60 20000 nextcloud\n")
            self.run_command("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
                             " -keyout key.pem -out chain.pem")
        self.check("serving", prepare)

    def test_student(self):
        def prepare():
            self.run_command("mkdir -p runs/mine && cp -r model runs/mine/best")
            for side in ("de", "en"):
                self.run_command(f"head -100 train.{side} > few && mv few train.{side}")
        self.check("student", prepare)

    def test_training(self):
        self.check("training", lambda: self.run_command("nmt-prepro -c mine.yaml"))

    def test_translating(self):
        def prepare():
            self.with_model(prepared=False)
            self.run_command("cp test.de input.de")
        self.check("translating", prepare)

    def test_tutorial(self):
        def prepare():
            self.run_command("rm mine.yaml && mkdir text && cp train.de text/all.de && cp train.en text/all.en")
        self.check("tutorial", prepare)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    PROGRAMS = options.programs.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
