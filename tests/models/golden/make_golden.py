#!/usr/bin/env python3
"""Writes the golden values of the Transformer: an independent program in NumPy, forward and backward by hand, in double.

    make_golden.py            writes NAME.json beside this file for every case
    make_golden.py --check    compares the backward passes with central differences and writes nothing

Each file holds a configuration, batches, and what three updates over them must give: logits of the real positions, loss,
gradient norm, gradients, learning rates and the weights afterwards (of large tensors every STRIDE-th element). Of the initial
weights only the first two elements a tensor are stored: they follow the formula of initial_weight(). Nothing here is
shared with the C++ code; transformer_by_hand.py has the equations.

Made with Python 3.11 and NumPy 2.4.6.
"""

import json
import math
import pathlib
import sys

import numpy
from transformer_by_hand import Network

PAD, BOS, EOS = 0, 2, 3
STRIDE = 5  # of the elements of a large tensor that are stored
WHOLE = 16  # tensors up to this size are stored whole


def initial_weight(name, shape):
    """s * cos(0.37 i^2 + start(name)) for the running index i, as float32; norms' weights are around 1.

    start(name) = sum over the bytes of (place from 1) * byte, modulo 1000, in hundredths. s = 1.2 / sqrt(columns) for
    matrices, 0.2 for vectors. The square makes the rows of a matrix independent.
    """
    start = sum((k + 1) * byte for k, byte in enumerate(name.encode())) % 1000 / 100
    index = numpy.arange(math.prod(shape), dtype=numpy.float64)
    scale = 1.2 / math.sqrt(shape[1]) if len(shape) == 2 else 0.2
    values = scale * numpy.cos(0.37 * index * index + start)
    if name.endswith("norm.weight"):
        values += 1
    return values.reshape(shape).astype(numpy.float32).astype(numpy.float64)


def parameter_shapes(model):
    """Every parameter's name and shape."""
    d, inner = model["d_model"], model["d_ff"]
    source, target = model["source_vocabulary"], model["target_vocabulary"]
    shapes = {}
    if model["tie_embeddings"] == "all":
        shapes["embedding"] = (source, d)
    else:
        shapes["source_embedding"], shapes["target_embedding"] = (source, d), (target, d)
        if model["tie_embeddings"] == "none":
            shapes["output_weight"] = (target, d)
    if model["output_bias"]:
        shapes["output_bias"] = (target,)
    if model["positions"] == "learned":
        shapes["source_positions.weight"] = shapes["target_positions.weight"] = (model["max_positions"], d)

    def block(name, attentions):
        for attention in attentions:
            for part in ("query", "key", "value") + (("output",) if model["attention_output_projection"] else ()):
                shapes[f"{name}.{attention}.{part}.weight"] = (d, d)
                if model["attention_bias"]:
                    shapes[f"{name}.{attention}.{part}.bias"] = (d,)
        shapes[f"{name}.feed_forward.inner.weight"], shapes[f"{name}.feed_forward.inner.bias"] = (inner, d), (inner,)
        shapes[f"{name}.feed_forward.outer.weight"], shapes[f"{name}.feed_forward.outer.bias"] = (d, inner), (d,)
        for norm in attentions + ("feed_forward",):
            shapes[f"{name}.{norm}_norm.weight"] = shapes[f"{name}.{norm}_norm.bias"] = (d,)

    for i in range(model["encoder_blocks"]):
        block(f"encoder_{i}", ("self_attention",))
    for i in range(model["decoder_blocks"]):
        block(f"decoder_{i}", ("self_attention", "cross_attention"))
    if model["norm"] == "pre" and model["final_norm"]:
        for norm in ("encoder_norm", "decoder_norm"):
            shapes[f"{norm}.weight"] = shapes[f"{norm}.bias"] = (d,)
    return shapes


def smoothed_cross_entropy(logits, labels, smoothing, form):
    """Sum over labels that are not padding, and its gradient.

    form "all": smoothing / classes everywhere; "others_normalized": smoothing / (classes - 1) on the other classes, and
    the entropy of the wanted distribution is subtracted, so that the best loss is 0 (as in Tensor2Tensor).
    """
    classes = logits.shape[-1]
    shifted = logits - logits.max(-1, keepdims=True)
    log_probabilities = shifted - numpy.log(numpy.exp(shifted).sum(-1, keepdims=True))
    real = (labels != PAD)[..., None]
    if form == "all":
        wanted, least = (1 - smoothing) * numpy.eye(classes)[labels] + smoothing / classes, 0
    else:
        low = smoothing / (classes - 1)
        wanted = numpy.where(numpy.eye(classes)[labels] == 1, 1 - smoothing, low)
        least = -((1 - smoothing) * math.log(1 - smoothing) + (classes - 1) * low * math.log(low + 1e-20))
    loss = -(wanted * log_probabilities * real).sum() - least * real.sum()
    return loss, (numpy.exp(log_probabilities) - wanted) * real


