"""nmt-train as several processes: the bits of one, whatever happens to them.

    processes.py NMT_PREPRO NMT_TRAIN [unittest arguments]

Python's standard library only, and mpirun: without it, everything is skipped. The two processors of a small machine do.
"""

import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import train_kill
from train_kill import CONFIG, QUALITY_KIT, TRAIN, ends, prepare, sha256, temporary_folder, wait_until

UPDATES = 40
TIMEOUT = 3  # seconds, of run.process_timeout where a test waits for it
# For root, in a container and with more processes than processors.
MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                   "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_orte_tmpdir_base": tempfile.gettempdir()}


def processes_of(directory):
    """(rank, process id) of the processes that train in `directory`."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes().split(b"\0")
            if command[0] != TRAIN.encode() or str(directory).encode() not in command:
                continue
            environment = dict(line.split(b"=", 1) for line in (entry / "environ").read_bytes().split(b"\0") if b"=" in line)
            found.append((int(environment[b"OMPI_COMM_WORLD_RANK"]), int(entry.name)))
        except (OSError, KeyError, ValueError, IndexError):
            continue
    return sorted(found)


class Run(train_kill.Run):
    """A run directory that several processes share."""

    def start(self, *settings, processes=2, options=(), **arguments):
        command = [TRAIN, "-c", str(self.config), "--run-dir", str(self.directory)]
        for setting in (*self.settings, *settings):
            command += ["--set", setting]
        if processes > 1:
            command = ["mpirun", "-n", str(processes), *options, *command]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **MPI_ENVIRONMENT}, **arguments)

    def process(self, rank):
        """The id of the process of that rank."""
        return dict(processes_of(self.directory))[rank]


@unittest.skipUnless(shutil.which("mpirun"), "needs mpirun (Debian: openmpi-bin)")
class Processes(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.work = temporary_folder(cls)
        text = CONFIG.format(work=cls.work, updates=UPDATES)
        text = text.replace("batch_size: 1024", "batch_size: 512").replace("accumulate: 2", "accumulate: 3")
        cls.config = prepare(cls.work, text, train=1000, valid=60)
        cls.alone = Run(cls.config, cls.work / "alone", updates=UPDATES)
        code, errors = cls.alone.finish(processes=1)
        assert code == 0, errors
        cls.expected = cls.alone.result()

    def new_run(self, settings=()):
        return Run(self.config, self.work / self.id().rsplit(".", 1)[-1], settings, UPDATES)

    def assert_finishes(self, run, expected=None, **options):
        code, errors = run.finish(**options)
        self.assertEqual(code, 0, errors)
        self.assertEqual(run.result(), expected or self.expected)
        return errors

    def started(self, run, update, *settings, **options):
        """A process that has come past an update."""
        process = run.start(*settings, **options)
        reached = wait_until(lambda: run.last_update() > update, process)
        if not reached or process.poll() is not None:
            self.fail(process.communicate()[1])
        return process

    def assert_is_unbroken(self, run):
        """The newest checkpoint is that of a run by one process that was never stopped."""
        update = run.newest()
        unbroken = Run(self.config, run.directory.with_name(run.directory.name + "-unbroken"))
        code, errors = unbroken.finish(f"training.max_updates={update}", processes=1)
        self.assertEqual(code, 0, errors)
        for file in ("model.safetensors", "trainer.safetensors"):
            self.assertEqual(sha256(run.path(update) / file), sha256(unbroken.path(update) / file))

    def assert_no_process_is_left(self, run):
        end = time.monotonic() + 20
        while processes_of(run.directory) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(processes_of(run.directory), [])


class Bits(Processes):
    def test_several_processes_give_the_bits_of_one(self):
        for processes in (2, 3):  # three batches an update: shared out evenly, and not
            run = Run(self.config, self.work / f"processes-{processes}", updates=UPDATES)
            errors = self.assert_finishes(run, processes=processes)
            self.assertIn(f"{processes} processes of mpirun", errors)
            self.assertEqual(errors.count("resuming from"), 0)

    def test_a_sharded_optimizer_gives_the_same_bits(self):
        """Begun, killed and resumed with shares of two and three processes, and by one; checkpoints are whole."""
        settings = ("training.ema_decay=0.9", "validation.every=10", "training.gradient_checkpointing=true")
        sharded = (*settings, "training.shard_optimizer=true")
        alone = Run(self.config, self.work / "sharded-alone", settings, UPDATES)
        code, errors = alone.finish(processes=1)
        self.assertEqual(code, 0, errors)
        run = Run(self.config, self.work / "sharded", sharded, UPDATES)
        for processes, wanted in ((2, 6), (3, 15), (1, 24)):
            process = run.start(processes=processes)
            self.assertTrue(wait_until(lambda: run.newest() >= wanted, process))
            if processes == 1:
                process.kill()
            else:
                os.kill(run.process(processes - 1), signal.SIGKILL)
            code, errors = ends(process)
            self.assertNotEqual(code, 0, errors)
            self.assert_no_process_is_left(run)
        self.assert_finishes(run, alone.result(), processes=3)
        # Resumed without: the setting may change.
        unbroken = Run(self.config, self.work / "sharded-2", sharded, UPDATES)
        self.assert_finishes(unbroken, alone.result(), processes=2)
        newest = unbroken.path(unbroken.newest())
        for file in ("model.safetensors", "trainer.safetensors"):
            self.assertEqual(sha256(newest / file), sha256(alone.path(unbroken.newest()) / file), file)

    def test_killed_and_resumed_with_another_number(self):
        run, dice = self.new_run(), random.Random(3)
        for processes, wanted in ((2, 3), (1, 9), (3, 15), (2, 24)):
            process = run.start(processes=processes)
            self.assertTrue(wait_until(lambda: run.newest() >= wanted, process))
            time.sleep(dice.uniform(0, 0.1))
            if processes == 1:
                process.kill()
            else:
                os.kill(run.process(dice.randrange(processes)), signal.SIGKILL)
            code, errors = ends(process)
            self.assertNotEqual(code, 0, errors)
            self.assert_no_process_is_left(run)
        self.assert_finishes(run, processes=2)

    def test_a_signal_to_any_process_stops_all(self):
        run = self.new_run()
        seldom = ("training.checkpoint_every=100000", "training.max_updates=100000")
        before = 0
        for rank, sent, expected in ((1, signal.SIGTERM, 143), (0, signal.SIGINT, 130)):
            process = self.started(run, before + 2, *seldom)
            os.kill(run.process(rank), sent)
            code, errors = ends(process)
            self.assertEqual(code, expected, errors)
            self.assertIn("the state is saved", errors)
            self.assertGreater(run.newest(), before)
            self.assert_no_process_is_left(run)
            before = run.newest()
        self.assert_is_unbroken(run)


class Failures(Processes):
    """Every process goes, soon, and somebody says which one was the first."""

    SLOW = ("training.max_updates=100000", "training.checkpoint_every=100000", "validation.every=100000")

    def assert_ends_soon(self, run, process, rank, since, within=20):
        code, errors = ends(process)
        self.assertLess(time.monotonic() - since, within, errors)
        self.assertNotEqual(code, 0, errors)
        self.assertRegex(errors, rf"rank {rank}\b")
        self.assert_no_process_is_left(run)
        return code, errors

    def test_a_killed_process(self):
        for rank in (0, 1):
            run = Run(self.config, self.work / f"killed-{rank}")
            process = self.started(run, 2, *self.SLOW)
            os.kill(run.process(rank), signal.SIGKILL)
            self.assert_ends_soon(run, process, rank, time.monotonic())

    def test_a_killed_process_that_the_launcher_does_not_miss(self):
        run = self.new_run(self.SLOW)
        process = self.started(run, 2, f"run.process_timeout={TIMEOUT}", options=("--enable-recovery",))
        os.kill(run.process(1), signal.SIGKILL)
        since = time.monotonic()
        _, errors = ends(process)
        self.assertLess(time.monotonic() - since, 20, errors)
        self.assert_no_process_is_left(run)
        self.assertEqual(errors.count(f"nmt-train: rank 1 has not answered for {TIMEOUT} s (run.process_timeout)"), 1, errors)

    def test_a_stopped_process(self):
        for rank, name in ((0, "nmt-train (rank 1)"), (1, "nmt-train")):
            run = Run(self.config, self.work / f"stopped-{rank}")
            process = self.started(run, 2, *self.SLOW, f"run.process_timeout={TIMEOUT}")
            os.kill(run.process(rank), signal.SIGSTOP)
            code, errors = self.assert_ends_soon(run, process, rank, time.monotonic())
            self.assertEqual(code, 1, errors)
            lines = [line for line in errors.splitlines() if "has not answered" in line]
            self.assertEqual(len(lines), 1, errors)
            self.assertTrue(lines[0].startswith(f"{name}: rank {rank} has not answered for {TIMEOUT} s"), errors)

    def test_a_process_that_hangs(self):
        """Its main thread stands still, another continues: as with a device that does not come back."""
        run = self.new_run(self.SLOW)
        process = self.started(run, 2, f"run.process_timeout={TIMEOUT}", "training.accumulate=14")
        # Between two updates a process may take as long as it likes. One that stands there is let go and stopped again.
        for _ in range(10):
            since = time.monotonic()
            frozen = freeze_main_thread(run.process(1))
            if not frozen:
                process.kill()
                ends(process)
                for _, left in processes_of(run.directory):
                    os.kill(left, signal.SIGKILL)
                self.skipTest("a thread cannot be stopped here without the others")
            try:
                process.wait(timeout=4 * TIMEOUT)
                break
            except subprocess.TimeoutExpired:
                frozen()
        try:
            self.assert_ends_soon(run, process, 1, since)
        finally:
            frozen()

    def test_a_process_with_other_options(self):
        run = self.new_run()
        command = [TRAIN, "-c", str(self.config), "--run-dir", str(run.directory)]
        process = subprocess.Popen(["mpirun", "-n", "1", *command, ":", "-n", "1", *command, "--set", "training.lr=0.1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, **MPI_ENVIRONMENT})
        code, errors = self.assert_ends_soon(run, process, 1, time.monotonic())
        self.assertIn("nmt-train (rank 1): rank 1 has other options", errors)
        self.assertEqual(code, 2, errors)
        self.assertFalse(run.directory.exists())

    def test_validation_may_take_longer_than_the_limit(self):
        run = self.new_run(("run.process_timeout=2", "training.max_updates=4", "validation.every=4",
                            "validation.metrics=[loss,bleu]", "validation.beam_size=300"))
        code, errors = run.finish()
        self.assertEqual(code, 0, errors)
        seconds = max(map(float, re.findall(r"validation .* in ([0-9.]+) s", errors)))
        if seconds < 3:
            self.skipTest(f"the validation took {seconds} s: too quick to tell")

    def test_more_processes_than_batches_are_refused(self):
        run = self.new_run()
        code, errors = run.finish(processes=4)
        self.assertEqual(code, 2, errors)
        self.assertIn("training.accumulate 3: 4 processes need at least so many batches in one update", errors)
        self.assertFalse(run.directory.exists())


class Kit(Processes):
    """All that a checkpoint must bring back beside weights and moments."""

    def test_the_quality_kit_goes_on_in_the_same_bits(self):
        for precision in ("fp32", "bf16"):
            settings = (*QUALITY_KIT, f"run.precision={precision}", "training.batch_size=256")
            alone = Run(self.config, self.work / f"kit-{precision}", settings, UPDATES)
            code, errors = alone.finish(processes=1)
            self.assertEqual(code, 0, errors)
            broken = Run(self.config, self.work / f"kit-{precision}-broken", settings, UPDATES)
            for processes, wanted in ((2, 9), (3, 21)):
                process = broken.start(processes=processes)
                self.assertTrue(wait_until(lambda: broken.newest() >= wanted, process))
                os.kill(broken.process(processes - 1), signal.SIGKILL)
                code, errors = ends(process)
                self.assertNotEqual(code, 0, errors)
                self.assert_no_process_is_left(broken)
            self.assert_finishes(broken, alone.result(), processes=2)


class Launcher(Processes):
    def test_a_signal_to_mpirun_saves_the_state(self):
        """It waits, hands the signal on, waits again and kills. While it waits it reads nothing: few lines, please."""
        run = self.new_run(("training.checkpoint_every=100000", "training.max_updates=100000", "run.log_every=20"))
        process = self.started(run, 1, options=("--mca", "odls_base_sigkill_timeout", "15"))
        process.send_signal(signal.SIGTERM)
        code, errors = ends(process)
        self.assertNotEqual(code, 0, errors)
        self.assert_no_process_is_left(run)
        self.assert_is_unbroken(run)


def freeze_main_thread(process):
    """Stops the first thread of a process, not the others; returns what lets it go, or None where that is not allowed."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    seize, interrupt, detach = 0x4206, 0x4207, 17
    if libc.ptrace(seize, process, None, None) != 0:
        return None
    if libc.ptrace(interrupt, process, None, None) != 0:
        return None

    def reap():
        # The end of a traced process is told to its tracer first; mpirun waits for it until the tracer has taken note.
        wait_all = 0x40000000
        with contextlib.suppress(ChildProcessError):
            while os.WIFSTOPPED(os.waitpid(process, wait_all)[1]):
                pass

    threading.Thread(target=reap, daemon=True).start()
    return lambda: libc.ptrace(detach, process, None, None)


del Processes  # has no tests of its own


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
