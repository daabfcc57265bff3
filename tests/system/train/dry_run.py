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

    def test_what_it_proposes_for_mixed_lengths_fits(self):
        """Batches of another size have other widths: of the proposed one, long targets need more than of the given one."""
        work = self.work / "mixed"
        work.mkdir()
        text = CONFIG.format(work=work, updates=3).replace("vocab_size: 400",
                                                           "vocab_size: 400\n  maxlen1: 400\n  maxlen2: 400")
        config = prepare(work, text, train=300, valid=20)
        source, target = ((work / f"train.{language}").read_text().split() for language in ("de", "en"))
        with open(work / "train.de", "w") as de, open(work / "train.en", "w") as en:
            for i in range(300):
                at = 14 * i % 1500
                de.write(" ".join(source[at:at + 40]) + "\n" + " ".join(source[i:i + 2]) + "\n")
                en.write(" ".join(target[i:i + 2]) + "\n" + " ".join(target[at:at + 40]) + "\n")
        subprocess.run([PREPRO, "-c", str(config), "--overwrite"], check=True, capture_output=True)
        settings = ["training.batch_size=200000", "model.decoder_blocks=6", "model.encoder_blocks=1"]
        for memory in ("400MB", "450MB", "600MB"):
            place = ("--memory", memory, "--device", "cpu", "--precision", "fp32")
            done = self.dry_run(*place, settings=settings, config=config, code=2)
            size = int(re.search(r"batch_size: (\d+)", done.stderr).group(1))
            self.dry_run(*place, settings=[*settings, f"training.batch_size={size}"], config=config)
            self.assertGreater(size, {"400MB": 1500, "450MB": 3000, "600MB": 6000}[memory], "not too cautious either")

    def test_an_accumulate_that_it_proposes_is_allowed(self):
        settings = ["training.batch_size=200000000", "model.num_blocks=8", "model.d_model=256", "model.d_ff=2048",
                    "training.accumulate=10000"]
        done = self.dry_run("--memory", "1.5GB", settings=settings, code=2)
        accumulate = re.search(r"accumulate: (\d+)", done.stderr).group(1)
        self.assertEqual(int(accumulate), 1_000_000, done.stderr)

    def test_a_last_batch_that_is_dropped(self):
        """A batch above the corpus would have no pair; only the configured size is asked whether it has."""
        settings = ["training.batch_type=sentences", "training.last_batch=drop", "training.batch_size=32"]
        done = self.dry_run("--memory", "80GB", "--device", "cpu", settings=settings)
        self.assertRegex(done.stdout, r"(?m)^largest batch_size +300\b")
        settings[-1] = "training.batch_size=301"
        self.assertIn("300 training pairs do not fill one batch of 301",
                      self.dry_run("--memory", "80GB", settings=settings, code=2).stderr)

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
