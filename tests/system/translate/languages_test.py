"""One model between two languages, in both directions: prepared, trained, evaluated, asked for each of its languages.

    languages_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import re

from translate_support import PROGRAMS, Case, main, run, translate

CONFIG = """
data:
  dir: {folder}/prepared
  train1: [{corpus}/train.de, {corpus}/train.en]
  train2: [{corpus}/train.en, {corpus}/train.de]
  languages: [de-en, en-de]
  tags: target
  eval:
    - {{name: forth, languages: de-en, source: {corpus}/valid.de, target: {corpus}/valid.en}}
    - {{name: back, languages: en-de, source: {corpus}/valid.en, target: {corpus}/valid.de}}
  vocab_size: 600
  character_coverage: 1
model: {{d_model: 64, d_ff: 128, num_blocks: 2, num_heads: 2, norm: pre, dropout_rate: 0}}
training: {{batch_type: tokens, batch_size: 1024, num_epochs: 0, max_updates: 200, lr: 0.005, warmup_steps: 50,
            checkpoint_every: 0, corpus_temperature: 2, augment_no_end_mark: 0.1}}
validation: {{every: 200, max_sentences: 20, best_of: mean}}
run: {{dir: {folder}/run, threads: 1}}
"""


class Languages(Case):
    def test_a_model_translates_into_the_language_that_is_asked_for(self):
        corpus = PROGRAMS.work / "corpus"
        config, model = self.folder / "config.yaml", self.folder / "run" / "best"
        config.write_text(CONFIG.format(folder=self.folder, corpus=corpus))
        PROGRAMS.must(PROGRAMS.path("nmt-prepro"), "-c", str(config))
        PROGRAMS.must(PROGRAMS.path("nmt-train"), "-c", str(config))
        sources = (corpus / "valid.de").read_text().splitlines()[:20]
        text = "\n".join(sources) + "\n"
        into = {language: translate("-q", "--target-language", language, text=text, model=model)
                for language in ("en", "de")}
        for language, done in into.items():
            self.assertEqual(done.stderr, b"", language)
            tagged = "".join(f">>{language}<< {line}\n" for line in sources)
            self.assertEqual(done.stdout, translate("-q", text=tagged, model=model).stdout, "the text says the same")
        self.assertNotEqual(into["en"].stdout, into["de"].stdout)

        untagged = translate("-q", text=text, model=model)
        self.assertEqual(untagged.returncode, 0)
        self.assertIn(b"no target language is given (--target-language); it translates into en, de", untagged.stderr)
        refused = translate("--target-language", "fr", text=text, model=model)
        self.assert_error(refused, "target language fr: the model translates into en, de; name one of these")

        self.assertIn("languages     de -> en, de (by tags)", self.lines_of(run("nmt-export", "--inspect", model)))

        table = [line.split() for line in self.lines_of(run("nmt-eval", "-c", config, "--split", "valid"))]
        rows = {row[0]: row[-4:] for row in table[1:3]}
        by_hand = self.lines_of(run("nmt-eval", "-m", model, "--target-language", "de", "--source", corpus / "valid.en",
                                    "--reference", corpus / "valid.de"))
        self.assertEqual(rows["back"][2:], re.findall(r" = (\d+\.\d{4})", by_hand[-1]), "loss and perplexity")
        self.assertIn(f" = {rows['back'][0]} ", by_hand[0])
        self.assertEqual(table[3][0], "mean")
        self.assertAlmostEqual(float(table[3][1]), (float(rows["forth"][0]) + float(rows["back"][0])) / 2, delta=0.011)


if __name__ == "__main__":
    main(__doc__)
