"""MarianMT of Hugging Face transformers: models with random weights come in, models trained here go out, and both
toolkits say the same.

    marian_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

Runs itself under the Python of scripts/interop_python.sh; exit code 77 where there is none.
"""

import json
import shutil

import interop_support as support

support.rerun_in_environment()

import sentencepiece  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from marian_models import SHAPES, ImportCase  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

QUICK = ("plain", "relu, odd sizes", "separate vocabularies", "untied, not scaled")


class Import(ImportCase):
    def test_quick_shapes(self):
        self.sentences = 60
        for name in QUICK:
            with self.subTest(shape=name):
                self.check(name)

    def test_pickled_weights_are_the_same(self):
        files = {}
        for kind in (False, "zip", "legacy"):
            marian = self.marian("untied, not scaled", pickled=kind)
            files[kind] = (self.import_it(marian.folder) / "model.safetensors").read_bytes()
            for folder in ("marian", "imported"):
                shutil.rmtree(self.folder / folder)
        self.assertEqual(files["zip"], files[False])
        self.assertEqual(files["legacy"], files[False])


    def test_codes_of_target_languages(self):
        codes = (">>deu<<", ">>fra<<", ">>cmn_Hans<<", ">>zle<<")
        marian = self.marian(codes=codes)
        model = self.import_it(marian.folder)
        tokenizer = transformers.MarianTokenizer(*(str(marian.folder / name)
                                                   for name in ("source.spm", "target.spm", "vocab.json")))
        ours = sentencepiece.SentencePieceProcessor(model_file=str(model / "source.spm"))
        rows = load_file(model / "model.safetensors")["embedding"]
        sources = self.programs.sources(5)
        lines = [f"{code} {line}" for code in codes for line in sources] + sources
        lines += [">>fra<<  \u2603 zwei  Leerzeichen", ">>fra<<", ">>fra<< \u2603\u2603"]
        for line in lines:  # the same vectors enter the encoder
            expected = marian.model.model.shared.weight[tokenizer(line)["input_ids"][:-1]]
            self.assertTrue(torch.equal(rows[ours.encode(line)], expected), (line, ours.encode(line, out_type=str)))
        marian.encode = lambda line: tokenizer(line)["input_ids"]
        lines.remove(">>fra<<")  # an empty line for us: nothing is translated
        self.assert_same(self.programs.translate(model, lines, 1), marian.translate(lines, 1))


class LongImport(ImportCase):
    def test_all_shapes(self):
        for name in SHAPES:
            with self.subTest(shape=name):
                self.check(name)


