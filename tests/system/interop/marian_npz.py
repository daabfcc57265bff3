"""Writes a MarianMT model of transformers in Marian's own form, as OPUS-MT publishes it: .npz, decoder.yml, vocab.yml.

Names of tensors and options follow what transformers' convert_marian_to_pytorch.py reads, the other way round; the
second reader that the tests have is CTranslate2's converter of OPUS-MT models.
"""

import shutil

import numpy
import yaml

# Part of a layer in transformers: weight and bias in Marian.
PARTS = {
    "self_attn.q_proj": ("self_Wq", "self_bq"),
    "self_attn.k_proj": ("self_Wk", "self_bk"),
    "self_attn.v_proj": ("self_Wv", "self_bv"),
    "self_attn.out_proj": ("self_Wo", "self_bo"),
    "self_attn_layer_norm": ("self_Wo_ln_scale", "self_Wo_ln_bias"),
    "encoder_attn.q_proj": ("context_Wq", "context_bq"),
    "encoder_attn.k_proj": ("context_Wk", "context_bk"),
    "encoder_attn.v_proj": ("context_Wv", "context_bv"),
    "encoder_attn.out_proj": ("context_Wo", "context_bo"),
    "encoder_attn_layer_norm": ("context_Wo_ln_scale", "context_Wo_ln_bias"),
    "fc1": ("ffn_W1", "ffn_b1"),
    "fc2": ("ffn_W2", "ffn_b2"),
    "final_layer_norm": ("ffn_ffn_ln_scale", "ffn_ffn_ln_bias"),
}

# What special:model.yml of such a model has beside its sizes.
OPTIONS = {
    "type": "transformer", "version": "v1.8.2", "right-left": False, "skip": False, "layer-normalization": False,
    "lemma-dim-emb": 0, "max-length": 100, "ulr": False, "ulr-dim-emb": 0, "dec-cell": "gru", "dec-cell-base-depth": 2,
    "dec-cell-high-depth": 1, "enc-cell": "gru", "enc-type": "bidirectional", "input-types": [],
    "transformer-aan-activation": "swish", "transformer-aan-depth": 2, "transformer-aan-nogate": False,
    "transformer-decoder-autoreg": "self-attention", "transformer-dim-aan": 2048, "transformer-ffn-depth": 2,
    "transformer-guided-alignment-layer": "last", "transformer-no-projection": False, "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d", "transformer-preprocess": "", "transformer-tied-layers": [],
    "transformer-train-position-embeddings": False,
}

DECODER = {"relative-paths": True, "beam-size": 6, "normalize": 1, "word-penalty": 0, "mini-batch": 1, "maxi-batch": 1,
           "maxi-batch-sort": "src"}


def arrays_of(model):
    """The tensors of a MarianMTModel under Marian's names, without its row for <pad>, which Marian does not have."""
    config = model.config
    state = {name: weight.numpy() for name, weight in model.state_dict().items()}
    arrays = {}
    for side, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        for i in range(layers):
            for part, (weight, bias) in PARTS.items():
                theirs = f"model.{side}.layers.{i}.{part}"
                if f"{theirs}.weight" in state:
                    matrix = state[f"{theirs}.weight"]
                    arrays[f"{side}_l{i + 1}_{weight}"] = matrix[None] if matrix.ndim == 1 else matrix.T
                    arrays[f"{side}_l{i + 1}_{bias}"] = state[f"{theirs}.bias"][None]
    source, target = (state[f"model.{side}.embed_tokens.weight"][:-1] for side in ("encoder", "decoder"))
    if config.share_encoder_decoder_embeddings and config.tie_word_embeddings:
        arrays["Wemb"] = source
    else:
        arrays["encoder_Wemb"], arrays["decoder_Wemb"] = source, target
    if not config.tie_word_embeddings:
        arrays["decoder_ff_logit_out_W"] = state["lm_head.weight"][:-1].T
    arrays["decoder_ff_logit_out_b"] = state["final_logits_bias"][:, :-1]
    return {name: numpy.ascontiguousarray(array) for name, array in arrays.items()}


def options_of(model):
    config = model.config
    everything = config.share_encoder_decoder_embeddings and config.tie_word_embeddings
    return {**OPTIONS, "dim-emb": config.d_model, "dim-vocabs": [config.vocab_size - 1, config.decoder_vocab_size - 1],
            "enc-depth": config.encoder_layers, "dec-depth": config.decoder_layers,
            "transformer-dim-ffn": config.encoder_ffn_dim, "transformer-heads": config.encoder_attention_heads,
            "transformer-ffn-activation": config.activation_function, "tied-embeddings": config.tie_word_embeddings,
            "tied-embeddings-src": everything, "tied-embeddings-all": everything}


def save(path, arrays, options, compressed=False):
    text = yaml.safe_dump(options).encode() + b"\0"
    arrays = {**arrays, "special:model.yml": numpy.frombuffer(text, dtype=numpy.int8)}
    (numpy.savez_compressed if compressed else numpy.savez)(path, **arrays)


def write(marian, folder, compressed=False, **changes):
    """The model of marian (marian_test.Marian) as a folder of Marian's; changes are to special:model.yml."""
    folder.mkdir()
    vocabularies = [{token: number for token, number in ids.items() if token != "<pad>"}
                    for ids in marian.vocabularies]
    names = ["opus.vocab.yml"] * 2 if len(vocabularies) == 1 else ["opus.src.vocab.yml", "opus.trg.vocab.yml"]
    for name, ids in zip(names, vocabularies):
        (folder / name).write_text(yaml.safe_dump(ids, allow_unicode=True), encoding="utf-8")
    for name in ("source.spm", "target.spm"):
        shutil.copy(marian.folder / name, folder / name)
    save(folder / "opus.npz", arrays_of(marian.model), {**options_of(marian.model), **changes}, compressed)
    (folder / "decoder.yml").write_text(yaml.safe_dump({**DECODER, "models": ["opus.npz"], "vocabs": names}))
