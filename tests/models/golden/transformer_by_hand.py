"""The Transformer of make_golden.py: forward and backward by hand, in NumPy and double.

Equations of Vaswani et al. 2017 and of Kyubyong Park's Transformers of 2017 and 2019, written as his programs have them
(masks are large negative numbers added to or put in place of scores, positions are skipped where an embedding is exactly
zero).
"""

import math

import numpy

PAD = 0
MASKED = -2.0**32 + 1


def sinusoid(count, d):
    table = numpy.zeros((count, d))
    for position in range(count):
        for k in range(d):
            angle = position / 10000 ** ((k - k % 2) / d)
            table[position, k] = math.sin(angle) if k % 2 == 0 else math.cos(angle)
    return table


class Network:
    """Layers return their output and a function from its gradient to that of the input; weights' gradients add up."""

    def __init__(self, model, weights):
        self.model, self.weights = model, weights
        self.gradients = {name: numpy.zeros_like(value) for name, value in weights.items()}

    def linear(self, name, x):
        weight, bias = self.weights[name + ".weight"], self.weights.get(name + ".bias")

        def back(of_y):
            self.gradients[name + ".weight"] += numpy.einsum("bto,bti->oi", of_y, x)
            if bias is not None:
                self.gradients[name + ".bias"] += of_y.sum((0, 1))
            return of_y @ weight

        return x @ weight.T + (0 if bias is None else bias), back

    def layer_norm(self, name, x):
        gain, shift = self.weights[name + ".weight"], self.weights[name + ".bias"]
        centred = x - x.mean(-1, keepdims=True)
        deviation = numpy.sqrt((centred**2).mean(-1, keepdims=True) + self.model["norm_epsilon"])
        normed = centred / deviation

        def back(of_y):
            self.gradients[name + ".weight"] += (of_y * normed).sum((0, 1))
            self.gradients[name + ".bias"] += of_y.sum((0, 1))
            of_normed = of_y * gain
            return (of_normed - of_normed.mean(-1, keepdims=True)
                    - normed * (of_normed * normed).mean(-1, keepdims=True)) / deviation

        return gain * normed + shift, back

    def project(self, name, x):
        """The projection of queries, keys or values: the program of 2017 has a ReLU there."""
        y, back = self.linear(name, x)
        if self.model["qkv_activation"] == "none":
            return y, back
        return numpy.maximum(y, 0), lambda of_y: back(of_y * (y > 0))

    def attention(self, name, queries, memory, memory_ids, causal):
        """back returns the gradients of queries and of memory."""
        batch, heads = queries.shape[0], self.model["num_heads"]

        def split(x):  # [batch, time, model] -> [batch, heads, time, head_dim]
            return x.reshape(batch, x.shape[1], heads, -1).transpose(0, 2, 1, 3)

        def join(x):
            return x.transpose(0, 2, 1, 3).reshape(batch, x.shape[2], -1)

        projected, back_query = self.project(name + ".query", queries)
        keys, back_key = self.project(name + ".key", memory)
        values, back_value = self.project(name + ".value", memory)
        q, k, v = split(projected), split(keys), split(values)
        root = math.sqrt(q.shape[-1])
        scores = q @ k.transpose(0, 1, 3, 2) / root
        scores = scores + MASKED * (memory_ids == PAD)[:, None, None, :]
        if causal:
            future = numpy.triu(numpy.ones(scores.shape[-2:], dtype=bool), 1)
            scores = numpy.where(future, MASKED, scores)
        exponentials = numpy.exp(scores - scores.max(-1, keepdims=True))
        probabilities = exponentials / exponentials.sum(-1, keepdims=True)
        context, back_output = join(probabilities @ v), lambda gradient: gradient
        if self.model["attention_output_projection"]:
            context, back_output = self.linear(name + ".output", context)

        def back(of_y):
            of_context = split(back_output(of_y))
            of_probabilities = of_context @ v.transpose(0, 1, 3, 2)
            of_scores = probabilities * (of_probabilities - (of_probabilities * probabilities).sum(-1, keepdims=True))
            of_queries = back_query(join(of_scores @ k / root))
            of_memory = back_key(join(of_scores.transpose(0, 1, 3, 2) @ q / root))
            of_memory = of_memory + back_value(join(probabilities.transpose(0, 1, 3, 2) @ of_context))
            return of_queries, of_memory

        return context, back

    def activation(self, x):
        if self.model["activation"] == "relu":
            return numpy.maximum(x, 0), lambda of_y: of_y * (x > 0)
        error_function = numpy.vectorize(math.erf)(x / math.sqrt(2))  # gelu: x Phi(x)
        slope = 0.5 * (1 + error_function) + x * numpy.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        return 0.5 * x * (1 + error_function), lambda of_y: of_y * slope

    def feed_forward(self, name, x):
        inner, back_inner = self.linear(name + ".inner", x)
        active, back_activation = self.activation(inner)
        outer, back_outer = self.linear(name + ".outer", active)
        return outer, lambda of_y: back_inner(back_activation(back_outer(of_y)))

    def sublayer(self, name, x, body):
        """body(x) returns a value and its back, which returns the gradients of x and of anything else."""
        if self.model["norm"] == "post":
            y, back_body = body(x)
            z, back_norm = self.layer_norm(name + "_norm", x + y)

            def back(of_z):
                of_sum = back_norm(of_z)
                of_x, *others = back_body(of_sum)
                return of_sum + of_x, *others

            return z, back
        normed, back_norm = self.layer_norm(name + "_norm", x)
        y, back_body = body(normed)

        def back_pre(of_z):
            of_normed, *others = back_body(of_z)
            return of_z + back_norm(of_normed), *others

        return x + y, back_pre

    def self_attention(self, name, x, ids, causal):
        def body(y):
            context, back = self.attention(name, y, y, ids, causal)
            return context, lambda of: (sum(back(of)),)
        return self.sublayer(name, x, body)

    def cross_attention(self, name, x, memory, memory_ids):
        return self.sublayer(name, x, lambda y: self.attention(name, y, memory, memory_ids, False))

    def position_wise(self, name, x):
        def body(y):
            z, back = self.feed_forward(name, y)
            return z, lambda of: (back(of),)
        return self.sublayer(name, x, body)

    def inputs(self, side, ids):
        model, d = self.model, self.model["d_model"]
        table = "embedding" if model["tie_embeddings"] == "all" else side + "_embedding"
        x = self.weights[table][ids] * math.sqrt(d)
        learned = model["positions"] == "learned"
        positions = self.weights[side + "_positions.weight"][: ids.shape[1]] if learned else sinusoid(ids.shape[1], d)
        positions = numpy.broadcast_to(positions, x.shape)
        y = numpy.where(x == 0, x, x + positions) if model["mask_padding_positions"] else x + positions

        def back(of_y):
            numpy.add.at(self.gradients[table], ids, of_y * math.sqrt(d))
            if learned:
                placed = (x != 0) | (not model["mask_padding_positions"])
                self.gradients[side + "_positions.weight"][: ids.shape[1]] += (of_y * placed).sum(0)

        return y, back

    def encode(self, source):
        x, back_input = self.inputs("source", source)
        backs = []
        for i in range(self.model["encoder_blocks"]):
            x, back = self.self_attention(f"encoder_{i}.self_attention", x, source, causal=False)
            backs.append(back)
            x, back = self.position_wise(f"encoder_{i}.feed_forward", x)
            backs.append(back)
        if self.model["norm"] == "pre" and self.model["final_norm"]:
            x, back = self.layer_norm("encoder_norm", x)
            backs.append(lambda of, back=back: (back(of),))

        def back_all(of):
            for back in reversed(backs):
                (of,) = back(of)
            back_input(of)

        return x, back_all

    def decode(self, target_in, memory, source):
        x, back_input = self.inputs("target", target_in)
        backs = []
        for i in range(self.model["decoder_blocks"]):
            x, back = self.self_attention(f"decoder_{i}.self_attention", x, target_in, causal=True)
            backs.append(back)
            x, back = self.cross_attention(f"decoder_{i}.cross_attention", x, memory, source)
            backs.append(back)
            x, back = self.position_wise(f"decoder_{i}.feed_forward", x)
            backs.append(back)
        if self.model["norm"] == "pre" and self.model["final_norm"]:
            x, back = self.layer_norm("decoder_norm", x)
            backs.append(lambda of, back=back: (back(of),))

        def back_all(of):
            of_memory = numpy.zeros_like(memory)
            for back in reversed(backs):
                of, *others = back(of)
                of_memory += others[0] if others else 0
            back_input(of)
            return of_memory

        return x, back_all

    def output(self, x):
        tied = {"all": "embedding", "target": "target_embedding", "none": "output_weight"}[self.model["tie_embeddings"]]
        matrix = self.weights[tied]
        logits = x @ matrix.T + (self.weights["output_bias"] if self.model["output_bias"] else 0)

        def back(of_logits):
            self.gradients[tied] += numpy.einsum("btv,btd->vd", of_logits, x)
            if self.model["output_bias"]:
                self.gradients["output_bias"] += of_logits.sum((0, 1))
            return of_logits @ matrix

        return logits, back

    def logits(self, batch):
        memory, back_encoder = self.encode(batch["source"])
        hidden, back_decoder = self.decode(batch["target_in"], memory, batch["source"])
        logits, back_output = self.output(hidden)
        return logits, lambda of: back_encoder(back_decoder(back_output(of)))
