"""What users read about the Python package: the examples of docs/python.md give what stands there, and the notebooks run."""

import contextlib
import doctest
import io
import json
import os
import pathlib
import re
import shutil
import sys
import unittest

import python_support as support
from python_support import PROGRAMS, SOURCE, Case

GUIDE = SOURCE / "docs" / "python.md"


class Guide(Case):
    def test_the_examples_give_what_stands_there(self):
        for side in ("de", "en"):
            for name in ("train", "valid", "test"):
                shutil.copy(PROGRAMS.work / "corpus" / f"{name}.{side}", self.folder)
        shutil.copytree(PROGRAMS.model, self.folder / "model")
        text = GUIDE.read_text(encoding="utf-8")
        examples = "\n".join(re.findall(r"(?ms)^```pycon\n(.*?)^```", text))
        self.assertGreater(examples.count(">>> "), 20)
        test = doctest.DocTestParser().get_doctest(examples, {}, "docs/python.md", str(GUIDE), 0)
        output = []
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(
                test, out=output.append)
        finally:
            os.chdir(before)
        self.assertEqual(found.failed, 0, "".join(output))


    def test_the_first_screen(self):
        shutil.copytree(PROGRAMS.model, self.folder / "mine" / "run" / "best")
        program = re.search(r"(?ms)^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"))[1]
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(program, {})
        finally:
            os.chdir(before)
        self.assertEqual(output.getvalue().count("\n"), 1)


class Notebooks(Case):
    def notebooks(self):
        found = sorted((SOURCE / "notebooks").glob("*.ipynb"))
        self.assertTrue(found)
        return found

    def test_they_are_valid_and_hold_no_outputs(self):
        for path in self.notebooks():
            notebook = json.loads(path.read_text(encoding="utf-8"))
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), path.name)
            try:
                import nbformat
            except ImportError:
                continue
            nbformat.validate(nbformat.from_dict(notebook))

    def test_their_cells_run(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("no matplotlib")
        matplotlib.use("Agg")
        (self.folder / "data_scripts").symlink_to(SOURCE / "data_scripts")
        (self.folder / "notebooks").mkdir()
        before = os.getcwd()
        os.chdir(self.folder / "notebooks")
        try:
            for path in self.notebooks():
                names = {"__name__": "__main__"}
                for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
                    if cell["cell_type"] == "code":
                        code = "".join(cell["source"])
                        code = code.replace("updates = 800", "updates = 16")  # enough to see it run
                        exec(compile(code, f"{path.name}: {code.splitlines()[0]}", "exec"), names)
                self.assertEqual(len(names["losses"]), 16)
                self.assertTrue(pathlib.Path("first_steps/attention.svg").read_text().startswith("<?xml"))
        finally:
            os.chdir(before)


if __name__ == "__main__":
    support.main(__doc__)
