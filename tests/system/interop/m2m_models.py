"""M2M-100 and NLLB models of Hugging Face transformers with random weights, and what transformers makes of them.
Imported where transformers is there (interop_support.rerun_in_environment).
"""

import json

import interop_support as support
import sentencepiece
import torch
import transformers
from safetensors.torch import save_file

transformers.logging.set_verbosity_error()
torch.set_num_threads(1)

BEGIN, PAD, END, UNKNOWN = 0, 1, 2, 3
MADE_UP = 8  # rows behind the languages
NLLB = ["ces_Latn", "deu_Latn", "eng_Latn", "fra_Latn", "zho_Hans"]
SHAPES = {
    "plain": {},
    "odd sizes, other activation": {"d_model": 54, "encoder_attention_heads": 3, "decoder_attention_heads": 3,
                                    "encoder_ffn_dim": 77, "decoder_ffn_dim": 77, "activation_function": "silu"},
    "deep encoder": {"encoder_layers": 6, "decoder_layers": 2},
    "not scaled": {"scale_embedding": False},
}


class M2m:
    """A directory with random weights. family: m2m100, wmt21 or nllb."""

    def __init__(self, folder, corpus, shape, family="m2m100", src_lang=None, tgt_lang=None, seed=2,
                 end_bias=7.5):
        self.folder, self.family = folder, family
        folder.mkdir()
        self.make_vocabulary(corpus)
        first = len(self.ids)
        if family == "nllb":
            self.languages = {code: first + i for i, code in enumerate(NLLB)}
            added = [{"id": id_, "content": code, "special": True}
                     for code, id_ in {**self.languages, "<mask>": first + len(NLLB)}.items()]
            (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": added, "model": {"vocab": {}}}))
            (folder / "tokenizer_config.json").write_text(json.dumps({"src_lang": src_lang, "tgt_lang": tgt_lang}))
        else:
            (folder / "vocab.json").write_text(json.dumps(self.ids))
            self.tokenizer = transformers.M2M100Tokenizer(
                str(folder / "vocab.json"), str(folder / "sentencepiece.bpe.model"), src_lang=src_lang,
                tgt_lang=tgt_lang, language_codes=family)
            self.tokenizer.save_pretrained(folder)
            self.languages = self.tokenizer.lang_code_to_id
        self.pieces = {id_: piece for piece, id_ in self.ids.items()}
        rows = first + len(self.languages) + MADE_UP
        settings = {"d_model": 48, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
                    "decoder_attention_heads": 4, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96,
                    "max_position_embeddings": 256, "vocab_size": rows, **shape}
        torch.manual_seed(seed)
        self.model = transformers.M2M100ForConditionalGeneration(transformers.M2M100Config(**settings)).eval()
        self.set_weights(first, end_bias)
        self.save()

    def make_vocabulary(self, corpus):
        """vocab.json of M2M-100, and for NLLB the same numbers: fairseq's special tokens, then SentencePiece's order."""
        prefix = self.folder / "sentencepiece.bpe"
        sentencepiece.SentencePieceTrainer.train(
            input=f"{corpus / 'train.de'},{corpus / 'train.en'}", model_prefix=str(prefix), vocab_size=300,
            model_type="bpe", character_coverage=1.0, minloglevel=2, num_threads=1, input_sentence_size=1000)
        (self.folder / "sentencepiece.bpe.vocab").unlink()
        self.spm = sentencepiece.SentencePieceProcessor(model_file=f"{prefix}.model")
        self.ids = {"<s>": BEGIN, "<pad>": PAD, "</s>": END, "<unk>": UNKNOWN}
        for number in range(3, self.spm.get_piece_size()):
            self.ids[self.spm.id_to_piece(number)] = number + 1

    def set_weights(self, first_language, end_bias):
        """Far from the start of a training: norms and attention that matter, and sentences that end."""
        model = self.model
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if "layer_norm" in name:
                    weight.add_(torch.randn_like(weight) * 0.2)
                elif name.endswith("bias"):
                    weight.normal_(0, 0.1)
                elif name != "model.shared.weight":
                    # Attention is sharp, and what the layers add outweighs the token that came in.
                    scale = 3 if any(part in name for part in ("q_proj", "out_proj", "fc2")) else 1.5
                    weight.normal_(0, scale * weight.shape[1] ** -0.5)
            table, last = model.model.shared.weight, model.model.decoder.layer_norm
            table.normal_(0, 0.15 if model.config.scale_embedding else 1)
            # The token that came in must not be the one that comes out.
            last.weight.mul_(torch.randint(0, 2, last.weight.shape) * 2 - 1).mul_(3 * 0.15 / table.std())
            # Feature 0 is a number at last: a bias for </s>, and against tokens without a text.
            last.weight[0], last.bias[0] = 0, 4
            table[PAD] = 0
            table[:, 0] = 0
            table[END] *= 0.3
            table[END, 0] = end_bias / 4
            table[first_language:, 0] = table[BEGIN, 0] = -10

    def save(self):
        self.model.config.save_pretrained(self.folder)
        self.model.generation_config.save_pretrained(self.folder)
        state = {name: weight.clone().contiguous() for name, weight in self.model.state_dict().items()
                 if name == "model.shared.weight" or "embed_tokens" not in name and "lm_head" not in name}
        save_file(state, self.folder / "model.safetensors", {"format": "pt"})

    def configure(self, **changes):
        """config.json with other fields; None takes one away."""
        path = self.folder / "config.json"
        settings = {**json.loads(path.read_text()), **changes}
        path.write_text(json.dumps({key: value for key, value in settings.items() if value is not None}))

    def encode(self, line, language):
        return [self.languages[language], *(self.ids.get(piece, UNKNOWN) for piece in
                                            self.spm.encode(line, out_type=str)), END]

    def text(self, ids):
        """The text as nmt-translate writes it: <unk> as it stands, and no token of a language."""
        pieces = ["\ufdd0" if i == UNKNOWN else self.pieces[i] for i in ids if i > END and i in self.pieces]
        return self.spm.decode_pieces(pieces).replace("\ufdd0", "<unk>").strip()

    def generate(self, line, source, target, beam=1, **settings):
        """Ids from the start token </s> on; the language is the second one."""
        with torch.no_grad():
            return self.model.generate(
                torch.tensor([self.encode(line, source)]), forced_bos_token_id=self.languages[target], num_beams=beam,
                do_sample=False, max_new_tokens=support.LIMIT, bad_words_ids=[[PAD], [BEGIN]], early_stopping="never",
                **settings)[0].tolist()

    def scores(self, line, source, ids):
        """Log-probabilities of the language and of what follows, by one forced pass."""
        inputs = torch.tensor([ids])
        with torch.no_grad():
            logits = self.model(input_ids=torch.tensor([self.encode(line, source)]),
                                decoder_input_ids=inputs[:, :-1]).logits
        return logits.log_softmax(-1).gather(2, inputs[:, 1:, None]).flatten().tolist()


class M2mCase(support.Case):
    """Imports such models, and compares what both toolkits say."""

    def m2m(self, shape="plain", **settings):
        return M2m(self.folder / "m2m", self.programs.corpus(), SHAPES[shape], **settings)

    def import_it(self, folder, name="imported"):
        out = self.folder / name
        self.programs.must("nmt-export", "-q", "--from", "m2m", "-i", folder, "-o", out)
        return out

    def refused(self, folder, *parts):
        out = self.folder / "refused"
        done = self.programs.call("nmt-export", "--from", "m2m", "-i", folder, "-o", out)
        self.assert_refused(done, *parts, output=out)

    def compare(self, model, m2m, source, target, count=60):
        """Log-probabilities of forced decoding, and the text of both searches."""
        lines = self.programs.sources(count)
        languages = ("--source-language", source, "--target-language", target)
        found = [m2m.generate(line, source, target) for line in lines]
        self.assertGreater(len({tuple(ids) for ids in found}), count // 4, "the source matters")
        scored = self.programs.translate(model, lines, 1, "--scores", *languages)
        same = 0  # but for ties
        for line, ids, result in zip(lines, found, scored):
            text, score = result.rsplit("\t", 1)
            if text == m2m.text(ids):
                same += 1
                expected = m2m.scores(line, source, ids)[1:]  # the language is given
                self.assertAlmostEqual(float(score), sum(expected), delta=1e-4 * len(expected))
        self.assertGreaterEqual(same, count - 1)
        # Each stops where no live hypothesis can win, and the language counts as a token.
        for penalty in (0.0, 1.0):
            ids = [m2m.generate(line, source, target, 4, length_penalty=penalty) for line in lines]
            ended = [i for i in range(count) if ids[i][-1] == END]
            self.assertGreater(10 * len(ended), count)
            ours = self.programs.translate(model, [lines[i] for i in ended], 4, "--length-penalty-form", "simple", "--stopping", "optimal",
                                           *languages, length_penalty=penalty)
            self.assert_same([text.strip() for text in ours], [m2m.text(ids[i]) for i in ended])
