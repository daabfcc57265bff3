"""MarianMT of Hugging Face transformers: models with random weights come in, models trained here go out, and both
toolkits say the same; damaged directories are refused.

    marian_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

Runs itself under the Python of scripts/interop_python.sh; exit code 77 where there is none.
"""

import json
import shutil
import struct
import zipfile

import interop_support as support

support.rerun_in_environment()

import sentencepiece  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402

transformers.logging.set_verbosity_error()
torch.set_num_threads(1)

# Shapes of the models that come in: what config.json has beyond the usual.
SHAPES = {
    "plain": {},
    "relu, odd sizes": {"activation_function": "relu", "d_model": 54, "encoder_attention_heads": 3,
                        "decoder_attention_heads": 3, "encoder_ffn_dim": 77, "decoder_ffn_dim": 77},
    "deep encoder": {"encoder_layers": 12, "decoder_layers": 2, "activation_function": "gelu"},
    "six and six": {"encoder_layers": 6, "decoder_layers": 6},
    "separate vocabularies": {"share_encoder_decoder_embeddings": False},
    "untied, not scaled": {"tie_word_embeddings": False, "scale_embedding": False},
}
QUICK = ("plain", "relu, odd sizes", "separate vocabularies", "untied, not scaled")


class Marian:
    """A MarianMT directory with random weights, and what transformers makes of it."""

    def __init__(self, folder, corpus, shape, pickled=False):
        self.folder = folder
        folder.mkdir()
        vocabularies = self.make_vocabularies(corpus, shape.get("share_encoder_decoder_embeddings", True))
        sizes = [len(vocabulary) for vocabulary in vocabularies]
        pad = sizes[0] - 1
        settings = {"d_model": 48, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
                    "decoder_attention_heads": 4, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96,
                    "activation_function": "swish", "scale_embedding": True, "max_position_embeddings": 512,
                    "vocab_size": sizes[0], "decoder_vocab_size": sizes[-1], "pad_token_id": pad,
                    "decoder_start_token_id": pad, "eos_token_id": 0, "forced_eos_token_id": None, **shape}
        torch.manual_seed(1)
        self.model = transformers.MarianMTModel(transformers.MarianConfig(**settings)).eval()
        with torch.no_grad():  # far from the start of a training, where all tokens are as likely
            for name, weight in self.model.named_parameters():
                if "embed_positions" not in name:
                    weight.add_(torch.randn_like(weight) * 0.15)
            self.model.final_logits_bias.normal_(0, 0.5)
            self.model.final_logits_bias[0, 0] = 3  # sentences end
        self.model.config.save_pretrained(folder)
        state = {name: weight.clone().contiguous() for name, weight in self.model.state_dict().items()}
        if pickled:
            torch.save(self.model.state_dict(), folder / "pytorch_model.bin",
                       _use_new_zipfile_serialization=pickled == "zip")
        else:
            from safetensors.torch import save_file
            save_file(state, folder / "model.safetensors", {"format": "pt"})
        self.pieces = {number: piece for piece, number in vocabularies[-1].items()}
        self.ids = vocabularies[0]

    def make_vocabularies(self, corpus, shared):
        models = []
        for side, name in (("de", "source"), ("en", "target")):
            sentencepiece.SentencePieceTrainer.train(
                input=str(corpus / f"train.{side}"), model_prefix=str(self.folder / name), vocab_size=250,
                model_type="unigram", character_coverage=1.0, minloglevel=2, num_threads=1, input_sentence_size=500)
            (self.folder / f"{name}.model").rename(self.folder / f"{name}.spm")
            (self.folder / f"{name}.vocab").unlink()
            models.append(sentencepiece.SentencePieceProcessor(model_file=str(self.folder / f"{name}.spm")))
        self.source, self.target = models
        groups = [models] if shared else [[models[0]], [models[1]]]
        vocabularies = []
        for group in groups:
            pieces = [model.id_to_piece(i) for model in group for i in range(3, model.get_piece_size())]
            tokens = ["</s>", "<unk>", *dict.fromkeys(pieces), "<pad>"]
            vocabularies.append({token: number for number, token in enumerate(tokens)})
        if not shared:  # the special ones have one number for both sides
            size = max(len(vocabulary) for vocabulary in vocabularies)
            for vocabulary in vocabularies:
                del vocabulary["<pad>"]
                while len(vocabulary) < size - 1:
                    vocabulary[f"filler{len(vocabulary)}"] = len(vocabulary)
                vocabulary["<pad>"] = size - 1
            (self.folder / "target_vocab.json").write_text(json.dumps(vocabularies[1]))
        (self.folder / "vocab.json").write_text(json.dumps(vocabularies[0]))
        return vocabularies

    def encode(self, line):
        return [self.ids.get(piece, 1) for piece in self.source.encode(line, out_type=str)] + [0]

    def text(self, ids):
        """As nmt-translate writes it: <unk> as it stands."""
        pad = self.model.config.pad_token_id
        text = self.target.decode_pieces([self.pieces[i] for i in ids if i not in (0, pad)])
        return text.replace("\u2047", "<unk>").replace("\u2581", " ").strip()  # as MarianTokenizer does

    def translate(self, lines, beam, scores=False):
        results = []
        with torch.no_grad():
            for line in lines:
                found = self.model.generate(
                    torch.tensor([self.encode(line)]), num_beams=beam, length_penalty=0.0, do_sample=False,
                    max_new_tokens=support.LIMIT, bad_words_ids=[[self.model.config.pad_token_id]],
                    forced_eos_token_id=None, early_stopping=False)[0].tolist()
                results.append((self.text(found), self.score(line, found)) if scores else self.text(found))
        return results

    def score(self, line, ids):
        """Log-probability of ids (from the start token on) by one forced pass."""
        inputs = torch.tensor([ids])
        logits = self.model(input_ids=torch.tensor([self.encode(line)]), decoder_input_ids=inputs[:, :-1]).logits
        return float(logits.log_softmax(-1).gather(2, inputs[:, 1:, None]).sum()), len(ids) - 1


