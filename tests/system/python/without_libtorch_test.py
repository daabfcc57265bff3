"""The package and LibTorch: neither importing it nor translating loads any; what needs it loads it then."""

import json
import pathlib
import shutil

import python_support as support
from python_support import PROGRAMS, Case
from train_test import config

LOADED = """
import json, logging, sys, nmt
logging.getLogger("nmt").setLevel(logging.ERROR)
def loaded():
    names = {line.split()[-1].rpartition("/")[2] for line in open("/proc/self/maps")}
    return sorted(name for name in names if name.startswith(("libtorch", "libc10", "libgomp", "libnmt_torch")))
model, source, training = sys.argv[1:]
training = json.loads(training)
"""


class WithoutLibTorch(Case):
    def setUp(self):
        super().setUp()
        self.arguments = (PROGRAMS.model, PROGRAMS.sources()[0], json.dumps(config(self.folder), default=str))

    def python(self, code, **settings):
        done = support.python(LOADED + code, *self.arguments, **settings)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def test_translating_loads_none_and_training_loads_it(self):
        lines = self.python("""
assert loaded() == [], loaded()
for precision in ("auto", "fp32", "int8"):
    translator = nmt.Translator(model, device="cpu", threads=2, precision=precision)
    for beam_size in (1, 3):
        print(translator.translate([source] * 3, beam_size=beam_size, return_tokens=True)[2])
    translator.score([source], ["a b"])
    assert translator.has_attention
nmt.prepare(training)
trainer = nmt.Trainer(training)
assert loaded() == [], loaded()
assert trainer.train().updates == 12
print(*loaded())
assert translator.translate(source, return_alignment=True).alignment.size > 0
""")
        for option, line in zip(("--precision auto", "--precision fp32", "--precision int8"), range(0, 6, 2)):
            for beam_size, found in ((1, lines[line]), (3, lines[line + 1])):
                done = support.translate("--device", "cpu", *option.split(), "--beam-size", beam_size, text=self.arguments[1] + "\n")
                self.assertEqual([found], self.lines_of(done))
        self.assertIn("libnmt_torch.so", lines[-1])
        self.assertIn("libtorch_cpu.so", lines[-1])

    def test_what_cannot_be_done_without_it_is_said_in_a_line(self):
        import nmt
        package = self.folder / "alone" / "nmt"
        shutil.copytree(pathlib.Path(nmt.__file__).parent, package, ignore=shutil.ignore_patterns("libnmt_torch.so", "__pycache__"))
        lines = self.python("""
translator = nmt.Translator(model, device="cpu", threads=1)
print(translator.translate(source))
nmt.prepare(training)
for work in (nmt.Trainer(training).train, lambda: translator.translate(source, return_alignment=True),
             lambda: nmt.Translator([model] * 2)):
    try:
        work()
    except nmt.MachineError as error:
        print(error)
""", environment={"PYTHONPATH": str(package.parent)})
        self.assertEqual(lines[:1], self.lines_of(support.translate("--device", "cpu", text=self.arguments[1] + "\n")))
        self.assertEqual(len(lines), 4, lines)
        for line in lines[1:]:
            self.assertRegex(line, r"^libnmt_torch\.so: this needs LibTorch, by a library that cannot be loaded \(.*\); (install"
                                   r" the package torch: pip install \"torch==|build nmt again for torch )")
        self.assertFalse((self.folder / "run").exists())

    def test_settings_of_torch_are_not_followed_and_stay(self):
        interpreter = support.python_with_torch()
        if interpreter is None:
            self.skipTest("no Python of this version with the torch that nmt was built for")
        self.python("""
import torch
nmt.prepare(training)
before, seen = torch.get_num_threads(), set()
with torch.autocast("cpu"), torch.no_grad():
    result = nmt.Trainer(training).train(
        on_update=lambda _: seen.add((torch.is_autocast_enabled("cpu"), torch.is_grad_enabled())))
    assert nmt.Translator([model] * 2, device="cpu", threads=before + 1).translate(source).text
    assert torch.is_autocast_enabled("cpu") and not torch.is_grad_enabled()
assert result.updates == 12
assert seen == {(False, True)}, seen
assert torch.get_num_threads() == before
""", interpreter=interpreter)


if __name__ == "__main__":
    support.main(__doc__)
