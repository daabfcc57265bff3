"""Runs nmt-translate as users do, with a small model that is trained for it on the built-in corpus.

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
import select
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

    def test_a_killed_run_resumes(self):
        source, out = self.folder / "in.txt", self.folder / "out.txt"
        source.write_text("\n".join(PROGRAMS.sources()[:200] * 20))
        command = ["-i", str(source), "-o", str(out), "--alignment-out", str(out) + ".links", "--sampling", "--beam-size",
                   "1", "--buffer-lines", "50", "--threads", "1"]
        whole = self.folder / "whole.txt"
        links = Path(str(out) + ".links")
        self.assertEqual(translate("-q", *[str(whole) if part == str(out) else part for part in command]).returncode, 0)
        whole_links = links.read_bytes()
        links.unlink()
        for number in (signal.SIGKILL, signal.SIGTERM):
            process = self.start(*command)
            deadline = time.monotonic() + PATIENCE
            size = max((path.stat().st_size for path in self.folder.glob("out.txt.*.partial")), default=0)
            while time.monotonic() < deadline:
                kept = [path for path in self.folder.glob("out.txt.*.partial") if not path.name.startswith("out.txt.links")]
                if kept and kept[0].stat().st_size > size:
                    break
                time.sleep(0.005)
            process.send_signal(number)
            self.assertIn(process.wait(PATIENCE), (-9, 143))
            self.assertFalse(out.exists())
        done = translate(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr.decode(), r"out\.txt\.\w{12}\.partial: [\d,]+ lines are there from before")
        self.assertEqual(out.read_bytes(), whole.read_bytes())
        self.assertEqual(links.read_bytes(), whole_links)
        self.assertEqual(sorted(os.listdir(self.folder)), ["in.txt", "out.txt", "out.txt.links", "whole.txt"])

    def test_samples_of_a_part_are_those_of_the_whole(self):
        lines = PROGRAMS.sources()[:20]
        sampling = ("-q", "--sampling", "--beam-size", "1", "--temperature", "2")
        whole = self.lines_of(translate(*sampling, text="\n".join(lines)))
        rest = "\n".join(lines[12:])
        self.assertEqual(self.lines_of(translate(*sampling, "--first-line", "13", text=rest)), whole[12:])
        self.assertNotEqual(self.lines_of(translate(*sampling, text=rest)), whole[12:])

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
            self.assertRegex(version.stdout.decode(),
                             rf"^{program} [0-9.]+\nLibTorch .*\nkernels: \w+\nSentencePiece [0-9.]+\n")
            self.assertIn("--beam-size", run(program, "--help").stdout.decode())


if __name__ == "__main__":
    main(__doc__)
