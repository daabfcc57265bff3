"""Whole runs of nmt-prepro: its command line, its exit codes, what stays behind when it is stopped, and its memory.

Usage: prepro_test.py PROGRAM [Class or Class.test ...]
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "nmt-prepro"


def made_up_words(count, seed=5):
    """Words of two to six syllables, enough of them to keep SentencePiece busy."""
    dice = random.Random(seed)
    syllables = [c + v for c in "bdfghklmnprstvwz" for v in "aeiou"]
    return ["".join(dice.choice(syllables) for _ in range(dice.randint(2, 6))) for _ in range(count)]


def write_corpus(stem, pairs, words, seed=1):
    """STEM.de and STEM.en with `pairs` pairs of distinct sentences, each of 3 to 8 words and a number."""
    dice = random.Random(seed)
    pool = dice.choices(words, k=100_000)
    with open(f"{stem}.de", "w") as source, open(f"{stem}.en", "w") as target:
        for i in range(pairs):
            at, length = (i * 7919) % (len(pool) - 10), 3 + i % 6
            sentence = " ".join(pool[at : at + length])
            source.write(f"{sentence} {i}.\n")
            target.write(f"{i} {sentence}.\n")


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="nmt-prepro-")
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def config(self, text="", pairs=2000, words=3000):
        write_corpus(self.path / "train", pairs, made_up_words(words))
        lines = ["data:", "  dir: out/prepared", "  train1: train.de", "  train2: train.en", "  vocab_size: 400"]
        (self.path / "config.yaml").write_text("\n".join(lines) + "\n" + text)

    def start(self, *arguments, **options):
        return subprocess.Popen(
            [PROGRAM, *arguments],
            cwd=self.path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def run_program(self, *arguments, expect=0, text=None, **options):
        if text is not None:
            options["stdin"] = subprocess.PIPE
        process = self.start(*arguments, **options)
        output, log = process.communicate(text)
        self.assertEqual(process.returncode, expect, log)
        return output, log

    def assert_one_line(self, log, *parts):
        """The last line is the error, and the only one."""
        last = log.splitlines()[-1]
        self.assertTrue(last.startswith("nmt-prepro: "), log)
        self.assertEqual(sum(line.startswith("nmt-prepro: ") for line in log.splitlines()), 1, log)
        for part in parts:
            self.assertIn(part, last)

    def names(self, folder="out"):
        root = self.path / folder
        return sorted(str(p.relative_to(root)) for p in root.rglob("*")) if root.exists() else []

    def contents(self):
        return {name: (self.path / "out" / name).read_bytes() for name in self.names() if "." in name}


class CommandLine(Case):
    def test_help_and_version(self):
        output, log = self.run_program("--help")
        for option in ("--config", "--set", "--print-config", "--overwrite", "--version"):
            self.assertIn(option, output)
        self.assertEqual(log, "")
        output, _ = self.run_program("--version")
        self.assertRegex(output, r"^nmt-prepro \d+\.\d+")
        self.assertIn("SentencePiece 0.", output)

    def test_print_config(self):
        self.config()
        output, log = self.run_program(
            "-c", "config.yaml", "--print-config", "--set", "data.vocab_size=77", "--set", "run.seed=9"
        )
        self.assertIn("  vocab_size: 77\n", output)
        self.assertIn("  seed: 9\n", output)
        self.assertEqual(log, "")
        self.assertEqual(self.names(), [])
        (self.path / "printed.yaml").write_text(output)
        self.assertEqual(self.run_program("-c", "printed.yaml", "--print-config")[0], output)
        changed, _ = self.run_program("-c", "printed.yaml", "--print-config", "changed")
        self.assertEqual(changed, "data:\n  dir: out/prepared\n  train1: [train.de]\n  train2: [train.en]\n"
                                  "  vocab_size: 77\nrun:\n  seed: 9\n")
        _, log = self.run_program("-c", "printed.yaml", "--print-config", "some", expect=2)
        self.assert_one_line(log, "--print-config: 'some' is neither all nor changed")

    def test_moses_tokens(self):
        lines = "Dr. Kim's \"test\" [x], no. 5-3...\nz.B.\n\nlast\n"
        tokens = "Dr. Kim &apos;s &quot; test &quot; &#91; x &#93; , no . 5 @-@ 3 ...\nz.B.\n\nlast\n"
        unended = lines.replace("\n", "\r\n")[:-2]
        self.assertEqual(self.run_program("--tokenize", "en", "--split-dashes", text=unended), (tokens, ""))
        self.assertEqual(self.run_program("--detokenize", "en", text=tokens), (lines, ""))
        self.assertEqual(self.run_program("--tokenize", "de", "--no-escape", text="<a>\n"), ("< a >\n", ""))
        self.assertEqual(self.run_program("--tokenize", "de", text=""), ("", ""))
        for arguments, part in (
            (["--tokenize", "it"], "knows de, en and fr, not 'it'"),
            (["--tokenize", "de", "-c", "x"], "--config"),
            (["--tokenize", "de", "--detokenize", "de"], "--detokenize"),
            (["--detokenize", "de", "--split-dashes"], "--tokenize"),
            (["--no-escape", "-c", "x"], "--no-escape"),
        ):
            self.assert_one_line(self.run_program(*arguments, expect=2, text="")[1], part)

    def test_a_byte_order_mark_is_no_text(self):
        self.config(pairs=300)
        self.run_program("-c", "config.yaml")
        text = (self.path / "train.de").read_text().split("\n")[0]
        for arguments in (["--tokenize", "de"], ["--detokenize", "de"], ["--encode", "out/prepared"]):
            plain, _ = self.run_program(*arguments, text=f"{text}\n{text}\n")
            marked, _ = self.run_program(*arguments, text=f"\ufeff{text}\n{text}\n")
            self.assertEqual(marked, plain)

    def test_empty_values(self):
        for name in ("--config", "--tokenize", "--detokenize", "--encode", "--decode"):
            _, log = self.run_program(name, "", expect=2, text="")
            self.assert_one_line(log, f"{name}: is empty")

    def test_a_full_disk_behind_standard_output(self):
        text = "ein Haus\n" * 20_000  # more than one buffer
        with open("/dev/full", "w") as full:
            process = subprocess.run([PROGRAM, "--tokenize", "de"], input=text, stdout=full, stderr=subprocess.PIPE,
                                     text=True, cwd=self.path)
        self.assertEqual(process.returncode, 1)
        self.assert_one_line(process.stderr, "standard output: cannot write (No space left on device)")

    def test_files_that_it_may_not_have_made(self):
        self.config()
        own = self.path / "out/own"
        own.mkdir(parents=True)
        (own / "spm.model").write_text("mine")
        _, log = self.run_program("-c", "config.yaml", "--set", "data.dir=out/own", expect=2)
        self.assert_one_line(log, "data.dir out/own: holds spm.model but no manifest.json", "--overwrite")
        (self.path / "train.de").rename(own / "train.bin")
        _, log = self.run_program("-c", "config.yaml", "--set", "data.dir=out/own", "--set", "data.train1=out/own/train.bin",
                                  "--overwrite", expect=2)
        self.assert_one_line(log, "data.train1 out/own/train.bin: lies in data.dir out/own")
        self.assertEqual(self.names(), ["own", "own/spm.model", "own/train.bin"])

    def test_options_that_nothing_reads(self):
        for arguments, part in (
            (["--tokenize", "en", "--set", "training.nonsense=3"], "--set: goes with --config"),
            (["--detokenize", "en", "--overwrite"], "--overwrite: goes with --config"),
            (["--encode", "x", "--print-config"], "--print-config: goes with --config"),
            (["--tokenize", "en", "--side", "target"], "--side: goes with --encode or --decode"),
            (["--tokenize", "en", "--ids"], "--ids: goes with --encode or --decode"),
            (["-c", "x", "--side", "target"], "--side: goes with --encode or --decode"),
            (["-c", "x", "--ids"], "--ids: goes with --encode or --decode"),
            (["--encode", "x", "--no-escape"], "--no-escape: goes with --tokenize or --detokenize"),
            (["--decode", "x", "--no-escape"], "--no-escape: goes with --tokenize or --detokenize"),
        ):
            with self.subTest(arguments):
                output, log = self.run_program(*arguments, expect=2, text="")
                self.assertEqual(output, "")
                self.assert_one_line(log, part)

    def test_what_the_user_must_change(self):
        self.config()
        cases = [
            ([], ["--config"]),
            (["-c", "none.yaml"], ["none.yaml"]),
            (["-c", "config.yaml", "surplus"], ["surplus"]),
            (["-c", "config.yaml", "--overwrit"], ["--overwrit"]),
            (["-c", "config.yaml", "--set", "data.vocab_siz=9"], ["vocab_size"]),
            (["-c", "config.yaml", "--set", "data.train2=none.en"], ["data.train2 none.en"]),
            (["-c", "config.yaml", "--set", "data.train2=."], ["data.train2 .", "folder"]),
            (["-c", "config.yaml", "--set", "data.train1=[]", "--set", "data.train2=[]"], ["no training text"]),
            (["-c", "config.yaml", "--set", "data.train2=config.yaml"], ["data.train2 config.yaml: 5 sentences", "2000"]),
            (["-c", "config.yaml", "--set", "data.vocab_size=90000"], ["data.vocab_size", "at most"]),
            (["-c", "config.yaml", "--set", "data.maxlen1=2"], ["no pair of the training text is left"]),
            (["-c", "config.yaml", "--set", "data.spm_model1=config.yaml"], ["data.spm_model1 config.yaml"]),
            (["-c", "config.yaml", "--set", "data.dir=train.de"], ["train.de", "folder"]),
            (["-c", "config.yaml", "--set", "data.dir=."], ["data.dir .", "did not make"]),
        ]
        for arguments, parts in cases:
            with self.subTest(arguments):
                output, log = self.run_program(*arguments, expect=2)
                self.assertEqual(output, "")
                self.assert_one_line(log, *parts)
                self.assertEqual(self.names(), [])
        leftovers = {p.name for p in self.path.iterdir()} - {"config.yaml", "train.de", "train.en", "out"}
        self.assertEqual(leftovers, set())

    def test_a_run_a_second_and_others(self):
        self.config()
        output, log = self.run_program("-c", "config.yaml")
        self.assertRegex(output, r"train.de \+ train.en +2,000 +2,000")
        self.assertIn("out/prepared is written", log)
        files = self.contents()
        self.assertEqual(set(files), {f"prepared/{n}" for n in ("manifest.json", "spm.model", "spm.vocab", "train.bin")})
        manifest = json.loads(files["prepared/manifest.json"])
        self.assertEqual(manifest["splits"][0]["pairs"], 2000)
        self.assertEqual(len(manifest["inputs"][0]["sha256"]), 64)

        again, log = self.run_program("-c", "config.yaml")
        self.assertEqual(again, output)
        self.assertIn("up to date: nothing to do", log)
        self.assertEqual(self.contents(), files)

        other = ["-c", "config.yaml", "--set", "data.vocab_size=300"]
        _, log = self.run_program(*other, expect=2)
        self.assert_one_line(log, "data.vocab_size: 400 -> 300", "--overwrite")
        self.assertEqual(self.contents(), files)
        self.run_program(*other, "--overwrite")
        self.assertNotEqual(self.contents()["prepared/spm.model"], files["prepared/spm.model"])
        self.assertEqual(self.names(), ["prepared", *sorted(files)])

    def test_pieces_and_back(self):
        self.config(pairs=300)
        self.run_program("-c", "config.yaml")
        text = (self.path / "train.de").read_text().splitlines()[:50]
        for form in ([], ["--ids"]):
            pieces, log = self.run_program("--encode", "out/prepared", *form, text="\n".join(text) + "\n\n")
            self.assertEqual(log, "")
            self.assertEqual(len(pieces.splitlines()), 51)
            back, _ = self.run_program("--decode", "out/prepared", *form, text=pieces)
            self.assertEqual(back.splitlines(), text + [""])
        vocabulary = (self.path / "out/prepared/spm.vocab").read_text().split("\n")
        first = [vocabulary[int(id)].split("\t")[0] for id in pieces.split("\n")[0].split()]
        self.assertEqual("".join(first).replace("\u2581", " ").strip(), text[0])
        _, log = self.run_program("--decode", "out/prepared", text="\u2581\nnopiece\n", expect=2)
        self.assert_one_line(log, "standard input:2: 'nopiece' is no piece")
        self.run_program("--encode", ".", text="", expect=2)
        self.run_program("--ids", "-c", "config.yaml", expect=2)


class Interrupted(Case):
    def wait_for_training(self, process):
        """Until SentencePiece is at work: its line in the log, and a moment more."""
        self.wait_for_its_line(process)
        time.sleep(0.3)
        self.assertIsNone(process.poll(), "it ended before it could be stopped")

    def wait_for_its_line(self, process):
        for line in process.stderr:
            if "SentencePiece: bpe model" in line:
                return

    def children(self, process):
        path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        return [int(child) for child in path.read_text().split()] if path.exists() else []

    def slow_config(self):
        self.config(pairs=30_000, words=30_000)
        return ["-c", "config.yaml", "--set", "data.vocab_size=20000"]

    def test_signals_leave_nothing(self):
        arguments = self.slow_config()
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start(*arguments)
            self.wait_for_training(process)
            process.send_signal(number)
            log = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, code, log)
            self.assertIn("stopped; nothing was written", log)
            self.assertEqual(self.names(), [])

    def test_what_comes_during_a_run_is_kept(self):
        arguments = self.slow_config()
        process = self.start(*arguments, "--set", "data.vocab_size=400")
        self.wait_for_its_line(process)  # the folder has been checked
        (self.path / "out/prepared").mkdir(parents=True)
        (self.path / "out/prepared/precious.txt").write_text("mine")
        log = process.communicate(timeout=300)[1]
        self.assertEqual(process.returncode, 0, log)
        self.assertIn("prepared.kept-1: the folder that was replaced; it is kept", log)
        self.assertEqual(self.names(), ["prepared", "prepared.kept-1", "prepared.kept-1/precious.txt"]
                         + [f"prepared/{name}" for name in ("manifest.json", "spm.model", "spm.vocab", "train.bin")])

    def test_a_kill_leaves_nothing_that_counts(self):
        arguments = self.slow_config()
        process = self.start(*arguments)
        self.wait_for_training(process)
        deadline = time.monotonic() + 60
        while not (children := self.children(process)):
            self.assertLess(time.monotonic(), deadline, "no trainer was started")
            time.sleep(0.02)
        process.kill()
        process.communicate()
        self.assertFalse((self.path / "out/prepared").exists())
        time.sleep(0.3)
        for child in children:
            state = Path(f"/proc/{child}/stat")
            self.assertTrue(not state.exists() or state.read_text().split()[2] == "Z", "the trainer lives on")
        self.run_program(*arguments, "--set", "data.vocab_size=400")
        self.assertEqual(self.names(), ["prepared"] + [f"prepared/{n}" for n in ("manifest.json", "spm.model", "spm.vocab", "train.bin")])

    def test_a_full_disk_is_said_in_one_line(self):
        self.config()
        self.run_program("-c", "config.yaml")
        before = self.contents()

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

        _, log = self.run_program(
            "-c", "config.yaml", "--overwrite", "--set", "data.vocab_size=300", expect=1, preexec_fn=small_files
        )
        self.assert_one_line(log, "cannot write", "File too large")
        self.assertEqual(self.contents(), before)


class Threads(Case):
    """What is written and what is said do not depend on the number of threads."""

    def prepare(self, threads, *arguments, expect=0):
        output, log = self.run_program(
            "-c", "config.yaml", "--set", f"run.threads={threads}", "--set", f"data.dir=out/{threads}", *arguments, expect=expect
        )
        folder = self.path / f"out/{threads}"
        files = {p.name: p.read_bytes() for p in folder.iterdir()} if folder.exists() else {}
        return output, log, files

    def test_folders_are_the_same_bytes(self):
        for settings in ("", "  joint_vocabulary: false\n  lowercase: true\n  drop_duplicates: true\n  shortlist: 5\nmodel:\n  tie_embeddings: none\n"):
            self.config(settings, pairs=9000)  # several blocks, the last one short
            with open(self.path / "train.de", "a") as source, open(self.path / "train.en", "a") as target:
                for text in ("Ein  \u00a0Rest.", "", "Ein  \u00a0Rest.", "\u2581 \u00a8 \ufb01", "Wort " * 3000):
                    source.write(text + "\n")
                    target.write(text + "\n")
            output, log, files = self.prepare(1)
            self.assertRegex(log, r"\d s, of these:\n")
            for stage in ("reading and filtering", "vocabulary", "encoding", "writing", "checksums"):
                self.assertRegex(log, rf" %  +\d+\.\d s  {stage}\n")
            self.assertEqual("shortlist.bin" in files, "shortlist" in settings)
            for threads in (2, 3):
                others = self.prepare(threads)
                self.assertEqual(others[0], output)
                # The manifest names the options, and these the folder.
                for name in files.keys() - {"manifest.json"}:
                    self.assertEqual(others[2][name], files[name], f"{name} of {threads} threads")
                manifests = [json.loads(f["manifest.json"]) for f in (files, others[2])]
                for manifest in manifests:
                    manifest["options"].pop("dir", None)
                self.assertEqual(manifests[0], manifests[1])
            for folder in (self.path / "out").iterdir():
                shutil.rmtree(folder)

    def test_the_first_bad_line_is_reported(self):
        self.config(pairs=9000)
        for name, number in (("train.de", 8001), ("train.de", 7900), ("train.en", 7950)):
            path = self.path / name
            lines = path.read_bytes().split(b"\n")
            lines[number - 1] += b"\xff"
            path.write_bytes(b"\n".join(lines))
        for threads in (1, 3):
            _, log, files = self.prepare(threads, expect=2)
            self.assert_one_line(log, "data.train1 train.de:7900: byte ", "is not UTF-8")
            self.assertEqual(files, {})


class Memory(Case):
    def peak(self, pairs):
        """Megabytes of a run; the number of lines that SentencePiece learns from is the same for all."""
        write_corpus(self.path / "train", pairs, made_up_words(3000))
        (self.path / "config.yaml").write_text(
            "data:\n  dir: out/prepared\n  train1: train.de\n  train2: train.en\n  vocab_size: 2000\n"
            "  spm_sentences: 20000\nrun:\n  threads: 2\n"
        )
        begin = time.monotonic()
        with open(self.path / "log", "w") as log:
            process = subprocess.Popen([PROGRAM, "-c", "config.yaml", "--overwrite"], cwd=self.path, stdout=log, stderr=log)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, (self.path / "log").read_text())
        manifest = json.loads((self.path / "out/prepared/manifest.json").read_text())
        self.assertEqual(manifest["splits"][0]["pairs"], pairs)
        megabytes = usage.ru_maxrss / 1024
        print(f"{pairs} pairs: {megabytes:.0f} MB, {time.monotonic() - begin:.0f} s", file=sys.stderr)
        return megabytes

    def test_memory_hardly_grows_with_the_text(self):
        small, large = self.peak(40_000), self.peak(240_000)
        # 200,000 pairs more are 52 MB of text and ids; to find duplicates 24 bytes a pair are needed.
        self.assertLess(large - small, 20)


class LongMemory(Memory):
    def test_memory_hardly_grows_with_the_text(self):
        # The table that finds duplicates: 2^23 slots of 8 bytes, and half as much while it grows.
        self.assertLess(self.peak(5_000_000), 300)


def anonymous_megabytes(pid):
    """Memory of a process that no file stands behind; 0 when it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return 0
    return next((int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith("RssAnon:")), 0)


