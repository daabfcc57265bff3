"""A ready model and some text: MarianMT models of every shape that transformers writes are imported, trained by a
configuration that names text and run alone, and exported again; a model of ours goes out, comes in and is adapted.

    adapt_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

Runs itself under the Python of scripts/interop_python.sh; exit code 77 where there is none.
"""

import csv
import itertools
import json
import math
import shutil

import interop_support as support

support.rerun_in_environment()

import sentencepiece  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from marian_models import SHAPES, ImportCase, Marian  # noqa: E402

CONFIG = """
data: {{dir: {work}/prepared, train1: {work}/train.de, train2: {work}/train.en,
       eval1: {work}/valid.de, eval2: {work}/valid.en}}
training: {{batch_size: 16, max_updates: {updates}, lr: {lr}, schedule: constant, warmup_steps: 0, checkpoint_every: 0}}
validation: {{every: {updates}, max_sentences: 20, samples: 0}}
run: {{dir: {work}/run, threads: 1, precision: fp32}}
"""
# All that MarianConfig says of tables, then other sizes, activations and start tokens.
TABLES = {f"shared {shared}, tied {tied}, scaled {scaled}":
          {"share_encoder_decoder_embeddings": shared, "tie_word_embeddings": tied, "scale_embedding": scaled}
          for shared, tied, scaled in itertools.product((True, False), repeat=3)}
OTHERS = {"relu, odd sizes": SHAPES["relu, odd sizes"],
          "one block, gelu": {"encoder_layers": 1, "decoder_layers": 1, "activation_function": "gelu"},
          "deep, shallow, silu": {"encoder_layers": 5, "decoder_layers": 1, "activation_function": "silu"},
          "starts from </s>": {"decoder_start_token_id": 0},
          "few positions, no dropout": {"max_position_embeddings": 64, "dropout": 0.0}}


def forced(model, pairs, start):
    """-log p of the targets' ids, a token, as transformers finds it."""
    total, count = 0.0, 0
    with torch.no_grad():
        for source, target in pairs:
            ids = torch.tensor([[start, *target]])
            logits = model(input_ids=torch.tensor([source]), decoder_input_ids=ids[:, :-1]).logits
            total -= float(logits.log_softmax(-1).gather(2, ids[:, 1:, None]).sum())
            count += len(target)
    return total / count


class AdaptCase(ImportCase):
    def text(self, train=64, valid=20, change=lambda line: line):
        corpus = self.programs.corpus()
        for side in ("de", "en"):
            for name, source, count in (("train", "train", train), ("valid", "valid", valid)):
                lines = (corpus / f"{source}.{side}").read_text().splitlines()[:count]
                lines = [change(line) for line in lines] if side == "en" else lines
                (self.folder / f"{name}.{side}").write_text("".join(line + "\n" for line in lines))

    def lines(self, side):
        return (self.folder / f"valid.{side}").read_text().splitlines()

    def adapt(self, model, updates, lr):
        config = self.folder / "mine.yaml"
        config.write_text(CONFIG.format(work=self.folder, updates=updates, lr=lr))
        for program in ("nmt-prepro", "nmt-train"):
            self.programs.must(program, "-c", config, "--from-model", model)
        with open(self.folder / "run" / "validations.tsv", newline="") as table:
            return {int(row["update"]): row for row in csv.DictReader(table, delimiter="\t")}


