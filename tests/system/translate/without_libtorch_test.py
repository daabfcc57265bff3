"""nmt-translate without LibTorch: what it does alone, and what it loads libnmt_torch.so for.

    without_libtorch_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import os
import shutil
import subprocess

from translate_support import PATIENCE, PROGRAMS, Case, main, run, translate


class WithoutLibTorch(Case):
    def setUp(self):
        super().setUp()
        self.alone = self.folder / "nmt-translate"  # beside no library
        shutil.copy(PROGRAMS.path("nmt-translate"), self.alone)
        self.text = "\n".join(PROGRAMS.sources()[:30]) + "\n"

    def translate_alone(self, *arguments):
        command = [str(self.alone), "-m", str(PROGRAMS.model), *map(str, arguments)]
        return subprocess.run(command, input=self.text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=PATIENCE)

    def test_a_transformer_on_the_cpu_needs_none(self):
        """Nor do these find other texts and scores than nmt-eval's side, which is linked with LibTorch."""
        for options in (("--device", "cpu"), ("--beam-size", 1, "--device", "cpu"), ("--precision", "int8", "--device", "cpu"),
                        ("--threads", 2, "--n-best", 2, "--scores", "--token-scores", "--device", "cpu")):
            with self.subTest(options=options):
                found = self.lines_of(self.translate_alone(*options))
                self.assertEqual(found, self.lines_of(translate(*options, text=self.text)))
                self.assertGreater(len(set(found)), 20)

    def test_the_rest_names_the_library_that_is_missing(self):
        for options in (("--alignment", "pharaoh"), ("-m", PROGRAMS.model), ("--precision", "fp16")):
            with self.subTest(options=options):
                self.assert_error(self.translate_alone("--device", "cpu", *options), "libnmt_torch.so", "install the whole package",
                                  code=1)

    def test_documents_have_their_tags_in_place(self):
        first, second = self.text.split("\n")[:2]
        self.text = f"<p>{first} <b>{second}</b></p><p>{first}</p>"
        done = self.translate_alone("--device", "cpu", "--format-in", "html")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertRegex(done.stdout.decode(), "^<p>.*<b>.+</b>.*</p><p>.+</p>$")
        self.assertEqual(done.stderr.decode().count("tags stand at their place in the text"), 1)

    def test_placeholders_stand_at_their_place(self):
        self.text = "".join(f"{line} {{name}}\n" for line in self.text.splitlines() if line)
        lines = self.lines_of(self.translate_alone("--device", "cpu", "--keep-placeholders"))
        self.assertEqual([line.count("{name}") for line in lines], [1] * self.text.count("\n"))

    def test_the_library_is_loaded_for_what_needs_it(self):
        expected = self.lines_of(translate("--device", "cpu", text=self.text))
        aligned = self.lines_of(translate("--device", "cpu", "--alignment", "pharaoh", text=self.text))
        self.assertEqual([line.split("\t")[0] for line in aligned], expected)
        self.assertTrue(all(line.split("\t")[1] for line in aligned if line.split("\t")[0]))
        twice = self.lines_of(translate("--device", "cpu", "-m", PROGRAMS.model, text=self.text))
        self.assertEqual(len(twice), len(expected))

    def test_the_model_that_is_loaded_late_is_the_same(self):
        """Another one in its place meanwhile is refused."""
        model = self.folder / "model"
        shutil.copytree(PROGRAMS.model, model)
        with subprocess.Popen([PROGRAMS.path("nmt-translate"), "-m", str(model), "--device", "cpu", "--alignment", "pharaoh"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdin.write(b"\n")
            process.stdin.flush()
            self.assertTrue(process.stdout.readline(), "an empty line has no alignment")
            os.utime(model / "model.safetensors", (1, 1))
            out, err = process.communicate(self.text.encode(), timeout=PATIENCE)
        self.assertEqual((process.returncode, out), (2, b""), err)
        self.assertIn(b"model.safetensors: is another model now", err)


if __name__ == "__main__":
    main(__doc__)