class Import(support.Case):
    sentences = 200

    def marian(self, name="plain", **settings):
        self.programs.model("post")  # its corpus
        return Marian(self.folder / "marian", self.programs.work / "corpus", SHAPES[name], **settings)

    def import_it(self, marian):
        out = self.folder / "imported"
        self.programs.must("nmt-export", "-q", "--from", "marian", "-i", marian.folder, "-o", out)
        return out

    def check(self, name):
        for folder in ("marian", "imported"):
            shutil.rmtree(self.folder / folder, ignore_errors=True)
        marian = self.marian(name)
        model = self.import_it(marian)
        lines = self.programs.sources(self.sentences)
        scored = marian.translate(lines[:40], 1, scores=True)
        ours = self.programs.must("nmt-translate", "-q", "-m", model, "--beam-size", 1, "--length-penalty", 0,
                                  "--max-length-ratio", 0, "--max-length-offset", support.LIMIT, "--scores",
                                  text="".join(line + "\n" for line in lines[:40])).splitlines()
        same = 0
        for line, (text, (score, tokens)) in zip(ours, scored):
            found, found_score = line.rsplit("\t", 1)
            if found == text:
                same += 1
                self.assertAlmostEqual(float(found_score), score, delta=1e-4 * tokens)
        self.assertGreaterEqual(same, len(ours) - 1)
        for beam in (1, 4):
            with self.subTest(beam=beam):
                self.assert_same(self.programs.translate(model, lines, beam), marian.translate(lines, beam))

    def test_quick_shapes(self):
        self.sentences = 60
        for name in QUICK:
            with self.subTest(shape=name):
                self.check(name)

    def test_pickled_weights_are_the_same(self):
        files = {}
        for kind in (False, "zip", "legacy"):
            marian = self.marian("untied, not scaled", pickled=kind)
            files[kind] = (self.import_it(marian) / "model.safetensors").read_bytes()
            for folder in ("marian", "imported"):
                shutil.rmtree(self.folder / folder)
        self.assertEqual(files["zip"], files[False])
        self.assertEqual(files["legacy"], files[False])