class EveryShape(AdaptCase):
    def check(self, shape):
        marian = Marian(self.folder / "marian", self.programs.corpus(), shape)
        vocabulary, pieces = marian.vocabularies[-1], marian.target
        labels = lambda line: [1 if pieces.is_unknown(i) else vocabulary[pieces.id_to_piece(i)]  # noqa: E731
                               for i in pieces.encode(line)] + [0]
        pairs = [(marian.encode(source), labels(target))
                 for source, target in zip(self.lines("de"), self.lines("en"))]
        expected = forced(marian.model, pairs, marian.model.config.decoder_start_token_id)
        imported = self.import_it(marian.folder)
        rows = self.adapt(imported, updates=2, lr=0.001)
        # The forward pass with labels before the first update, and the search's own scores: both are transformers'.
        self.assertAlmostEqual(math.log(float(rows[0]["perplexity"])), expected, delta=2e-4)
        scores = self.programs.translate(imported, self.lines("de"), 1, "--score", self.folder / "valid.en")
        found = -sum(float(line.split("\t")[-1]) for line in scores) / sum(len(target) for _, target in pairs)
        self.assertAlmostEqual(found, expected, delta=2e-4)
        self.assertLess(abs(float(rows[0]["loss"]) - expected), 6, "no token that cannot be weighs on the loss")
        self.assertNotEqual(rows[2]["perplexity"], rows[0]["perplexity"])
        # And out again: what was learnt is what transformers says of the exported folder.
        out = self.folder / "exported"
        self.programs.must("nmt-export", "-q", "-m", self.folder / "run/checkpoints/00000002", "--to", "marian", "-o",
                           out)
        model, report = transformers.MarianMTModel.from_pretrained(out, output_loading_info=True)
        self.assertFalse(any(report.values()), report)
        source, target = (sentencepiece.SentencePieceProcessor(model_file=str(out / f"{name}.spm"))
                          for name in ("source", "target"))
        end = model.config.eos_token_id
        pairs = [(source.encode(line) + [end], target.encode(reference) + [end])
                 for line, reference in zip(self.lines("de"), self.lines("en"))]
        found = forced(model.eval(), pairs, model.config.decoder_start_token_id)
        self.assertAlmostEqual(math.log(float(rows[2]["perplexity"])), found, delta=2e-4)

    def test_shapes(self):
        self.text()
        for name, shape in {**TABLES, **OTHERS}.items():
            with self.subTest(shape=name):
                for folder in ("marian", "imported", "prepared", "run", "exported"):
                    shutil.rmtree(self.folder / folder, ignore_errors=True)
                self.check(shape)


class RoundTrip(AdaptCase):
    def test_out_in_adapted(self):
        own, out = self.programs.model("post"), self.folder / "exported"
        self.programs.must("nmt-export", "-q", "-m", own, "--to", "marian", "-o", out)
        imported = self.import_it(out)
        self.text(train=600, valid=40, change=lambda line: line + ".")
        before = self.programs.translate(own, self.lines("de"), 4)
        rows = self.adapt(imported, updates=60, lr=0.0005)
        scores = self.programs.translate(own, self.lines("de"), 1, "--score", self.folder / "valid.en")
        pieces = self.programs.must("nmt-prepro", "--encode", own, "--side", "target",
                                    text=(self.folder / "valid.en").read_text()).splitlines()
        mean = -sum(map(float, scores)) / sum(len(line.split()) + 1 for line in pieces)
        self.assertAlmostEqual(math.log(float(rows[0]["perplexity"])), mean, delta=2e-4)
        self.assertLess(float(rows[60]["perplexity"]), 0.8 * float(rows[0]["perplexity"]))
        self.assertRegex((self.folder / "run" / "log.txt").read_text(), "validation before the first update: .* BLEU ")
        self.assertEqual(self.programs.translate(imported, self.lines("de"), 4), before)
        adapted = self.programs.translate(self.folder / "run" / "checkpoints" / "00000060", self.lines("de"), 4)
        self.assertEqual(len(adapted), 40)
        self.assertNotEqual(adapted, before)
        description = json.loads((self.folder / "run" / "best" / "model.json").read_text())["configuration"]
        search = json.loads((imported / "model.json").read_text())["configuration"]["decoding"]
        self.assertEqual(description["decoding"], search)

    def test_what_asks_for_another_model_is_told_at_once(self):
        self.text()
        model = self.programs.model("post")
        config = self.folder / "mine.yaml"
        config.write_text(CONFIG.format(work=self.folder, updates=1, lr=1))
        for program in ("nmt-prepro", "nmt-train"):
            done = self.programs.call(program, "-c", config, "--from-model", model, "--set", "model.d_model=64",
                                      "--set", "data.lowercase=true", "--set", "data.vocab_size=99")
            self.assert_refused(done, "model.d_model is 48 there and 64 here (--set model.d_model=64)",
                                "data.lowercase is false there", "data.vocab_size is for learning a vocabulary",
                                output=self.folder / "prepared")


if __name__ == "__main__":
    support.main(__doc__)
