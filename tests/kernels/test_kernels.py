"""Each kernel of kernels/ beside its plain twin (cases.py): in Triton's interpreter, or on a card with
NMT_KERNELS_ON=card (scripts/gpu_check.sh --kernels)."""

import os
import pathlib
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parents[1])]
ON_CARD = os.environ.get("NMT_KERNELS_ON") == "card"
os.environ["TRITON_INTERPRET"] = "0" if ON_CARD else "1"  # read when a kernel is defined
try:
    import numpy
    import torch
    if not ON_CARD:
        import triton  # noqa: F401
    MISSING = None
except ImportError as error:
    MISSING = f"no {error.name}: scripts/kernel_python.sh makes a Python that has it"


@unittest.skipIf(MISSING, MISSING)
class Kernels(unittest.TestCase):
    def check_all(self, machine, bound_of):
        from cases import CASES, Bench

        worst = {}
        for case in CASES:
            with self.subTest(case.name, machine=machine.name):
                for result, (got, expected) in case.run(Bench(machine), **case.arguments).items():
                    if not got.is_floating_point():
                        self.assertEqual(got.tolist(), expected.tolist(), f"{case.name}: {result}")
                        continue
                    expected = expected.detach().float().to(got.device)
                    error = ((got.float() - expected).norm() / expected.norm()).item()
                    worst[case.name] = max(worst.get(case.name, 0), error)
                    self.assertLess(error, bound_of(case), f"{case.name}: {result}")  # a NaN is less than nothing
        for name, error in worst.items():
            print(f"report: {name}: {error:.1e}", file=sys.stderr)

    def test_each_computes_what_its_twin_does(self):
        from machines import Card, Interpreter

        if not ON_CARD:
            return self.check_all(Interpreter(), lambda case: case.interpreter)
        major, minor = torch.cuda.get_device_capability()
        for capability in (80, 90) if (major, minor) == (9, 0) else (80,):
            card = Card(capability)
            self.check_all(card, lambda case: case.card)
            self.assertEqual(card.functions.keys(), card.kernels.keys(), "kernels without a case")

    def test_random_numbers_are_philox(self):
        """Known answers of Random123's kat_vectors for philox4x32 with 7 and 10 rounds."""
        from twins import philox

        for rounds, counter, key, answer in (
                (7, "00000000 00000000 00000000 00000000", "00000000 00000000", "5f6fb709 0d893f64 4f121f81 4f730a48"),
                (7, "ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "5207ddc2 45165e59 4d8ee751 8c52f662"),
                (7, "243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "4dfccaba 190a87f0 c47362ba b6b5242a"),
                (10, "00000000 00000000 00000000 00000000", "00000000 00000000",
                 "6627e8d5 e169c58d bc57ac4c 9b00dbd8")):
            words = numpy.array([int(word, 16) for word in counter.split()], numpy.uint32)
            got = philox(words, [int(word, 16) for word in key.split()], rounds)
            self.assertEqual(" ".join(f"{word:08x}" for word in got), answer)


if __name__ == "__main__":
    unittest.main()
