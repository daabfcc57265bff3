"""M2M-100 and NLLB of Hugging Face transformers: models with random weights come in, and both toolkits say the same.

    m2m_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

Runs itself under the Python of scripts/interop_python.sh; exit code 77 where there is none.
"""

import json
import shutil

import interop_support as support

support.rerun_in_environment()

import sentencepiece  # noqa: E402
from m2m_models import END, NLLB, SHAPES, M2mCase  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

FINE_TUNING = """
data: {{dir: {work}/prepared, train1: {corpus}/valid.en, train2: {corpus}/valid.de, eval1: {corpus}/test.en,
       eval2: {corpus}/test.de, source_language: en, target_language: de}}
training: {{init_from: {model}, batch_size: 16, num_epochs: 0, max_updates: {updates}, lr: {lr}, warmup_steps: 1,
            checkpoint_every: 0}}
validation: {{every: {updates}, max_sentences: 10, samples: 0}}
run: {{dir: {work}/run, threads: 1}}
"""


class Import(M2mCase):
    def test_says_what_transformers_says(self):
        for shape in SHAPES:
            with self.subTest(shape=shape):
                for folder in ("m2m", "imported"):
                    shutil.rmtree(self.folder / folder, ignore_errors=True)
                m2m = self.m2m(shape)
                self.compare(self.import_it(m2m.folder), m2m, "de", "fr", count=30)

    def test_nllb_and_wmt21(self):
        for family, source, target, seed in (("nllb", "deu_Latn", "zho_Hans", 8), ("wmt21", "de", "ha", 8)):
            with self.subTest(family=family):
                for folder in ("m2m", "imported"):
                    shutil.rmtree(self.folder / folder, ignore_errors=True)
                m2m = self.m2m(family=family, seed=seed, end_bias=6)
                self.compare(self.import_it(m2m.folder), m2m, source, target, count=20)

    def test_ids_are_those_of_its_tokenizer(self):
        m2m = self.m2m(src_lang="af")
        model = self.import_it(m2m.folder)
        ours = sentencepiece.SentencePieceProcessor(model_file=str(model / "spm.model"))
        rows, theirs = load_file(model / "model.safetensors")["embedding"], m2m.model.model.shared.weight.detach()
        for line in self.programs.sources(10) + ["  two  spaces ", "\u2603 unknown"]:
            ids = m2m.tokenizer(line)["input_ids"]
            self.assertEqual(ids, m2m.encode(line, "af"))
            found = rows[[ours.piece_to_id(">>af<<"), *ours.encode(line), 3]]
            self.assertTrue(found.equal(theirs[ids]), line)
        self.assertGreater(len(ours.encode(">>de<< __de__")), 4, "a text holds no language")


