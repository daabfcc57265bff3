"""Model directories in int8 and bf16, from nmt-export --to nmt to every program that reads model directories.

    translate_quantized_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import json
import os
import shutil
import subprocess
import urllib.parse
import urllib.request

from translate_support import PATIENCE, PROGRAMS, Case, main, run, translate

TYPES = ("int8", "bf16")


class Quantized(Case):
    def export(self, quantization, model=None):
        out = self.folder / quantization
        done = run("nmt-export", "-q", "-m", model or PROGRAMS.model, "--to", "nmt", "--quantization", quantization,
                   "-o", out)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        return out

    def sources(self, count=64):
        return "\n".join(PROGRAMS.sources()[:count]) + "\n"

    def test_the_same_texts_as_from_float32(self):
        for quantization in TYPES:
            model = self.export(quantization)
            for options in (("--beam-size", 1), ("--n-best", 3, "--scores", "--token-scores"), ("--shortlist", 30),
                            ("--alignment", "pharaoh"), ("--batch-size", 7, "--threads", 2)):
                with self.subTest(quantization=quantization, options=options):
                    expected = self.lines_of(translate(*options, "--precision", quantization, text=self.sources()))
                    found = self.lines_of(translate(*options, model=model, text=self.sources()))
                    self.assertEqual(found, expected)
                    self.assertNotEqual(len(set(found)), 1)

    def test_the_version_names_the_kernels_that_run(self):
        for program in ("nmt-train", "nmt-eval", "nmt-translate"):
            lines = self.lines_of(run(program, "--version", env={**os.environ, "NMT_KERNEL_SET": "baseline"}))
            self.assertIn("kernels: baseline", lines)

    def test_scores_of_texts_that_are_given(self):
        for side in ("de", "en"):
            lines = (PROGRAMS.work / "corpus" / f"train.{side}").read_text().splitlines(keepends=True)[:20]
            (self.folder / side).write_text("".join(lines))
        arguments = ("-i", self.folder / "de", "--score", self.folder / "en")
        for quantization in TYPES:
            found = self.lines_of(translate(*arguments, model=self.export(quantization)))
            self.assertEqual(found, self.lines_of(translate(*arguments, "--precision", quantization)))

    def test_models_together(self):
        model = self.export("int8")
        both = self.lines_of(translate("-m", PROGRAMS.model, "--precision", "int8", text=self.sources()))
        self.assertEqual(self.lines_of(translate("-m", PROGRAMS.model, "--precision", "int8", model=model,
                                                 text=self.sources())), both)

    def test_files(self):
        whole = os.path.getsize(PROGRAMS.model / "model.safetensors")
        for quantization, share in (("int8", 0.32), ("bf16", 0.54)):
            model = self.export(quantization)
            self.assertLess(os.path.getsize(model / "model.safetensors"), share * whole)
            self.assertEqual((model / "shortlist.bin").read_bytes(), (PROGRAMS.model / "shortlist.bin").read_bytes())
            description = json.loads((model / "model.json").read_text())
            self.assertEqual((description["format_version"], description["weights"]), (2, quantization))
            text = self.lines_of(run("nmt-export", "--inspect", model))
            self.assertIn(f"weights       {quantization}", text)
        self.assertIn("weights       fp32", self.lines_of(run("nmt-export", "--inspect", PROGRAMS.model)))

    def test_evaluation(self):
        for side in ("de", "en"):
            lines = (PROGRAMS.work / "corpus" / f"train.{side}").read_text().splitlines(keepends=True)[:50]
            (self.folder / side).write_text("".join(lines))
        arguments = ("--source", self.folder / "de", "--reference", self.folder / "en", "--threads", 1)
        report = [self.folder / "expected.json", self.folder / "found.json"]
        expected = run("nmt-eval", "-m", PROGRAMS.model, *arguments, "--precision", "int8", "--no-loss", "--report", report[0])
        self.assertEqual(expected.returncode, 0, expected.stderr.decode())
        found = run("nmt-eval", "-m", self.export("int8"), *arguments, "--report", report[1])
        self.assertEqual(found.returncode, 0, found.stderr.decode())
        self.assertIn("no loss of the references: that needs float32 weights, and these are int8", found.stderr.decode())
        expected, found = (json.loads(path.read_text())["systems"][0] for path in report)
        self.assertGreater(len(expected["scores"]), 1)
        self.assertEqual(found["scores"], expected["scores"])
        self.assertEqual((expected["precision"], found["precision"]), ("int8", "int8"))
        self.assertNotIn("loss", found)

    def test_a_service_goes_on_when_its_files_are_cut(self):
        model = self.export("int8")
        text = PROGRAMS.sources()[0]
        expected, = self.lines_of(translate(model=model, text=text + "\n"))
        process = subprocess.Popen([PROGRAMS.path("nmt-translate"), "-m", str(model), "--serve", "0"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            url = process.stdout.readline().strip()

            def ask():
                body = urllib.parse.urlencode({"q": text, "source": "de", "target": "en"}).encode()
                with urllib.request.urlopen(url + "/translate", data=body, timeout=PATIENCE) as reply:
                    return json.loads(reply.read())["translatedText"]

            self.assertEqual(ask(), expected)
            for path in model.iterdir():
                os.truncate(path, 0)
            self.assertEqual(ask(), expected)
            self.assertIsNone(process.poll())
        finally:
            process.kill()
            process.communicate()

    def test_what_it_cannot_do_is_refused(self):
        for quantization, other in (("int8", "bf16"), ("bf16", "int8")):
            model = self.export(quantization)
            for precision in ("fp32", other):
                self.assert_error(translate("--precision", precision, model=model, text="a\n"), str(model),
                                  f"its weights are {quantization}, from which no {precision} can be made")
            for arguments in (("ctranslate2",), ("marian",), ("safetensors",), ("nmt", "--quantization", quantization)):
                out = self.folder / "out"
                self.assert_error(run("nmt-export", "-m", model, "-o", out, "--to", *arguments), str(model),
                                  f"its weights are {quantization}, which is for translating only")
                self.assertFalse(out.exists())
            config = self.folder / "config.yaml"
            config.write_text(PROGRAMS.config.read_text().replace("training: {", f"training: {{init_from: {model}, ")
                              .replace(f"{PROGRAMS.work}/run", str(self.folder / "run")))
            done = run("nmt-train", "-c", config)
            self.assertEqual(done.returncode, 2, done.stderr.decode())
            self.assertIn(f"training.init_from {model}: its weights are {quantization}", done.stderr.decode())

    def test_what_nmt_export_is_asked_for(self):
        out = self.folder / "out"
        for arguments, message in ((("nmt",), "--to nmt needs --quantization int8 or bf16"),
                                   (("nmt", "--quantization", "float16"), "'float16' is none of int8, bf16"),
                                   (("marian", "--quantization", "int8"), "--quantization: is for --to nmt and")):
            self.assert_error(run("nmt-export", "-m", PROGRAMS.model, "-o", out, "--to", *arguments), message)
            self.assertFalse(out.exists())

    def test_a_damaged_directory_is_one_line(self):
        model = self.export("int8")
        weights = model / "model.safetensors"
        data = weights.read_bytes()
        weights.write_bytes(data[:-1])
        self.assert_error(translate(model=model, text="a\n"), str(weights), "damaged")
        shutil.copy(PROGRAMS.model / "model.safetensors", weights)
        self.assert_error(translate(model=model, text="a\n"), str(weights), "in a directory of int8 weights it is I8")


if __name__ == "__main__":
    main(__doc__)
