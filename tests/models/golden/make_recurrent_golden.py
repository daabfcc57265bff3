#!/usr/bin/env python3
"""Writes the golden values of recurrent models: an independent program in NumPy, in double.

    make_recurrent_golden.py            writes NAME.json beside this file for every case
    make_recurrent_golden.py --check    compares the gradients with central differences and writes nothing

Files, batches, loss and updates are those of make_golden.py; here stand the equations of Cho et al. 2014 (GRU), Hochreiter
and Schmidhuber 1997 (LSTM), Bahdanau et al. 2015 and Luong et al. 2015, word by word and sentence by sentence, without
padding. Gradients come from a tape of the few operations used.

Made with Python 3.11 and NumPy 2.4.6.
"""

import numpy

import make_golden
from make_golden import PAD, TRAINING


class Node:
    """A vector or matrix, and how its gradient goes back to what it was made of."""

    def __init__(self, value, parents=()):
        self.value, self.parents, self.gradient = value, parents, None

    def __add__(self, other):
        return Node(self.value + other.value, ((self, lambda g: g), (other, lambda g: g)))

    def __mul__(self, other):
        return Node(self.value * other.value, ((self, lambda g: g * other.value), (other, lambda g: g * self.value)))

    def __matmul__(self, vector):
        matrix = self
        return Node(matrix.value @ vector.value, ((matrix, lambda g: numpy.outer(g, vector.value)),
                                                  (vector, lambda g: matrix.value.T @ g)))

    def __getitem__(self, key):
        def back(g):
            whole = numpy.zeros_like(self.value)
            whole[key] = g
            return whole
        return Node(self.value[key], ((self, back),))


def tanh(x):
    y = numpy.tanh(x.value)
    return Node(y, ((x, lambda g: g * (1 - y * y)),))


def sigmoid(x):
    y = 1 / (1 + numpy.exp(-x.value))
    return Node(y, ((x, lambda g: g * y * (1 - y)),))


def one_minus(x):
    return Node(1 - x.value, ((x, lambda g: -g),))


def softmax(x):
    y = numpy.exp(x.value - x.value.max())
    y = y / y.sum()
    return Node(y, ((x, lambda g: y * (g - (g * y).sum())),))


def concat(parts):
    ends = numpy.cumsum([0] + [len(part.value) for part in parts])
    return Node(numpy.concatenate([part.value for part in parts]),
                tuple((part, lambda g, a=a, b=b: g[a:b]) for part, a, b in zip(parts, ends, ends[1:])))


def stack(rows):
    return Node(numpy.stack([row.value for row in rows]), tuple((row, lambda g, i=i: g[i]) for i, row in enumerate(rows)))


def transposed_product(matrix, vector):
    """matrixᵀ vector"""
    return Node(matrix.value.T @ vector.value, ((matrix, lambda g: numpy.outer(vector.value, g)),
                                                (vector, lambda g: matrix.value @ g)))


def unit(x):
    """x / |x|"""
    norm = numpy.sqrt((x.value**2).sum())
    y = x.value / norm
    return Node(y, ((x, lambda g: (g - y * (y * g).sum()) / norm),))


def greater_of_pairs(x):
    pairs = x.value.reshape(-1, 2)
    first = pairs[:, 0] >= pairs[:, 1]
    return Node(pairs.max(1), ((x, lambda g: numpy.stack([g * first, g * ~first], 1).ravel()),))


def go_back(roots):
    """Gradients of all nodes; roots are (node, gradient)."""
    order, seen = [], set()
    for root, _ in roots:
        waiting = [(root, False)]
        while waiting:
            node, done = waiting.pop()
            if done:
                order.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                waiting += [(node, True)] + [(parent, False) for parent, _ in node.parents]
    for node in order:
        node.gradient = numpy.zeros_like(node.value)
    for root, gradient in roots:
        root.gradient += gradient
    for node in reversed(order):
        for parent, back in node.parents:
            parent.gradient += back(node.gradient)


def sizes(model):
    """Features of a key, of what a readout reads, of what the output layer reads."""
    directions = 2 if model["bidirectional"] else 1
    features = model["d_model"] + directions * model["encoder_size"]
    if model["decoder_order"] == "bahdanau":
        features += model["embedding_size"]
    return directions * model["encoder_size"], features, features if model["readout"] == "linear" else model["readout_size"]


