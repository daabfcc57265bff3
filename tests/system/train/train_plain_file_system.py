"""Runs on a file system without exchange of names, locks and nameless files, such as NFS: killed anywhere, they end in the
weights of an unbroken run on a usual one.

    train_plain_file_system.py NMT_PREPRO NMT_TRAIN LIBRARY [unittest arguments]

LIBRARY is plain_file_system.cpp, which makes every file system look so. The long test, LongKills, runs only when it is named.
"""

import collections
import hashlib
import os
import random
import signal
import sys
import time
import unittest

LIBRARY = os.path.abspath(sys.argv.pop(3))

import train_kill
from train_kill import Run


class PlainRun(Run):
    def __init__(self, config, directory, settings, updates):
        super().__init__(config, directory, settings, updates)
        self.variables = {}

    def start(self, *settings, **options):
        return super().start(*settings, env={**os.environ, "LD_PRELOAD": LIBRARY, **self.variables}, **options)

    def killed(self, **variables):
        """Whether a process that the library ends somewhere was ended there; else it went to its end."""
        self.variables = variables
        code, errors = self.finish()
        self.variables = {}
        assert code in (0, -signal.SIGKILL), errors
        return code != 0


class Case(unittest.TestCase):
    maxDiff = None
    updates = 30

    @classmethod
    def settings(cls):
        """A validation after every five updates: the best model is replaced again and again."""
        return f"training.max_updates={cls.updates}", "validation.every=5"

    @classmethod
    def setUpClass(cls):
        cls.work = train_kill.temporary_folder(cls)
        cls.config = train_kill.prepare(cls.work, train_kill.CONFIG.format(work=cls.work, updates=cls.updates), train=2000,
                                        valid=100)
        straight = Run(cls.config, cls.work / "straight", cls.settings(), cls.updates)
        code, errors = straight.finish()
        assert code == 0, errors
        cls.expected = straight.result()
        assert sum(line[0] == "*" for line in cls.expected["validations"]) > 3

    def new_run(self):
        return PlainRun(self.config, self.work / self.id().rsplit(".", 1)[-1], self.settings(), self.updates)

    def assert_finishes(self, run):
        code, errors = run.finish()
        self.assertEqual(code, 0, errors)
        self.assertEqual(run.result(), self.expected)
        self.assertEqual([path.name for path in run.directory.rglob("*.partial") if path.is_dir()], [])
        self.assertIn("this file system has no locks (No locks available): start only one nmt-train there", errors)


class OnAPlainFileSystem(Case):
    def test_an_unbroken_run(self):
        self.assert_finishes(self.new_run())

    def test_killed_while_the_best_model_is_out_of_its_place(self):
        run = self.new_run()
        kills = 0
        while run.killed(NMT_TEST_KILL_AFTER_ASIDE="1"):
            self.assertFalse((run.directory / "best").exists())
            aside = list(run.directory.glob("best.??????.partial/old/model.safetensors"))
            self.assertEqual(len(aside), 1, "it waits beside its place")
            kills += 1
            if kills == 2:
                break
        self.assertEqual(kills, 2)
        self.assert_finishes(run)

    def test_killed_before_renames(self):
        # A run has some 150 renames. Each of these processes begins again at the last checkpoint.
        run, dice = self.new_run(), random.Random(11)
        kills = sum(run.killed(NMT_TEST_KILL_BEFORE_RENAME=str(dice.randint(1, 24))) for _ in range(12))
        self.assertGreater(kills, 6)
        self.assert_finishes(run)

    def test_prepared_data_are_replaced(self):
        environment = {**os.environ, "LD_PRELOAD": LIBRARY}
        command = [train_kill.PREPRO, "-c", str(self.config), "--set", f"data.dir={self.work}/again"]
        for more in ([], ["--set", "data.vocab_size=300", "--overwrite"], ["--overwrite"]):
            done = train_kill.subprocess.run(command + more, env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("this file system has no locks", done.stderr)
        for name in ("train.bin", "spm.model", "valid.bin"):
            self.assertEqual((self.work / "again" / name).read_bytes(), (self.work / "prepared" / name).read_bytes())
        self.assertEqual(list(self.work.glob("again.*")), [])


class LongKills(Case):
    """At moments drawn from a seed; what they hit depends on the machine."""
    updates = 600
    KILLS = 100

    @classmethod
    def setUpClass(cls):
        train_kill.PATIENCE = 1800  # seconds: ten times as many updates
        super().setUpClass()

    @staticmethod
    def unfinished(run):
        """Names of what is in the making, or was when a process was killed."""
        names = set()
        for folder in (run.directory, run.checkpoints):
            try:
                names.update(name for name in os.listdir(folder) if name.endswith(".partial"))
            except FileNotFoundError:
                pass
        return names

    @staticmethod
    def kept(directory):
        """All files of the best model and of all checkpoints, but those that hold times. model.json names the folder."""
        files = [*directory.glob("best/*"), *directory.glob("checkpoints/*/*")]
        return {str(path.relative_to(directory)): hashlib.sha256(
                    path.read_bytes().replace(str(directory).encode(), b"DIRECTORY")).hexdigest()
                for path in files if path.name not in ("state.json", "checksums.json")}

    def test_killed_a_hundred_times(self):
        run, dice = self.new_run(), random.Random(17)
        kinds, met = collections.Counter(), 0
        while kinds.total() < self.KILLS:
            before = self.unfinished(run)
            process = run.start()
            kind = dice.choice(("while it starts", "while it writes", "anywhere", "anywhere"))
            if kind == "while it starts":
                time.sleep(dice.uniform(0, 1))
            elif kind == "while it writes":
                train_kill.wait_until(lambda: self.unfinished(run) - before, process)
                time.sleep(dice.uniform(0, 0.01))
            else:
                wanted = run.newest() + dice.choice((0, 3, 6))
                train_kill.wait_until(lambda: run.newest() > wanted, process)
                time.sleep(dice.uniform(0, 0.1))
            process.send_signal(signal.SIGKILL)
            code, errors = train_kill.ends(process)
            self.assertEqual(code, -signal.SIGKILL, "the machine is too fast for this test: " + errors)
            kinds[kind] += 1
            met += bool(self.unfinished(run) - before)
        print(f"\n{dict(kinds)}; {met} left something unfinished; checkpoint {run.newest()} of {self.updates}",
              file=sys.stderr)
        self.assert_finishes(run)
        self.assertEqual(self.kept(run.directory), self.kept(self.work / "straight"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
