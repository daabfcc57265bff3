"""kernels/compiled.z: made of the sources beside it, whole, assembled by NVIDIA's ptxas without spilled registers, and
what Triton makes of the sources once more. What is not installed is skipped."""

import concurrent.futures
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from kernels import compile as compiler

# Not imported here: test_kernels.py has to say first that the interpreter is wanted.
TRITON = importlib.util.find_spec("triton")
NO_TRITON = "no triton: scripts/kernel_python.sh makes a Python that has it"
FEW = ("relu_dropout", "attention_backward_64_64")  # once more in a test; all of them: kernels.compile --check


class Compiled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.packed = compiler.read_packed()

    def test_it_is_made_of_the_sources_beside_it(self):
        self.assertEqual(self.packed["sources"], compiler.checksum(), "run scripts/kernel_python.sh -m kernels.compile")
        self.assertEqual(self.packed["triton"], compiler.TRITON)

    @unittest.skipUnless(TRITON, NO_TRITON)
    def test_it_holds_the_kernels_of_the_table(self):
        from kernels.table import instances

        held = [(kernel["name"], kernel["capability"]) for kernel in self.packed["kernels"]]
        self.assertEqual(held, [(name, capability) for name, row in instances().items()
                                for capability in row.capabilities])

    def test_it_names_no_path_of_the_machine_that_made_it(self):
        for kernel in self.packed["kernels"]:
            self.assertNotIn(".file", kernel["ptx"], kernel["name"])
            self.assertNotRegex(kernel["ptx"], r'"/|\.py\b', kernel["name"])

    @unittest.skipUnless(shutil.which("ptxas"), "no ptxas: it comes with the CUDA toolkit")
    def test_no_register_is_spilled(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            said = pool.map(lambda kernel: compiler.registers("ptxas", kernel), self.packed["kernels"])
            for kernel, (registers, spilled) in zip(self.packed["kernels"], said):
                self.assertGreater(registers, 0)
                self.assertEqual(spilled, 0, f"{kernel['name']} {kernel['capability']}")

    @unittest.skipUnless(TRITON, NO_TRITON)
    def test_triton_makes_the_same_once_more(self):
        command = [sys.executable, "-B", "-m", "kernels.compile", "--check", "--jobs", "2"]
        done = subprocess.run(command + [part for name in FEW for part in ("--kernel", name)], cwd=ROOT, text=True,
                              env={**os.environ, "TRITON_ALWAYS_COMPILE": "1", "TRITON_INTERPRET": "0"},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
