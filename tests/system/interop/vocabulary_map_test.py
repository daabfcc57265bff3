"""training.init_vocabulary: map: a run keeps the weights of a model and takes another vocabulary. The rows of pieces that
both have are the same, new ones begin as the mean of those that spell them; it trains, resumes and translates.

    vocabulary_map_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import array
import json
import struct

import interop_support as support

CONFIG = """
data: {{dir: {work}/prepared, train1: {work}/corpus/train.de, train2: {work}/corpus/train.en,
       eval1: {work}/corpus/valid.de, eval2: {work}/corpus/valid.en, vocab_size: {pieces}}}
training: {{init_from: {model}, init_vocabulary: map, batch_size: 16, num_epochs: 0, max_updates: {updates}, lr: {lr},
           schedule: constant, warmup_steps: 0, checkpoint_every: 0}}
validation: {{every: {updates}, max_sentences: 20, samples: 0}}
run: {{dir: {work}/run, threads: 1, precision: fp32}}
"""


def rows(path, name):
    """The rows of a matrix, or the numbers of a vector."""
    data = (path / "model.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8:8 + size])[name]
    values = array.array("f", data[8 + size:][slice(*entry["data_offsets"])])
    width = entry["shape"][1] if len(entry["shape"]) > 1 else 1
    return [list(values[i:i + width]) for i in range(0, len(values), width)]


def pieces(folder):
    return [line.split("\t")[0] for line in (folder / "spm.vocab").read_text().splitlines()]


class Mapped(support.Case):
    def prepare(self, name, count, updates, lr):
        (self.folder / "corpus").symlink_to(self.programs.corpus())
        self.model = self.programs.model(name)
        self.config = self.folder / "mine.yaml"
        self.config.write_text(CONFIG.format(work=self.folder, model=self.model, pieces=count, updates=updates, lr=lr))
        self.programs.must("nmt-prepro", "-c", self.config)

    def check(self, name, tables, count):
        self.prepare(name, count, updates=1, lr=1e-8)
        self.programs.must("nmt-train", "-c", self.config)
        log = (self.folder / "run" / "log.txt").read_text()
        self.assertIn(f"the weights start from {self.model}, mapped to another vocabulary (source: {count} pieces, ", log)
        old = {piece: i for i, piece in enumerate(pieces(self.model.parents[1] / "prepared-train"))}
        new, made = pieces(self.folder / "prepared"), self.folder / "run" / "checkpoints" / "00000001"
        kept = [(i, old[piece]) for i, piece in enumerate(new) if piece in old]
        self.assertEqual(len(new), count)
        self.assertGreater(len(kept), 100)
        for table in tables:
            before, after = rows(self.model, table), rows(made, table)
            self.assertEqual(len(after), count)
            for there, here in kept:
                self.assertLess(max(abs(x - y) for x, y in zip(after[there], before[here])), 1e-6, table)
        return log

    def test_a_smaller_vocabulary_of_one_table(self):
        log = self.check("post", ["embedding"], 300)
        self.assertIn("validation before the first update", log)

    def test_a_larger_vocabulary_of_three_tables(self):
        self.check("pre", ["source_embedding", "target_embedding", "output_weight", "output_bias"], 700)

    def test_it_trains_and_resumes(self):
        self.prepare("post", 300, updates=40, lr=0.002)
        self.programs.must("nmt-train", "-c", self.config, "--set", "training.max_updates=20")
        self.programs.must("nmt-train", "-c", self.config)
        validations = (self.folder / "run" / "validations.tsv").read_text().splitlines()
        losses = [float(line.split("\t")[validations[0].split("\t").index("loss")]) for line in validations[1:]]
        self.assertLess(losses[-1], losses[0] - 0.3)
        lines = (self.folder / "corpus" / "test.de").read_text().splitlines()[:3]
        self.assertEqual(len(self.programs.translate(self.folder / "run" / "best", lines, 1)), 3)


if __name__ == "__main__":
    support.main(__doc__)
