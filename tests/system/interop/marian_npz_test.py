"""Marian's own form of OPUS-MT models (an .npz, decoder.yml, vocab.yml): the same model as its MarianMT directory, with
the constants of Marian; what cannot be represented is refused.

    marian_npz_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

Runs itself under the Python of scripts/interop_python.sh; exit code 77 where there is none.
"""

import json
import math
import shutil

import interop_support as support

support.rerun_in_environment()

import ctranslate2  # noqa: E402
import marian_npz  # noqa: E402
import numpy  # noqa: E402
import torch  # noqa: E402
import yaml  # noqa: E402
from marian_models import SHAPES, ImportCase  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

START = 2  # our <s>
UNKNOWN = 1
SHAPES["untied"] = {"tie_word_embeddings": False}


def forget_padding(marian):
    """<pad> as transformers' own converter adds it: a row of zeros from which the decoder starts."""
    model, pad = marian.model, marian.model.config.pad_token_id
    with torch.no_grad():
        for table in (model.model.encoder.embed_tokens, model.model.decoder.embed_tokens, model.lm_head):
            table.weight[pad] = 0
        model.final_logits_bias[0, pad] = 0
    marian.save()


def give_constants_of_marian(model):
    """What Marian computes and transformers approximates: sinusoids whose periods end at 10000, epsilon 1e-6 in norms,
    no token <pad>."""
    size = model.config.d_model
    half = size // 2
    for part in (model.model.encoder, model.model.decoder):
        table = part.embed_positions.weight
        with torch.no_grad():
            for position in range(table.shape[0]):
                for i in range(half):
                    angle = position * math.exp(-i * math.log(10000) / (half - 1))
                    table[position, i], table[position, half + i] = math.sin(angle), math.cos(angle)
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = 1e-6
    model.final_logits_bias[0, model.config.pad_token_id] = -1e9


