"""nmt-train --dry-run: what it prints, its exit codes, and that what it proposes then fits.

    dry_run.py NMT_PREPRO NMT_TRAIN [unittest arguments]

Python's standard library only.
"""

import re
import resource
import subprocess
import sys
import time
import unittest

from train_kill import CONFIG, TRAIN, prepare, temporary_folder


class DryRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = temporary_folder(cls)
        cls.config = prepare(cls.work, CONFIG.format(work=cls.work, updates=3), train=300, valid=20)

    def dry_run(self, *options, settings=(), code=0):
        command = [TRAIN, "-c", str(self.config), "--run-dir", str(self.work / "none"), "--dry-run", *options]
        for setting in settings:
            command += ["--set", setting]
        begin = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertFalse((self.work / "none").exists())
        return done

    def test_a_small_model_fits_here(self):
        done = self.dry_run()
        self.assertEqual(done.stderr, "")
        for line in ("parameters", "gradients", "optimizer state", "activations", "output layer", "at once, at most",
                     "largest batch_size"):
            self.assertRegex(done.stdout, rf"(?m)^{line} +[0-9]")

    def test_a_model_larger_than_this_machine(self):
        """16 billion parameters, and no memory is taken for them."""
        huge = ("model.d_model=8192", "model.d_ff=32768", "model.num_heads=64", "model.num_blocks=8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        done = self.dry_run("--memory", "80GB", settings=huge, code=2)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, max(before, 1_000_000))  # KB
        self.assertRegex(done.stdout, r"(?m)^parameters +[0-9.]+ GB")
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("no batch fits; take a smaller model, or more memory", done.stderr)

    def test_what_it_proposes_fits(self):
        settings = ["training.batch_size=200000", "model.num_blocks=8", "model.d_model=256", "model.d_ff=2048"]
        done = self.dry_run("--memory", "2.2GB", settings=settings, code=2)
        line = done.stderr.strip()
        self.assertRegex(line, r"^nmt-train: the configuration needs [0-9.]+ GB of 2\.20 GB: set training\.gradient_checkpointing: true, or "
                               r"training\.batch_size: \d+ with training\.accumulate: \d+$")
        self.dry_run("--memory", "2.2GB", settings=[*settings, "training.gradient_checkpointing=true"])
        size = re.search(r"batch_size: (\d+)", line).group(1)
        self.dry_run("--memory", "2.2GB", settings=[*settings, f"training.batch_size={size}"])

    def test_what_is_refused(self):
        self.assertIn("--memory '80': a number and a unit", self.dry_run("--memory", "80", code=2).stderr)
        done = subprocess.run([TRAIN, "-c", str(self.config), "--memory", "80GB"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (2, "nmt-train: --memory: is for --dry-run\n"))
        for flags in (("--report-only", str(self.work)), ("--print-config",)):
            done = subprocess.run([TRAIN, "-c", str(self.config), "--dry-run", *flags], capture_output=True, text=True)
            first, second = sorted(("--dry-run", flags[0]), key=("--report-only", "--dry-run", "--print-config").index)
            self.assertEqual((done.returncode, done.stderr),
                             (2, f"nmt-train: {first}: does not go with {second}; leave one of them out\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