def parameter_shapes(model):
    d, e, h = model["d_model"], model["embedding_size"], model["encoder_size"]
    key, features, readout = sizes(model)
    gates = {"gru": 3, "lstm": 4}[model["cell"]]
    if model["tie_embeddings"] == "all":
        shapes = {"embedding": (model["source_vocabulary"], e)}
    else:
        shapes = {"source_embedding": (model["source_vocabulary"], e), "target_embedding": (model["target_vocabulary"], e)}
    if model["tie_embeddings"] == "none":
        shapes["output_weight"] = (model["target_vocabulary"], readout)
    if model["output_bias"]:
        shapes["output_bias"] = (model["target_vocabulary"],)

    def cell(name, inputs, size):
        for part, columns in (("input", inputs), ("recurrent", size)):
            shapes[f"{name}.{part}.weight"], shapes[f"{name}.{part}.bias"] = (gates * size, columns), (gates * size,)

    for i in range(model["num_blocks"]):
        for direction in ("forward", "backward") if model["bidirectional"] else ("forward",):
            cell(f"encoder.layer_{i}.{direction}", e if i == 0 else key, h)
        entering = key if model["decoder_order"] == "bahdanau" else readout
        cell(f"decoder.layer_{i}", e + entering if i == 0 else d, d)
    score = "decoder.attention.score."
    if model["attention_score"] == "additive":
        shapes[score + "query.weight"] = (model["attention_size"], d)
        shapes[score + "key.weight"] = (model["attention_size"], key)
        if model.get("attention_bias", True):
            shapes[score + "key.bias"] = (model["attention_size"],)
        shapes[score + "v"] = (1, model["attention_size"])
    elif model["attention_score"] == "general":
        shapes[score + "key.weight"] = (d, key)
    if model["readout"] != "linear":
        pieces = 2 if model["readout"] == "maxout" else 1
        shapes["decoder.readout.weight"], shapes["decoder.readout.bias"] = (pieces * readout, features), (pieces * readout,)
    if model["initial_state"] != "copy":
        vector = h if model["initial_state"] == "backward" else key
        shapes["decoder.initial.weight"], shapes["decoder.initial.bias"] = (model["num_blocks"] * d, vector), (model["num_blocks"] * d,)
    return shapes