class LongDuplicates(Case):
    """NMT_PREPRO_PAIRS short pairs, one in ten a repetition: more than are kept in memory to find repetitions."""

    def test_each_is_found_in_bounded_memory(self):
        pairs = int(os.environ.get("NMT_PREPRO_PAIRS", 25_000_000)) // 20 * 20
        words = list(dict.fromkeys(made_up_words(3000)))[:1000]
        with open(self.path / "train.de", "w") as source, open(self.path / "train.en", "w") as target:
            for i in range(pairs):
                key = i if i % 10 != 9 else i // 20 * 10  # a multiple of ten: stands there once, and before
                sentence = f"{words[key % 1000]} {words[key // 1000 % 1000]} {words[key // 1000000]}\n"
                source.write(sentence)
                target.write(sentence)
        (self.path / "config.yaml").write_text(
            "data:\n  dir: out/prepared\n  train1: train.de\n  train2: train.en\n  vocab_size: 2000\n"
            "  spm_sentences: 20000\n  drop_duplicates: true\nrun:\n  threads: 2\n"
        )
        begin, peak = time.monotonic(), 0
        with open(self.path / "log", "w") as log:
            process = subprocess.Popen([PROGRAM, "-c", "config.yaml"], cwd=self.path, stdout=log, stderr=log)
            while process.poll() is None:
                peak = max(peak, anonymous_megabytes(process.pid))
                time.sleep(0.05)
        self.assertEqual(process.returncode, 0, (self.path / "log").read_text())
        print(f"{pairs} pairs: {peak:.0f} MB, {time.monotonic() - begin:.0f} s", file=sys.stderr)
        manifest = json.loads((self.path / "out/prepared/manifest.json").read_text())
        # i // 20 * 10 is the same for i = 9 and 19 of each 20: both repeat the pair that they name.
        self.assertEqual(manifest["splits"][0]["pairs"], pairs - pairs // 10)
        self.assertLess(peak, 1000)
        self.assertEqual(self.names("out"), ["prepared", *(f"prepared/{name}" for name in
                                                           ("manifest.json", "spm.model", "spm.vocab",
                                                            "train.bin"))])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *(sys.argv[2:] or ["CommandLine", "Interrupted", "Threads", "Memory"])])
