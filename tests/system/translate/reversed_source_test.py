"""A model that reads its source last to first (data.reverse_source), trained here to write each word as another one, in the
same order: alignments, pictures, copied words and exports speak of the sentence as its user wrote it.

    reversed_source_test.py --programs BUILD_FOLDER [unittest arguments]

Python's standard library only.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

WORDS = 12
CONFIG = """
data: {{dir: {work}/prepared, train1: {work}/train.a, train2: {work}/train.b, eval1: {work}/valid.a, eval2: {work}/valid.b,
       source_language: xa, target_language: xb, maxlen1: 12, maxlen2: 12, tokenizer: words, min_cnt: 2,
       joint_vocabulary: false, reverse_source: true}}
model: {{architecture: recurrent, d_model: 48, encoder_size: 48, num_blocks: 1, attention_score: additive,
        tie_embeddings: none, dropout_rate: 0}}
training: {{batch_type: sentences, batch_size: 64, num_epochs: 0, max_updates: 500, lr: 0.01, schedule: constant,
           warmup_steps: 0, smoothing: 0, checkpoint_every: 0}}
validation: {{every: 250}}
decoding: {{beam_size: 2}}
run: {{dir: {work}/run, threads: 1, device: cpu}}
"""
SENTENCE = "a3 a7 a1 a9 a5"


class ReversedSource(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.work = pathlib.Path(temporary.name)
        chance = random.Random(5)
        for name, count in (("train", 3000), ("valid", 40)):
            rows = [[chance.randrange(WORDS) for _ in range(chance.randint(2, 7))] for _ in range(count)]
            # A few names that stand once are unknown to both vocabularies.
            names = {chance.randrange(count): f"Name{i}" for i in range(60)} if name == "train" else {}
            for side in "ab":
                lines = [" ".join([f"{side}{word}" for word in row] + ([names[i]] if i in names else []))
                         for i, row in enumerate(rows)]
                (cls.work / f"{name}.{side}").write_text("\n".join(lines) + "\n")
        config = cls.work / "config.yaml"
        config.write_text(CONFIG.format(work=cls.work))
        for program in ("nmt-prepro", "nmt-train"):
            cls.run_program(program, "-c", config)
        cls.model = cls.work / "run" / "best"

    @staticmethod
    def run_program(program, *arguments, code=0):
        done = subprocess.run([str(PROGRAMS / program), *map(str, arguments)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        if done.returncode != code:
            raise AssertionError(f"{program} {arguments}: exit code {done.returncode}\n{done.stderr.decode()}")
        return (done.stdout if code == 0 else done.stderr).decode()

    def translate(self, *arguments):
        return self.run_program("nmt-translate", "-q", "-m", self.model, *arguments)

    def test_alignments_count_the_words_as_they_were_written(self):
        text, links = self.translate("--text", SENTENCE, "--alignment", "pharaoh").rstrip("\n").split("\t")
        self.assertEqual(text, SENTENCE.replace("a", "b"), "the model has learned its task")
        self.assertEqual(links, "0-0 1-1 2-2 3-3 4-4")

    def test_pictures_have_the_order_of_the_text(self):
        folder, words = self.work / "pictures", SENTENCE.split()
        self.translate("--text", SENTENCE, "--attention-out", folder)
        layers = {layer["name"]: layer for layer in json.loads((folder / "1.json").read_text())["layers"]}
        for name in ("words", "pieces"):
            layer = layers[name]
            self.assertEqual(layer["keys"], words)
            for i, row in enumerate(layer["weights"][0][:len(words)]):
                self.assertEqual(max(range(len(row)), key=row.__getitem__), i, name)
        texts = [text.text for text in xml.etree.ElementTree.parse(folder / "1.svg").iter()
                 if text.tag.endswith("text") and text.text in words]
        self.assertEqual(texts, words)

    def test_a_page_and_the_evaluation_have_it_too(self):
        page = self.work / "page.html"
        self.translate("--text", SENTENCE, "--target", SENTENCE.replace("a", "b"), "--attention-out", page)
        data = json.loads(page.read_text().split('<script type="application/json">')[1].split("</script>")[0])
        self.assertEqual(data["keys"], SENTENCE.split() + ["</S>"])
        (self.work / "one.a").write_text(SENTENCE + "\n")
        (self.work / "one.b").write_text(SENTENCE.replace("a", "b") + "\n")
        self.run_program("nmt-eval", "-q", "-m", self.model, "--source", self.work / "one.a", "--reference",
                         self.work / "one.b", "--attention-out", self.work / "evaluated")
        layers = json.loads((self.work / "evaluated" / "1.json").read_text())["layers"]
        cross = [layer for layer in layers if not layer["name"].endswith("self")][-1]
        self.assertEqual(cross["keys"], SENTENCE.split() + ["</S>"])
        for i, row in enumerate(cross["weights"][0][:5]):
            self.assertEqual(max(range(len(row)), key=row.__getitem__), i)

    def test_unknown_words_are_copied_from_their_place(self):
        # Only the last place had names in training.
        self.assertEqual(self.translate("--text", "a3 a7 a1 Zoe", "--copy-unknown"), "b3 b7 b1 Zoe\n")

    def test_formats_that_cannot_say_it_refuse_it(self):
        # A Transformer, which has a place there when it reads from first to last.
        settings = ["model.architecture=transformer", "model.attention_score=scaled_dot", "model.norm=post",
                    "model.encoder_size=0", "model.tie_embeddings=target", "model.num_heads=2", "model.d_ff=32", "training.max_updates=1",
                    "validation.every=0", f"run.dir={self.work}/transformer"]
        self.run_program("nmt-train", "-c", self.work / "config.yaml", *[f"--set={setting}" for setting in settings])
        model = self.work / "transformer" / "best"
        for form in ("ctranslate2", "marian"):
            message = self.run_program("nmt-export", "-m", model, "--to", form, "-o", self.work / form, code=2)
            self.assertRegex(message, r"^[^\n]*data\.reverse_source: true has no place in [^\n]*\n$")
            self.assertFalse((self.work / form).exists())
        self.run_program("nmt-export", "-q", "-m", model, "--to", "safetensors", "-o", self.work / "plain")
        plain = json.loads((self.work / "plain" / "config.json").read_text())
        self.assertTrue(plain["data"]["reverse_source"])


def main():
    global PROGRAMS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    arguments, rest = parser.parse_known_args()
    PROGRAMS = pathlib.Path(arguments.programs).resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
