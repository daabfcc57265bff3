"""Models trained here, exported to CTranslate2 and translated there: the same text.

    ctranslate2_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

Runs itself under the Python of scripts/interop_python.sh; exit code 77 where there is none.
"""

import json

import interop_support as support

support.rerun_in_environment()

import ctranslate2  # noqa: E402
import sentencepiece  # noqa: E402

SENTENCES = 200


class CTranslate2(support.Case):
    def export(self, name, quantization="float32"):
        out = self.folder / quantization
        self.programs.must("nmt-export", "-q", "-m", self.programs.model(name), "--to", "ctranslate2", "-o", out,
                           "--quantization", quantization)
        return out

    def translate(self, folder, lines, beam, compute_type="default", score=False):
        """CTranslate2's text for lines, cut by the SentencePiece models beside its model."""
        source, target = (sentencepiece.SentencePieceProcessor(model_file=str(folder / name))
                          for name in ("source.spm", "target.spm"))
        translator = ctranslate2.Translator(str(folder), inter_threads=1, intra_threads=1, compute_type=compute_type)
        limit = support.LIMIT if beam == 1 else support.LIMIT - 1  # its beam search does not count </s>
        results = translator.translate_batch(source.encode(lines, out_type=str), beam_size=beam, length_penalty=0,
                                             min_decoding_length=0, max_decoding_length=limit, return_scores=score)
        if score:
            return [result.scores[0] for result in results]
        # Where a search is cut off, which of its unfinished hypotheses is handed out is a rule of each program's own.
        self.cut = [len(result.hypotheses[0]) >= limit - 2 for result in results]
        return [target.decode_pieces(result.hypotheses[0]) for result in results]

    def check(self, name):
        lines = self.lines(name)
        folder = self.export(name)
        for beam in (1, 4):
            with self.subTest(beam=beam):
                found = self.translate(folder, lines, beam)
                expected = self.programs.translate(self.programs.model(name), lines, beam)
                ended = [pair for pair, cut in zip(zip(found, expected), self.cut) if not cut]
                self.assertGreater(len(ended), SENTENCES / 4)
                self.assert_same(*zip(*ended))

    def lines(self, name):
        self.programs.model(name)
        return self.programs.sources(SENTENCES)

    def test_post_norm(self):
        self.check("post")

    def test_pre_norm(self):
        self.check("pre")

    def test_learned_positions(self):
        self.check("learned")

    def test_root_mean_square_norms_gates_and_shared_heads(self):
        self.check("rms")

    def test_no_final_norm(self):
        self.check("unfinished")

    def test_scores_are_those_of_nmt_translate(self):
        lines = self.lines("post")[:40]
        theirs = self.translate(self.export("post"), lines, 1, score=True)
        ours = self.programs.must("nmt-translate", "-q", "-m", self.programs.model("post"), "--beam-size", 1,
                                  "--length-penalty", 0, "--max-length-ratio", 0, "--max-length-offset",
                                  support.LIMIT, "--scores", text="".join(line + "\n" for line in lines)).splitlines()
        for line, score in zip(ours, theirs):
            self.assertAlmostEqual(float(line.rsplit("\t", 1)[1]) / score, 1, delta=3e-4)

    def test_smaller_types_lose_little(self):
        self.programs.model("pre")
        lines, references = ((self.programs.work / "corpus" / f"train.{side}").read_text().splitlines()[:1000]
                             for side in ("de", "en"))
        reference = self.folder / "reference"
        reference.write_text("".join(line + "\n" for line in references))

        def bleu(quantization, compute_type):
            found = self.folder / "found"
            found.write_text("".join(line + "\n" for line in self.translate(self.export("pre", quantization), lines, 4,
                                                                            compute_type)))
            return float(self.programs.must("nmt-score", reference, "-i", found, "-m", "bleu", "-b", "-w", "2"))

        expected = bleu("float32", "float32")
        self.assertGreater(expected, 10)
        size = (self.folder / "float32" / "model.bin").stat().st_size
        for quantization in ("int8", "int8_float32", "float16", "bfloat16"):
            with self.subTest(quantization=quantization):
                compute_type = "int8" if quantization.startswith("int8") else "float32"
                # Within 0.3 for a good model; this one of a minute's training hesitates more often.
                self.assertAlmostEqual(bleu(quantization, compute_type), expected, delta=1)
                self.assertLess((self.folder / quantization / "model.bin").stat().st_size, 0.8 * size)

    def test_files(self):
        folder = self.export("pre")
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         ["config.json", "model.bin", "shared_vocabulary.json", "source.spm", "target.spm"])
        settings = json.loads((folder / "config.json").read_text())
        self.assertEqual((settings["decoder_start_token"], settings["add_source_eos"]), ("<s>", True))

    def test_what_stands_is_not_overwritten(self):
        out = self.export("post")
        command = ("nmt-export", "-m", self.programs.model("post"), "--to", "ctranslate2", "-o", out)
        self.assert_refused(self.programs.call(*command), str(out), "--force")
        self.assertEqual(self.programs.call(*command, "--force").returncode, 0)


if __name__ == "__main__":
    support.main(__doc__)
