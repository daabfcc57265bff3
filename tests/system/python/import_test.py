"""nmt and other packages in one process: torch before and after it, sentencepiece, ctranslate2; a torch of the wrong
version. Skipped in part where a package is not there."""

import subprocess
import sys
import unittest

import python_support as support
from python_support import PROGRAMS, Case

# A product whose threads are LibTorch's, and translations without LibTorch and with it.
USE_BOTH = """
import sys
{imports}
def product():
    a = torch.arange(250000, dtype=torch.float32).reshape(500, 500) % 7
    return float((a @ a.T).sum())
threads = torch.get_num_threads()
before = product()
translator = nmt.Translator(sys.argv[1], threads=2)
text = translator.translate(sys.argv[2]).text
assert ensemble.translate(sys.argv[2]).text == text
torch.nn.Linear(4, 4)(torch.ones(2, 4)).sum().backward()
assert product() == before and torch.get_num_threads() == threads
assert nmt.score.corpus_bleu([text], [[text]]).score > 99
mapped = {{line.split()[-1] for line in open("/proc/self/maps") if "libtorch_cpu" in line or "libgomp" in line}}
assert len(mapped) == 2 or "ctranslate2" in sys.modules and len(mapped) == 3, mapped  # that has an OpenMP of its own
print(text)
"""


def installed(interpreter, module):
    return subprocess.run([interpreter, "-c", f"import {module}"], stderr=subprocess.DEVNULL).returncode == 0


class Import(Case):
    @classmethod
    def setUpClass(cls):
        cls.interpreter = support.python_with_torch()
        cls.source = PROGRAMS.sources()[0]

    def both(self, imports):
        if self.interpreter is None:
            self.skipTest("no Python of this version with the torch that nmt was built for")
        lines = {"nmt": "import nmt\nensemble = nmt.Translator([sys.argv[1]] * 2, threads=1)"}  # which opens LibTorch at once
        imports = "\n".join(lines.get(name, f"import {name}") for name in imports)
        done = support.python(USE_BOTH.format(imports=imports), PROGRAMS.model, self.source, interpreter=self.interpreter)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.splitlines(), self.lines_of(support.translate(text=self.source + "\n")))

    def test_torch_first(self):
        self.both(["torch", "nmt"])

    def test_torch_last(self):
        self.both(["nmt", "torch"])

    def test_sentencepiece_and_ctranslate2(self):
        others = [name for name in ("sentencepiece", "ctranslate2") if self.interpreter and
                  installed(self.interpreter, name)]
        if not others:
            self.skipTest("no Python with torch and sentencepiece or ctranslate2 (NMT_INTEROP_PYTHON)")
        for imports in ([*others, "nmt", "torch"], ["nmt", "torch", *others], ["torch", "nmt", *others]):
            with self.subTest(imports):
                self.both(imports)

    def test_sentencepiece_beside(self):
        if not self.interpreter or not installed(self.interpreter, "sentencepiece"):
            self.skipTest("no Python with torch and sentencepiece (NMT_INTEROP_PYTHON)")
        for first, second in (("nmt", "sentencepiece"), ("sentencepiece", "nmt")):
            done = support.python(f"""
                import sys, {first}, {second}
                processor = sentencepiece.SentencePieceProcessor(model_file=sys.argv[1] + "/spm.model")
                assert processor.encode(sys.argv[2]) == nmt.Tokenizer(sys.argv[1]).encode(sys.argv[2])
                """, PROGRAMS.model, self.source, interpreter=self.interpreter)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


class Versions(Case):
    def torch(self, version):
        package = self.folder / "torch"
        package.mkdir(exist_ok=True)
        (package / "__init__.py").write_text("raise SystemExit('torch was imported')")
        if not (package / "lib").exists():
            from nmt._build import TORCH_FOLDER
            (package / "lib").symlink_to(TORCH_FOLDER)
        (package / "version.py").write_text(f"from typing import Optional\n__version__ = '{version}'\n")

    def used(self):
        """An ensemble, which LibTorch searches."""
        return support.python(f"import sys; sys.path.insert(0, {str(self.folder)!r}); import nmt; print(nmt.__version__)\n"
                              "nmt.Translator([sys.argv[1]] * 2, threads=1).translate(sys.argv[2])", PROGRAMS.model,
                              PROGRAMS.sources()[0])

    def test_another_version_is_refused_when_it_is_needed(self):
        from nmt._build import TORCH_VERSION, VERSION
        self.torch("2.4.1+cu121")
        done = self.used()
        self.assertEqual((done.returncode, done.stdout), (1, VERSION + "\n"))
        message = done.stderr.splitlines()[-1]
        for part in ("ImportError: nmt was built for torch " + ".".join(TORCH_VERSION.split(".")[:2]), "torch 2.4.1+cu121",
                     str(self.folder), "pip install"):
            self.assertIn(part, message)

    def test_another_patch_release_is_taken_and_not_imported(self):
        from nmt._build import TORCH_VERSION
        self.torch(".".join(TORCH_VERSION.split(".")[:2]) + ".9+cpu")
        done = self.used()
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_import_is_quick_and_brings_nothing_along(self):
        done = support.python("import sys, nmt; print([m for m in ('torch', 'numpy', 'sacrebleu') if m in sys.modules])")
        self.assertEqual((done.stdout, done.stderr), ("[]\n", ""))

    def test_a_subinterpreter_is_refused(self):
        done = support.python("""
            import sys
            try:
                import _interpreters as interpreters
            except ImportError:
                import _xxsubinterpreters as interpreters
            import nmt
            code = "try:\\n import nmt\\nexcept ImportError as error:\\n print(error)"
            interpreters.run_string(interpreters.create(), f"import sys; sys.path[:] = {sys.path!r}\\n{code}")
            print(nmt.Sampling().seed)
            """)
        self.assertIn("nmt: is for the main interpreter of a process, not for a subinterpreter; use a process\n", done.stdout)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    support.main(__doc__)
