"""The table of tests: each case runs kernels and their twins, and says how far apart they may be.

A bound is ||got - expected|| / ||expected|| in float32 (the interpreter) and with bfloat16 in and out (a card; rounding
alone is 2e-3). Sizes are odd on purpose; results begin as NaN, so what is not written shows.
"""

import dataclasses

import numpy
import torch

import twins

KEY, P = 0x123456789ABCDEF, 0.2
EXACT = 1e-6  # of scores; integers have to be equal


class Bench:
    """A machine with what the cases share: random inputs, results, the key of dropout."""

    def __init__(self, machine):
        self.machine = machine
        self.random = torch.Generator().manual_seed(1)
        self.key = torch.tensor([KEY], device=machine.device)

    def randn(self, *shape):
        return torch.randn(*shape, generator=self.random).to(self.machine.device)

    def half(self, *shape):
        return self.randn(*shape).to(self.machine.half)

    def result(self, *shape, dtype=torch.float32):
        return torch.full(shape, torch.nan, dtype=dtype, device=self.machine.device)

    def half_result(self, *shape):
        return self.result(*shape, dtype=self.machine.half)

    def ints(self, values, dtype=torch.int32):
        return torch.tensor(values, dtype=dtype, device=self.machine.device)

    def launch(self, name, grid, **arguments):
        self.machine.launch(name, grid, **arguments)

    def blocks(self, name, rows, width=None):
        """Grid of a kernel with ROWS, and with BLOCK where there is a width."""
        constants = self.machine.constants(name)
        of_rows = -(-rows // constants["ROWS"])
        return (of_rows,) if width is None else (of_rows, -(-width // constants["BLOCK"]))

    def sum_parts(self, parts, results):
        """results: [(first column of parts, tensor)]"""
        block = self.machine.constants("sum_parts")["BLOCK"]
        flat, places, begin = self.result(sum(r.numel() for _, r in results)), [], 0
        for column, result in results:
            for j in range(0, result.numel(), block):
                places.append([column + j, parts.shape[0], parts.shape[1], min(block, result.numel() - j), begin + j])
            begin += result.numel()
        self.launch("sum_parts", (len(places),), parts=parts, sums=flat, places=self.ints(places, torch.int64))
        for (_, result), total in zip(results, flat.split([r.numel() for _, r in results])):
            result.copy_(total)


def tiles_of(query_lengths, key_lengths, size):
    """[tiles, 4]: consecutive whole sentences share a tile while both sides fit; behind them one without queries."""
    tiles, q, k = [[0, 0, 0, 0]], 0, 0
    for queries, keys in zip(query_lengths, key_lengths):
        if tiles[-1][1] + queries > size or tiles[-1][3] + keys > size:
            tiles.append([q, 0, k, 0])
        tiles[-1][1] += queries
        tiles[-1][3] += keys
        q, k = q + queries, k + keys
    return tiles + [[0, 0, 0, 0]]


def segments_of(lengths):
    return numpy.repeat(numpy.arange(len(lengths)), lengths).tolist()


def attention(bench, head, size, causal=0, cross=False, p=P):
    heads, target = 2, [size // 3, 5, size - 7, 1, 19]
    source = [7, size // 2, 3, size - 2, 1] if cross else target
    width, name = heads * head, f"{head}_{size}"
    queries, keys = bench.half(sum(target), 3 * width), bench.half(sum(source), 2 * width)
    q, k, v = queries[:, :width], keys[:, :width], keys[:, width:]
    if not cross:
        _, k, v = queries.split(width, 1)
    tiles = bench.ints(tiles_of(target, source, size))
    segments = bench.ints(segments_of(target)), bench.ints(segments_of(source))
    common = {"tiles": tiles, "query_segments": segments[0], "key_segments": segments[1], "q_stride": 3 * width,
              "kv_stride": (2 if cross else 3) * width, "out_stride": width, "scale": head**-0.5, "causal": causal,
              "p": p, "key_ptr": bench.key, "site": 3}
    out = bench.half_result(sum(target), width)
    grid = (heads, len(tiles))
    bench.launch(f"attention_forward_{name}", grid, q_ptr=q, k_ptr=k, v_ptr=v, out_ptr=out, **common)
    dout = bench.half(sum(target), width)
    dq, dkv = bench.half_result(sum(target), 3 * width), bench.half_result(sum(source), 2 * width)
    bench.launch(f"attention_backward_{name}", grid, q_ptr=q, k_ptr=k, v_ptr=v, dout_ptr=dout, dq_ptr=dq, dk_ptr=dkv,
                 dv_ptr=dkv[:, width:], dq_stride=3 * width, dkv_stride=2 * width, **common)
    inputs = [twins.leaf(x) for x in (q, k, v)]
    expected = twins.attention(*inputs, tiles, *segments, heads, head**-0.5, causal, p, KEY, 3)
    wanted = twins.gradients(expected, dout.float(), *inputs)
    return {"out": (out, expected), "dq": (dq[:, :width], wanted[0]), "dk": (dkv[:, :width], wanted[1]),
            "dv": (dkv[:, width:], wanted[2])}


def rotate(bench, head):
    rows, heads, positions = 19, 2, 23
    x = bench.half(rows, 3 * heads * head)
    before = x.clone()
    steps = torch.arange(positions)[:, None] / 10000 ** (torch.arange(0, head, 2) / head)
    angles = torch.stack([steps.sin(), steps.cos()], -1).flatten(1).to(bench.machine.device)
    of_row = bench.ints([(7 * i) % positions for i in range(rows)])
    columns = 2 * heads * head  # of q and k; the values stay
    name = f"rotate_{head}"
    grid = (bench.blocks(name, rows)[0], columns // head)
    arguments = {"x_ptr": x, "angles_ptr": angles, "positions": of_row, "rows": rows, "columns": columns,
                 "stride": x.shape[1]}
    bench.launch(name, grid, direction=1.0, **arguments)
    turned = x.clone()
    expected = before.float().clone()
    expected[:, :columns] = twins.rotated(expected[:, :columns], angles, of_row, head)
    bench.launch(name, grid, direction=-1.0, **arguments)
    return {"turned": (turned, expected), "turned back": (x, before)}


def residual_norm(bench, width, block, has_r=1, centred=1, dy_place=1):
    rows, programs, epsilon = 37, 5, 1e-5
    x, r = bench.half(rows, width), bench.half(rows, width)
    r_bias, weight, bias = bench.randn(width), bench.randn(width), bench.randn(width) * centred
    y, n, statistics = bench.half_result(rows, width), bench.half_result(rows, width), bench.result(rows, 2)
    dropout = {"rows": rows, "width": width, "has_r": has_r, "centred": float(centred), "p": P, "key_ptr": bench.key,
               "site": 4}
    name = f"residual_norm_forward_{block}"
    bench.launch(name, bench.blocks(name, rows), x_ptr=x, r_ptr=r, r_bias_ptr=r_bias, weight_ptr=weight, bias_ptr=bias,
                 y_ptr=y, n_ptr=n, statistics=statistics, epsilon=epsilon, **dropout)
    dn, dy = bench.half(rows, width), bench.half(rows, width)
    dx, dr, parts = bench.half_result(rows, width), bench.half_result(rows, width), bench.result(programs, 3 * width)
    bench.launch(f"residual_norm_backward_{block}", (programs,), dn_ptr=dn, dy_ptr=dy, y_ptr=y if has_r else x,
                 statistics=statistics, weight_ptr=weight, dx_ptr=dx, dr_ptr=dr, parts=parts, dy_place=dy_place,
                 **dropout)
    sums = [bench.result(width) for _ in range(3)]
    bench.sum_parts(parts, [(i * width, total) for i, total in enumerate(sums)])

    x_, r_, r_bias_, weight_, bias_ = map(twins.leaf, (x, r, r_bias, weight, bias))
    y_ = x_ + has_r * twins.dropped(r_ + r_bias_, twins.row_elements(rows, block)[:, :width], KEY, 4, P)
    n_ = twins.norm(y_, weight_, bias_, epsilon, centred)
    total = (n_ * (dn.float() + (dy.float() if dy_place == 2 else 0))).sum()
    if dy_place == 1:
        total = total + (y_ * dy.float()).sum()
    wanted = torch.autograd.grad(total, (x_, r_, r_bias_, weight_, bias_), allow_unused=True)
    checks = {"n": (n, n_), "dx": (dx, wanted[0]), "dweight": (sums[0], wanted[3])}
    if has_r:
        checks |= {"y": (y, y_), "dr": (dr, wanted[1]), "dr_bias": (sums[2], wanted[2])}
    if centred:
        checks["dbias"] = (sums[1], wanted[4])
    return checks


def relu(bench, has_relu=1):
    rows, width, programs = 29, 528, 3  # more than a block of columns
    before = bench.half(rows, width)
    h, dh = before.clone(), bench.half(rows, width)
    gradient = dh.float().clone()  # dh is changed in place
    if has_relu:
        bench.launch("relu_dropout", bench.blocks("relu_dropout", rows, width), h_ptr=h, rows=rows, width=width, p=P,
                     key_ptr=bench.key, site=5)
    parts, sums = bench.result(programs, width), bench.result(width)
    grid = (programs, bench.blocks("relu_backward", rows, width)[1])
    bench.launch("relu_backward", grid, dh_ptr=dh, h_ptr=h, parts=parts, rows=rows, width=width, has_relu=has_relu, p=P)
    bench.sum_parts(parts, [(0, sums)])
    if not has_relu:
        return {"dh": (dh, gradient), "sums": (sums, gradient.sum(0))}
    x = twins.leaf(before)
    expected = twins.dropped(x.relu(), twins.row_elements(rows, width), KEY, 5, P)
    wanted, = twins.gradients(expected, gradient, x)
    return {"h": (h, expected), "dh": (dh, wanted), "sums": (sums, wanted.sum(0))}


def loss(bench, classes=5003, smoothing=0.1):
    rows, stride = 9, -(-classes // 16) * 16
    logits = bench.half(rows, stride) * 3
    labels = bench.ints([0, classes - 1, -1, 4098, 17, 4, 5, 6, -2])
    logits[3, [4098, 2]] = 20.0  # two that are highest, one thread's: the first is the best, here not the label
    logits[4, [17, 40]] = 20.0
    x = twins.leaf(logits[:, :classes])
    losses, scale = bench.result(rows, 3), bench.randn(1)
    bench.launch("smoothed_cross_entropy", (rows,), logits=logits, labels=labels, losses=losses, scale_ptr=scale,
                 classes=classes, stride=stride, smoothing=smoothing)
    expected = twins.cross_entropy(x, labels, smoothing)
    wanted, = twins.gradients(expected[:, 0].sum() * scale, torch.ones(1, device=scale.device), x)
    return {"losses": (losses, expected), "gradient": (logits[:, :classes], wanted)}


def paired_loss(bench, classes=4107, smoothing=0.1):
    pairs, stride, weights = 5, -(-classes // 16) * 16, [0.5, 0.7, 0.3, 0.2]
    logits = bench.half(2 * pairs, stride) * 2
    labels = bench.ints([0, classes - 1, -1, 2050, 17])
    logits[6, [2050, 2]] = 20.0
    logits[8, [17, 40]] = 20.0
    x = twins.leaf(logits[:, :classes])
    losses, scale, pair = bench.result(pairs, 3), bench.randn(1), bench.randn(4)
    pair.copy_(torch.tensor(weights))
    bench.launch("paired_cross_entropy", (pairs,), logits=logits, labels=labels, losses=losses, scale_ptr=scale,
                 pair=pair, classes=classes, stride=stride, smoothing=smoothing)
    p, q = x[0::2], x[1::2]
    counts = (labels >= 0).float()
    expected = twins.cross_entropy(p, labels, smoothing)
    both = twins.divergence(p, q), twins.divergence(q, p)
    loss = weights[0] * expected[:, 0] + weights[1] * twins.cross_entropy(q, labels, smoothing)[:, 0]
    loss = loss + counts * (weights[2] * both[0] + weights[3] * both[1])
    wanted, = twins.gradients(loss.sum() * scale, torch.ones(1, device=scale.device), x)
    return {"loss": (losses[:, 0], loss), "of the label": (losses[:, 1:], expected[:, 1:]),
            "gradient": (logits[:, :classes], wanted)}


def pieces_of(words, size):
    """Order, pieces and entries of embedding_pieces and embedding_words."""
    order = numpy.argsort(words, kind="stable")
    pieces, entries, parts = [], [], 0
    for word, begin, count in zip(*numpy.unique(numpy.asarray(words)[order], return_index=True, return_counts=True)):
        several = count > size
        if several:
            entries.append([word, parts, -(-count // size)])
        for first in range(0, count, size):
            pieces.append([begin + first, min(size, count - first), -1 - parts if several else word])
            parts += several
    nothing = [0, 0, 0]  # a recorded launch has more programs than a batch needs
    return order.tolist(), pieces + [nothing], entries + [nothing], parts


def embedding(bench, has_positions=1, width=272):
    rows, vocabulary, scale = 83, 40, 1.5
    numbers = (numpy.random.default_rng(2).random(rows) ** 4 * vocabulary).astype(int)  # the first one often
    words, positions = bench.ints(numbers.tolist()), bench.ints([i % 11 for i in range(rows)])
    table, position_table, out = bench.half(vocabulary, width), bench.half(11, width), bench.half_result(rows, width)
    dropout = {"width": width, "scale": scale, "p": P, "key_ptr": bench.key, "site": 6}
    bench.launch("embedding_forward", bench.blocks("embedding_forward", rows, width), words=words, positions=positions,
                 table=table, position_table=position_table, out_ptr=out, rows=rows, has_positions=has_positions,
                 **dropout)
    dx, begin = bench.half(rows, width), bench.randn(vocabulary, width)
    dtable = begin.clone()
    order, pieces, entries, parts = pieces_of(numbers, bench.machine.constants("embedding_pieces")["ROWS"])
    held = bench.result(parts, width)
    columns = bench.blocks("embedding_pieces", 1, width)[1]
    bench.launch("embedding_pieces", (len(pieces), columns), dx_ptr=dx, order=bench.ints(order),
                 pieces=bench.ints(numpy.array(pieces).tolist()), dtable=dtable, parts=held, **dropout)
    bench.launch("embedding_words", (len(entries), columns), entries=bench.ints(numpy.array(entries).tolist()),
                 parts=held, dtable=dtable, width=width)
    table_ = twins.leaf(table)
    sums = table_[words.long()] * scale + has_positions * position_table.float()[positions.long()]
    expected = twins.dropped(sums, twins.row_elements(rows, width), KEY, 6, P)
    return {"out": (out, expected), "dtable": (dtable, begin + twins.gradients(expected, dx.float(), table_)[0])}


def adam(bench, suffix=""):
    count, programs, norm = 5003, 3, 10.0
    beta1, beta2, epsilon, decay, rate = 0.9, 0.98, 1e-9, 0.01, 0.01
    twin = torch.nn.Parameter(bench.randn(count))
    weights, first, second = twin.detach().clone(), bench.randn(count) * 0, bench.randn(count) * 0
    copy, parts, control = bench.half_result(count), bench.result(programs), bench.result(5)
    betas = torch.tensor([beta1, beta2, norm], dtype=torch.float64, device=bench.machine.device)
    options, steps = bench.randn(4).copy_(torch.tensor([beta1, beta2, epsilon, decay])), bench.ints([0], torch.int64)
    optimizer = torch.optim.AdamW([twin], lr=rate, betas=(beta1, beta2), eps=epsilon, weight_decay=decay)
    kept, norms = [], []
    for update in range(4):
        gradient = bench.randn(count) * (0.01 if update == 2 else 1)  # one that is not clipped
        if suffix:
            gradient = gradient.to(bench.machine.half)
        if update == 1:  # left out
            gradient[4999] = torch.inf
        bench.launch("squared_norm" + suffix, (programs,), gradient=gradient, parts=parts, count=count)
        bench.launch("adam_control", (1,), parts=parts, count=programs, betas=betas, steps=steps, control=control)
        block = bench.machine.constants("adam")["BLOCK"]
        bench.launch("adam" + suffix, (-(-count // block),), weights=weights, first_moment=first, second_moment=second,
                     gradient=gradient, copy=copy, count=count, control=control, options=options,
                     rate_ptr=torch.full([1], rate, device=weights.device))
        norms.append(control[4].item())
        if update != 1:
            twin.grad = gradient.float()
            kept.append(torch.nn.utils.clip_grad_norm_([twin], norm).item())
            optimizer.step()
    state = optimizer.state[twin]
    norms = torch.tensor(norms)
    return {"weights": (weights, twin.detach()), "copy": (copy, twin.detach()),
            "first moment": (first, state["exp_avg"]), "second moment": (second, state["exp_avg_sq"]),
            "norms": (norms[[0, 2, 3]], torch.tensor(kept)),
            "the norm that is not finite": (norms[1:2].isinf().float(), torch.ones(1)),
            "steps": (steps.float(), torch.tensor([3.0]))}


def self_attention_step(bench, head):
    rows, of_grid, capacity, heads = 7, 5, 80, 2  # a part of the rows; more positions than one go
    width, positions = heads * head, [70, 33, 0, 1, 32]
    cache, qkv = bench.half(capacity, rows, 2 * width), bench.half(of_grid, 3 * width)
    ancestors = torch.randint(of_grid, (rows, capacity), generator=bench.random, dtype=torch.int32)
    before, out = cache.clone(), bench.half_result(of_grid, width)
    bench.launch(f"self_attention_step_{head}", (of_grid, heads), qkv_ptr=qkv, cache=cache,
                 ancestors=ancestors.to(cache.device), positions=bench.ints(positions), out_ptr=out, rows=rows,
                 capacity=capacity, scale=head**-0.5)
    expected = []
    for row, position in enumerate(positions):
        before[position, row] = qkv[row, width:]
        past = torch.stack([before[p, ancestors[row, p]] for p in range(position)] + [before[position, row]])
        expected.append(twins.attention_of_rows(qkv[row, :width], past[:, :width], past[:, width:], heads, head**-0.5))
    return {"out": (out, torch.stack(expected)), "cache": (cache, before)}


def source_attention_step(bench, head, beam):
    heads, sources = 2, [[3, 9], [12, 1], [20, 45], [0, 32]]
    width, layers = heads * head, 2
    kv, q = bench.half(65, layers * 2 * width), bench.half(beam * len(sources), width)
    of_layer, out = kv[:, 2 * width:], bench.half_result(beam * len(sources), width)
    bench.launch(f"source_attention_step_{head}", (len(sources), heads), q_ptr=q, kv_ptr=of_layer,
                 sources=bench.ints(sources), out_ptr=out, beam=beam, kv_stride=kv.shape[1], scale=head**-0.5)
    expected = []
    for row in range(len(q)):
        first, words = sources[row // beam]
        own = of_layer[first:first + words]
        expected.append(twins.attention_of_rows(q[row], own[:, :width], own[:, width:], heads, head**-0.5))
    return {"out": (out, torch.stack(expected))}


def search(bench, beam, n_best=1, stopping=0, exponent=0.6, classes=200, sharp=3.0):
    """Whole searches over random logits, by the two kernels and by lists: integers have to be the same."""
    limits, capacity, sentences = [6, 8, 1], 70, 3
    kind = 1 if beam == 1 else 4 if beam <= 4 else 8
    rows, stride, kept = sentences * beam, -(-classes // 16) * 16, bench.machine.constants(f"best_of_parts_{kind}")["K"]
    penalties = [((5 + n) / 6)**exponent for n in range(capacity + 1)]
    numbers = torch.float64
    on_card = {"device": bench.machine.device}
    parts = -(-classes // 4096)
    part = {"part_values": bench.result(rows, parts, kept), "part_sums": bench.result(rows, parts, 2),
            "part_words": torch.zeros(rows, parts, kept, dtype=torch.int32, **on_card)}
    totals = torch.full((sentences, beam), -torch.inf, dtype=numbers, **on_card)
    totals[:, 0] = 0
    words, positions = bench.ints([2] * rows), bench.ints([0] * rows)
    ancestors = bench.ints([[-1] * capacity] * rows)
    history = torch.zeros(sentences, beam, capacity, 3, dtype=torch.int32, **on_card)
    none = [[-numpy.inf, 0, 0, 1e9 + i, 0] for i in range(beam)]
    ended = torch.tensor([none] * sentences, dtype=numbers, **on_card)
    state = bench.ints([[1, 0, limit, n_best, 0, 0, 0, 0] for limit in limits])
    beams = [twins.Beam(beam, n_best, limit, penalties, stopping) for limit in limits]
    alive, got, expected = list(range(sentences)), [], []
    wanted_ancestors = [[[] for _ in range(beam)] for _ in range(sentences)]
    for step in range(max(limits)):
        logits = bench.half(rows, stride) * sharp
        ranks = torch.randint(2 * beam + 2, (rows, 1), generator=bench.random).to(logits.device)
        logits[:, 3:4] = logits[:, 4:classes].topk(2 * beam + 2).values.gather(1, ranks)  # </s> is among the best
        if step % 2:
            logits[:, 40] = logits[:, 50] = logits[:, 4:classes].amax(1)  # equal ones
        bench.launch(f"best_of_parts_{kind}", (rows, parts), logits=logits, **part, classes=classes, stride=stride,
                     count=beam + 1)
        bench.launch(f"choose_beams_{kind}", (sentences,), **part, totals=totals, words=words, positions=positions,
                     ancestors=ancestors, history=history, ended=ended,
                     penalties=torch.tensor(penalties, dtype=numbers, **on_card), sentences=state, beam=beam,
                     capacity=capacity, part_count=parts, count=beam + 1, classes=classes, stopping=stopping)
        for i in list(alive):
            one = beams[i]
            one.step(logits.view(sentences, beam, -1)[i, :len(one.live), :classes])
            before = wanted_ancestors[i]
            wanted_ancestors[i] = [before[parent] + [i * beam + parent] for parent in one.parents]
            fed, at = words.view(sentences, beam)[i].tolist(), positions.view(sentences, beam)[i].tolist()
            if one.done:
                alive.remove(i)
                got += fed + at
                expected += [0] * 2 * beam
            else:
                live = len(one.live)
                got += fed[:live] + at
                got += ancestors.view(sentences, beam, capacity)[i, :live, :step + 1].flatten().tolist()
                expected += [own[-1] for _, own, _ in one.live] + [step + 1] * beam + sum(wanted_ancestors[i], [])
    # What stands in the history, followed back.
    entries, log_ps = history.cpu(), history.cpu().contiguous().view(torch.float32)
    scores, wanted_scores = [], []

    def followed(i, row, length):
        found, numbers_found = [], []
        for at in reversed(range(length)):
            found.append(entries[i, row, at, 0].item())
            numbers_found.append(log_ps[i, row, at, 2].item())
            row = entries[i, row, at, 1].item()
        return found[::-1], numbers_found[::-1]

    for i, one in enumerate(beams):
        status, length, _, _, finished, live = state[i, :6].tolist()
        got += [status, length, finished, live]
        expected += [2, len(one.live[0][1]), len(one.finished), len(one.live)]
        for row, (total, own, own_log_p) in enumerate(one.live):
            ids, log_p = followed(i, row, length)
            got += ids
            expected += own
            scores += [totals[i, row].item()] + log_p
            wanted_scores += [total] + own_log_p
        best = sorted((entry for entry in ended[i].tolist() if entry[0] > -numpy.inf), key=lambda e: (-e[0], e[3]))
        assert len(best) == min(len(one.finished), beam)
        for ended_one, (wanted, wanted_total, own, own_log_p) in zip(best, one.finished):
            score, total, end_log_p, arrival, parent = ended_one
            ids, log_p = followed(i, int(parent), int(arrival) // 16)
            got += ids + [3]
            expected += own
            scores += [score, total] + log_p + [end_log_p]
            wanted_scores += [wanted, wanted_total] + own_log_p
    assert len(got) == len(expected) and len(scores) == len(wanted_scores) and not alive
    return {"integers": (torch.tensor(got), torch.tensor(expected)),
            "scores": (torch.tensor(scores), torch.tensor(wanted_scores))}


def damaged_logits(bench):
    logits = bench.half(2, 32)
    logits[1, 7] = torch.nan
    totals = torch.tensor([0.0, 0.0], dtype=torch.float64, device=logits.device)
    state, words = bench.ints([[1, 0, 5, 1, 0, 0, 0, 0]] * 2), bench.ints([2, 2])
    part = {"part_values": bench.result(2, 1, 2), "part_sums": bench.result(2, 1, 2),
            "part_words": bench.ints([[0, 0]] * 2)}
    bench.launch("best_of_parts_1", (2, 1), logits=logits, **part, classes=30, stride=32, count=2)
    bench.launch("choose_beams_1", (2,), **part, totals=totals, words=words, positions=bench.ints([0, 0]),
                 ancestors=bench.ints([[0] * 5] * 2), history=bench.ints([[[0] * 3] * 5] * 2),
                 ended=torch.tensor([[-numpy.inf, 0, 0, 1e9, 0]] * 2, dtype=torch.float64, device=logits.device),
                 penalties=torch.ones(6, dtype=torch.float64, device=logits.device), sentences=state, beam=1,
                 capacity=5, part_count=1, count=2, classes=30, stopping=0)
    return {"the status of both": (state[:, 0], torch.tensor([2 if words[0] == 0 else 1, 3]))}


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    run: object
    arguments: dict
    interpreter: float  # bounds
    card: float


CASES = [
    *(Case(f"attention, heads of {head}, tiles of {size}", attention, {"head": head, "size": size}, 1e-6, 5e-3)
      for head in (64, 128) for size in (64, 128)),
    Case("attention, causal", attention, {"head": 64, "size": 64, "causal": 1}, 1e-6, 5e-3),
    Case("attention, causal, without dropout", attention, {"head": 64, "size": 64, "causal": 1, "p": 0.0}, 1e-6, 5e-3),
    Case("attention on the source", attention, {"head": 64, "size": 64, "cross": True}, 1e-6, 5e-3),
    *(Case(f"rotary positions, heads of {head}", rotate, {"head": head}, 1e-6, 4e-3) for head in (64, 128)),
    *(Case(f"residual and norm, {width} wide", residual_norm, {"width": width, "block": block}, 1e-6, 5e-3)
      for width, block in ((256, 256), (240, 256), (512, 512), (1024, 1024))),
    Case("post-norm", residual_norm, {"width": 256, "block": 256, "dy_place": 2}, 1e-6, 5e-3),
    Case("norm alone", residual_norm, {"width": 256, "block": 256, "has_r": 0, "dy_place": 0}, 1e-6, 5e-3),
    Case("root mean square", residual_norm, {"width": 240, "block": 256, "centred": 0}, 1e-6, 5e-3),
    Case("ReLU with dropout", relu, {}, 1e-6, 5e-3),
    Case("sums of columns", relu, {"has_relu": 0}, 1e-6, 1e-5),
    Case("smoothed loss", loss, {}, 3e-6, 5e-3),
    Case("loss without smoothing", loss, {"smoothing": 0.0}, 3e-6, 5e-3),
    Case("loss of two predictions", paired_loss, {}, 1e-5, 5e-3),
    Case("embedding", embedding, {}, 1e-6, 5e-3),
    Case("embedding without positions", embedding, {"has_positions": 0, "width": 96}, 1e-6, 5e-3),
    Case("Adam", adam, {}, 1e-6, 3e-3),
    Case("Adam, gradients in 16 bits", adam, {"suffix": "_bf16"}, 1e-6, 3e-3),
    *(Case(f"self-attention of a search step, heads of {head}", self_attention_step, {"head": head}, 1e-6, 5e-3)
      for head in (64, 128)),
    *(Case(f"attention on the source in a search step, heads of {head}", source_attention_step,
           {"head": head, "beam": beam}, 1e-6, 5e-3) for head, beam in ((64, 1), (64, 4), (128, 5))),
    Case("greedy search", search, {"beam": 1}, EXACT, EXACT),
    Case("beam of 4", search, {"beam": 4, "classes": 4100}, EXACT, EXACT),
    Case("beam of 5, the 5 best, without length penalty", search, {"beam": 5, "n_best": 5, "exponent": 0.0}, EXACT,
         EXACT),
    Case("beam of 8, to the end", search, {"beam": 8, "n_best": 2, "stopping": 1}, EXACT, EXACT),
    Case("beam of 3, the first to finish", search, {"beam": 3, "n_best": 2, "stopping": 2, "exponent": 1.0}, EXACT,
         EXACT),
    Case("beam of 2, few words", search, {"beam": 2, "n_best": 2, "classes": 60, "sharp": 1.0}, EXACT, EXACT),
    Case("logits that are no numbers", damaged_logits, {}, EXACT, EXACT),
]
