"""Runs nmt-translate and nmt-eval as users do, with a small model that is trained for it on the built-in corpus.

    translate_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import bz2
import contextlib
import gzip
import json
import lzma
import os
import random
import re
import resource
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

from translate_support import PATIENCE, PROGRAMS, Case, main, run, translate


class TranslateLines(Case):
    def test_a_line_for_each_line_in_order(self):
        sources = PROGRAMS.sources()[:40]
        alone = [self.lines_of(translate(text=line + "\n"))[0] for line in sources[:3]]
        together = self.lines_of(translate(text="\n".join(sources) + "\n"))
        self.assertEqual(len(together), 40)
        self.assertEqual(together[:3], alone)

    def test_empty_lines_stay_empty(self):
        some = PROGRAMS.sources()[0]
        lines = self.lines_of(translate(text=f"\n{some}\n\n   \n{some}\n\n"))
        self.assertEqual([bool(line) for line in lines], [False, True, False, False, True, False])
        self.assertEqual(translate(text="").stdout, b"")
        self.assertEqual(translate(text="\n").stdout, b"\n")

    def test_the_last_line_may_lack_its_end(self):
        some = PROGRAMS.sources()[0]
        self.assertEqual(translate(text=some).stdout, translate(text=some + "\n").stdout)

    def test_carriage_returns_are_no_text(self):
        some, other = PROGRAMS.sources()[:2]
        self.assertEqual(translate(text=f"{some}\r\n{other}\r\n").stdout, translate(text=f"{some}\n{other}\n").stdout)

    def test_files_plain_and_packed(self):
        text = "\n".join(PROGRAMS.sources()[:5]) + "\n"
        expected = translate(text=text).stdout
        (self.folder / "in.txt").write_text(text)
        with gzip.open(self.folder / "in.gz", "wt") as file:
            file.write(text)
        for name in ("in.txt", "in.gz"):
            out = self.folder / (name + ".out")
            done = translate("-i", self.folder / name, "-o", out)
            self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
            self.assertEqual(out.read_bytes(), expected)

    def test_text_option(self):
        some, other = PROGRAMS.sources()[:2]
        expected = translate(text=f"{some}\n{other}\n").stdout
        self.assertEqual(translate("--text", some, "--text", other).stdout, expected)
        lines = expected.decode().splitlines()
        self.assertEqual(json.loads(translate("--text", some, "--text", other, "--format", "json").stdout),
                         [{"translation_text": line} for line in lines])

    def test_statistics_can_be_silenced(self):
        some = PROGRAMS.sources()[0]
        self.assertRegex(translate(text=some).stderr.decode(), r"1 lines in [0-9.]+ s: [0-9.]+ lines/s")
        self.assertEqual(translate("-q", text=some).stderr, b"")

    def test_translates_well_enough_to_mean_something(self):
        done = run("nmt-eval", "-m", PROGRAMS.model, "--source", PROGRAMS.work / "corpus" / "train.de", "--reference",
                   PROGRAMS.work / "corpus" / "train.en", "-q")
        score = float(re.search(r"= ([0-9.]+) ", done.stdout.decode()).group(1))
        self.assertGreater(score, 90, "the other tests translate what the model has learnt by heart")


class Streams(Case):
    def start(self, *arguments, **settings):
        process = subprocess.Popen([PROGRAMS.path("nmt-translate"), "-m", str(PROGRAMS.model), *arguments],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **settings)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        with contextlib.suppress(OSError):
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                stream.close()

    def read_line(self, process):
        line, deadline = b"", time.monotonic() + PATIENCE
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([process.stdout], [], [], max(0, deadline - time.monotonic()))
            self.assertTrue(ready, "no answer")
            byte = os.read(process.stdout.fileno(), 1)
            self.assertTrue(byte, "the program ended")
            line += byte
        return line

    def test_answers_before_the_next_line_comes(self):
        sources = PROGRAMS.sources()[:3]
        expected = translate(text="\n".join(sources) + "\n").stdout.splitlines(keepends=True)
        process = self.start()
        for source, answer in zip(sources, expected):
            process.stdin.write(source.encode() + b"\n")
            process.stdin.flush()
            self.assertEqual(self.read_line(process), answer)
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_ends_quietly_when_its_reader_does(self):
        process = self.start("--buffer-lines", "1")
        process.stdin.write(PROGRAMS.sources()[0].encode() + b"\n")
        process.stdin.flush()
        self.read_line(process)
        process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"a\n" * 50)
            process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 0)
        message = process.stderr.read().decode()
        self.assertNotIn("cannot write", message)
        self.assertNotIn("terminate", message)

    def test_ctrl_c_while_it_waits(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start()
            process.stdin.write(PROGRAMS.sources()[0].encode() + b"\n")
            process.stdin.flush()
            self.read_line(process)  # it is up
            process.send_signal(number)
            self.assertEqual(process.wait(PATIENCE), code)

    def test_ctrl_c_while_nobody_writes_to_a_named_pipe(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        process = self.start("-i", str(pipe))
        deadline = time.monotonic() + PATIENCE
        while not self.has_open(process, pipe) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 130)

    def test_ends_within_a_line_that_takes_hours(self):
        process = self.start("-q", "--min-length", "100000", "--buffer-lines", "1")
        process.stdin.write(b"\nJa .\n")
        process.stdin.close()
        self.assertEqual(self.read_line(process), b"\n", "what is done is written")
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE), 143)

    @staticmethod
    def open_files(process):
        names = set()
        for descriptor in list(Path(f"/proc/{process.pid}/fd").iterdir()):
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                names.add(os.readlink(descriptor))
        return names

    def has_open(self, process, path):
        return str(path) in self.open_files(process)

    def writes_into(self, process, folder):
        """A file in the making need not have a name: what the process holds open tells of it."""
        return any(name.startswith(f"{folder}/") and os.path.basename(name) != "in.txt"
                   for name in self.open_files(process))

    def test_ctrl_c_leaves_no_half_file(self):
        source, out = self.folder / "in.txt", self.folder / "out.txt"
        source.write_text("\n".join(PROGRAMS.sources() * 20))
        process = self.start("-i", str(source), "-o", str(out), "--batch-size", "1", "--threads", "1")
        deadline = time.monotonic() + PATIENCE
        while not self.writes_into(process, self.folder) and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 130)
        self.assertEqual(os.listdir(self.folder), ["in.txt"])

    def test_a_full_disk_is_told(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAMS.path("nmt-translate"), "-m", str(PROGRAMS.model), "-q"], input=b"Ja .\n",
                                  stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(b"standard output: cannot write", done.stderr)


class OddInput(Case):
    def test_bytes_that_are_not_utf8(self):
        some = PROGRAMS.sources()[0].encode()
        done = translate(text=some + b"\n" + some + b" \xff\xfe\n" + some + b"\n")
        lines = self.lines_of(done)
        self.assertEqual(len(lines), 3)
        self.assertEqual(lines[0], lines[2])
        self.assertIn("standard input:2: byte", done.stderr.decode())
        self.assertIn("1 not UTF-8 and repaired", done.stderr.decode())

    def test_a_text_that_is_not_utf8_is_repaired_with_a_warning(self):
        done = translate("-q", "--text", os.fsdecode(b"Ja \xff ."))
        self.assertEqual(len(self.lines_of(done)), 1)
        self.assertIn("--text 'Ja \ufffd .': byte 4 is not UTF-8", done.stderr.decode())

    def test_a_picture_of_no_line_is_told(self):
        done = translate("-q", "--attention-out", self.folder, "--attention-lines", "2", "99", text="Ja .\n" * 3)
        self.assertEqual(len(self.lines_of(done)), 3)
        self.assertEqual(sorted(os.listdir(self.folder)), ["2.json", "2.svg"])
        self.assertIn("--attention-lines 99: the input has 3 lines", done.stderr.decode())

    def test_what_is_no_text_is_refused(self):
        some = PROGRAMS.sources()[0]
        path = self.folder / "in.txt"
        for data, what in ((some.encode("utf-16"), "is UTF-16"), (lzma.compress(some.encode()), "is packed with xz"),
                           (bz2.compress(some.encode()), "is packed with bzip2"), (b"PK\x03\x04", "is a zip archive")):
            with self.subTest(what=what):
                path.write_bytes(data)
                self.assert_error(translate("-i", path), str(path), what)
                self.assert_error(translate(text=data), "standard input", what)
                self.assert_error(translate(text=some, *("--score", path)), str(path), what)
                scored = run("nmt-score", path, "-i", path)
                self.assert_error(scored, str(path), what, code=1)

    def test_any_bytes(self):
        data = random.Random(3).randbytes(20000)
        done = translate("--max-length-offset", "5", "--max-length-ratio", "0.1", "--beam-size", "1", text=data)
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = data.count(b"\n") + (not data.endswith(b"\n"))
        self.assertEqual(done.stdout.count(b"\n"), expected)
        done.stdout.decode()  # is UTF-8

    def test_long_lines_are_translated_in_parts(self):
        sentences = PROGRAMS.sources()[:30]
        done = translate("--max-source-length", "40", text="Ja .\n" + " ".join(sentences) + "\nJa .\n")
        lines = self.lines_of(done)
        self.assertEqual(len(lines), 3)
        self.assertGreater(len(lines[1].split()), 60)
        self.assertRegex(done.stderr.decode(), r"standard input:2: \d+ pieces are too long")

    def test_a_line_of_a_megabyte(self):
        done = translate("--beam-size", "1", "--max-length-ratio", "0", "--max-length-offset", "2",
                         text="x" * 50000 + "\n" + "ja " * 20000 + "\n")
        self.assertEqual(len(self.lines_of(done)), 2)

    def test_other_line_separators_do_not_break_lines(self):
        done = translate(text="Ja .\u2028Nein .\u0085x\x0by\x0cz\n")
        self.assertEqual(done.stdout.count(b"\n"), 1)


class Formats(Case):
    def test_scores(self):
        some = PROGRAMS.sources()[0]
        plain = self.lines_of(translate(text=some + "\n\n"))
        scored = [line.split("\t") for line in self.lines_of(translate("--scores", text=some + "\n\n"))]
        self.assertEqual([text for text, _ in scored], plain)
        self.assertLess(float(scored[0][1]), 0)
        self.assertEqual(float(scored[1][1]), 0)

    def test_n_best(self):
        text = "\n".join(PROGRAMS.sources()[:4]) + "\n"
        best = self.lines_of(translate("--beam-size", "4", text=text))
        rows = [line.split("\t") for line in self.lines_of(translate("--beam-size", "4", "--n-best", "3", "--scores",
                                                                   text=text))]
        for number in range(1, 5):
            own = [row for row in rows if row[0] == str(number)]
            self.assertEqual(len(own), 3)
            self.assertEqual(own[0][1], best[number - 1])
            scores = [float(row[2]) for row in own]
            self.assertEqual(scores, sorted(scores, reverse=True))

    def test_length_limit(self):
        done = translate("--max-length-ratio", "0", "--max-length-offset", "2", text=PROGRAMS.sources()[0])
        self.assertIn("1 cut at the length limit", done.stderr.decode())

    def test_version_and_help(self):
        for program in ("nmt-translate", "nmt-eval"):
            version = run(program, "--version")
            self.assertEqual(version.returncode, 0)
            self.assertRegex(version.stdout.decode(), rf"^{program} [0-9.]+\nLibTorch .*\nSentencePiece [0-9.]+\n")
            self.assertIn("--beam-size", run(program, "--help").stdout.decode())


class ModelDirectories(Case):
    def copy(self):
        copy = self.folder / "somewhere else"
        shutil.copytree(PROGRAMS.model, copy)
        return copy

    def test_a_moved_model_needs_nothing_else(self):
        text = "\n".join(PROGRAMS.sources()[:5])
        expected = translate(text=text).stdout
        copy = self.copy()
        hidden = []
        for name in ("prepared", "corpus", "run", "config.yaml"):
            path = PROGRAMS.work / name
            path.rename(path.with_name("hidden-" + name))
            hidden.append(path)
        try:
            done = translate(text=text, model=copy, cwd="/")
        finally:
            for path in hidden:
                path.with_name("hidden-" + path.name).rename(path)
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


class Errors(Case):
    def test_translate(self):
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
                ((*model, "--beamsize", "4"), ["--beamsize", "did you mean --beam-size?"]),
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
                ((*model, "--score", missing, "--n-best", "2"), ["--score", "--n-best"]),
                ((*model, "--diversity-groups", "2", "--beam-size", "3"), ["diversity_groups"]),
                ((*model, "--temperature", "2"), ["temperature", "sampling"]),
                ((*model, "--target", "a"), ["--target", "--text"]),
                ((*model, "--text", "a", "--text", "b", "--target", "c"), ["--target: 1 given for 2"]),
                ((*model, "--text", "a", "--target", "b", "--n-best", "2"), ["--target", "--n-best"]),
                ((*model, "--attention-out", missing + ".svg"), ["--attention-out", "one --text", "folder"]),
                ((*model, "--text", " ", "--attention-out", missing + ".svg"), ["translation is empty"]),
                ((*model, "--text", "a", "-i", missing), ["--text", "--input"])):
            with self.subTest(arguments=arguments):
                text = "Ja\t\tJa\n" if "tsv" in arguments else "Ja .\n"
                self.assert_error(run("nmt-translate", *arguments, text=text), *parts)
        self.assertEqual(os.listdir(self.folder), [])

    def test_eval(self):
        model, missing = ("-m", str(PROGRAMS.model)), str(self.folder / "missing")
        two, three, latin = self.folder / "two", self.folder / "three", self.folder / "latin"
        two.write_text("a\nb\n")
        three.write_text("a\nb\nc\n")
        latin.write_bytes(b"a\nb\xe4\n")
        config = ("-c", str(PROGRAMS.config))
        before = sorted(os.listdir(self.folder))
        for arguments, parts in (
                ((), ["-c CONFIG", "-m DIR"]),
                (model, ["--source"]),
                ((*model, "--source", two), ["--reference"]),
                ((*model, "--reference", two), ["--source"]),
                ((*model, "--source", two, "--reference", three), [str(three), "3 sentences", "has 2"]),
                ((*model, "--source", two, "--reference", latin), [f"{latin}:2", "UTF-8"]),
                ((*model, "--source", missing, "--reference", two), [missing]),
                (("-m", missing, "--source", two, "--reference", two), [missing]),
                (("-m", missing, "--source", two, "--reference", two, "--report", missing + "/report"),
                 [missing + "/report", "make it first"]),  # before the model is looked for
                ((*model, "--source", two, "--reference", two, "--report", self.folder),
                 [str(self.folder), "is a folder"]),
                ((*model, "--source", two, "--reference", two, "--hypotheses-out", self.folder / "." / "two"),
                 ["--hypotheses-out", "the same file as --source"]),
                ((*model, "--source", two, "--reference", two, "--hypotheses-out", missing, "--report", missing),
                 ["--hypotheses-out", "the same file as --report"]),
                (("-c", missing), [missing]),
                ((*config, "--set", "decoding.beam=3"), ["decoding.beam"]),
                ((*config, "--set", f"run.dir={missing}"), [missing, "nmt-train"]),
                ((*config, "--set", "data.test1="), ["data.test1"]),
                ((*config, "--split", "train"), ["--split"]),
                ((*model, *model, "--source", two, "--reference", two, "--hypotheses-out", missing),
                 ["--hypotheses-out"]),
                ((*model, *model, "--source", two, "--reference", two, "--results-file", missing),
                 ["--results-file"]),
                ((*model, "--ensemble", "--source", two, "--reference", two), ["--ensemble", "-m"]),
                ((*model, *model, "--ensemble", "--model-weights", "1", "--source", two, "--reference", two),
                 ["--model-weights: 1 for 2 models"]),
                ((*model, *model, "--ensemble", "--model-weights", "1", "-1", "--source", two, "--reference", two),
                 ["weight -1"]),
                ((*model, "--similarity", "a"), ["--similarity"]),
                ((*model, *model, "--similarity", "a", "b"), ["--similarity", "one model"]),
                ((*model, "--source", two, "--reference", two, "--similarity", "a", "b"), ["--similarity"]),
                ((*model, "--similarity", "a", "b", "--hypotheses-out", missing), ["--similarity", "scores no"]),
                (("--self-test", "-q"), ["--quiet", "not with --self-test"]),
                ((*model, "--similarity", "a", " "), ["similarity", "no text"]),
                (("--similarity", "a", "b"), ["-m DIR"]),
                ((*model, "--self-test"), ["--self-test"]),
                ((*model, "--source", two, "--reference", two, "-q", "--report", missing + "/report"), [missing])):
            with self.subTest(arguments=arguments):
                done = run("nmt-eval", *arguments)
                self.assert_error(done, *parts)
        self.assertEqual(sorted(os.listdir(self.folder)), before)


class SameFiles(Case):
    """What a user has is not written over: an output that is an input, or another output, is refused."""

    def test_translate(self):
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


class Evaluate(Case):
    def test_a_limit_of_file_sizes_ends_nmt_score_with_a_message(self):
        reference = PROGRAMS.work / "corpus" / "valid.en"
        with open(self.folder / "scores", "wb") as stream:
            done = subprocess.run([PROGRAMS.path("nmt-score"), reference, "-i", reference], stdout=stream,
                                  stderr=subprocess.PIPE, timeout=PATIENCE,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        self.assertEqual((done.returncode, done.stderr),
                         (1, b"nmt-score: cannot write to standard output; is the disk full?\n"))

    def test_the_scores_are_printed_where_files_cannot_be_written(self):
        def no_room():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        corpus, report = PROGRAMS.work / "corpus", self.folder / "report"
        done = subprocess.run([PROGRAMS.path("nmt-eval"), "-m", PROGRAMS.model, "-q", "--source", corpus / "valid.de",
                               "--reference", corpus / "valid.en", "--report", report],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, preexec_fn=no_room)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.decode(), f"nmt-eval: {report}: cannot write (File too large)\n")
        self.assertIn(b"BLEU", done.stdout)

    def scores(self, *arguments):
        return [line for line in self.lines_of(run("nmt-eval", *arguments)) if not line.startswith("loss = ")]

    def test_loss(self):
        last = self.lines_of(run("nmt-eval", "-c", PROGRAMS.config))[-1]
        self.assertRegex(last, r"^loss = \d+\.\d{4}, perplexity = \d+\.\d{4} \([0-9,]+ target tokens\)$")
        self.assertEqual(len(self.lines_of(run("nmt-eval", "-c", PROGRAMS.config, "--no-loss"))), 2)
        refused = run("nmt-eval", "-c", PROGRAMS.config, "--teacher-forcing", "0")
        self.assert_error(refused, "teacher forcing 0: is for recurrent models")

    def test_self_test(self):
        lines = self.lines_of(run("nmt-eval", "--self-test"))
        self.assertGreaterEqual(len(lines), 9)  # four worked numbers, two of attention and three products at least
        for line in lines:
            self.assertRegex(line, r"^ok      \w")

    def test_similarity(self):
        def cosine(*arguments):
            line, = self.lines_of(run("nmt-eval", *arguments))
            what, _, number = line.partition(" = ")
            return what, float(number)
        model = ("-m", PROGRAMS.model, "--similarity")
        one, other = PROGRAMS.sources()[:2]
        self.assertEqual(cosine(*model, "Hund", "Hund"), ("cosine of embeddings", 1))
        self.assertLess(cosine(*model, "Hund", "kein")[1], 0.9)
        self.assertEqual(cosine(*model, one, one), ("cosine of encoder outputs", 1))
        self.assertEqual(cosine(*model, one, other), cosine(*model, other, one))
        self.assertLess(cosine(*model, one, other)[1], 0.99)
        self.assertEqual(cosine("-c", PROGRAMS.config, "--similarity", one, other), cosine(*model, one, other))

    def test_several_test_sets(self):
        corpus = PROGRAMS.work / "corpus"
        several = ", ".join(f"{{name: {name}, source: {corpus}/{name}.de, target: {corpus}/{name}.en}}"
                            for name in ("valid", "test"))
        lines = self.lines_of(run("nmt-eval", "-c", PROGRAMS.config, "--set", "data.test1=", "--set", "data.test2=",
                                  "--set", f"data.test=[{several}]", "--hypotheses-out", self.folder / "hyp"))
        self.assertEqual([line.split()[0] for line in lines[1:3]], ["valid", "test"])
        self.assertIn(f" {lines[2].split()[2]} ", self.scores("-c", PROGRAMS.config)[0])
        self.assertEqual((self.folder / "hyp.test").read_text(), translate("-i", corpus / "test.de").stdout.decode())

    def test_run_and_model_agree(self):
        source, reference = (PROGRAMS.work / "corpus" / name for name in ("test.de", "test.en"))
        of_run = self.scores("-c", PROGRAMS.config)
        self.assertEqual(len(of_run), 2)
        self.assertRegex(of_run[0], r"^BLEU\|nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:\S+ = ")
        self.assertRegex(of_run[1], r"^chrF2\|nrefs:1\|case:mixed\|eff:yes\|nc:6\|nw:0\|space:no\|version:\S+ = ")
        self.assertEqual(self.scores("-m", PROGRAMS.model, "--source", source, "--reference", reference), of_run)
        self.assertNotEqual(self.scores("-c", PROGRAMS.config, "--split", "valid"), of_run)

    def test_files(self):
        names = [self.folder / name for name in ("hypotheses", "report.json", "results")]
        scores = self.scores("-c", PROGRAMS.config, "--hypotheses-out", names[0], "--report", names[1],
                             "--results-file", names[2])
        hypotheses = names[0].read_text()
        source, reference = (PROGRAMS.work / "corpus" / name for name in ("test.de", "test.en"))
        self.assertEqual(hypotheses, translate("-i", source).stdout.decode(), "nmt-translate writes the same")
        scored = run("nmt-score", reference, "-i", names[0], "-m", "bleu", "chrf", "-f", "text", "-w", "2")
        printed = [line.strip() for line in scored.stdout.decode().splitlines()]  # sacreBLEU aligns the lines
        self.assertEqual(printed, scores, "nmt-score prints the same")

        report = json.loads(names[1].read_text())
        self.assertEqual([score["text"] for score in report["systems"][0]["scores"]], scores)
        self.assertEqual(report["test_set"]["sentences"], hypotheses.count("\n"))
        self.assertEqual(report["systems"][0]["search"]["beam_size"], 3)

        results = names[2].read_text()
        first = zip(source.read_text().splitlines(), reference.read_text().splitlines(), hypotheses.splitlines())
        expected = "".join(f"- source: {a}\n- expected: {b}\n- got: {c}\n\n" for a, b, c in first)
        self.assertTrue(results.startswith(expected))
        self.assertRegex(results[len(expected):], r"^Bleu Score = [0-9.]+$")
        self.assertTrue(scores[0].split(" = ")[1].startswith("%.2f" % float(results.rsplit(" ", 1)[1])))

    def test_several_references_and_xml(self):
        sources = PROGRAMS.sources()[:20]
        (self.folder / "s.de").write_text("\n".join(sources) + "\n")
        (self.folder / "s.xml").write_text("<srcset>\n" + "".join(f'<seg id="{i}"> {line} </seg>\n' for i, line
                                                                in enumerate(sources, 1)) + "</srcset>\n")
        references = (PROGRAMS.work / "corpus" / "train.en").read_text().splitlines()
        (self.folder / "r1.en").write_text("\n".join(references[:20]) + "\n")
        (self.folder / "r2.en").write_text("\n".join(references[20:40]) + "\n")
        both = ("--reference", self.folder / "r1.en", "--reference", self.folder / "r2.en")
        plain = self.scores("-m", PROGRAMS.model, "--source", self.folder / "s.de", *both)
        self.assertIn("nrefs:2", plain[0])
        self.assertEqual(self.scores("-m", PROGRAMS.model, "--source", self.folder / "s.xml", *both), plain)

    def test_several_models_are_compared_with_the_first(self):
        copy = self.folder / "copy"
        shutil.copytree(PROGRAMS.model, copy)
        done = run("nmt-eval", "-c", PROGRAMS.config, "-m", PROGRAMS.model, "-m", copy, "--report",
                   self.folder / "report.json", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = done.stdout.decode()
        self.assertIn(f"Baseline: {PROGRAMS.model}", table)
        self.assertIn(str(copy), table)
        self.assertIn("p = ", table)
        columns = json.loads((self.folder / "report.json").read_text())["comparison"]["columns"]
        self.assertEqual([column["metric"] for column in columns], ["BLEU", "chrF2"])
        self.assertEqual(columns[0]["results"][0]["score"], columns[0]["results"][1]["score"])

    def test_an_ensemble_of_equals_is_one_of_them(self):
        copy = self.folder / "copy"
        shutil.copytree(PROGRAMS.model, copy)
        alone = self.scores("-c", PROGRAMS.config)
        both = ("-c", PROGRAMS.config, "-m", PROGRAMS.model, "-m", copy, "--ensemble", "--report",
                self.folder / "report.json")
        self.assertEqual(self.scores(*both), alone)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual([system["model"] for system in report["systems"]], [f"{PROGRAMS.model} + {copy}"])
        self.assertEqual(self.scores(*both, "--combination", "log_linear", "--model-weights", "3", "1"), alone)

    def test_search_options_and_settings(self):
        greedy = self.scores("-c", PROGRAMS.config, "--beam-size", "1")
        self.assertEqual(self.scores("-c", PROGRAMS.config, "--set", "decoding.beam_size=1"), greedy)
        short = ("decoding.max_length_ratio=0", "decoding.max_length_offset=3")
        for one in (("--max-length-ratio", "0", "--max-length-offset", "3"), ("--set", short[0], "--set", short[1])):
            self.assertNotEqual(self.scores("-c", PROGRAMS.config, "--beam-size", "1", *one), greedy, one)
        shown = run("nmt-eval", "-c", PROGRAMS.config, "--set", "decoding.beam_size=7", "--print-config")
        self.assertIn("beam_size: 7", shown.stdout.decode())

    def test_confidence(self):
        self.assertRegex(self.scores("-c", PROGRAMS.config, "--confidence")[0], r"bs:1000\|seed:\d+.* = .*μ = ")


if __name__ == "__main__":
    main(__doc__)