class Network:
    def __init__(self, model, weights):
        self.model = model
        self.nodes = {name: Node(value) for name, value in weights.items()}
        self.gradients = {name: numpy.zeros_like(value) for name, value in weights.items()}

    def linear(self, name, x):
        y = self.nodes[name + ".weight"] @ x
        return y + self.nodes[name + ".bias"] if name + ".bias" in self.nodes else y

    def embedding(self, side):
        return self.nodes["embedding" if self.model["tie_embeddings"] == "all" else side + "_embedding"]

    def cell(self, name, x, state):
        """state: (h,) of a GRU, (h, c) of an LSTM."""
        a, g = self.linear(name + ".input", x), self.linear(name + ".recurrent", state[0])
        n = len(state[0].value)
        block = lambda vector, i: vector[i * n:(i + 1) * n]
        if self.model["cell"] == "gru":
            reset, update = (sigmoid(block(a, i) + block(g, i)) for i in (0, 1))
            candidate = tanh(block(a, 2) + reset * block(g, 2))
            return (one_minus(update) * candidate + update * state[0],)
        into, forget, out = (sigmoid(block(a, i) + block(g, i)) for i in (0, 1, 3))
        memory = forget * state[1] + into * tanh(block(a, 2) + block(g, 2))
        return out * tanh(memory), memory

    def zeros(self, n):
        return tuple(Node(numpy.zeros(n)) for _ in range(2 if self.model["cell"] == "lstm" else 1))

    def encode(self, source):
        """States of the last layer, a row a word, and the last states of every layer."""
        x, last = [self.embedding("source")[word] for word in source], []
        for i in range(self.model["num_blocks"]):
            directions, ends = [], []
            for direction in ("forward", "backward") if self.model["bidirectional"] else ("forward",):
                state, states = self.zeros(self.model["encoder_size"]), []
                for word in x if direction == "forward" else reversed(x):
                    state = self.cell(f"encoder.layer_{i}.{direction}", word, state)
                    states.append(state[0])
                directions.append(states if direction == "forward" else states[::-1])
                ends.append(state)
            x = [concat(list(parts)) for parts in zip(*directions)]
            last.append(ends)
        return x, last

    def context(self, query, words, last):
        """The vector of a step: by attention, or without it the encoder's last states."""
        if self.model["attention_score"] == "none":
            return concat([end[0] for end in last[-1]])
        if self.model["attention_score"] == "cosine":  # without softmax: the cosines are the weights
            assert self.model["attention_normalization"] == "none"
            return transposed_product(stack(words), stack([unit(word) for word in words]) @ unit(query))
        score = "decoder.attention.score."
        if self.model["attention_score"] == "additive":
            asked = self.nodes[score + "query.weight"] @ query
            scores = [self.nodes[score + "v"] @ tanh(asked + self.linear(score + "key", word)) for word in words]
        else:
            keys = [self.nodes[score + "key.weight"] @ word for word in words]
            scores = [stack([key]) @ query for key in keys]
        return transposed_product(stack(words), softmax(concat(scores)))

    def read_out(self, features):
        if self.model["readout"] == "linear":
            return concat(features)
        y = self.linear("decoder.readout", concat(features))
        return greater_of_pairs(y) if self.model["readout"] == "maxout" else tanh(y)

    def first_states(self, last):
        d, layers = self.model["d_model"], self.model["num_blocks"]
        if self.model["initial_state"] == "copy":
            return [ends[0] for ends in last]
        ends = last[-1][1:] if self.model["initial_state"] == "backward" else last[-1]
        vector = tanh(self.linear("decoder.initial", concat([end[0] for end in ends])))
        return [(vector[i * d:(i + 1) * d],) + self.zeros(d)[1:] for i in range(layers)]

    def sentence(self, source, target_in):
        """Logits of each position of the target."""
        words, last = self.encode(source)
        states, fed = self.first_states(last), Node(numpy.zeros(sizes(self.model)[2]))
        logits = []
        for token in target_in:
            e = self.embedding("target")[token]
            bahdanau, before = self.model["decoder_order"] == "bahdanau", states[-1][0]
            context = self.context(before, words, last) if bahdanau else None
            x = concat([e, context if bahdanau else fed])
            for i in range(self.model["num_blocks"]):
                states[i] = self.cell(f"decoder.layer_{i}", x, states[i])
                x = states[i][0]
            if bahdanau:  # A.2.2 of the paper reads s_{i-1}
                fed = self.read_out([before if self.model.get("readout_state") == "previous" else x, context, e])
            else:
                fed = self.read_out([x, self.context(x, words, last)])
            table = self.nodes["output_weight"] if self.model["tie_embeddings"] == "none" else self.embedding("target")
            y = table @ fed
            logits.append(y + self.nodes["output_bias"] if self.model["output_bias"] else y)
        return logits

    def logits(self, batch):
        rows = []
        for source, target in zip(batch["source"], batch["target_in"]):
            length = (target != PAD).sum()  # <s> and the words
            rows.append(self.sentence(source[source != PAD], target[:length]))
        values = numpy.zeros(batch["target_in"].shape + (self.model["target_vocabulary"],))
        for i, row in enumerate(rows):
            for t, node in enumerate(row):
                values[i, t] = node.value

        def back(of_logits):
            go_back([(node, of_logits[i, t]) for i, row in enumerate(rows) for t, node in enumerate(row)])
            for name, node in self.nodes.items():
                self.gradients[name] += node.gradient

        return values, back


RECURRENT = {"architecture": "recurrent", "zero_padding_embedding": True}

# What rnn_multi30k, rnn_cosine and rnn_plain have in common.
MULTI30K = RECURRENT | {"cell": "gru", "bidirectional": True, "d_model": 6, "embedding_size": 5, "encoder_size": 3,
                        "num_blocks": 1, "initial_state": "last", "readout": "tanh", "readout_size": 5,
                        "tie_embeddings": "all", "output_bias": True, "embedding_init": "normal",
                        "recurrent_init": "orthogonal", "source_vocabulary": 13, "target_vocabulary": 13}
MULTI30K_TRAINING = TRAINING | {"schedule": "inverse_sqrt", "lr": 0.01, "warmup_steps": 2, "adam_beta1": 0.9,
                                "adam_beta2": 0.98, "adam_epsilon": 1e-8, "clip_norm": 1.0}