def count_of(batch, training):
    """What the mean loss is a mean over: labels that are not padding, or pairs."""
    return len(batch["target_out"]) if training.get("loss_mean") == "sentences" else (batch["target_out"] != PAD).sum()


def gradients_of(model, weights, batch, training):
    """Loss sum, logits, and gradients of the mean loss."""
    network = Network(model, weights)
    logits, back = network.logits(batch)
    loss, of_logits = smoothed_cross_entropy(logits, batch["target_out"], training["smoothing"], training["smoothing_form"])
    back(of_logits / count_of(batch, training))
    if model["zero_padding_embedding"]:  # row 0 is a constant, no part of the trained table
        for name in ("embedding", "source_embedding", "target_embedding"):
            if name in weights:
                network.gradients[name][0] = 0
    return loss, logits, network.gradients


def learning_rate(training, d_model, update):
    lr, warmup = training["lr"], training["warmup_steps"]
    if training["schedule"] in ("constant", "halving"):  # halving begins later
        return lr
    if training["schedule"] == "noam":
        return lr * d_model**-0.5 * min(update**-0.5, update * warmup**-1.5)
    return lr * warmup**0.5 * min(update * warmup**-1.5, update**-0.5)  # Kyubyong


def adam(weights, gradients, moments, training, rate, update):
    """Kingma and Ba 2015, algorithm 1; weight decay as in Loshchilov and Hutter 2019."""
    beta1, beta2 = training["adam_beta1"], training["adam_beta2"]
    for name, gradient in gradients.items():
        first, second = moments.setdefault(name, (numpy.zeros_like(gradient), numpy.zeros_like(gradient)))
        first = beta1 * first + (1 - beta1) * gradient
        second = beta2 * second + (1 - beta2) * gradient**2
        moments[name] = first, second
        step = first / (1 - beta1**update) / (numpy.sqrt(second / (1 - beta2**update)) + training["adam_epsilon"])
        weights[name] = weights[name] * (1 - rate * training["weight_decay"]) - rate * step


def adadelta(weights, gradients, moments, training, rate, update):
    """Zeiler 2012, algorithm 1."""
    rho, epsilon = training["adadelta_rho"], training["adadelta_epsilon"]
    for name, gradient in gradients.items():
        squares, changes = moments.setdefault(name, (numpy.zeros_like(gradient), numpy.zeros_like(gradient)))
        squares = rho * squares + (1 - rho) * gradient**2
        change = numpy.sqrt(changes + epsilon) / numpy.sqrt(squares + epsilon) * gradient
        moments[name] = squares, rho * changes + (1 - rho) * change**2
        weights[name] = weights[name] - rate * change


def sgd(weights, gradients, moments, training, rate, update):
    assert training["sgd_momentum"] == 0
    for name, gradient in gradients.items():
        weights[name] = weights[name] - rate * gradient


OPTIMIZERS = {"adam": adam, "adadelta": adadelta, "sgd": sgd}


def pad(rows):
    width = max(map(len, rows))
    return numpy.array([row + [PAD] * (width - len(row)) for row in rows])


def make_batch(pairs):
    return {"source": pad([source + [EOS] for source, _ in pairs]),
            "target_in": pad([[BOS] + target for _, target in pairs]),
            "target_out": pad([target + [EOS] for _, target in pairs])}


PAIRS = [  # three batches of three pairs of different lengths
    [([5, 9, 4], [4, 8]), ([7], [9, 6, 5, 10]), ([10, 6, 8, 5, 4], [7])],
    [([8, 8, 1, 6], [10, 4, 4, 9, 5, 6]), ([4, 5], [8]), ([9, 10, 7], [6, 1, 7])],
    [([6], []), ([5, 4, 10, 9, 7, 8, 6], [5, 9, 10]), ([9, 8], [4, 7, 8, 6])],
]