class Languages(M2mCase):
    def call(self, model, *options):
        return self.programs.call("nmt-translate", "-q", "-m", model, "--precision", "fp32", *options, text="Rom\n")

    def test_are_the_folders_own_where_none_is_said(self):
        m2m = self.m2m(src_lang="de", tgt_lang="ast")
        model = self.import_it(m2m.folder)
        settings = json.loads((model / "model.json").read_text())["tokenizer"]
        self.assertEqual((settings["source_language"], settings["target_language"]), ("de", "ast"))
        lines = self.programs.sources(10)
        self.assert_same(self.programs.translate(model, lines, 1), [m2m.text(m2m.generate(line, "de", "ast"))
                                                                    for line in lines])
        generation = m2m.folder / "generation_config.json"
        generation.write_text(json.dumps({**json.loads(generation.read_text()),
                                          "forced_bos_token_id": m2m.languages["zu"]}))
        self.assertEqual(self.programs.translate(self.import_it(m2m.folder, "forced"), lines, 1),
                         self.programs.translate(model, lines, 1, "--target-language", "zu"))

    def test_are_asked_for_and_checked(self):
        folder = self.m2m().folder
        (folder / "tokenizer_config.json").unlink()  # else its source is "en"
        model = self.import_it(folder)
        to, source = ("--target-language", "fr"), ("--source-language", "de")
        self.assert_refused(self.call(model, *to), "source language und", "af, am, ar", "--source-language")
        self.assert_refused(self.call(model, *source), "target language und", "xh, yi, yo, zh, zu", "--target-language")
        self.assert_refused(self.call(model, *to, "--source-language", "deu"), "source language deu")
        self.assert_refused(self.call(model, *source, "--target-language", "xx"), "target language xx")
        self.assertEqual(self.call(model, *source, *to).returncode, 0)
        self.assertIn("between any two of af, am, ar, ast,", self.programs.must("nmt-export", "--inspect", model))

    def test_stand_before_each_part_of_a_line_and_in_no_output(self):
        m2m = self.m2m()
        model = self.import_it(m2m.folder)
        languages = ("--source-language", "de", "--target-language", "fr")
        first, second = self.programs.sources(2)
        longest = max(len(m2m.encode(line, "de")) - 1 for line in (first, second))
        found = self.programs.translate(model, [f"{first} {second}"], 1, "--max-source-length", longest, *languages)
        self.assertEqual(found, [" ".join(m2m.text(m2m.generate(line, "de", "fr")) for line in (first, second)).strip()])
        self.assertEqual(self.programs.translate(model, ["", "  "], 1, *languages), ["", ""])
        text = self.programs.translate(model, [first], 1, *languages)[0]
        target = self.folder / "target"
        target.write_text(text + "\n")
        scored = self.programs.must("nmt-translate", "-q", "-m", model, "--score", target, "--precision", "fp32",
                                    "--length-penalty", 0,
                                    *languages, text=first + "\n").split()[0]
        ids = [END, m2m.languages["fr"], *m2m.encode(text, "fr")[1:]]
        self.assertAlmostEqual(float(scored), sum(m2m.scores(first, "de", ids)[1:]), delta=1e-2)

    def test_are_told_to_small_weights_too(self):
        model = self.import_it(self.m2m().folder)
        out = self.folder / "int8"
        self.programs.must("nmt-export", "-q", "-m", model, "--to", "nmt", "--quantization", "int8", "-o", out)
        options = ("-q", "--source-language", "de", "--target-language", "fr")
        text = "".join(line + "\n" for line in self.programs.sources(10))
        self.assertEqual(self.programs.must("nmt-translate", "-m", out, *options, text=text),
                         self.programs.must("nmt-translate", "-m", model, "--precision", "int8", *options, text=text))

    def test_are_learnt_further(self):
        """A step that rounds to none leaves the translations; a training tells both languages."""
        m2m = self.m2m()
        model = self.import_it(m2m.folder)
        tuned = self.folder / "run" / "best"
        languages = ("--source-language", "en", "--target-language", "de")
        corpus = self.programs.corpus()

        def train(lr, updates):
            config = self.folder / "tune.yaml"
            config.write_text(FINE_TUNING.format(work=self.folder, corpus=corpus, model=model, lr=lr, updates=updates))
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            for program in ("nmt-prepro", "nmt-train"):
                self.programs.must(program, "-c", config)

        train(1e-12, 2)
        lines = (corpus / "test.en").read_text().splitlines()[:10]
        before = self.programs.translate(model, lines, 1, *languages)
        self.assertEqual(self.programs.translate(tuned, lines, 1), before)
        self.programs.must("nmt-eval", "-q", "-c", self.folder / "tune.yaml", "--split", "valid", "--report",
                           self.folder / "report.json")
        report = json.loads((self.folder / "report.json").read_text())
        # transformers' loss of the references, the language among their tokens
        total = count = 0
        for source, target in zip(*((corpus / f"test.{side}").read_text().splitlines() for side in ("en", "de"))):
            scores = m2m.scores(source, "en", [END, *m2m.encode(target, "de")])
            total, count = total - sum(scores), count + len(scores)
        self.assertAlmostEqual(report["systems"][0]["loss"]["loss"], total / count, delta=1e-3)
        train(3e-3, 30)
        self.assertNotEqual(self.programs.translate(tuned, lines, 1), before)


class Damage(M2mCase):
    def test_settings_that_do_not_fit(self):
        m2m = self.m2m()
        config = m2m.folder / "config.json"
        whole = config.read_text()
        for changes, *parts in (
                ({"model_type": "nllb-moe"}, "model_type is 'nllb-moe'; only m2m_100"),
                ({"model_type": "marian"}, "use --from marian"), ({"activation_function": "gelu_new"}, "gelu_new"),
                ({"decoder_attention_heads": 2}, "decoder_attention_heads"), ({"decoder_ffn_dim": 5}, "decoder_ffn_dim"),
                ({"encoder_layers": 3}, "model.encoder.layers.2", "is missing"),
                ({"encoder_layers": 1}, "model.encoder.layers.1", "belongs to no part"),
                ({"max_position_embeddings": 0}, "max_position_embeddings"), ({"vocab_size": 20}, "vocab.json"),
                ({"vocab_size": 350}, "languages, but the model has 350 rows"), ({"eos_token_id": 5000}, "beyond")):
            with self.subTest(changes=changes):
                m2m.configure(**changes)
                self.refused(m2m.folder, *parts)
                config.write_text(whole)
        settings = m2m.folder / "tokenizer_config.json"
        settings.write_text(json.dumps({"language_codes": "m2m200"}))
        self.refused(m2m.folder, "language_codes is 'm2m200'")
        settings.write_text(json.dumps({"added_tokens_decoder": {"9": {"content": "<2de>"}}}))
        self.refused(m2m.folder, "added token '<2de>'")
        settings.unlink()
        (m2m.folder / "sentencepiece.bpe.model").unlink()
        self.refused(m2m.folder, "sentencepiece.bpe.model is missing")
        self.refused(self.folder / "nowhere", "no such folder")

    def test_an_nllb_without_its_languages(self):
        m2m = self.m2m(family="nllb")
        self.assertIn(f"between any two of {', '.join(NLLB)}",
                      self.programs.must("nmt-export", "--inspect", self.import_it(m2m.folder)))
        (m2m.folder / "tokenizer.json").unlink()
        self.refused(m2m.folder, "name no language")


if __name__ == "__main__":
    support.main(__doc__)