class LongImport(Import):
    test_quick_shapes = test_pickled_weights_are_the_same = None

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

    def test_there_and_back_are_the_same_weights(self):
        first = self.export("post")
        back, again = self.folder / "back", self.folder / "again"
        self.programs.must("nmt-export", "-q", "--from", "marian", "-i", first, "-o", back)
        self.programs.must("nmt-export", "-q", "-m", back, "--to", "marian", "-o", again)
        for name in ("model.safetensors", "vocab.json", "config.json"):
            if name != "config.json":
                self.assertEqual((first / name).read_bytes(), (again / name).read_bytes(), name)
        lines = self.programs.sources(50)
        self.assert_same(self.programs.translate(back, lines, 4),
                         self.programs.translate(self.programs.model("post"), lines, 4))

    def test_what_does_not_fit_is_refused(self):
        for name, why in (("pre", "model.norm: pre"), ("learned", "model.positions: learned")):
            out = self.folder / name
            done = self.programs.call("nmt-export", "-m", self.programs.model(name), "--to", "marian", "-o", out)
            self.assert_refused(done, why, "--to ctranslate2", output=out)

    def test_torch_loads_the_plain_form(self):
        out = self.folder / "plain"
        self.programs.must("nmt-export", "-q", "-m", self.programs.model("learned"), "--to", "safetensors", "-o", out)
        from safetensors.torch import load_file
        state = {name: weight for name, weight in load_file(out / "model.safetensors").items()
                 if name.startswith(("encoder.", "decoder."))}
        net = torch.nn.Transformer(48, 4, 2, 2, 96, norm_first=False, activation="gelu")
        net.encoder.norm = net.decoder.norm = None
        missing = net.load_state_dict(state, strict=False)
        self.assertEqual(missing.unexpected_keys, [])
        self.assertTrue(all(name.endswith("out_proj.bias") for name in missing.missing_keys), missing.missing_keys)


class Damage(Import):
    test_quick_shapes = test_pickled_weights_are_the_same = None

    def refused(self, folder, *parts):
        out = self.folder / "imported"
        done = self.programs.call("nmt-export", "--from", "marian", "-i", folder, "-o", out)
        self.assert_refused(done, *parts, output=out)

    def test_damaged_directories(self):
        folder = self.marian().folder
        weights, config = folder / "model.safetensors", folder / "config.json"
        good = weights.read_bytes()
        size = struct.unpack("<Q", good[:8])[0]
        header = json.loads(good[8:8 + size])

        def with_header(change):
            changed = json.loads(json.dumps(header))
            change(changed)
            text = json.dumps(changed).encode()
            return struct.pack("<Q", len(text)) + text + good[8 + size:]

        name = "model.encoder.layers.0.fc1.weight"
        for bytes_, part in (
                (good[:-1], "damaged"), (good[:100], "damaged"), (good[:4], "damaged"), (b"", "damaged"),
                (struct.pack("<Q", 1 << 62) + good[8:], "damaged"),
                (with_header(lambda h: h.pop(name)), f"{name} is missing"),
                (with_header(lambda h: h[name].update(dtype="I32")), "I32"),
                (with_header(lambda h: h[name].update(shape=[1 << 40, 1 << 40])), "shape"),
                (with_header(lambda h: h[name].update(shape=h[name]["shape"][::-1])), name)):
            weights.write_bytes(bytes_)
            self.refused(folder, "model.safetensors", part)
        weights.write_bytes(good)
        whole = config.read_text()
        for changes, part in (({"model_type": "bart"}, "bart"), ({"d_model": 1 << 40}, "d_model"),
                              ({"encoder_attention_heads": 2}, "decoder_attention_heads"),
                              ({"normalize_before": True}, "normalize_before"),
                              ({"activation_function": "gelu_new"}, "gelu_new"),
                              ({"vocab_size": 3, "decoder_vocab_size": 3}, "vocab.json")):
            config.write_text(json.dumps({**json.loads(whole), **changes}))
            self.refused(folder, part)
        config.write_text("{")
        self.refused(folder, "config.json")
        config.write_text(whole)
        for file in ("source.spm", "vocab.json"):
            kept = (folder / file).read_bytes()
            (folder / file).write_bytes(kept[:len(kept) // 2])
            self.refused(folder, file)
            (folder / file).unlink()
            self.refused(folder, file)
            (folder / file).write_bytes(kept)

    def test_pickles_with_code_and_archives_that_lie(self):
        folder = self.marian(pickled="zip").folder
        weights = folder / "pytorch_model.bin"
        good = weights.read_bytes()
        sign = self.folder / "sign"

        class Evil:
            def __reduce__(self):
                return open, (str(sign), "w")

        for kind in (True, False):
            torch.save({"model.shared.weight": Evil()}, weights, _use_new_zipfile_serialization=kind)
            self.refused(folder, "code")
        for end in (10, len(good) // 2, len(good) - 1):
            weights.write_bytes(good[:end])
            self.refused(folder, "pytorch_model.bin")
        with zipfile.ZipFile(weights, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("m/data.pkl", b"\0" * (1 << 24))
        self.refused(folder, "compressed")
        with zipfile.ZipFile(weights, "w") as archive:
            archive.writestr("../data.pkl", b"N.")
        self.refused(folder, "leaves the folder")
        self.assertFalse(sign.exists())


if __name__ == "__main__":
    support.main(__doc__)
