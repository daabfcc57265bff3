"""nmt-prepro --clean: twelve kinds of bad pairs planted among real captions, parts on many machines, refusals, memory.

Usage: cleaning_test.py PROGRAM [Class or Class.test ...]

The captions are those of data/multi30k of $NMT_SHARED (else of ../shared beside the project); without them the first
part is skipped. It prints how many pairs of each kind are dropped, by which rules.
"""

import collections
import gzip
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "nmt-prepro"
SOURCE = pathlib.Path(__file__).resolve().parents[3]
CAPTIONS = pathlib.Path(os.environ.get("NMT_SHARED", SOURCE / ".." / "shared")) / "data" / "multi30k"
WITHOUT_LANGUAGE = "[letters,copies,repetitions,numbers,addresses,markup,end_marks,held_out,near_duplicates]"


def captions(name):
    with gzip.open(CAPTIONS / f"{name}.gz", "rt", encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def planted(good=10_000):
    """[(source, target, kind)] of `good` pairs and of bad ones, in a random order but that repetitions stand behind."""
    german, english, french = captions("train.de"), captions("train.en"), captions("train.fr")
    dice = random.Random(7)
    order = dice.sample(range(len(german)), len(german))
    rows = [(german[i], english[i], "good") for i in order[:good]]
    rest = iter(order[good:])

    def take(count):
        return [next(rest) for _ in range(count)]

    bad = [(german[i], german[i], "target copied") for i in take(100)]
    bad += [(german[i], french[i], "French target") for i in take(100)]
    bad += [(english[i], english[i], "both sides English") for i in take(100)]
    others = take(100)
    bad += [(german[a], english[b], "shuffled") for a, b in zip(others, others[1:] + others[:1])]
    for i in take(100):
        words = english[i].split()
        bad.append((german[i], " ".join(words[: max(1, len(words) // 4)]), "cut to a quarter"))
    bad += [(f"{german[i]} http://www.example.org/{i}", english[i], "address") for i in take(50)]
    for i in take(50):
        signs = f"{i} / {3 * i} -- {7 * i} ***"
        bad.append((signs, signs, "digits and signs"))
    bad += [(f"{german[i]} {i % 80 + 15}", f"{english[i]} {i % 80 + 16}", "other number") for i in take(50)]
    bad += [("a" * i, "a" * i, "one letter repeated") for i in range(10, 60)]
    bad += [(german[i], "", "empty") for i in take(20)]
    again = [(*rows[i][:2], "duplicate") for i in dice.sample(range(good), 100)]
    again += [(rows[i][0].upper(), rows[i][1].rstrip(".") + " !", "near duplicate") for i in dice.sample(range(good), 100)]
    rows += bad
    dice.shuffle(rows)
    dice.shuffle(again)
    return rows + again


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="nmt-cleaning-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def clean(self, *arguments, expect=0):
        done = subprocess.run([PROGRAM, "--clean", *arguments], cwd=self.path, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stdout if expect == 0 else done.stderr.splitlines()[-1]

    def has_detector(self):
        (self.path / "one.tsv").write_text("Hallo\tHello\n")
        return subprocess.run([PROGRAM, "--clean", "one.tsv", "two.tsv", "--set", "data.clean=language"], cwd=self.path,
                              capture_output=True, check=False).returncode == 0


@unittest.skipUnless(CAPTIONS.is_dir(), f"no {CAPTIONS}")
class Planted(Case):
    def test_every_kind_is_found_but_what_needs_understanding(self):
        if not self.has_detector():
            self.skipTest("no language detector in this build")
        rows = planted()
        (self.path / "in.tsv").write_text("".join(f"{source}\t{target}\n" for source, target, _ in rows), encoding="utf-8")
        held_out = [f"--set=data.{option}={CAPTIONS}/{name}.gz" for option, name in
                    (("eval1", "val.de"), ("eval2", "val.en"), ("test1", "test_2016_flickr.de"), ("test2", "test_2016_flickr.en"))]
        self.clean("in.tsv", "out.tsv", *held_out, "--set", "data.clean=all", "--set", "data.max_length_ratio=3",
                   "--set", "data.drop_duplicates=true")
        pairs = collections.Counter(kind for *_, kind in rows)
        dropped = collections.defaultdict(collections.Counter)
        for line in (self.path / "out.dropped.tsv").read_text(encoding="utf-8").splitlines():
            number, _, rule, *_ = line.split("\t")
            dropped[rows[int(number) - 1][2]][rule] += 1
        for kind, count in pairs.items():
            print(f"{kind:20} {count:6} pairs, dropped {sum(dropped[kind].values()):4}  {dict(dropped[kind].most_common())}")
        for kind, count in pairs.items():
            least = {"good": 0, "shuffled": 0, "cut to a quarter": 90, "French target": 98}.get(kind, count)
            self.assertGreaterEqual(sum(dropped[kind].values()), least, kind)
        self.assertLessEqual(sum(dropped["good"].values()), 0.02 * pairs["good"])


class MadeUp(Case):
    def write(self, pairs):
        """`pairs` pairs of made-up words, each tenth of which repeats another one in other signs."""
        dice = random.Random(3)
        words = ["".join(dice.choice("bdfglmnrst") + dice.choice("aeiou") for _ in range(dice.randint(2, 4))) for _ in range(3000)]
        with open(self.path / "in.tsv", "w", encoding="utf-8") as file:
            for i in range(pairs):
                text = " ".join(words[(i * k) % len(words)] for k in (1, 7, 11, 13, 1 + i // len(words)))
                file.write(f"{text}\t{text[::-1]} x\n" if i % 10 else f"{text}!\t{text[::-1].upper()} x\n{text}\t{text[::-1]} X.\n")


class Program(MadeUp):
    def test_parts_are_merged_as_the_guide_says(self):
        self.write(5000)
        self.clean("in.tsv", "whole.tsv", "--set", f"data.clean={WITHOUT_LANGUAGE}")
        for i in (1, 2, 3):
            self.clean("in.tsv", f"part.{i}.tsv", "--shard", f"{i}/3", "--set", f"data.clean={WITHOUT_LANGUAGE}")
        merged = subprocess.run("LC_ALL=C sort -m -n -k 1,1 part.[1-3].tsv | cut -f 2-", shell=True, cwd=self.path,
                                capture_output=True, check=True).stdout
        self.assertEqual(merged, (self.path / "whole.tsv").read_bytes())
        merged = subprocess.run("LC_ALL=C sort -m -n -k 1,1 part.[1-3].dropped.tsv", shell=True, cwd=self.path,
                                capture_output=True, check=True).stdout
        self.assertEqual(merged, (self.path / "whole.dropped.tsv").read_bytes())
        self.assertIn(b"\tnear_duplicates\t1\t", merged)

    def test_a_pipe_is_read(self):
        (self.path / "a.de").write_text("Hallo Welt\nGuten Tag\n")
        (self.path / "a.en").write_text("Hello world\nGood day\n")
        done = subprocess.run(["bash", "-c", f"'{PROGRAM}' --clean <(paste a.de a.en) out.tsv"], cwd=self.path, check=True,
                              capture_output=True)
        self.assertIn(b"\n/dev/fd/", done.stdout)
        self.assertEqual((self.path / "out.tsv").read_text(), "Hallo Welt\tHello world\nGuten Tag\tGood day\n")

    def test_what_makes_no_sense_is_refused(self):
        (self.path / "in.tsv").write_text("Hallo\tHello\n")
        for arguments, part in ((["--shard", "0/2"], "--shard 0/2: must be I/N"), (["--shard", "3/2"], "--shard 3/2: must be"),
                                (["--shard", "1"], "--shard 1: must be"), (["--overwrite"], "--overwrite: goes with --config"),
                                (["--set", "data.uncleaned=[in]"], "--clean takes no data.uncleaned"),
                                (["--set", "data.clean=spelling"], "data.clean")):
            self.assertIn(part, self.clean("in.tsv", "out.tsv", *arguments, expect=2))
        self.assertIn("missing.tsv", self.clean("missing.tsv", "out.tsv", expect=2))
        self.assertEqual(sorted(path.name for path in self.path.iterdir()), ["in.tsv"])


class LongMemory(MadeUp):
    def test_ten_million_pairs_take_512_megabytes(self):
        self.write(9_100_000)
        table = self.clean("in.tsv", "out.tsv", "--set", f"data.clean={WITHOUT_LANGUAGE}")
        print(table)
        self.assertIn("10,010,000", table)
        megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"{megabytes:.0f} MB")
        self.assertLess(megabytes, 512)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(sys.argv[2:] or ["Planted", "Program"])])
