"""Runs of nmt-train that are killed, stopped, damaged and out of disk, and must end in the weights of an unbroken one.

    train_kill.py NMT_PREPRO NMT_TRAIN [unittest arguments]

Python's standard library only. Moments are drawn from a seed; what they hit depends on the machine.
"""

import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PREPRO, TRAIN = map(os.path.abspath, sys.argv[1:3])
SOURCE = pathlib.Path(__file__).resolve().parents[3]
UPDATES = 60
PATIENCE = 180  # seconds for what takes one; the machine may be busy

CONFIG = """
data:
  dir: {work}/prepared
  train1: {work}/train.de
  train2: {work}/train.en
  eval1: {work}/valid.de
  eval2: {work}/valid.en
  vocab_size: 400
  character_coverage: 1
model: {{d_model: 64, d_ff: 128, num_blocks: 2, num_heads: 4, norm: pre, dropout_rate: 0.2}}
training: {{batch_type: tokens, batch_size: 1024, num_epochs: 0, max_updates: {updates}, lr: 0.003, warmup_steps: 20,
            checkpoint_every: 3, keep_checkpoints: 3, accumulate: 2}}
validation: {{every: 25, metrics: [loss], best_metric: loss}}
run: {{log_every: 1, tensorboard: false, threads: 1}}
"""
# All that a checkpoint must bring back beside weights and moments.
QUALITY_KIT = ("training.objective=rdrop", "training.accumulate=3", "training.accumulate_warmup=30",
               "training.bpe_dropout1=0.1", "training.bpe_dropout2=0.1", "training.word_dropout1=0.1",
               "training.ema_decay=0.99", "training.optimizer=radam", "training.schedule=plateau",
               "training.plateau_patience=1", "training.max_updates=40", "training.checkpoint_every=3",
               "training.average_checkpoints=2", "validation.every=5", "training.batch_size=512",
               "training.stages=[{shares: {train: 1}, until_update: 17}, {shares: {train: 1}}]",
               "training.augment_upper=0.1", "training.augment_typos=0.1", "training.augment_joined=0.1")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def flip_a_byte(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


class Run:
    """A run directory and the processes that work in it."""

    def __init__(self, config, directory, settings=(), updates=UPDATES):
        self.config, self.directory, self.settings, self.updates_wanted = config, directory, settings, updates
        self.checkpoints = directory / "checkpoints"

    def start(self, *settings, **options):
        command = [TRAIN, "-c", str(self.config), "--run-dir", str(self.directory)]
        for setting in (*self.settings, *settings):
            command += ["--set", setting]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, text=True, **{**pipes, **options})

    def finish(self, *settings, **options):
        """(exit code, standard error) of a process that ends by itself."""
        process = self.start(*settings, **options)
        _, errors = process.communicate(timeout=PATIENCE)
        return process.returncode, errors

    def updates(self):
        """Updates of the checkpoints that stand there, ascending."""
        if not self.checkpoints.is_dir():
            return []
        return sorted(int(name) for name in os.listdir(self.checkpoints) if name.isdigit())

    def newest(self):
        return max(self.updates(), default=0)

    def partial(self):
        """Whether a checkpoint is being written, or was when its process was killed."""
        try:
            return any(name.endswith(".partial") for name in os.listdir(self.checkpoints))
        except FileNotFoundError:
            return False

    def last_update(self):
        """The updates of the lines of the log."""
        try:
            found = re.findall(r"update ([0-9,]+):", (self.directory / "log.txt").read_text())
        except FileNotFoundError:
            return 0
        return int(found[-1].replace(",", "")) if found else 0

    def path(self, update=None):
        return self.checkpoints / f"{update or self.updates_wanted:08d}"

    def result(self):
        """All that must agree at the end: weights, moments, progress, the best model and the records, but for times."""
        state = json.loads((self.path() / "state.json").read_text())
        del state["seconds"]
        metrics = [json.loads(line) for line in (self.directory / "metrics.jsonl").read_text().splitlines()]
        validations = [line.split("\t") for line in (self.directory / "validations.tsv").read_text().splitlines()]
        return {"losses": [(line["update"], line["loss"]) for line in metrics],
                "validations": [line[:6] for line in validations],
                "weights": sha256(self.path() / "model.safetensors"), "moments": sha256(self.path() / "trainer.safetensors"),
                "best": sha256(self.directory / "best" / "model.safetensors"), "state": state}


