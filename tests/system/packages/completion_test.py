"""Types into real shells: bash, and zsh and fish where they are installed.

    completion_test.py --build BUILD_FOLDER

A shell of its own runs in a pseudo-terminal. A line is typed, then Tab, and then so that the shell prints the words that
the line has become.
"""

import argparse
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

OPTIONS = None  # set by main

# Typed, and what stands there after Tab. Only unambiguous beginnings: nothing depends on how a shell lists several.
UNAMBIGUOUS = [
    ("nmt tra", None),  # train and translate: stays as it is
    ("nmt trai", "nmt train"),
    ("nmt scor", "nmt score"),
    ("nmt help tran", "nmt help translate"),
    ("nmt-prepro --overw", "nmt-prepro --overwrite"),
    ("nmt prepro --overw", "nmt prepro --overwrite"),
    ("nmt-prepro -c mine.y", "nmt-prepro -c mine.yaml"),
    ("nmt-prepro --encode fold", "nmt-prepro --encode folder/"),
    ("nmt-prepro --side so", "nmt-prepro --side source"),
    ("nmt-prepro --set data.vocab_s", "nmt-prepro --set data.vocab_size="),
    ("nmt-prepro --set model.positions=rot", "nmt-prepro --set model.positions=rotary"),
    ("nmt prepro -c mine.yaml --set data.lowercase=t", "nmt prepro -c mine.yaml --set data.lowercase=true"),
    ("nmt-export --to ctr", "nmt-export --to ctranslate2"),
    ("nmt-export --inspect fold", "nmt-export --inspect folder/"),
    ("nmt-score --paired-jo", "nmt-score --paired-jobs"),
    ("nmt score --format lat", "nmt score --format latex"),
    ("nmt-score mine.y", "nmt-score mine.yaml"),
]
WITH_TORCH = [
    ("nmt-train --profi", "nmt-train --profile"),
    ("nmt train --precision bf", "nmt train --precision bf16"),
    ("nmt-translate -m fold", "nmt-translate -m folder/"),
    ("nmt-translate --length-penalty-form l", None),
    ("nmt translate --input-format js", "nmt translate --input-format json"),
    ("nmt-eval --split val", "nmt-eval --split valid"),
]


