"""The programs on the simulated device of tests/simulated_device, which they take for LibTorch's accelerator: training,
validation, kill and resumption, lack of memory, translation, as on the CPU. A read of device memory by the host, or a wait
that is missing, ends a program.

    simulated_device_test.py --programs BUILD_FOLDER --device LIBRARY [unittest arguments]

Python's standard library only.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PAIRS, UPDATES = 300, 24

CONFIG = """
data:
  dir: {work}/prepared
  train1: {work}/train.de
  train2: {work}/train.en
  eval1: {work}/valid.de
  eval2: {work}/valid.en
  vocab_size: 300
  character_coverage: 1
model: {{d_model: 32, d_ff: 48, num_blocks: 2, num_heads: 2, dropout_rate: 0}}
training: {{batch_type: tokens, batch_size: 512, num_epochs: 0, max_updates: {updates}, lr: 0.01, warmup_steps: 5,
            checkpoint_every: 4, accumulate: 2, ema_decay: 0.9}}
validation: {{every: 8, max_sentences: 8}}
decoding: {{max_length_ratio: 1, max_length_offset: 5}}
run: {{log_every: 1, tensorboard: false, threads: 1, precision: fp32}}
"""


class SimulatedDevice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.work = work = pathlib.Path(temporary.name)
        subprocess.run([sys.executable, SOURCE / "data_scripts" / "make_builtin_corpus.py", "--out", work / "whole",
                        "--pairs", "5000"], check=True, stdout=subprocess.DEVNULL)
        for name, count in (("train", PAIRS), ("valid", 8)):
            for side in ("de", "en"):
                lines = (work / "whole" / f"{name}.{side}").read_text().splitlines()
                (work / f"{name}.{side}").write_text("\n".join(lines[:count]) + "\n")
        cls.config, cls.report = work / "config.yaml", work / "device.json"
        cls.config.write_text(CONFIG.format(work=work, updates=UPDATES))
        cls.run_program("nmt-prepro", "-c", cls.config)
        cls.on_cpu = cls.train("cpu", device="cpu")
        cls.on_device = cls.train("device", order="seeded:1")

    @staticmethod
    def start(program, *arguments, order=None, memory=None, report=None):
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if order:
            environment |= {"LD_PRELOAD": str(DEVICE), "NMT_SIMULATED_ORDER": order}
        if memory:
            environment["NMT_SIMULATED_MEMORY"] = str(memory)
        if report:
            environment["NMT_SIMULATED_REPORT"] = str(report)
        return subprocess.Popen([str(PROGRAMS / program), *map(str, arguments)], env=environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    @classmethod
    def run_program(cls, program, *arguments, **options):
        process = cls.start(program, *arguments, **options)
        output, errors = process.communicate(timeout=300)
        if process.returncode != 0:
            raise AssertionError(f"{program}: exit code {process.returncode}\n{errors[-4000:]}")
        return output, errors

    @classmethod
    def train(cls, name, *settings, device="auto", **options):
        """(run directory, figures of each update, standard error)"""
        folder = cls.work / name
        arguments = ["-c", cls.config, "--run-dir", folder, "--device", device]
        for setting in settings:
            arguments += ["--set", setting]
        _, errors = cls.run_program("nmt-train", *arguments, **options)
        return folder, cls.figures(folder), errors

    @staticmethod
    def figures(folder):
        lines = (json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines())
        return list(lines)

    @staticmethod
    def losses(figures):
        return {entry["update"]: entry["loss"] for entry in figures if "target_tokens_per_second" in entry}

    def expect_close(self, here, there, tolerance):
        self.assertEqual(here.keys(), there.keys())
        for update, loss in here.items():
            self.assertAlmostEqual(there[update], loss, delta=tolerance * abs(loss), msg=f"update {update}")

    def expect_launches(self):
        """The program of the last report did its work on the device."""
        self.assertGreater(json.loads(self.report.read_text())["launches"], 100)
        self.report.unlink()

    def test_training_has_the_losses_of_the_cpu(self):
        self.assertGreaterEqual(len(self.losses(self.on_cpu[1])), UPDATES)
        self.expect_close(self.losses(self.on_cpu[1]), self.losses(self.on_device[1]), 2e-3)
        model = json.loads((self.on_device[0] / "best" / "model.json").read_text())
        self.assertGreater(model["parameters"], 0)
        state = json.loads(next((self.on_device[0] / "checkpoints").glob("*/state.json")).read_text())
        self.assertIn("simulated", json.dumps(state))

    def test_a_killed_run_goes_on(self):
        folder = self.work / "killed"
        process = self.start("nmt-train", "-c", self.config, "--run-dir", folder, "--device", "auto", order="late")
        deadline = time.monotonic() + 120
        while not list((folder / "checkpoints").glob("*/state.json")) and process.poll() is None:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        _, figures, errors = self.train("killed", order="seeded:2")
        self.assertIn("resuming from", errors)
        last = max(self.losses(figures))
        self.assertEqual(last, UPDATES)
        self.assertAlmostEqual(self.losses(figures)[last], self.losses(self.on_device[1])[last], delta=1e-4)

    def test_without_memory_batches_are_split(self):
        report = self.work / "report.json"
        self.train("measured", "training.max_updates=6", order="late", report=report)
        peak = json.loads(report.read_text())["peak_bytes"]
        _, figures, errors = self.train("split", "training.max_updates=6", order="late", memory=peak * 3 // 4)
        self.assertIn("a batch was split for lack of memory", errors)
        measured = self.losses(self.figures(self.work / "measured"))
        self.expect_close(measured, self.losses(figures), 2e-3)

    def test_a_dry_run_measures_on_the_device(self):
        arguments = ["-c", self.config, "--dry-run", "--device", "auto"]
        output, _ = self.run_program("nmt-train", *arguments, order="late", report=self.report)
        peak = json.loads(self.report.read_text())["peak_bytes"]
        self.expect_launches()
        self.assertIn("of the largest batch, ", output)
        process = self.start("nmt-train", *arguments, order="late", memory=peak * 3 // 4)
        output, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 2, errors)
        self.assertRegex(output, r"(?m)^activations .* 1/[24] of the largest batch, ")

    def test_every_precision_trains(self):
        for precision in ("bf16", "fp16", "auto"):
            _, figures, errors = self.train(precision, "training.max_updates=8", f"run.precision={precision}",
                                            order="late")
            losses = self.losses(figures)
            self.assertEqual(len(losses), 8, errors)
            reference = self.losses(self.on_cpu[1])
            self.assertAlmostEqual(losses[1], reference[1], delta=0.02 * reference[1])

    def test_translations_are_those_of_the_cpu(self):
        one, two = (["-m", folder / "best"] for folder in (self.on_cpu[0], self.on_device[0]))
        for models, options in ((one, ["--beam-size", "1"]), (one, ["--beam-size", "4", "--n-best", "2"]),
                                ([*one, *two], []), (one, ["--sampling", "--seed", "7", "--n-best", "2"]),
                                (one, ["--beam-size", "4", "--no-repeat-ngram-size", "2"])):
            arguments = [*models, "-i", self.work / "valid.de", "-q", "--precision", "fp32", *options]
            expected, _ = self.run_program("nmt-translate", *arguments, "--device", "cpu")
            self.assertGreaterEqual(len(expected.splitlines()), 8)
            for order in ("late", "seeded:3"):
                found, _ = self.run_program("nmt-translate", *arguments, "--device", "auto", order=order, report=self.report)
                self.assertEqual(found, expected, options)
                self.expect_launches()

    def test_a_search_without_memory_says_what_to_lower(self):
        for program, files in (("nmt-translate", ["-i", self.work / "valid.de", "-q"]),
                               ("nmt-eval", ["--source", self.work / "valid.de", "--reference", self.work / "valid.en",
                                             "--no-loss"])):
            arguments = ["-m", self.on_cpu[0] / "best", *files, "--device", "auto"]
            self.run_program(program, *arguments, order="late", report=self.report)
            peak = json.loads(self.report.read_text())["peak_bytes"]
            process = self.start(program, *arguments, order="late", memory=peak * 9 // 10)
            _, errors = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 1, errors)
            self.assertRegex(errors.splitlines()[-1], rf"^{program}: out of memory in a search of up to \d+ sentences "
                                                      r"at a time; lower decoding.batch_size$")

    def test_evaluation_has_the_figures_of_the_cpu(self):
        arguments = ["-m", self.on_cpu[0] / "best", "--source", self.work / "valid.de", "--reference",
                     self.work / "valid.en", "--precision", "fp32"]
        expected, _ = self.run_program("nmt-eval", *arguments, "--device", "cpu")
        found, _ = self.run_program("nmt-eval", *arguments, "--device", "auto", order="late", report=self.report)
        self.expect_launches()
        numbers = [[float(x) for x in re.findall(r"\d+\.\d+", text)] for text in (expected, found)]
        self.assertTrue(numbers[0])
        for here, there in zip(*numbers, strict=True):
            self.assertAlmostEqual(here, there, delta=0.02)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--device", required=True)
    arguments, rest = parser.parse_known_args()
    global PROGRAMS, DEVICE
    PROGRAMS, DEVICE = pathlib.Path(arguments.programs).resolve(), pathlib.Path(arguments.device).resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