def wait_until(condition, process):
    """False if the process ended first."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if process.poll() is not None:
            return condition()
        if time.monotonic() > end:
            process.kill()
            raise AssertionError("nothing happened for too long")
        time.sleep(0.0002)
    return True


def ends(process):
    """Exit code and standard error of a process that was sent a signal."""
    try:
        _, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired as late:
        raise AssertionError(f"did not end within {PATIENCE} s; it said: {late.stderr}") from late
    return process.returncode, errors


def temporary_folder(test_class):
    """One that goes with the class."""
    holder = tempfile.TemporaryDirectory(prefix="nmt-train-")
    test_class.addClassCleanup(holder.cleanup)
    return pathlib.Path(holder.name)


def prepare(work, config_text, train, valid):
    """The first pairs of the built-in corpus under `work`, prepared. The configuration's file."""
    maker = SOURCE / "data_scripts" / "make_builtin_corpus.py"
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run([sys.executable, "-B", str(maker), "--out", str(work / "corpus"), "--pairs", "5000"], **quiet)
    for split, pairs in (("train", train), ("valid", valid)):
        for language in ("de", "en"):
            lines = (work / "corpus" / f"{split}.{language}").read_text().splitlines(keepends=True)
            (work / f"{split}.{language}").write_text("".join(lines[:pairs]))
    config = work / "config.yaml"
    config.write_text(config_text)
    subprocess.run([PREPRO, "-c", str(config)], **quiet, stderr=subprocess.DEVNULL)
    return config


