"""The package as others get it: types that mypy finds right, stubs that say what the extension has, and a wheel, built
from what the build folder holds, installed into a fresh environment and used there."""

import ast
import importlib
import importlib.util
import os
import re
import subprocess
import sys
import unittest
import zipfile

import python_support as support
from python_support import PROGRAMS, SOURCE, Case

USER = '''
import pathlib
from typing import Iterator, List
import numpy as np
from numpy.typing import NDArray
import nmt
from nmt import score

translator = nmt.Translator([pathlib.Path("a"), "b"], threads=2, precision="int8", settings={"beam_size": 4})
one: nmt.Translation = translator.translate("x", beam_size=4, n_best=2, return_attention=True)
many: List[nmt.Translation] = translator.translate(["x", nmt.Request("y", must=["z"])], prefix=["a", "b"])
stream: Iterator[nmt.Translation] = translator.translate_iter(open("x"), glossary={"a": "b"})
if one.attention is not None:
    weights: NDArray[np.float32] = one.attention.weights
bleu: float = score.corpus_bleu(["x"], [["x"]]).score
def stop(figures: nmt.Validation) -> bool:
    return figures.bleu is None or figures.bleu < 40
best = nmt.Trainer({"data": {"vocab_size": 8000}}).train(on_validation=stop).best_model
WRONG
'''


def command(*arguments, **settings):
    return subprocess.run(list(map(str, arguments)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=300, **settings)


class Types(Case):
    def mypy(self, *arguments):
        if importlib.util.find_spec("mypy") is None:
            self.skipTest("no mypy")
        return command(sys.executable, "-m", "mypy", "--strict", "--cache-dir", PROGRAMS.work / "mypy", *arguments,
                       cwd=SOURCE / "python")

    def test_the_package(self):
        done = self.mypy("-p", "nmt")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_programs_that_use_it(self):
        file = self.folder / "user.py"
        file.write_text(USER.replace("WRONG", ""))
        done = self.mypy(file)
        self.assertEqual(done.returncode, 0, done.stdout)
        last_line = str(USER.count("\n"))
        for wrong in ('translator.translate("x", beam=4)', 'translator.translate("x", beam_size="4")',
                      "text: int = one.text", 'nmt.Trainer("x").train(on_update=3)'):
            file.write_text(USER.replace("WRONG", wrong))
            done = self.mypy(file)
            self.assertEqual(done.returncode, 1, wrong)
            self.assertEqual(set(re.findall(r"user\.py:(\d+): error:", done.stdout)), {last_line}, done.stdout)

    def test_the_stub_says_what_the_extension_has(self):
        from nmt import _nmt
        stub = ast.parse((SOURCE / "python" / "nmt" / "_nmt.pyi").read_text())
        said, found = set(), set()
        for node in stub.body:
            if isinstance(node, ast.FunctionDef):
                said.add(node.name)
            elif isinstance(node, ast.ClassDef):
                said |= {f"{node.name}.{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
                said |= {f"{node.name}.{inner.target.id}" for inner in node.body if isinstance(inner, ast.AnnAssign)}
        for name, value in vars(_nmt).items():
            if name.startswith("_"):
                continue
            if isinstance(value, type):
                found |= {f"{name}.{inner}" for inner in vars(value) if not inner.startswith("_")}
            else:
                found.add(name)
        self.assertEqual({name for name in said if not name.endswith(".__init__")}, found)

    def test_options_are_those_of_the_extension(self):
        from nmt import _nmt, _translator
        fields = set(_translator._FIELDS.values()) - {"sampling", "settings"}
        self.assertEqual(fields, {name for name in vars(_nmt.TranslateOptions) if not name.startswith("_")} - {"set"})

    def test_everything_public_has_a_docstring(self):
        import nmt
        missing = []
        for name in nmt.__all__:
            value = getattr(nmt, name)
            if isinstance(value, str):
                continue
            missing += [] if value.__doc__ else [name]
            if isinstance(value, type) and not issubclass(value, (dict, BaseException)):
                missing += [f"{name}.{inner}" for inner, method in vars(value).items()
                            if not inner.startswith("_") and (callable(method) or isinstance(method, property))
                            and not method.__doc__]
        self.assertEqual(missing, [])


class Wheel(Case):
    def test_a_wheel_works_where_torch_is_elsewhere(self):
        if importlib.util.find_spec("scikit_build_core") is None:
            self.skipTest("no scikit-build-core")
        done = command(sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-build-isolation",
                       "--no-deps", "-w", self.folder, "-Ccmake.source-dir=python/prebuilt", "-Cbuild.targets=all",
                       f"-Ccmake.define.NMT_BUILT={PROGRAMS.folder}", f"-Cbuild-dir={self.folder / 'build'}", SOURCE)
        self.assertEqual(done.returncode, 0, done.stdout)
        wheel, = self.folder.glob("nmt_toolkit-*.whl")
        with zipfile.ZipFile(wheel) as content:
            names = set(content.namelist())
            extensions = sorted(name for name in names if name.endswith(".so"))
            content.extractall(self.folder / "unpacked", extensions)
            metadata = content.read(next(name for name in names if name.endswith("METADATA"))).decode()
        self.assertTrue({"nmt/__init__.py", "nmt/_nmt.pyi", "nmt/py.typed", "nmt/_build.py"} <= names, names)
        self.assertFalse([name for name in names if "build.pyi" in name or name.endswith(".pyc")])
        self.assertIn("Requires-Dist: torch", metadata)
        run_paths = []
        for extension in extensions:
            dynamic = command("readelf", "-d", self.folder / "unpacked" / extension).stdout
            run_paths += [line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "RUNPATH" in line or "RPATH" in line]
        self.assertEqual([name.partition(".")[0] for name in extensions], ["nmt/_nmt", "nmt/libnmt_torch"])
        self.assertEqual(run_paths, ["$ORIGIN", "$ORIGIN/../torch/lib"])

        python = self.folder / "fresh" / "bin" / "python"
        done = command(sys.executable, "-m", "venv", "--without-pip", self.folder / "fresh")
        self.assertEqual(done.returncode, 0, done.stdout)
        done = command(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--disable-pip-version-check",
                       "--no-deps", "--no-index", wheel)
        self.assertEqual(done.returncode, 0, done.stdout)
        # torch and NumPy are those of an environment that has them.
        with_torch = support.python_with_torch()
        if with_torch is None:
            self.skipTest("the wheel is built; no Python of this version with its torch, to use it with")
        packages = command(with_torch, "-c", "import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))",
                           env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"}).stdout.strip()
        folder, = (self.folder / "fresh" / "lib").glob("python3*/site-packages")
        (folder / "others.pth").write_text(packages + "\n")
        source = PROGRAMS.sources()[0]
        done = support.python("""
            import sys, nmt
            print(nmt.__file__)
            for models in (sys.argv[1], [sys.argv[1]] * 2):  # without LibTorch and with it
                print(nmt.Translator(models).translate(sys.argv[2]))
            """, PROGRAMS.model, source, interpreter=python, environment={"PYTHONPATH": ""})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text, = self.lines_of(support.translate(text=source + "\n"))
        self.assertEqual(done.stdout.splitlines(), [str(folder / "nmt" / "__init__.py"), text, text])


if __name__ == "__main__":
    support.main(__doc__)
