"""nmt-translate as a program for ARM64, under emulation, beside this machine's: the same texts, and scores to rounding.

    translate_arm64_test.py --programs BUILD_FOLDER --arm64 FOLDER --work FOLDER [--model MODEL --text FILE]

FOLDER of --arm64 is what scripts/cross_arm64.sh --all made; exit code 77 where there is no such build, or no QEMU. Without
--model the small model of the other tests translates sentences that it has learnt. Prints the largest differences.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "translate"))
from translate_support import PROGRAMS, Case, translate  # noqa: E402

SKIPPED = 77  # for ctest
SENTENCES = 50
PATIENCE = 900  # seconds: an emulated program takes five to load LibTorch
ALL, DOT_PRODUCTS = "max", "neoverse-n1"  # processors: with all that the kernels know, with dot products of int8
SEARCHES = (("--beam-size", 1), ("--beam-size", 5))

ARGUMENTS = argparse.Namespace()  # filled by main()


def translate_arm64(*arguments, text, processor):
    folder = pathlib.Path(ARGUMENTS.arm64).resolve()
    command = ["qemu-aarch64", "-L", folder / "sysroot", folder / "nmt-translate", "-m", ARGUMENTS.model, *arguments]
    return subprocess.run([str(word) for word in command], input=text.encode(), env={**os.environ, "QEMU_CPU": processor},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)


class Arm64(Case):
    def setUp(self):
        super().setUp()
        sentences = pathlib.Path(ARGUMENTS.text).read_text().splitlines() if ARGUMENTS.text else PROGRAMS.sources()
        self.text = "".join(line + "\n" for line in sentences[:SENTENCES])

    def results_of(self, done):
        results = [json.loads(line) for line in self.lines_of(done)]
        self.assertEqual(len(results), SENTENCES)
        self.assertGreater(len({result["translation_text"] for result in results}), SENTENCES / 2)
        return results

    def here_and_there(self, precision, search, processor):
        arguments = (*search, "--precision", precision, "--threads", 1, "--format", "jsonl", "--token-scores", "-q")
        return (self.results_of(translate(*arguments, model=ARGUMENTS.model, text=self.text)),
                self.results_of(translate_arm64(*arguments, text=self.text, processor=processor)))

    def compare(self, precision, processor, tolerance):
        """The same pieces, and no log-probability of one that differs by more than `tolerance` nats."""
        for search in SEARCHES:
            with self.subTest(precision=precision, search=search, processor=processor):
                here, there = self.here_and_there(precision, search, processor)
                same = [(a, b) for a, b in zip(here, there) if a["pieces"] == b["pieces"]]
                greatest = max(abs(x - y) for a, b in same for x, y in zip(a["token_scores"], b["token_scores"]))
                bits = sum(a["token_scores"] == b["token_scores"] for a, b in same)
                print(f"{precision}, beam {search[1]}, {processor}: {len(same)} of {SENTENCES} texts are the same, {bits} of "
                      f"them to the last bit; tokens differ by up to {greatest:.2g} nats")
                self.assertEqual([b["translation_text"] for b in there], [a["translation_text"] for a in here])
                self.assertLess(greatest, tolerance)

    def test_float32(self):
        self.compare("fp32", ALL, 1e-4)
        self.compare("fp32", DOT_PRODUCTS, 1e-4)

    def test_int8(self):
        self.compare("int8", ALL, 1e-2)
        self.compare("int8", DOT_PRODUCTS, 1e-2)

    def test_bfloat16(self):
        self.compare("bf16", ALL, 5e-2)
        self.compare("bf16", DOT_PRODUCTS, 5e-2)

    def test_threads_and_batches_change_no_bit(self):
        for precision in ("fp32", "int8"):
            arguments = ("--precision", precision, "--format", "jsonl", "--token-scores", "-q")
            alone, together = (self.results_of(translate_arm64(*arguments, *more, text=self.text, processor=ALL))
                               for more in (("--threads", 1, "--batch-size", 1), ("--threads", 2)))
            self.assertEqual(together, alone)


def missing():
    if not (pathlib.Path(ARGUMENTS.arm64) / "nmt-translate").exists():
        return f"no build for ARM64 in {ARGUMENTS.arm64}: scripts/cross_arm64.sh --all makes one"
    return None if shutil.which("qemu-aarch64") else "no qemu-aarch64: apt-get install qemu-user"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--programs", "--arm64", "--work"):
        parser.add_argument(name, required=True)
    parser.add_argument("--model")
    parser.add_argument("--text")
    _, rest = parser.parse_known_args(namespace=ARGUMENTS)
    if missing():
        print(f"skipped: {missing()}")
        sys.exit(SKIPPED)
    PROGRAMS.set(ARGUMENTS.programs, ARGUMENTS.work)
    if not ARGUMENTS.model:
        PROGRAMS.prepare()
        ARGUMENTS.model = str(PROGRAMS.model)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