MODEL = {"activation": "relu", "positions": "sinusoidal", "mask_padding_positions": False, "attention_output_projection": True,
         "attention_bias": True, "qkv_activation": "none", "tie_embeddings": "all", "output_bias": False,
         "zero_padding_embedding": True, "norm": "post", "final_norm": True}
TRAINING = {"weight_decay": 0, "clip_norm": 0, "smoothing": 0.1, "smoothing_form": "all"}

CASES = {
    # Kyubyong Park's program of 2019: no W^O, no residual dropout, masks and positions by zero ids.
    "kyubyong2019": (
        MODEL | {"d_model": 8, "d_ff": 12, "encoder_blocks": 2, "decoder_blocks": 2, "num_heads": 2, "norm_epsilon": 1e-8,
                 "mask_padding_positions": True, "attention_output_projection": False,
                 "source_vocabulary": 11, "target_vocabulary": 11},
        TRAINING | {"schedule": "inverse_sqrt", "lr": 0.01, "warmup_steps": 2,
                    "adam_beta1": 0.9, "adam_beta2": 0.999, "adam_epsilon": 1e-8}),
    # Vaswani et al. 2017; head_dim 6 fills no vector register.
    "vaswani2017": (
        MODEL | {"d_model": 12, "d_ff": 20, "encoder_blocks": 2, "decoder_blocks": 2, "num_heads": 2, "norm_epsilon": 1e-6,
                 "source_vocabulary": 13, "target_vocabulary": 13},
        TRAINING | {"schedule": "noam", "lr": 0.1, "warmup_steps": 2,
                    "adam_beta1": 0.9, "adam_beta2": 0.98, "adam_epsilon": 1e-9}),
    # Pre-norm with a final norm; nothing shared, padding is no zero vector, other depths, clipping and weight decay.
    "pre_norm": (
        MODEL | {"d_model": 8, "d_ff": 12, "encoder_blocks": 1, "decoder_blocks": 2, "num_heads": 4, "norm_epsilon": 1e-5,
                 "norm": "pre", "activation": "gelu", "positions": "learned", "max_positions": 9, "tie_embeddings": "none",
                 "output_bias": True, "zero_padding_embedding": False, "source_vocabulary": 11, "target_vocabulary": 13},
        TRAINING | {"schedule": "inverse_sqrt", "lr": 0.01, "warmup_steps": 2, "adam_beta1": 0.9, "adam_beta2": 0.98,
                    "adam_epsilon": 1e-9, "weight_decay": 0.1, "clip_norm": 0.5}),
    # Kyubyong Park's program of 2017: ReLU on queries, keys and values, learned positions that padding is spared, two
    # tables and an output layer of their own, a constant rate.
    "kyubyong2017": (
        MODEL | {"d_model": 8, "d_ff": 32, "encoder_blocks": 2, "decoder_blocks": 2, "num_heads": 2, "norm_epsilon": 1e-8,
                 "positions": "learned", "max_positions": 10, "mask_padding_positions": True,
                 "attention_output_projection": False, "qkv_activation": "relu", "tie_embeddings": "none",
                 "output_bias": True, "source_vocabulary": 11, "target_vocabulary": 13},
        TRAINING | {"schedule": "constant", "lr": 0.01, "warmup_steps": 0,
                    "adam_beta1": 0.9, "adam_beta2": 0.98, "adam_epsilon": 1e-8}),
    # A pre-norm Transformer as Keras programs have it: attention without biases, nothing shared, normalised smoothing over the others.
    "prenorm_small": (
        MODEL | {"d_model": 8, "d_ff": 32, "encoder_blocks": 2, "decoder_blocks": 2, "num_heads": 2, "norm_epsilon": 1e-6,
                 "norm": "pre", "attention_bias": False, "tie_embeddings": "none",
                 "source_vocabulary": 13, "target_vocabulary": 13},
        TRAINING | {"schedule": "inverse_sqrt", "lr": 0.01, "warmup_steps": 2, "smoothing": 0.05,
                    "smoothing_form": "others_normalized", "adam_beta1": 0.9, "adam_beta2": 0.98, "adam_epsilon": 1e-8}),
    # Learned positions, pre-norm without a last norm, no smoothing, clipped gradients.
    "learned_positions_small": (
        MODEL | {"d_model": 8, "d_ff": 32, "encoder_blocks": 2, "decoder_blocks": 2, "num_heads": 2, "norm_epsilon": 1e-5,
                 "norm": "pre", "final_norm": False, "positions": "learned", "max_positions": 20, "tie_embeddings": "none",
                 "output_bias": True, "zero_padding_embedding": False, "source_vocabulary": 13, "target_vocabulary": 13},
        TRAINING | {"schedule": "constant", "lr": 0.01, "warmup_steps": 0, "smoothing": 0, "clip_norm": 1,
                    "adam_beta1": 0.9, "adam_beta2": 0.999, "adam_epsilon": 1e-8}),
}


