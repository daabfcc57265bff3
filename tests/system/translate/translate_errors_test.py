"""Moved and damaged models, and what else nmt-translate refuses: bad options, outputs that are inputs.

    translate_errors_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import json
import os
import shutil
import subprocess

from translate_support import PATIENCE, PROGRAMS, Case, main, run, translate


class ModelDirectories(Case):
    def copy(self):
        copy = self.folder / "somewhere else"
        shutil.copytree(PROGRAMS.model, copy)
        return copy

    def test_a_moved_model_needs_nothing_else(self):
        text = "\n".join(PROGRAMS.sources()[:5])
        expected = translate(text=text).stdout
        copy = self.copy()
        description = copy / "model.json"
        self.assertIn(str(PROGRAMS.work), description.read_text())  # the folders that it was made in, as if they were gone
        description.write_text(description.read_text().replace(str(PROGRAMS.work), str(self.folder / "gone")))
        done = translate(text=text, model=copy, cwd="/")
        self.assertEqual((done.returncode, done.stdout), (0, expected), done.stderr)

    def test_damaged_models_are_refused(self):
        def shorten(name):
            def damage(folder):
                data = (folder / name).read_bytes()
                (folder / name).write_bytes(data[:len(data) // 2])
            return damage

        def overwrite(name, text):
            return lambda folder: (folder / name).write_text(text)

        def foreign(folder):
            description = json.loads((folder / "model.json").read_text())
            description["format_version"] = 99
            (folder / "model.json").write_text(json.dumps(description))

        def other_size(folder):
            description = json.loads((folder / "model.json").read_text())
            description["configuration"]["model"]["d_model"] = 32
            (folder / "model.json").write_text(json.dumps(description))

        for damage, part in ((lambda folder: (folder / "model.json").unlink(), "model.json"),
                             (lambda folder: (folder / "model.safetensors").unlink(), "model.safetensors"),
                             (lambda folder: (folder / "spm.model").unlink(), "spm.model"),
                             (shorten("model.json"), "model.json"),
                             (shorten("model.safetensors"), "model.safetensors"),
                             (shorten("spm.model"), "spm.model"),
                             (overwrite("model.safetensors", ""), "model.safetensors"),
                             (overwrite("model.json", "[]"), "model.json"),
                             (foreign, "99"),
                             (other_size, "model.safetensors")):
            with self.subTest(part=part):
                copy = self.copy()
                damage(copy)
                self.assert_error(translate(text="Ja .\n", model=copy), part)
                shutil.rmtree(copy)

    def test_pipes_in_a_model_are_not_waited_for(self):
        for name in ("model.json", "spm.model", "model.safetensors"):
            with self.subTest(name=name):
                copy = self.copy()
                (copy / name).unlink()
                os.mkfifo(copy / name)
                self.assert_error(translate(text="Ja .\n", model=copy), f"{copy / name}: is a pipe or device; put a regular file")
                shutil.rmtree(copy)


class Errors(Case):
    def test_options_without_effect_are_one_warning(self):
        source, target = "Ja .", "Yes ."
        plain = translate("-t", source, "--target", target)
        done = translate("-t", source, "--target", target, "--n-best", "2", "--sampling", "--glossary", PROGRAMS.config)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr)
        self.assertEqual(done.stderr.count(b"effect"), 1, done.stderr)
        self.assertIn(b"the score of a given translation: --n-best, --glossary, --sampling have no effect on it", done.stderr)
        self.assertEqual(self.lines_of(translate("-t", source, "--combination", "log_linear")),
                         self.lines_of(translate("-t", source)))

    def test_options(self):
        model, missing = ("-m", str(PROGRAMS.model)), str(self.folder / "missing")
        for arguments, parts in (
                ((), ["--model"]),
                (("-m", missing), [missing]),
                (("-m", str(self.folder)), [str(self.folder), "not a model directory (model.json is missing)"]),
                (("-m", str(PROGRAMS.work / "run")), ["folder of a run", str(PROGRAMS.model)]),
                (("-m", str(PROGRAMS.config)), [str(PROGRAMS.config), "is a file, not a model directory"]),
                (("-m", ""), ["the name of a model directory is empty"]),
                ((*model, "-m", missing), [missing]),
                ((*model, "--model-weights", "1", "2"), ["--model-weights", "2 for 1"]),
                ((*model, "--model-weights", "2"), ["--model-weights", "one model has no other"]),
                ((*model, "-i", missing), [missing]),
                ((*model, "-i", str(self.folder)), [str(self.folder), "folder"]),
                ((*model, "-o", missing + "/out"), [missing]),
                ((*model, "--beam-size", "0"), ["--beam-size 0", "at least 1"]),
                ((*model, "--beam-size", "many"), ["--beam-size"]),
                ((*model, "--n-best", "9", "--beam-size", "4"), ["n-best 9", "4"]),
                ((*model, "--length-penalty", "-1"), ["--length-penalty -1", "at least 0"]),
                ((*model, "--length-penalty-form", "google"), ["--length-penalty-form google", "paper"]),
                ((*model, "--max-length-ratio", "-1"), ["--max-length-ratio -1", "at least 0"]),
                ((*model, "--batch-size", "0"), ["--batch-size 0", "at least 1"]),
                ((*model, "--max-source-length", "0"), ["maximum source length 0"]),
                ((*model, "--device", "gpu"), ["device 'gpu'"]),
                ((*model, "--precision", "fp8"), ["--precision fp8", "bf16"]),
                ((*model, "--threads", "-2"), ["--threads -2", "1 to 1024"]),
                ((*model, "--threads", "100000"), ["--threads 100000", "1 to 1024"]),
                ((*model, "--buffer-lines", "0"), ["--buffer-lines"]),
                ((*model, "--buffer-lines", "5", "--text", "a"), ["--buffer-lines", "excludes", "--text"]),
                ((*model, "--buffer-lines", "5", "-i", missing, "--format-in", "html"),
                 ["--buffer-lines", "excludes", "--format-in"]),
                ((*model, "--ban-unknown=foo"), ["--ban-unknown", "true or false"]),
                ((*model, "--ban-unknown=2.5"), ["--ban-unknown", "true or false"]),
                ((*model, "--no-ban-unknown=foo"), ["nmt-translate: --no-ban-unknown: is a flag", "true or false"]),
                ((*model, "--text", "--scores=5", "--no-ban-unknown=foo"), ["--no-ban-unknown: is a flag"]),
                ((*model, "--no-ban-unknown=" + "9" * 20), ["--no-ban-unknown: is a flag", "true or false"]),
                ((*model, "--ban-unknown=" + "9" * 20), ["--ban-unknown", "true or false"]),
                ((*model, "--sampling=-3"), ["--sampling", "true or false"]),
                ((*model, "--scores=5"), ["--scores", "true or false"]),
                ((*model, "--quiet=5"), ["--quiet", "true or false"]),
                ((*model, "--alignment-layer", "9"), ["decoding.alignment_layer 9: the decoder has 2; use 1 to 2"]),
                ((*model, "--alignment-head", "9"), ["decoding.alignment_head 9: the decoder has 2; use 1 to 2"]),
                ((*model, "--alignment-layer", "9", "-i", PROGRAMS.config, "--format-in", "html"), ["alignment_layer 9"]),
                ((*model, "--must", "Ja", "--banned-phrases", "Ja"), ["--must, --banned-phrases 'Ja'"]),
                ((*model, "--beamsize", "4"), ["not expected: --beamsize 4; did you mean --beam-size?"]),
                ((*model, "--format-in", "docx"), ["standard input: the document is no sound zip archive"]),
                ((*model, "--no-samplign"), ["--no-samplign", "did you mean --no-sampling?"]),
                ((*model, "-i", missing, "--format-in", "htlm"), ["--format-in htlm", "did you mean html?", "docx"]),
                ((*model, "--serve", ""), ["--serve: is empty"]),
                ((*model, "--must", "a", "--must-not", "b", "--must-not", "a"), ["--must, --must-not 'a'"]),
                ((*model, "--must", " "), ["--must, --must-not: a phrase is empty"]),
                ((*model, "--must-not", ""), ["--must, --must-not: a phrase is empty"]),
                ((*model, "--text", "a", "--attention-out", "/dev/null/maps"), ["--attention-out /dev/null/maps: cannot make"]),
                ((*model, "--input-format", "tsv", "--must-not", "Ja"), ["standard input:1: 'Ja' must"]),
                ((*model, "--text", "a", "--attention-out", self.folder, "--attention-lines", "2"),
                 ["--attention-lines 2", "1 of --text"]),
                ((*model, "--attention-out", self.folder, "--attention-lines", "9" * 300), ["--attention-lines"]),
                ((*model, "--text", "a", "--format", "json", "--alignment", "pharaoh"), ["--format json", "jsonl"]),
                ((*model, "-o", "/proc/nix"), ["/proc/nix: cannot write"]),
                ((*model, "-q", "extra"), ["extra"]),
                ((*model, "--format", "json"), ["--format json", "--text", "jsonl"]),
                ((*model, "--format", "xml"), ["--format", "jsonl"]),
                ((*model, "--alignment", "giza"), ["--alignment", "pharaoh"]),
                ((*model, "--input-format", "csv"), ["--input-format", "tsv"]),
                ((*model, "--attention-lines", "1"), ["--attention-lines", "--attention-out"]),
                ((*model, "--alignment-out", missing + "/out"), [missing]),
                ((*model, "--score", missing), [missing]),
                ((*model, "--score", missing, "--must", "a"), ["the score of a given translation: --must has no effect on it"]),
                ((*model, "--score", missing, "--input-format", "tsv"), ["--input-format", "a score has no constraints"]),
                ((*model, "-i", missing, "--format-in", "html", "--alignment-out", "x"), ["a document: --alignment-out"]),
                ((*model, "-i", missing, "--format-in", "html", "--must", "a"), ["a document: --must has no effect on it", "leave it out"]),
                ((*model, "--diversity-groups", "2", "--beam-size", "3"), ["diversity_groups"]),
                ((*model, "--temperature", "2"), ["temperature", "sampling"]),
                ((*model, "--target", "a"), ["--target", "--text"]),
                ((*model, "--text", "a", "--text", "b", "--target", "c"), ["--target: 1 given for 2"]),
                ((*model, "--attention-out", missing + ".svg"), ["--attention-out", "one --text", "folder"]),
                ((*model, "--text", " ", "--attention-out", missing + ".svg"), ["translation is empty"]),
                ((*model, "--text", "a", "-i", missing), ["--text", "--input"])):
            with self.subTest(arguments=arguments):
                text = "Ja\t\tJa\n" if "tsv" in arguments else "Ja .\n"
                self.assert_error(run("nmt-translate", *arguments, text=text), *parts)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_layer_that_the_model_lacks_ends_a_training_before_it_begins(self):
        for option, said in (("alignment_layer", "has 2; use 1 to 2"), ("alignment_head", "has 2; use 1 to 2")):
            with self.subTest(option=option):
                done = run("nmt-train", "-c", PROGRAMS.config, "--set", f"decoding.{option}=9", "--run-dir",
                           self.folder / "run")
                self.assert_error(done, f"decoding.{option} 9: the decoder {said}")
                self.assertEqual(os.listdir(self.folder), [])


class SameFiles(Case):
    """What a user has is not written over: an output that is an input, or another output, is refused."""

    def test_outputs(self):
        text, other = self.folder / "text", self.folder / "other"
        text.write_text("Ja .\n")
        os.symlink(text, self.folder / "link")
        glossary = self.folder / "glossary"
        glossary.write_text("Ja\tYes\n")
        for arguments, parts in (
                (("-i", text, "-o", text), ["--output", "the same file as --input"]),
                (("-i", text, "-o", self.folder / "link"), ["--output", "the same file as --input"]),
                (("--score", text, "-o", text), ["--output", "the same file as --score"]),
                (("--glossary", glossary, "-o", glossary), ["--output", "the same file as --glossary"]),
                (("-i", text, "-o", other, "--alignment-out", self.folder / "x" / ".." / "other"),
                 ["--alignment-out", "the same file as --output"])):
            with self.subTest(arguments=arguments):
                self.assert_error(translate(*arguments, text="Ja .\n"), *parts)
                self.assertEqual(text.read_text(), "Ja .\n")
        with open(text, "rb") as stream:  # what standard input stands for
            done = subprocess.run([PROGRAMS.path("nmt-translate"), "-m", PROGRAMS.model, "-o", text], stdin=stream,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        self.assert_error(done, "--output", "the same file as standard input")
        self.assertEqual(self.lines_of(translate("-q", "-i", "/dev/null")), [])


if __name__ == "__main__":
    main(__doc__)