class Export(support.Case):
    def export(self, name):
        out = self.folder / "exported"
        self.programs.must("nmt-export", "-q", "-m", self.programs.model(name), "--to", "marian", "-o", out)
        return out

    def test_transformers_says_the_same(self):
        folder = self.export("post")
        model, report = transformers.MarianMTModel.from_pretrained(folder, output_loading_info=True)
        self.assertFalse(any(report.values()), report)
        model.eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        lines = self.programs.sources(100)
        for beam in (1, 4):
            found = []
            for line in lines:
                with torch.no_grad():
                    ids = model.generate(**tokenizer(line, return_tensors="pt"), num_beams=beam, length_penalty=0.0,
                                         max_new_tokens=support.LIMIT, max_length=None, forced_eos_token_id=None)
                found.append(tokenizer.decode(ids[0], skip_special_tokens=True))
            with self.subTest(beam=beam):
                self.assert_same(found, self.programs.translate(self.programs.model("post"), lines, beam))

    def test_the_search_goes_with_it(self):
        model, out = self.folder / "model", self.folder / "exported"
        shutil.copytree(self.programs.model("post"), model)
        (model / "checksums.json").unlink(missing_ok=True)  # of model.json as it was
        own = {"ban_unknown": True, "no_repeat_ngram_size": 2, "repetition_penalty": 1.3, "max_length": 60}
        for form, warns in (("paper", True), ("simple", False)):
            description = json.loads((model / "model.json").read_text())
            description["configuration"]["decoding"].update(own, length_penalty_form=form, beam_size=1)
            (model / "model.json").write_text(json.dumps(description))
            done = self.programs.call("nmt-export", "-m", model, "--to", "marian", "-o", out, "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(b"decoding.length_penalty: 0.6" in done.stderr, warns, done.stderr)
        marian = transformers.MarianMTModel.from_pretrained(out).eval()
        settings = marian.generation_config
        found = (settings.no_repeat_ngram_size, settings.repetition_penalty, settings.max_length)
        self.assertEqual(found, (2, 1.3, 61))
        self.assertIn([1], settings.bad_words_ids)
        tokenizer, found = transformers.AutoTokenizer.from_pretrained(out), []
        lines = self.programs.sources(100)
        for line in lines:
            ids = marian.generate(**tokenizer(line, return_tensors="pt"), forced_eos_token_id=None)
            found.append(tokenizer.decode(ids[0], skip_special_tokens=True))
        self.assert_same(found, self.programs.must(
            "nmt-translate", "-q", "-m", model, "--threads", 1, "--precision", "fp32",
            text="".join(line + "\n" for line in lines)).splitlines())

    def test_there_and_back_are_the_same_weights(self):
        first = self.export("post")
        back, again = self.folder / "back", self.folder / "again"
        self.programs.must("nmt-export", "-q", "--from", "marian", "-i", first, "-o", back)
        self.programs.must("nmt-export", "-q", "-m", back, "--to", "marian", "-o", again)
        for name in ("model.safetensors", "vocab.json"):
            self.assertEqual((first / name).read_bytes(), (again / name).read_bytes(), name)
        lines = self.programs.sources(50)
        self.assert_same(self.programs.translate(back, lines, 4),
                         self.programs.translate(self.programs.model("post"), lines, 4))

    def test_inspect_says_what_a_model_is(self):
        for name, expected in (("post", ["post-norm", "positions sinusoidal interleaved", "marian yes",
                                         "safetensors yes, names of torch.nn.Transformer"]),
                               ("pre", ["pre-norm", "marian no (model.norm: pre)",
                                        "safetensors yes, names of this toolkit"])):
            folder = self.programs.model(name)
            lines = [" ".join(line.split()) for line in
                     self.programs.must("nmt-export", "--inspect", folder).splitlines()]
            weights = load_file(folder / "model.safetensors")
            count = sum(weight.numel() for weight in weights.values())
            rows = weights["embedding" if "embedding" in weights else "source_embedding"].shape[0]
            for line in ("languages de -> en", f"parameters {count:,}", "ctranslate2 yes",
                         "architecture transformer: 2 + 2 blocks, model 48, feed-forward 96 "
                         f"({'relu' if name == 'post' else 'swish'}), 4 heads"):
                self.assertTrue(any(found.startswith(line) for found in lines), (line, lines))
            self.assertTrue(any(f"vocabulary {rows}" in line for line in lines), lines)
            for part in expected:
                self.assertIn(part, " / ".join(lines))

    def test_what_does_not_fit_is_refused(self):
        for name, why in (("pre", "model.norm: pre"), ("learned", "model.positions: learned")):
            out = self.folder / name
            done = self.programs.call("nmt-export", "-m", self.programs.model(name), "--to", "marian", "-o", out)
            self.assert_refused(done, why, "--to ctranslate2", output=out)

    def test_torch_loads_the_plain_form(self):
        out = self.folder / "plain"
        self.programs.must("nmt-export", "-q", "-m", self.programs.model("learned"), "--to", "safetensors", "-o", out)
        state = {name: weight for name, weight in load_file(out / "model.safetensors").items()
                 if name.startswith(("encoder.", "decoder."))}
        net = torch.nn.Transformer(48, 4, 2, 2, 96, norm_first=False, activation="gelu")
        net.encoder.norm = net.decoder.norm = None
        missing = net.load_state_dict(state, strict=False)
        self.assertEqual(missing.unexpected_keys, [])
        self.assertTrue(all(name.endswith("out_proj.bias") for name in missing.missing_keys), missing.missing_keys)


if __name__ == "__main__":
    support.main(__doc__)
