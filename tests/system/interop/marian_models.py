"""MarianMT models of Hugging Face transformers with random weights, and what transformers makes of them. Imported where
transformers is there (interop_support.rerun_in_environment).
"""

import json
import shutil

import interop_support as support
import sentencepiece
import torch
import transformers
from safetensors.torch import save_file

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


class Marian:
    """A MarianMT directory with random weights, and what transformers makes of it."""

    def __init__(self, folder, corpus, shape, pickled=False, codes=()):
        self.folder = folder
        folder.mkdir()
        vocabularies = self.make_vocabularies(corpus, shape.get("share_encoder_decoder_embeddings", True), codes)
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
        self.vocabularies = vocabularies
        self.pieces = {number: piece for piece, number in vocabularies[-1].items()}
        self.ids = vocabularies[0]
        self.banned = [[pad]]
        self.save(pickled)

    def save(self, pickled=False):
        self.model.config.save_pretrained(self.folder)
        state = {name: weight.clone().contiguous() for name, weight in self.model.state_dict().items()}
        if pickled:
            torch.save(self.model.state_dict(), self.folder / "pytorch_model.bin",
                       _use_new_zipfile_serialization=pickled == "zip")
        else:
            save_file(state, self.folder / "model.safetensors", {"format": "pt"})

    def make_vocabularies(self, corpus, shared, codes):
        """codes: of target languages; the SentencePiece models have pieces for every second one."""
        models = []
        for side, name in (("de", "source"), ("en", "target")):
            sentencepiece.SentencePieceTrainer.train(
                input=str(corpus / f"train.{side}"), model_prefix=str(self.folder / name), vocab_size=250,
                model_type="unigram", character_coverage=1.0, minloglevel=2, num_threads=1, input_sentence_size=500,
                user_defined_symbols=list(codes[::2]))
            (self.folder / f"{name}.model").rename(self.folder / f"{name}.spm")
            (self.folder / f"{name}.vocab").unlink()
            models.append(sentencepiece.SentencePieceProcessor(model_file=str(self.folder / f"{name}.spm")))
        self.source, self.target = models
        groups = [models] if shared else [[models[0]], [models[1]]]
        vocabularies = []
        for group in groups:
            pieces = [model.id_to_piece(i) for model in group for i in range(3, model.get_piece_size())]
            tokens = ["</s>", "<unk>", *dict.fromkeys((*pieces, *codes)), "<pad>"]
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
        """The text as nmt-translate writes it: <unk> as it stands."""
        pad = self.model.config.pad_token_id
        text = self.target.decode_pieces([self.pieces[i] for i in ids if i not in (0, pad)])
        return text.replace("\u2047", "<unk>").replace("\u2581", " ").strip()  # as MarianTokenizer does

    def translate(self, lines, beam, scores=False):
        results = []
        with torch.no_grad():
            for line in lines:
                found = self.model.generate(
                    torch.tensor([self.encode(line)]), num_beams=beam, length_penalty=0.0, do_sample=False,
                    max_new_tokens=support.LIMIT, bad_words_ids=self.banned,
                    forced_eos_token_id=None, early_stopping=False)[0].tolist()
                results.append((self.text(found), self.score(line, found)) if scores else self.text(found))
        return results

    def score(self, line, ids):
        """Log-probability of ids (from the start token on) by one forced pass."""
        inputs = torch.tensor([ids])
        logits = self.model(input_ids=torch.tensor([self.encode(line)]), decoder_input_ids=inputs[:, :-1]).logits
        return float(logits.log_softmax(-1).gather(2, inputs[:, 1:, None]).sum()), len(ids) - 1


class ImportCase(support.Case):
    """Imports such models, and compares what both toolkits say."""

    sentences = 200

    def marian(self, name="plain", **settings):
        return Marian(self.folder / "marian", self.programs.corpus(), SHAPES[name], **settings)

    def import_it(self, folder, name="imported"):
        out = self.folder / name
        self.programs.must("nmt-export", "-q", "--from", "marian", "-i", folder, "-o", out)
        return out

    def refused(self, folder, *parts):
        out = self.folder / "refused"
        done = self.programs.call("nmt-export", "--from", "marian", "-i", folder, "-o", out)
        self.assert_refused(done, *parts, output=out)

    def check(self, name):
        for folder in ("marian", "imported"):
            shutil.rmtree(self.folder / folder, ignore_errors=True)
        marian = self.marian(name)
        self.compare(self.import_it(marian.folder), marian)

    def compare(self, model, marian):
        """Log-probabilities of forced decoding, and the text of both searches."""
        lines = self.programs.sources(self.sentences)
        scored = marian.translate(lines[:40], 1, scores=True)
        ours = self.programs.translate(model, lines[:40], 1, "--scores")
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
