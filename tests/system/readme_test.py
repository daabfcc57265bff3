"""README's commands, typed as they stand there, with text and models so small that they end in seconds.

    readme_test.py --programs BUILD_FOLDER [unittest arguments]

"Your own two files" is run by text/init_test.py, the guides' commands by guides_test.py. NOT_RUN says what is run nowhere here,
and why; a command of README that is in neither place fails. Python's standard library only.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = None  # set by main
NOT_RUN = {"./scripts/quickstart.sh": "installs packages and builds",
           "./scripts/test.sh": "builds, and runs the tests that this one is among"}
TINY = " --set training.max_updates=2 --set validation.max_sentences=2 --set run.threads=1 --set run.device=cpu"
PORT = re.compile(r"--serve 8080\b")
GENERAL = """
data: {dir: prepared, train1: train.de, train2: train.en, eval1: valid.de, eval2: valid.en, vocab_size: 500}
model: {d_model: 16, d_ff: 16, num_heads: 2, num_blocks: 1, norm: post}
training: {num_epochs: 1}
run: {dir: mine/run}
"""


def without_comment(line):
    return line.partition(" #")[0].strip()


def commands_of_readme():
    """Section -> the commands of its blocks, without their comments."""
    found = {}
    for section in re.split(r"(?m)^## ", (SOURCE / "README.md").read_text(encoding="utf-8")):
        blocks = re.findall(r"(?ms)^```\n(.*?)^```", section)
        commands = [without_comment(line) for block in blocks for line in block.splitlines()
                    if line.startswith(("build/", "./"))]
        if commands:
            found[section.splitlines()[0]] = commands
    return found


def yaml_of_guide():
    """adapt.yaml of docs/training.md, "Fine-tuning"."""
    section = (SOURCE / "docs" / "training.md").read_text(encoding="utf-8").partition("## Fine-tuning")[2]
    return re.search(r"(?ms)^```yaml\n(# adapt.yaml\n.*?)^```", section)[1]


class Readme(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        (cls.folder / "build").symlink_to(PROGRAMS)
        subprocess.run([sys.executable, SOURCE / "data_scripts" / "make_builtin_corpus.py", "--out",
                        cls.folder / "corpus", "--pairs", "5000"], check=True, stdout=subprocess.DEVNULL)
        for side in ("de", "en"):
            for part in ("train", "valid", "test"):
                lines = (cls.folder / "corpus" / f"{part}.{side}").read_text().splitlines(keepends=True)
                (cls.folder / f"{part}.{side}").write_text("".join(lines[:1000]))
        (cls.folder / "new.de").write_text("Ja.\nNein.\n")
        # The model that "A ready model" begins with, as a folder of Hugging Face; "In a browser" serves it.
        (cls.folder / "general.yaml").write_text(GENERAL)
        for command in ("build/nmt-prepro -c general.yaml", "build/nmt-train -c general.yaml" + TINY,
                        "build/nmt-export -m mine/run/best --to marian -o opus-mt-de-en"):
            cls.run_command(command)
        (cls.folder / "adapt.yaml").write_text(yaml_of_guide())

    @classmethod
    def run_command(cls, command):
        done = subprocess.run(command, shell=True, cwd=cls.folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=120)
        if done.returncode:
            raise AssertionError(f"{command}\n{done.stdout}")

    def serve(self, command):
        self.assertRegex(command, PORT)
        server = subprocess.Popen(PORT.sub("--serve 0", command).split(), cwd=self.folder, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            address = server.stdout.readline().strip()
            self.assertIn(b"<!doctype html>", urllib.request.urlopen(address).read().lower())
            request = urllib.request.Request(address + "/translate", json.dumps({"q": "Ja.", "source": "de",
                                             "target": "en"}).encode(), {"Content-Type": "application/json"})
            self.assertIn("translatedText", json.load(urllib.request.urlopen(request)))
        finally:
            server.terminate()
            server.communicate(timeout=30)

    def run_all(self, section):
        for line in commands_of_readme()[section]:
            for command in line.split(" && "):
                with self.subTest(command):
                    if "--serve" in command:
                        self.serve(command)
                    else:
                        self.run_command(command + (TINY if "nmt-train" in command else ""))

    def test_every_command_is_run_or_said_not_to_be(self):
        commands = commands_of_readme()
        self.assertEqual(set(commands), {"Two commands", "Your own two files", "A ready model", "In a browser"})
        self.assertEqual(set(commands["Two commands"]), set(NOT_RUN))
        for script in NOT_RUN:
            self.assertTrue(os.access(SOURCE / script, os.X_OK), script)

    def test_a_ready_model(self):
        self.run_all("A ready model")
        log = (self.folder / "runs" / "adapted" / "log.txt").read_text()
        self.assertRegex(log, "validation before the first update: .* BLEU ")
        self.assertEqual((self.folder / "adapted.en").read_text().count("\n"), 2)

    def test_in_a_browser(self):
        self.run_all("In a browser")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    PROGRAMS = options.programs.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