CASES = {
    # Bahdanau et al. 2015: two-way GRU encoder, the state before asks, maxout.
    "bahdanau_gru": (
        RECURRENT | {"cell": "gru", "bidirectional": True, "d_model": 6, "embedding_size": 5, "encoder_size": 4,
                     "attention_size": 7, "num_blocks": 1, "decoder_order": "bahdanau", "attention_score": "additive",
                     "initial_state": "last", "readout": "maxout", "readout_size": 3, "tie_embeddings": "none",
                     "output_bias": True, "source_vocabulary": 11, "target_vocabulary": 13},
        TRAINING | {"schedule": "inverse_sqrt", "lr": 0.01, "warmup_steps": 2, "adam_beta1": 0.9, "adam_beta2": 0.999,
                    "adam_epsilon": 1e-8, "clip_norm": 1.0}),
    # Luong et al. 2015: stacked one-way LSTMs, the new state asks, the attentional vector is fed.
    "luong_lstm": (
        RECURRENT | {"cell": "lstm", "bidirectional": False, "d_model": 6, "embedding_size": 5, "encoder_size": 6,
                     "num_blocks": 2, "decoder_order": "luong", "input_feeding": True, "attention_score": "general",
                     "initial_state": "copy", "readout": "tanh", "readout_size": 5, "tie_embeddings": "target",
                     "output_bias": False, "source_vocabulary": 11, "target_vocabulary": 13},
        TRAINING | {"schedule": "inverse_sqrt", "lr": 0.01, "warmup_steps": 2, "adam_beta1": 0.9, "adam_beta2": 0.98,
                    "adam_epsilon": 1e-9}),
    # The presets of these names, at tiny sizes.
    "bahdanau2015": (
        RECURRENT | {"cell": "gru", "bidirectional": True, "d_model": 6, "embedding_size": 5, "encoder_size": 4,
                     "attention_size": 7, "num_blocks": 1, "decoder_order": "bahdanau", "attention_score": "additive",
                     "attention_bias": False, "initial_state": "backward", "readout": "maxout", "readout_size": 3,
                     "readout_state": "previous", "tie_embeddings": "none", "output_bias": True,
                     "zero_padding_embedding": False, "init": "normal", "embedding_init": "init",
                     "recurrent_init": "orthogonal", "attention_init": "bahdanau", "source_vocabulary": 11,
                     "target_vocabulary": 13},
        TRAINING | {"schedule": "constant", "lr": 1, "warmup_steps": 0, "optimizer": "adadelta", "adadelta_rho": 0.95,
                    "adadelta_epsilon": 1e-6, "clip_norm": 1.0, "smoothing": 0}),
    "luong2015_general": (
        RECURRENT | {"cell": "lstm", "bidirectional": False, "d_model": 6, "embedding_size": 6, "encoder_size": 6,
                     "num_blocks": 4, "decoder_order": "luong", "input_feeding": True, "attention_score": "general",
                     "initial_state": "copy", "readout": "tanh", "readout_size": 6, "tie_embeddings": "none",
                     "output_bias": False, "zero_padding_embedding": False, "init": "uniform", "embedding_init": "init",
                     "recurrent_init": "uniform", "bias_init": "uniform", "source_vocabulary": 11,
                     "target_vocabulary": 13},
        TRAINING | {"schedule": "halving", "lr": 1, "warmup_steps": 0, "optimizer": "sgd", "sgd_momentum": 0,
                    "loss_mean": "sentences", "clip_norm": 5.0, "smoothing": 0}),
    "rnn_attention_small": (
        RECURRENT | {"cell": "gru", "bidirectional": True, "d_model": 6, "embedding_size": 3, "encoder_size": 6,
                     "attention_size": 6, "num_blocks": 1, "decoder_order": "bahdanau", "attention_score": "additive",
                     "initial_state": "last", "readout": "linear", "tie_embeddings": "none", "output_bias": True,
                     "zero_padding_embedding": False, "init": "normal", "embedding_init": "init",
                     "recurrent_init": "normal", "source_vocabulary": 11, "target_vocabulary": 13},
        TRAINING | {"schedule": "constant", "lr": 0.001, "warmup_steps": 0, "adam_beta1": 0.9, "adam_beta2": 0.999,
                    "adam_epsilon": 1e-8, "clip_norm": 1.0, "smoothing": 0}),
    "rnn_multi30k": (MULTI30K | {"decoder_order": "bahdanau", "attention_score": "additive", "attention_size": 5},
                     MULTI30K_TRAINING),
    "rnn_cosine": (MULTI30K | {"decoder_order": "luong", "input_feeding": True, "attention_score": "cosine",
                               "attention_normalization": "none"}, MULTI30K_TRAINING),
    "rnn_plain": (MULTI30K | {"decoder_order": "bahdanau", "attention_score": "none"}, MULTI30K_TRAINING),
}


if __name__ == "__main__":
    make_golden.CASES, make_golden.Network, make_golden.parameter_shapes = CASES, Network, parameter_shapes
    make_golden.main()
