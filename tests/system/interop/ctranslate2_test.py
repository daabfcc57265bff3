"""Models trained here, exported to CTranslate2 and translated there: the same text.

    ctranslate2_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

The class Multi30k takes the model directory that $NMT_MULTI30K_MODEL names and the test set of 2016 from the folder
data/multi30k of $NMT_SHARED (else of ../shared beside the project); it is skipped where one of them is missing.

Runs itself under the Python of scripts/interop_python.sh; exit code 77 where there is none.
"""

import gzip
import json
import os
import pathlib
import shutil
import unittest

import interop_support as support

support.rerun_in_environment()

import ctranslate2  # noqa: E402
import sentencepiece  # noqa: E402

SENTENCES = 200


class Translator(support.Case):
    def export_model(self, model, quantization="float32"):
        out = self.folder / quantization
        self.programs.must("nmt-export", "-q", "-m", model, "--to", "ctranslate2", "-o", out, "--quantization",
                           quantization)
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
        return [self.text(target, result.hypotheses[0]) for result in results]

    @staticmethod
    def text(model, pieces):
        """The text as nmt-translate writes it: <unk> as it stands, where SentencePiece writes a sign of its own."""
        mark = "\ufdd0"
        return model.decode_pieces([mark if piece == "<unk>" else piece for piece in pieces]).replace(mark, "<unk>")

    def bleu(self, lines, references):
        reference, found = self.folder / "reference", self.folder / "found"
        for file, text in ((reference, references), (found, lines)):
            file.write_text("".join(line + "\n" for line in text))
        return float(self.programs.must("nmt-score", reference, "-i", found, "-m", "bleu", "-b", "-w", "2"))


class CTranslate2(Translator):
    def export(self, name, quantization="float32"):
        return self.export_model(self.programs.model(name), quantization)

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
        ours = self.programs.translate(self.programs.model("post"), lines, 1, "--scores")
        for line, score in zip(ours, theirs):
            self.assertAlmostEqual(float(line.rsplit("\t", 1)[1]) / score, 1, delta=3e-4)

    def test_smaller_types_lose_little(self):
        self.programs.model("sure")
        lines, references = ((self.programs.work / "corpus" / f"few.{side}").read_text().splitlines()[:1000]
                             for side in ("de", "en"))

        def bleu(quantization, compute_type):
            return self.bleu(self.translate(self.export("sure", quantization), lines, 4, compute_type), references)

        expected = bleu("float32", "float32")
        self.assertGreater(expected, 90)
        size = (self.folder / "float32" / "model.bin").stat().st_size
        for quantization in ("int8", "int8_float32", "float16", "bfloat16"):
            with self.subTest(quantization=quantization):
                compute_type = "int8" if quantization.startswith("int8") else "float32"
                self.assertAlmostEqual(bleu(quantization, compute_type), expected, delta=0.3)
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

    def test_force_replaces_models_only(self):
        out = self.folder / "victim"
        command = ("nmt-export", "-m", self.programs.model("post"), "--to", "ctranslate2", "-o", out, "--force")
        for made, name in ((("config.json",), "no model"), (("model.bin", "notes.txt"), "notes.txt"),
                           (("model.bin", "deep/model.bin"), "deep")):
            shutil.rmtree(out, ignore_errors=True)
            for path in made:
                (out / path).parent.mkdir(parents=True, exist_ok=True)
                (out / path).write_text("mine")
            done = self.programs.call(*command)
            self.assertEqual(done.returncode, 2, made)
            self.assertIn(f"{out}: holds {name}", done.stderr.decode())
            for path in made:
                self.assertEqual((out / path).read_text(), "mine")
        shutil.rmtree(out)
        out.mkdir()  # an empty one is nobody's
        self.assertEqual(self.programs.call(*command).returncode, 0)

    def test_force_never_replaces_what_is_read(self):
        model = self.folder / "model"
        shutil.copytree(self.programs.model("post"), model)
        (self.folder / "link").symlink_to(model)
        (self.folder / "holder").symlink_to(self.folder)
        before = {path.name: path.read_bytes() for path in model.iterdir()}
        ways = {"-m": (("--to", "nmt", "--quantization", "int8"), ("--to", "ctranslate2")),
                "-i": (("--from", "marian"), ("--from", "t5"))}
        for option, formats in ways.items():
            for arguments in formats:
                for source, out in ((model, model), (f"{model}/.", f"{self.folder}/link"),
                                    (self.folder / "link", model),
                                    (model / "model.safetensors", model), (self.folder / "holder" / "model", model),
                                    (model, self.folder)):
                    done = self.programs.call("nmt-export", option, source, *arguments, "-o", out, "--force")
                    self.assert_refused(done, f"-o {out}: holds what {option} reads, which would be lost; "
                                              "name another folder")
        self.assertEqual({path.name: path.read_bytes() for path in model.iterdir()}, before)

    def test_folders_beside_it_are_left_alone(self):
        partial = self.folder / "x.partial"
        partial.mkdir()
        (partial / "notes.txt").write_text("mine")
        command = ("nmt-export", "-m", self.programs.model("post"), "--to", "ctranslate2", "-o", self.folder / "x")
        self.assertEqual(self.programs.call(*command).returncode, 0)
        self.assertEqual((partial / "notes.txt").read_text(), "mine")


class Multi30k(Translator):
    def setUp(self):
        super().setUp()
        shared = pathlib.Path(os.environ.get("NMT_SHARED", support.SOURCE / ".." / "shared"))
        model = os.environ.get("NMT_MULTI30K_MODEL")
        sides = [shared / "data" / "multi30k" / f"test_2016_flickr.{side}.gz" for side in ("de", "en")]
        if not model or not all(side.exists() for side in sides):
            raise unittest.SkipTest("needs a model in $NMT_MULTI30K_MODEL and the test set of Multi30k in $NMT_SHARED")
        self.model = pathlib.Path(model)
        self.lines, self.references = (gzip.open(side, "rt", encoding="utf-8").read().splitlines() for side in sides)

    def test_float32_says_the_same(self):
        folder = self.export_model(self.model)
        for beam in (1, 4):
            with self.subTest(beam=beam):
                found = self.translate(folder, self.lines, beam)
                expected = self.programs.translate(self.model, self.lines, beam)
                different = [i for i, pair in enumerate(zip(found, expected)) if pair[0] != pair[1] and not self.cut[i]]
                print(f"beam {beam}: {len(different)} of {len(found)} translations differ")
                self.assertLess(len(different), 0.01 * len(found))
                if not different:
                    continue
                lines = [self.lines[i] for i in different]
                theirs = self.translate(folder, lines, beam, score=True)
                ours = [float(line.rsplit("\t", 1)[1])
                        for line in self.programs.translate(self.model, lines, beam, "--scores")]
                for line, score, expected_score in zip(lines, ours, theirs):
                    self.assertAlmostEqual(score, expected_score, delta=1e-3 * max(1, abs(expected_score)), msg=line)

    def test_int8_loses_little(self):
        expected = self.bleu(self.translate(self.export_model(self.model), self.lines, 4), self.references)
        for quantization in ("int8", "int8_float32"):
            found = self.bleu(self.translate(self.export_model(self.model, quantization), self.lines, 4, "int8"),
                              self.references)
            print(f"BLEU of float32 {expected}, of {quantization} {found}")
            self.assertAlmostEqual(found, expected, delta=0.3)


if __name__ == "__main__":
    support.main(__doc__)
