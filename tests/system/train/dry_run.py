"""nmt-train --dry-run: what it prints, its exit codes, and that what it proposes then fits.

    dry_run.py NMT_PREPRO NMT_TRAIN [unittest arguments]

Python's standard library only.
"""

import os
import re
import resource
import subprocess
import sys
import time
import unittest

from train_kill import CONFIG, PREPRO, TRAIN, prepare, temporary_folder


class DryRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = temporary_folder(cls)
        cls.config = prepare(cls.work, CONFIG.format(work=cls.work, updates=3), train=300, valid=20)

    def dry_run(self, *options, settings=(), code=0, config=None, environment=None):
        command = [TRAIN, "-c", str(config or self.config), "--run-dir", str(self.work / "none"), "--dry-run", *options]
        for setting in settings:
            command += ["--set", setting]
        begin = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertFalse((self.work / "none").exists())
        return done

    def test_a_small_model_fits_here(self):
        def files():
            return {path: path.stat().st_mtime_ns for path in self.work.rglob("*")}
        before = files()
        done = self.dry_run()
        self.assertEqual((done.stderr, files()), ("", before))
        for line in ("memory", "weights", "gradients", "moments", "activations", "program", "total"):
            self.assertRegex(done.stdout, rf"(?m)^{line} +[0-9]")

    def test_a_model_larger_than_this_machine(self):
        """16 billion parameters, and no memory is taken for them."""
        huge = ("model.d_model=8192", "model.d_ff=32768", "model.num_heads=64", "model.num_blocks=8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        done = self.dry_run("--memory", "80GB", settings=huge, code=2)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, max(before, 1_000_000))  # KB
        self.assertRegex(done.stdout, r"(?m)^weights +[0-9.]+ GB")
        self.assertEqual(done.stderr, "nmt-train: no batch fits into 80.00 GB; take a smaller model, or more memory\n")
        if before < 1_000_000:
            self.assertIn("ask on a machine with more memory",
                          self.dry_run("--memory", "10TB", settings=huge, code=1).stderr)

    def test_what_it_proposes_fits(self):
        settings = ["training.batch_size=20000"]
        place = ("--device", "cpu", "--precision", "fp32")
        needed = float(re.search(r"(?m)^total +([0-9.]+) MB", self.dry_run("--memory", "80GB", *place,
                                                                           settings=settings).stdout).group(1))
        memory = f"{needed - 3:.1f}MB"
        line = self.dry_run("--memory", memory, *place, settings=settings, code=2).stderr.strip()
        proposed = re.fullmatch(r"nmt-train: the largest batch does not fit into [0-9.]+ MB: set training\.batch_size: ([0-9]+) "
                                r"with training\.accumulate: ([0-9]+), or try training\.gradient_checkpointing: true", line)
        size, accumulate = map(int, proposed.groups())
        self.assertEqual(size * accumulate, 2 * 20000)
        self.dry_run("--memory", memory, *place, settings=[f"training.batch_size={size}", f"training.accumulate={accumulate}"])
        self.dry_run("--memory", memory, *place, settings=[*settings, "training.gradient_checkpointing=true"])

    def test_an_accumulate_that_it_proposes_is_allowed(self):
        settings = ["training.batch_size=200000000", "training.accumulate=600000"]
        done = self.dry_run("--memory", "304MB", "--device", "cpu", settings=settings, code=2)
        self.assertIn("training.accumulate: 1000000", done.stderr)

    def test_processes_share_the_memory_of_a_machine(self):
        def memory(processes):
            launched = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "0",
                        "OMPI_COMM_WORLD_LOCAL_SIZE": str(processes)}
            done = self.dry_run("--memory", "80GB", "--device", "cpu", settings=["training.accumulate=4"],
                                environment=launched)
            return re.search(r"(?m)^memory +(.*) GB", done.stdout).group(1)
        self.assertEqual((memory(1), memory(4)), ("80.00", "20.00"))

    def test_fewer_batches_than_processes_are_refused(self):
        launched = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}
        self.assertIn("training.accumulate 2: 3 processes need at least so many batches",
                      self.dry_run(environment=launched, code=2).stderr)

    def test_what_is_refused(self):
        self.assertIn("--memory '0.5B': give a number and a unit", self.dry_run("--memory", "0.5B", code=2).stderr)
        self.assertIn("--memory '80': give a number and a unit", self.dry_run("--memory", "80", code=2).stderr)
        done = subprocess.run([TRAIN, "-c", str(self.config), "--memory", "80GB"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (2, "nmt-train: --memory: is for --dry-run\n"))
        for flag, *value in (("--restart",), ("--profile", "1")):
            done = subprocess.run([TRAIN, "-c", str(self.config), "--dry-run", flag, *value], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr),
                             (2, f"nmt-train: {flag}: not with --dry-run, which trains nothing; leave it out\n"))
        for flags in (("--report-only", str(self.work)), ("--print-config",)):
            done = subprocess.run([TRAIN, "-c", str(self.config), "--dry-run", *flags], capture_output=True, text=True)
            first, second = sorted(("--dry-run", flags[0]), key=("--report-only", "--dry-run", "--print-config").index)
            self.assertEqual((done.returncode, done.stderr),
                             (2, f"nmt-train: {first}: does not go with {second}; leave one of them out\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