class Shell:
    """An interactive shell on a terminal of its own."""

    def __init__(self, command, environment, folder):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.heard = ""

    def read_until(self, pattern, seconds=20):
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.heard)):
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.terminal], [], [], left)[0]:
                raise AssertionError(f"waited for {pattern!r}, heard {self.heard!r}")
            try:
                self.heard += os.read(self.terminal, 65536).decode(errors="replace")
            except OSError:
                raise AssertionError(f"the shell ended; heard {self.heard!r}")
        self.heard = self.heard[found.end():]
        return found

    def type(self, text):
        os.write(self.terminal, text.encode())

    def completed(self, line):
        """The words of the line after Tab, as the shell itself reads them."""
        self.type(line + "\t")
        time.sleep(0.15)
        self.type("\x01show \x05\r")  # to the begin of the line, "show", to its end, Enter
        return self.read_until(r"SHOWN:([^\r\n]*):END").group(1)

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.made = pathlib.Path(OPTIONS.build).resolve() / "manual"
        (cls.folder / "work" / "folder").mkdir(parents=True)
        (cls.folder / "work" / "mine.yaml").write_text("")
        (cls.folder / "home").mkdir()
        cls.environment = {"PATH": f"{pathlib.Path(OPTIONS.build).resolve()}:{os.environ['PATH']}", "TERM": "xterm",
                           "HOME": str(cls.folder / "home"), "LC_ALL": "C.UTF-8", "PS1": "$ "}

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def cases(self):
        return UNAMBIGUOUS + (WITH_TORCH if (self.made / "nmt-train.json").exists() else [])

    def check(self, shell, cases, spare=()):
        try:
            for typed, expected in cases:
                if typed in spare:
                    continue
                with self.subTest(typed):
                    self.assertEqual(shell.completed(typed).rstrip(), expected or typed)
        finally:
            shell.close()

    def test_bash(self):
        script = self.folder / "bashrc"
        script.write_text(f"source '{self.made}/bash/nmt'\nshow() {{ echo \"SHOWN:$*:END\"; }}\nPS1='READY '\n"
                          "bind 'set enable-bracketed-paste off'\nbind 'set bell-style none'\necho BEGIN\n")
        shell = Shell(["bash", "--noprofile", "--rcfile", str(script), "-i"], self.environment, self.folder / "work")
        shell.read_until("BEGIN")
        self.check(shell, self.cases())

    def bash_offers(self, *words):
        """What bash offers for the last of the words, which it has parted at = already."""
        script = (f"source '{self.made}/bash/nmt'; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
                  "_nmt \"$1\"; printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=True, cwd=self.folder / "work")
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_offers_all_that_there_is(self):
        self.assertEqual(self.bash_offers("nmt", ""), ["init", "prepro", "train", "eval", "translate", "score", "distill", "export", "help",
                                                       "--help", "--version"])
        self.assertEqual(self.bash_offers("nmt-score", "--format", ""), ["json", "text", "latex"])
        self.assertEqual(self.bash_offers("nmt-score", "-f", "="), ["json", "text", "latex"])
        self.assertEqual(self.bash_offers("nmt-score", "-m", "bleu", "ch"), ["chrf"])  # the second of several values
        self.assertEqual(self.bash_offers("nmt-prepro", "--set", "model.norm", "="), ["post", "pre"])
        self.assertEqual(self.bash_offers("nmt", "prepro", "--set", "data.train1", "=", "mi"), ["mine.yaml"])
        settings = self.bash_offers("nmt-prepro", "--set", "")
        self.assertIn("decoding.beam_size=", settings)
        self.assertGreater(len(settings), 100)
        options = self.bash_offers("nmt-prepro", "-")
        self.assertTrue({"--config", "--set", "--help", "--version", "--tokenize"} <= set(options), options)
        self.assertEqual(self.bash_offers("nmt", "nonsense", "-"), [])

    def test_bash_finds_the_file_of_each_program(self):
        for name in ("nmt", "nmt-prepro", "nmt-score"):
            self.assertTrue((self.made / "bash" / name).exists(), name)

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("no zsh (apt-get install zsh)")
        (self.folder / "home" / ".zshrc").write_text(
            f"fpath=('{self.made}/zsh' $fpath)\nautoload -Uz compinit && compinit -u -D\nbindkey -e\n"
            "unsetopt beep list_beep auto_menu auto_list auto_remove_slash\nPS1='READY '\n"
            "show() { print -r -- \"SHOWN:$*:END\" }\nprint BEGIN\n")
        shell = Shell(["zsh", "-i"], self.environment, self.folder / "work")
        shell.read_until("BEGIN")
        # Beginnings of several words are prolonged to what they share: nothing to compare.
        self.check(shell, self.cases())

    def fish_offers(self, line):
        done = subprocess.run(["fish", "--no-config", "-c",
                               f"source '{self.made}/fish/nmt.fish'; source '{self.made}/fish/nmt-score.fish'; "
                               f"source '{self.made}/fish/nmt-prepro.fish'; source '{self.made}/fish/nmt-export.fish'; "
                               f"complete -C '{line}'"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment,
                              cwd=self.folder / "work")
        self.assertEqual(done.stderr, "")
        return [row.split("\t")[0] for row in done.stdout.splitlines()]

    def test_fish(self):
        if not shutil.which("fish"):
            self.skipTest("no fish (apt-get install fish)")
        for typed, expected in UNAMBIGUOUS:
            with self.subTest(typed):
                offered = self.fish_offers(typed)
                if expected:
                    self.assertEqual(offered, [expected.split()[-1]])
                else:
                    self.assertGreater(len(offered), 1)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
