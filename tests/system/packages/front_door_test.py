"""Runs `nmt`, which runs the programs beside it.

    front_door_test.py --build BUILD_FOLDER
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

OPTIONS = None  # set by main
COMMANDS = ("init", "prepro", "train", "eval", "translate", "score", "distill", "export")


def run(*command, **settings):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60, **settings)


class FrontDoor(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.nmt = pathlib.Path(OPTIONS.build).resolve() / "nmt"

    def tearDown(self):
        self.temporary.cleanup()

    def stand_in(self, text, name="nmt-train", folder=None):
        """A program of that name, with a copy of nmt beside it."""
        folder = folder or self.folder / "bin"
        folder.mkdir(exist_ok=True)
        shutil.copy2(self.nmt, folder / "nmt")
        (folder / name).write_text("#!/bin/sh\n" + text)
        (folder / name).chmod(0o755)
        return folder / "nmt"

    def test_help_names_every_command(self):
        for arguments in (["help"], ["--help"], ["-h"]):
            done = run(self.nmt, *arguments)
            self.assertEqual(done.returncode, 0)
            for command in COMMANDS:
                self.assertRegex(done.stdout, rf"(?m)^  {command} +\w")
        without = run(self.nmt)
        self.assertEqual((without.returncode, without.stdout), (2, ""))
        self.assertEqual(without.stderr, done.stdout)

    def test_help_finds_options(self):
        done = run(self.nmt, "help", "options", "patience")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("validation.patience: ", done.stdout)
        self.assertNotIn("decoding.beam_size", done.stdout)
        done = run(self.nmt, "help", "options", "xyzzy")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("'xyzzy'", done.stderr)

    def test_version(self):
        done = run(self.nmt, "--version")
        program = run(self.nmt, "prepro", "--version").stdout.splitlines()[0].split()
        self.assertEqual(done.stdout.split(), ["nmt", program[1]])

    def test_a_command_is_the_program(self):
        for command in COMMANDS:
            program = self.nmt.with_name("nmt-" + command)
            if not program.exists():
                continue
            with self.subTest(command):
                own = run(program, "--help")
                self.assertEqual((run(self.nmt, "help", command).stdout, run(self.nmt, command, "--help").stdout),
                                 (own.stdout, own.stdout))
        wrong = run(self.nmt, "prepro", "--overwite")
        self.assertEqual(wrong.returncode, 2)
        self.assertTrue(wrong.stderr.startswith("nmt-prepro: "), wrong.stderr)

    def test_arguments_exit_code_and_streams_pass(self):
        nmt = self.stand_in('cat; for a; do echo "<$a>"; done; echo said >&2; exit 17\n')
        done = subprocess.run([nmt, "train", "-c", "a b", "", "*"], input="given\n", text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (17, "given\n<-c>\n<a b>\n<>\n<*>\n", "said\n"))

    def test_it_is_the_same_process_so_signals_reach_the_program(self):
        nmt = self.stand_in('trap "exit 130" INT\necho $$\nwhile :; do sleep 0.02; done\n')
        with subprocess.Popen([nmt, "train"], stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(int(process.stdout.readline()), process.pid)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(10), 130)
        nmt = self.stand_in("kill -TERM $$\n")
        self.assertEqual(run(nmt, "train").returncode, -signal.SIGTERM)

    def test_the_program_is_the_one_beside_it_and_never_one_of_path(self):
        nmt = self.stand_in("echo own\n")
        other = self.folder / "other"
        self.stand_in("echo foreign\n", folder=other)
        (other / "nmt").unlink()
        environment = {"PATH": f"{other}:{nmt.parent}:{os.environ['PATH']}"}
        self.assertEqual(run("nmt", "train", env=environment, cwd=other).stdout, "own\n")
        link = self.folder / "link"
        link.symlink_to(nmt)
        self.assertEqual(run(link, "train", env=environment).stdout, "own\n")
        (nmt.parent / "nmt-train").unlink()
        missing = run("nmt", "train", env=environment, cwd=other)
        self.assertEqual(missing.returncode, 1)
        self.assertIn(f"{nmt.parent}/nmt-train is not there", missing.stderr)

    def test_a_mistyped_command_gets_a_suggestion(self):
        for given, meant in (("trian", "train"), ("translat", "translate"), ("scroe", "score"), ("nmt-train", "train"),
                             ("serve", "translate --serve"), ("preprocess", "prepro"), ("hepl", "help")):
            done = run(self.nmt, given)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, f"nmt: unknown command {given}; did you mean nmt {meant}?\n")
        for given in ("xyzzy", "x" * 5000, ""):
            self.assertRegex(run(self.nmt, given).stderr, r"^nmt: unknown command .{0,64}; nmt help lists the commands\n$")
        self.assertEqual(run(self.nmt, "--verison").stderr, "nmt: unknown option --verison; nmt help lists the commands\n")
        self.assertEqual(run(self.nmt, "help", "trian").returncode, 2)

    def test_it_loads_no_library_of_the_toolkit(self):
        loaded = {line.split()[0] for line in run("ldd", self.nmt).stdout.splitlines()}
        own = {name for name in loaded if not re.match(r"(linux-vdso|lib(stdc\+\+|gcc_s|c|m))\.so|/.*/ld-linux", name)}
        self.assertEqual(own, set())
        self.assertLess(self.nmt.stat().st_size, 200_000)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