class Npz(ImportCase):
    sentences = 60

    def folders(self, name="plain", **settings):
        for folder in ("marian", "opus", "imported", "from-opus"):
            shutil.rmtree(self.folder / folder, ignore_errors=True)
        marian = self.marian(name)
        forget_padding(marian)
        marian_npz.write(marian, self.folder / "opus", **settings)
        return marian, self.folder / "opus"

    def assert_same_weights(self, found, expected):
        found, expected = (load_file(folder / "model.safetensors") for folder in (found, expected))
        self.assertEqual(found.keys(), expected.keys())
        for name, weight in expected.items():
            if name == "output_bias":  # transformers can put out its <pad>, with a logit of 0; Marian has none
                self.assertEqual((float(weight[START]), float(found[name][START])), (0, -1e9))
                weight[START] = -1e9
            self.assertTrue(torch.equal(found[name], weight), name)

    def test_is_the_model_of_the_hugging_face_directory(self):
        for name in ("plain", "relu, odd sizes", "separate vocabularies", "untied"):
            with self.subTest(shape=name):
                marian, folder = self.folders(name)
                model = self.import_it(folder, "from-opus")
                self.assert_same_weights(model, self.import_it(marian.folder))
                give_constants_of_marian(marian.model)
                marian.banned.append([UNKNOWN])  # without allow-unk
                self.compare(model, marian)

    def test_compressed_arrays_are_the_same(self):
        marian, folder = self.folders(compressed=True)
        self.assert_same_weights(self.import_it(folder, "from-opus"), self.import_it(marian.folder))

    def test_one_table_and_an_output_layer_of_its_own(self):  # tied-embeddings-src alone
        marian, folder = self.folders("untied")
        with torch.no_grad():
            marian.model.model.decoder.embed_tokens.weight.copy_(marian.model.model.encoder.embed_tokens.weight)
        marian.save()
        arrays = marian_npz.arrays_of(marian.model)
        arrays["Wemb"] = arrays.pop("encoder_Wemb")
        del arrays["decoder_Wemb"]
        for transposed in (False, True):  # as newer versions of Marian store it
            if transposed:
                arrays["decoder_ff_logit_out_Wt"] = arrays.pop("decoder_ff_logit_out_W").T
            marian_npz.save(folder / "opus.npz", arrays,
                            {**marian_npz.options_of(marian.model), "tied-embeddings-src": True})
            with self.subTest(transposed=transposed):
                shutil.rmtree(self.folder / "imported", ignore_errors=True)
                shutil.rmtree(self.folder / "from-opus", ignore_errors=True)
                self.assert_same_weights(self.import_it(folder, "from-opus"), self.import_it(marian.folder))

    def test_another_reader_takes_these_folders(self):
        marian, folder = self.folders()
        ctranslate2.converters.OpusMTConverter(str(folder)).convert(str(self.folder / "ct2"))
        self.assertTrue((self.folder / "ct2" / "model.bin").exists())

    def test_settings(self):
        _, folder = self.folders()
        settings = yaml.safe_load((folder / "decoder.yml").read_text())
        (folder / "decoder.yml").write_text(yaml.safe_dump({**settings, "beam-size": 7, "normalize": 0.6,
                                                             "allow-unk": True}))
        model = self.import_it(folder)
        found = json.loads((model / "model.json").read_text())["configuration"]
        self.assertEqual((found["decoding"]["beam_size"], found["decoding"]["length_penalty"]), (7, 0.6))
        self.assertFalse(found["decoding"]["ban_unknown"])
        self.assertEqual((found["decoding"]["length_penalty_form"], found["model"]["norm_epsilon"]), ("simple", 1e-6))

    def test_what_cannot_be_represented_is_named(self):
        marian, folder = self.folders()
        arrays, options = marian_npz.arrays_of(marian.model), marian_npz.options_of(marian.model)
        for key, value in {"type": "s2s", "right-left": True, "transformer-preprocess": "n",
                           "transformer-postprocess": "da", "transformer-postprocess-emb": "nd",
                           "transformer-postprocess-top": "n", "transformer-ffn-activation": "gelu",
                           "transformer-decoder-autoreg": "average-attention", "transformer-no-projection": True,
                           "transformer-ffn-depth": 3, "transformer-decoder-dim-ffn": 64,
                           "transformer-tied-layers": [1, 1], "transformer-train-position-embeddings": True,
                           "transformer-heads": 5, "lemma-dim-emb": 32, "dim-emb": 64, "ulr": True}.items():
            with self.subTest(option=key):
                marian_npz.save(folder / "opus.npz", arrays, {**options, key: value})
                self.refused(folder, *(["encoder_l1_self_Wq"] if key == "dim-emb" else ["special:model.yml", key]))
        name = "encoder_l1_self_Wq"
        marian_npz.save(folder / "opus.npz", {**arrays, name: arrays[name] * numpy.float32("nan")}, options)
        self.refused(folder, "not finite")
        marian_npz.save(folder / "opus.npz", {**arrays, "Wpos": numpy.zeros((4, 48), numpy.float32)}, options)
        self.refused(folder, "tensor Wpos belongs to no part")

    def test_harmless_options_do_not_matter(self):
        marian, folder = self.folders(**{"transformer-guided-alignment-layer": 3, "transformer-preprocess": "d",
                                         "transformer-dropout": 0.1, "guided-alignment": "x", "label-smoothing": 0.1})
        self.assert_same_weights(self.import_it(folder, "from-opus"), self.import_it(marian.folder))

    def test_damaged_folders(self):
        marian, folder = self.folders()
        arrays, options = marian_npz.arrays_of(marian.model), marian_npz.options_of(marian.model)
        weights, decoder, vocabulary = folder / "opus.npz", folder / "decoder.yml", folder / "opus.vocab.yml"
        good = weights.read_bytes()
        for end in (0, 10, len(good) // 2, len(good) - 1):
            weights.write_bytes(good[:end])
            self.refused(folder, "opus.npz")
        name = "decoder_l2_context_Wk"
        for changed, part in (({**arrays, name: arrays[name].astype(numpy.int64)}, "<i8"),
                              ({**arrays, name: arrays[name][:-1]}, name),
                              ({key: value for key, value in arrays.items() if key != name}, f"{name} is missing"),
                              ({**arrays, name: numpy.array([{}], dtype=object)}, "Python objects")):
            marian_npz.save(weights, changed, options)
            self.refused(folder, "opus.npz", part)
        marian_npz.save(weights, arrays, ["no map"])
        self.refused(folder, "special:model.yml")
        weights.write_bytes(good)

        settings = yaml.safe_load(decoder.read_text())
        whole = decoder.read_text()
        for changes, part in (({"models": ["opus.npz", "opus.npz"]}, "models"), ({"models": ["../opus.npz"]}, "leaves"),
                              ({"models": ["/opus.npz"]}, "leaves"),
                              ({"models": ["other.npz"]}, "other.npz is missing"),
                              ({"models": ["source.spm"]}, "only .npz"), ({"vocabs": []}, "vocabs"),
                              ({"vocabs": ["source.spm"] * 2}, "source.spm"), ({"word-penalty": 0.5}, "word-penalty"),
                              ({"normalize": -1}, "normalize is -1"), ({"normalize": 10.5}, "normalize is 10.5"),
                              ({"vocabs": ["opus.vocab.yml", "other.yml"]}, "two files"), ({"beam-size": []}, "beam")):
            decoder.write_text(yaml.safe_dump({**settings, **changes}))
            self.refused(folder, "decoder.yml" if part != "source.spm" else "source.spm", part)
        decoder.write_text(whole)

        text = vocabulary.read_bytes()
        vocabulary.write_bytes(text[:len(text) // 2])
        self.refused(folder, "opus.vocab.yml")
        vocabulary.write_bytes(text)
        (folder / "source.spm").rename(folder / "source.bpe")
        self.refused(folder, "source.bpe")
        decoder.unlink()
        self.refused(folder, "decoder.yml")


if __name__ == "__main__":
    support.main(__doc__)
