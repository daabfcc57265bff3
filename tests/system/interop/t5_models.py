"""T5 models of Hugging Face transformers with random weights, and what transformers makes of them. Imported where
transformers is there (interop_support.rerun_in_environment).
"""

import json

import interop_support as support
import sentencepiece
import torch
import transformers
from safetensors.torch import save_file

transformers.logging.set_verbosity_error()
torch.set_num_threads(1)

PAD, END, UNKNOWN = 0, 1, 2
SENTINELS = 100  # <extra_id_0> to <extra_id_99>
FILLING = 28     # rows of the table that stand for nothing
PREFIX = "translate English to German: "
TASK = {"early_stopping": True, "max_length": 80, "num_beams": 4, "prefix": PREFIX}
TASKS = {"summarization": {"max_length": 200, "min_length": 30, "prefix": "summarize: "}, "translation_en_to_de": TASK}

# Shapes of the models that come in: what config.json has beyond the usual.
SHAPES = {
    "1.0": {},
    "1.1": {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
    "heads of less than the model": {"num_heads": 5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
    "heads of odd size, few buckets": {"num_heads": 3, "d_kv": 7, "feed_forward_proj": "gated-silu",
                                       "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20,
                                       "num_layers": 3, "num_decoder_layers": 2, "layer_norm_epsilon": 1e-5},
    "mt5": {"model_type": "mt5", "feed_forward_proj": "gated-gelu"},
}


class T5:
    """A T5 directory with random weights, and what transformers makes of it."""

    def __init__(self, folder, corpus, shape, pickled=False, tasks=TASKS):
        self.folder = folder
        folder.mkdir()
        sentencepiece.SentencePieceTrainer.train(
            input=[str(corpus / "train.de"), str(corpus / "train.en")], model_prefix=str(folder / "spiece"),
            vocab_size=400, model_type="unigram", character_coverage=1.0, minloglevel=2, num_threads=1,
            input_sentence_size=1000, pad_id=PAD, eos_id=END, unk_id=UNKNOWN, bos_id=-1)
        (folder / "spiece.vocab").unlink()
        self.pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spiece.model"))
        settings = {"d_model": 48, "d_kv": 8, "d_ff": 96, "num_layers": 2, "num_heads": 6, "pad_token_id": PAD,
                    "eos_token_id": END, "decoder_start_token_id": PAD,
                    "vocab_size": self.pieces.get_piece_size() + SENTINELS + FILLING, **shape}
        self.is_mt5 = settings.pop("model_type", "t5") == "mt5"
        self.untied = self.is_mt5 or not settings.get("tie_word_embeddings", True)
        torch.manual_seed(1)
        kinds = (transformers.MT5Config, transformers.MT5ForConditionalGeneration) if self.is_mt5 else (
            transformers.T5Config, transformers.T5ForConditionalGeneration)
        self.model = kinds[1](kinds[0](**settings)).eval()
        self.model.config.task_specific_params = tasks
        self.set_weights()
        self.save(pickled)

    def set_weights(self):
        """Far from the start of a training, where attention is even: scores and biases that matter, and sentences
        that end."""
        model = self.model
        with torch.no_grad():
            if self.untied:
                model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight))
            for name, weight in model.named_parameters():
                if "layer_norm" in name:
                    weight.add_(torch.randn_like(weight) * 0.2)
                elif "relative_attention_bias" in name:
                    weight.normal_(0, 2)
                elif "shared" in name or "lm_head" in name:
                    weight.normal_(0, 0.5 if "shared" in name else 0.3)
                else:  # what the layers add outweighs the token that came in
                    weight.normal_(0, (3 if name.endswith((".o.weight", ".wo.weight")) else 1) * weight.shape[1] ** -0.5)
            # No layer changes feature 0 of the decoder: a bias against tokens without a piece, and for </s>.
            for name, weight in model.decoder.named_parameters():
                if name.endswith((".o.weight", ".wo.weight")):
                    weight[0] = 0
            model.shared.weight[:, 0] = 2
            last = model.decoder.final_layer_norm.weight
            last[0] = 1
            table = model.lm_head.weight if self.untied else model.shared.weight
            if not self.untied:  # the token that came in must not be the one that comes out
                last.mul_(torch.randint(0, 2, last.shape) * 2 - 1).mul_(4)
                last[0] = 4
            table[self.pieces.get_piece_size():, 0] = -40
            table[END, 0] = 17 if self.untied else 25
            if self.untied:
                table[PAD, 0] = -40

    def save(self, pickled=False):
        self.model.config.save_pretrained(self.folder)
        self.model.generation_config.save_pretrained(self.folder)
        state = {name: weight.clone().contiguous() for name, weight in self.model.state_dict().items()}
        names = ["encoder.embed_tokens.weight", "decoder.embed_tokens.weight"]
        for name in names if self.untied else [*names, "lm_head.weight"]:
            del state[name]
        if pickled:  # as it was done before safetensors: every name, tensors share their bytes
            torch.save(self.model.state_dict(), self.folder / "pytorch_model.bin",
                       _use_new_zipfile_serialization=pickled == "zip")
        else:
            save_file(state, self.folder / "model.safetensors", {"format": "pt"})

    def configure(self, **changes):
        """config.json with other fields; None takes one away."""
        path = self.folder / "config.json"
        settings = {**json.loads(path.read_text()), **changes}
        path.write_text(json.dumps({key: value for key, value in settings.items() if value is not None}))

    def encode(self, line, prefix=PREFIX):
        return self.pieces.encode(prefix + line) + [END]

    def text(self, ids):
        """The text as nmt-translate writes it: <unk> as it stands."""
        pieces = ["\ufdd0" if i == UNKNOWN else self.pieces.id_to_piece(i) for i in ids
                  if i not in (PAD, END) and i < self.pieces.get_piece_size()]
        return self.pieces.decode_pieces(pieces).replace("\ufdd0", "<unk>")

    def generate(self, line, prefix=PREFIX, **settings):
        with torch.no_grad():
            return self.model.generate(torch.tensor([self.encode(line, prefix)]), do_sample=False,
                                       **settings)[0].tolist()

    def translate(self, lines, prefix=PREFIX, **settings):
        """Greedily."""
        return [self.text(self.generate(line, prefix, max_new_tokens=support.LIMIT, **settings)) for line in lines]

    def finished(self, lines, **settings):
        """The lines whose translation ends before the limit, and these translations. Of the others transformers may
        take one that was cut, where nmt-translate takes the best that ended."""
        found = [(line, ids) for line in lines if (ids := self.generate(line, **settings))[-1] == END]
        return [line for line, _ in found], [self.text(ids) for _, ids in found]

    def score(self, line, ids):
        """Log-probability of ids (from the start token on) by one forced pass, and how many they are."""
        inputs = torch.tensor([ids])
        with torch.no_grad():
            logits = self.model(input_ids=torch.tensor([self.encode(line)]), decoder_input_ids=inputs[:, :-1]).logits
        return float(logits.log_softmax(-1).gather(2, inputs[:, 1:, None]).sum()), len(ids) - 1


