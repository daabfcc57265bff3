"""A line-to-line task on words, from raw files to translations: sorting digits.

    words_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

Trains a tiny Transformer with word vocabularies (some 15 seconds). Python's standard library only.
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

PATIENCE = 600  # seconds; the machine may be busy

CONFIG = """
data:
  dir: {work}/prepared
  source_language: shuffled
  target_language: sorted
  train1: {work}/train.shuffled
  train2: {work}/train.sorted
  eval1: {work}/valid.shuffled
  eval2: {work}/valid.sorted
  tokenizer: words
  joint_vocabulary: false
  min_cnt: 2
  maxlen1: 8
  maxlen2: 8
model: {{d_model: 64, d_ff: 128, num_blocks: 1, num_heads: 4, norm: pre, dropout_rate: 0, positions: learned,
         max_positions: 12, tie_embeddings: none}}
training: {{batch_type: sentences, batch_size: 64, pool_batches: 20, last_batch: drop, num_epochs: 0, max_updates: 800,
            lr: 0.005, warmup_steps: 100, smoothing: 0, checkpoint_every: 0}}
validation: {{every: 800, metrics: [loss, bleu], best_metric: loss, max_sentences: 50}}
run: {{dir: {work}/run, threads: 1}}
"""

PROGRAMS = WORK = None  # set by main


def run(name, *arguments, text=None):
    return subprocess.run([str(PROGRAMS / name), *map(str, arguments)], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=PATIENCE, text=True)


def pairs(count, seed):
    """Lines of 3 to 6 digits, and the same in order."""
    generator = random.Random(seed)
    rows = [[generator.choice("0123456789") for _ in range(generator.randint(3, 6))] for _ in range(count)]
    return [" ".join(row) for row in rows], [" ".join(sorted(row)) for row in rows]


def with_names(source, target):
    """Every third line with a word that stands nowhere else; in order, it comes last."""
    generator = random.Random(4)
    for i in range(0, len(source), 3):
        words = source[i].split()[:5]
        target[i] = " ".join(sorted(words)) + f" name{i}"
        words.insert(generator.randint(0, len(words)), f"name{i}")
        source[i] = " ".join(words)
    return source, target


def write(name, source, target):
    for side, lines in (("shuffled", source), ("sorted", target)):
        (WORK / f"{name}.{side}").write_text("\n".join(lines) + "\n")


class Words(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        (WORK / "config.yaml").write_text(CONFIG.format(work=WORK))
        source, target = with_names(*pairs(20000, 1))
        write("train", ["once"] + source, ["once"] + target)
        write("valid", *pairs(200, 2))
        for name in ("nmt-prepro", "nmt-train"):
            done = run(name, "-c", WORK / "config.yaml")
            if done.returncode != 0:
                raise RuntimeError(f"{name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")

    def translate(self, *lines, options=()):
        text = "".join(line + "\n" for line in lines)
        done = run("nmt-translate", "-m", WORK / "run" / "best", *options, text=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_learns_to_sort_digits(self):
        source, target = pairs(500, 3)
        right = sum(found == expected for found, expected in zip(self.translate(*source), target))
        self.assertGreater(right / len(target), 0.9)

    def test_vocabularies_are_the_words_by_count(self):
        for side in ("shuffled", "sorted"):
            rows = [line.split("\t") for line in (WORK / "prepared" / f"{side}.vocab.tsv").read_text().splitlines()]
            self.assertEqual([word for word, _ in rows[:4]], ["<PAD>", "<UNK>", "<S>", "</S>"])
            self.assertEqual(sorted(word for word, count in rows[4:] if count != "1"), sorted("0123456789"))
            counts = [int(count) for _, count in rows[4:]]
            self.assertEqual(counts, sorted(counts, reverse=True))
            self.assertIn(["once", "1"], rows)  # in the file, but rarer than data.min_cnt
            self.assertEqual((WORK / "run" / "best" / f"{side}.vocab.tsv").read_bytes(),
                             (WORK / "prepared" / f"{side}.vocab.tsv").read_bytes())
        model = json.loads((WORK / "run" / "best" / "model.json").read_text())
        self.assertEqual(model["source_vocabulary"], 14)

    def test_unknown_words_are_copied_where_asked(self):
        source, target = with_names(*pairs(300, 5))
        source, target = source[::3], target[::3]  # those with a name
        plain, copied = self.translate(*source), self.translate(*source, options=("--copy-unknown",))
        right = sum(found.endswith(" <UNK>") for found in plain)
        self.assertGreater(right, 80)
        self.assertEqual(sum("<UNK>" in found for found in copied), 0)
        # Attention is no alignment: of four words that it could look at it finds the right one more often than not.
        self.assertGreater(sum(found == expected for found, expected in zip(copied, target)), right / 2)

    def test_any_line_is_taken(self):
        lines = self.translate("", "a word that it does not know", " 3  1\t2 ", " ".join("98765432109876543210"))
        self.assertEqual(len(lines), 4)
        self.assertEqual(lines[0], "")
        self.assertEqual(lines[2], "1 2 3")

    def test_the_same_data_is_not_made_again(self):
        done = run("nmt-prepro", "-c", WORK / "config.yaml")
        self.assertIn("is up to date: nothing to do", done.stdout + done.stderr)


def main():
    global PROGRAMS, WORK
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--work", required=True, type=lambda text: pathlib.Path(text).resolve())
    arguments, rest = parser.parse_known_args()
    PROGRAMS, WORK = arguments.programs, arguments.work
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