class Training(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.work = temporary_folder(cls)
        cls.config = prepare(cls.work, CONFIG.format(work=cls.work, updates=UPDATES), train=2000, valid=100)
        cls.straight = Run(cls.config, cls.work / "straight")
        code, errors = cls.straight.finish()
        assert code == 0, errors
        cls.expected = cls.straight.result()
        assert [update for update, _ in cls.expected["losses"]] == list(range(1, UPDATES + 1))

    def new_run(self):
        return Run(self.config, self.work / self.id().rsplit(".", 1)[-1])

    def assert_finishes(self, run, *settings):
        code, errors = run.finish(*settings)
        self.assertEqual(code, 0, errors)
        self.assertEqual(run.result(), self.expected)
        self.assertFalse(run.partial())
        return errors

    def copy_of_straight(self):
        run = self.new_run()
        shutil.copytree(self.straight.directory, run.directory)
        return run

    def test_again_gives_the_same_bits(self):
        self.assert_finishes(self.new_run())

    def test_the_quality_kit_goes_on_in_the_same_bits(self):
        dice = random.Random(5)
        distillation = ("training.objective=distillation", f"training.teacher={self.straight.directory / 'best'}")
        for name, precision, objective in (("kit", "fp32", QUALITY_KIT[:1]), ("kit", "bf16", QUALITY_KIT[:1]),
                                           ("distilled", "bf16", distillation)):
            settings = (*objective, *QUALITY_KIT[1:], f"run.precision={precision}")
            straight = Run(self.config, self.work / f"{name}-{precision}", settings, 40)
            code, errors = straight.finish()
            self.assertEqual(code, 0, errors)
            validations = (straight.directory / "validations.tsv").read_text()
            self.assertIn("moving average", (straight.directory / "log.txt").read_text() + validations)
            broken = Run(self.config, self.work / f"{name}-{precision}-broken", settings, 40)
            for wanted in (3, 9, 21, 33):
                process = broken.start()
                reached = wait_until(lambda: broken.newest() >= wanted, process)
                time.sleep(dice.uniform(0, 0.1))
                process.send_signal(signal.SIGKILL if wanted != 9 else signal.SIGTERM)
                code, errors = ends(process)
                self.assertTrue(reached, errors)
                self.assertNotEqual(code, 0, "the machine is too fast for this test: make the batches larger")
            code, errors = broken.finish()
            self.assertEqual(code, 0, errors)
            self.assertEqual(broken.result(), straight.result(), (name, precision))

    def test_kills_leave_no_trace(self):
        run, dice = self.new_run(), random.Random(7)
        in_a_write = elsewhere = 0
        for _ in range(40):
            if in_a_write >= 4 and elsewhere >= 3:
                break
            aim_at_write = in_a_write < 4
            process = run.start()
            if aim_at_write:
                reached = wait_until(run.partial, process)
                time.sleep(dice.uniform(0, 0.004))
            else:
                wanted = run.newest() + dice.choice((0, 3, 6))
                reached = wait_until(lambda: run.newest() > wanted, process)
                time.sleep(dice.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
            code, errors = ends(process)
            if not reached or code == 0:
                self.assertEqual(code, 0, errors)  # the run was over before
                break
            self.assertEqual(code, -signal.SIGKILL, errors)
            if run.partial():
                in_a_write += 1
            else:
                elsewhere += 1
        self.assertGreaterEqual(in_a_write, 3, "too few kills met a checkpoint in the writing")
        self.assertGreaterEqual(in_a_write + elsewhere, 5)
        self.assert_finishes(run)

    def test_stop_signals_save_the_state(self):
        run = self.new_run()
        seldom = ("training.checkpoint_every=100000", "training.max_updates=100000")
        before = 0
        for sent, expected in ((signal.SIGTERM, 143), (signal.SIGHUP, 143), (signal.SIGINT, 130)):
            process = run.start(*seldom)
            self.assertTrue(wait_until(lambda: run.last_update() > before + 1, process))
            process.send_signal(sent)
            code, errors = ends(process)
            self.assertEqual(code, expected, errors)
            self.assertIn("the state is saved", errors)
            self.assertGreater(run.newest(), before)
            before = run.newest()
        self.assertLess(before, UPDATES, "the machine is too fast for this test: make the batches larger")
        errors = self.assert_finishes(run)
        self.assertIn(f"{run.path(before)}", errors, "it says what it resumes from")

    def test_a_second_signal_stops_at_once(self):
        run = self.new_run()
        process = run.start()
        self.assertTrue(wait_until(lambda: run.last_update() > 3, process))
        for _ in range(1000):  # the first asks, a later one kills; it may also be done saving in between
            process.send_signal(signal.SIGTERM)
            if process.poll() is not None:
                break
            time.sleep(0.001)
        code, errors = ends(process)
        self.assertIn(code, (143, -signal.SIGTERM), errors)
        self.assert_finishes(run)

    def test_a_damaged_newest_checkpoint_is_left_for_the_one_before(self):
        for damage in (lambda path: flip_a_byte(path / "model.safetensors"),
                       lambda path: flip_a_byte(path / "trainer.safetensors"),
                       lambda path: (path / "state.json").write_text(""),
                       lambda path: (path / "checksums.json").unlink()):
            run = self.copy_of_straight()
            before = run.updates()[-2]
            damage(run.path())
            errors = self.assert_finishes(run)
            self.assertRegex(errors, rf"warning: {re.escape(str(run.path()))}: damaged \(.*\): it is now "
                                     rf"{run.path().name}\.damaged; going back to the checkpoint before")
            self.assertTrue(run.path().with_name(run.path().name + ".damaged").is_dir(), "nothing is deleted")
            self.assertIn(f"resuming from {run.path(before)}", errors)
            shutil.rmtree(run.directory)

    def test_only_damaged_checkpoints_end_the_program_before_it_begins_anew(self):
        run = self.copy_of_straight()
        for update in run.updates():
            with open(run.path(update) / "model.json", "a") as file:
                file.write(" ")
        before = {path: sha256(path) for path in run.directory.rglob("*") if path.is_file()
                  and path.name not in ("log.txt", "config.yaml")}
        for _ in range(2):
            code, errors = run.finish()
            self.assertEqual(code, 2, errors)
            last = errors.splitlines()[-1]
            self.assertIn(f"{run.path()}: every checkpoint is damaged, the newest one: model.json: checksum differs", last)
            self.assertIn("--restart renames the whole run", last)
        for path, sum_of_file in before.items():
            self.assertEqual(sha256(path), sum_of_file, path)

    def test_pairs_that_are_longer_than_a_batch_are_told(self):
        code, errors = self.new_run().finish("training.batch_size=5", "training.max_updates=1")
        self.assertEqual(code, 0, errors)
        self.assertRegex(errors, r"warning: training\.batch_size: a batch has 5 tokens, and pairs have up to \d+: ")
        code, errors = Run(self.config, self.work / "longer_batches").finish("training.max_updates=1",
                                                                            "training.warmup_steps=0")
        self.assertEqual(code, 0, errors)
        self.assertNotIn("warning", errors)

    def test_damaged_prepared_data_end_the_program(self):
        data = self.work / "other-data"
        shutil.copytree(self.work / "prepared", data)
        flip_a_byte(data / "train.bin")
        run = Run(self.config, self.work / self.id().rsplit(".", 1)[-1], (f"data.dir={data}",))
        code, errors = run.finish()
        self.assertEqual(code, 2, errors)
        self.assertIn(f"{data}/train.bin: ", errors.splitlines()[-1])
        self.assertFalse(run.directory.exists())

    def assert_out_of_disk(self, code, errors, reason):
        self.assertEqual(code, 1, errors)
        last = errors.splitlines()[-1]
        self.assertTrue(last.startswith("nmt-train: "), errors)
        self.assertIn(reason, last)
        self.assertNotIn("terminate called", errors)

    def test_a_file_over_the_limit_leaves_the_last_checkpoint(self):
        run = self.new_run()
        process = run.start()
        self.assertTrue(wait_until(lambda: run.newest() > 0, process))
        process.kill()
        ends(process)
        newest = run.newest()
        weights = (run.path(newest) / "model.safetensors").stat().st_size
        good = sha256(run.path(newest) / "model.safetensors")
        limit = weights * 3 // 2  # the weights fit, the moments do not
        code, errors = run.finish(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assert_out_of_disk(code, errors, "File too large")
        self.assertIn(str(run.directory), errors.splitlines()[-1])
        self.assertEqual(run.newest(), newest)
        self.assertEqual(sha256(run.path(newest) / "model.safetensors"), good)
        self.assertFalse(run.partial(), "nothing is left of the attempt")
        self.assert_finishes(run)

    def test_a_full_disk_leaves_the_last_checkpoint(self):
        run = self.new_run()
        run.directory.mkdir()
        size = sum(path.stat().st_size for path in self.straight.path().iterdir())
        kilobytes = size * 5 // 2 // 1024  # two checkpoints and no third
        mounted = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(run.directory)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        if not mounted:
            self.skipTest("only root may mount a small file system here")
        try:
            code, errors = run.finish()
            self.assert_out_of_disk(code, errors, "No space left on device")
            self.assertEqual(run.updates(), [3, 6])
            self.assertFalse(run.partial(), "nothing is left of the attempt")
            subprocess.run(["mount", "-o", f"remount,size={kilobytes * 8}k", str(run.directory)], check=True)
            self.assertIn(f"resuming from {run.path(6)}", self.assert_finishes(run))
        finally:
            subprocess.run(["umount", "-l", str(run.directory)], check=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