class T5Case(support.Case):
    """Imports such models, and compares what both toolkits say."""

    def t5(self, name="1.0", **settings):
        return T5(self.folder / "t5", self.programs.corpus(), SHAPES[name], **settings)

    def import_it(self, folder, *options, name="imported"):
        out = self.folder / name
        self.programs.must("nmt-export", "-q", "--from", "t5", "-i", folder, "-o", out, *options)
        return out

    def refused(self, folder, *parts, options=()):
        out = self.folder / "refused"
        done = self.programs.call("nmt-export", "--from", "t5", "-i", folder, "-o", out, *options)
        self.assert_refused(done, *parts, output=out)

    def sources(self, count):
        return (self.programs.corpus() / "train.en").read_text().splitlines()[:count]

    def compare(self, model, t5, lines):
        """Log-probabilities of forced decoding, and the text of both searches."""
        found = self.programs.translate(model, lines, 1, "--scores")
        same = 0  # but for ties
        for line, result in zip(lines, found):
            text, score = result.rsplit("\t", 1)
            ids = t5.generate(line, max_new_tokens=support.LIMIT)
            if text == t5.text(ids):
                same += 1
                expected, tokens = t5.score(line, ids)
                self.assertAlmostEqual(float(score), expected, delta=1e-4 * tokens)
        self.assertGreaterEqual(same, len(lines) - 1)
        self.assert_same(self.programs.translate(model, lines, 1), t5.translate(lines))
        ended, expected = t5.finished(lines, num_beams=4, length_penalty=0.0, early_stopping=False,
                                      max_new_tokens=support.LIMIT)
        self.assertGreater(2 * len(ended), len(lines))
        self.assert_same(self.programs.translate(model, ended, 4), expected)