def weights_of(model):
    weights = {name: initial_weight(name, shape) for name, shape in parameter_shapes(model).items()}
    if model["zero_padding_embedding"]:
        for name in ("embedding", "source_embedding", "target_embedding"):
            if name in weights:
                weights[name][0] = 0
    return weights


def rounded(values):
    return [float(f"{value:.10g}") for value in numpy.asarray(values).ravel()]


def sampled(tensors):
    return {name: rounded(values.ravel()[:: STRIDE if values.size > WHOLE else 1]) for name, values in tensors.items()}


def configuration(model, training):
    named = {name: value for name, value in model.items() if not name.endswith("_vocabulary")}
    return {"data": {"maxlen1": 8, "maxlen2": 8}, "model": named | {"dropout_rate": 0},
            "training": training}


def golden(name):
    model, training = CASES[name]
    weights, moments, updates = weights_of(model), {}, []
    initial = {key: value.copy() for key, value in weights.items()}
    for number, pairs in enumerate(PAIRS, 1):
        batch = make_batch(pairs)
        loss, logits, gradients = gradients_of(model, weights, batch, training)
        norm = math.sqrt(sum((gradient**2).sum() for gradient in gradients.values()))
        record = {"pairs": pairs, "logits": rounded(logits[batch["target_out"] != PAD]), "loss": rounded(loss)[0],
                  "gradient_norm": rounded(norm)[0]}
        if training["clip_norm"] and norm > training["clip_norm"]:
            gradients = {key: value * (training["clip_norm"] / norm) for key, value in gradients.items()}
        if number == 1:
            record["gradients"] = sampled(gradients)
        rate = learning_rate(training, model["d_model"], number)
        record["learning_rate"] = rounded(rate)[0]
        OPTIMIZERS[training.get("optimizer", "adam")](weights, gradients, moments, training, rate, number)
        updates.append(record)
    if model["zero_padding_embedding"]:
        assert all((weights[key][0] == 0).all() for key in weights if key.endswith("embedding"))
    return {"made_by": "make_golden.py", "configuration": configuration(model, training),
            "source_vocabulary": model["source_vocabulary"], "target_vocabulary": model["target_vocabulary"],
            "stride": STRIDE, "whole": WHOLE, "initial_weights": {key: rounded(value.ravel()[:2]) for key, value in initial.items()},
            "updates": updates, "weights": sampled(weights)}


def check(name):
    """Largest relative difference between the backward pass and central differences, over a tenth of all elements."""
    model, training = CASES[name]
    weights, batch = weights_of(model), make_batch(PAIRS[0])
    count, step, worst, compared = count_of(batch, training), 1e-6, 0.0, 0
    gradients = gradients_of(model, weights, batch, training)[2]
    for key, value in weights.items():
        flat = value.reshape(-1)
        skipped = value.shape[1] if key.endswith("embedding") and model["zero_padding_embedding"] else 0
        for i in range(skipped, flat.size, 7):
            before, losses = flat[i], []
            for moved in (before + step, before - step):
                flat[i] = moved
                losses.append(gradients_of(model, weights, batch, training)[0] / count)
            flat[i] = before
            expected = (losses[0] - losses[1]) / (2 * step)
            worst = max(worst, abs(expected - gradients[key].reshape(-1)[i]) / max(1e-3, abs(expected)))
            compared += 1
    print(f"{name}: {compared} elements, largest relative difference {worst:.1e}")
    assert worst < 1e-4, name


def main():
    for name in CASES:
        if sys.argv[1:] == ["--check"]:
            check(name)
            continue
        path = pathlib.Path(__file__).with_name(name + ".json")
        text = json.dumps(golden(name), indent=None, separators=(",", ":"))
        path.write_text(text.replace('],"', '],\n"').replace('},"', '},\n"').replace("},{", "},\n{") + "\n", encoding="utf-8")
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
