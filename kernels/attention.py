"""Attention on packed tiles: whole consecutive sentences share a tile of T queries and T keys, a program each head.

Rows are words, without padding. tiles int32 [tiles, 4]: first query, queries, first key, keys; one without queries is
skipped, so one recorded graph serves batches of any number of tiles. segments int32 [words]: the number of a word's
sentence; a query looks at the keys of its own sentence, with `causal` at none behind it (queries and keys are the same
words then). Heads lie side by side, D features each; grid (heads, tiles). Sentences of more than T words on a side do
not fit into a tile. A program takes M queries at a time, for want of registers.
"""

import triton
import triton.language as tl

from kernels.dropout import kept

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def load_rows(base_ptr, first, count, stride, ROWS: tl.constexpr, D: tl.constexpr):
    """[ROWS, D] of one head: rows first to first + count of base_ptr, zeros behind them."""
    rows = tl.arange(0, ROWS)
    at = (first + rows)[:, None] * stride + tl.arange(0, D)[None, :]
    return tl.load(base_ptr + at, mask=(rows < count)[:, None], other=0.0)


@triton.jit
def store_rows(base_ptr, first, count, stride, values, ROWS: tl.constexpr, D: tl.constexpr):
    rows = tl.arange(0, ROWS)
    at = (first + rows)[:, None] * stride + tl.arange(0, D)[None, :]
    tl.store(base_ptr + at, values.to(base_ptr.dtype.element_ty), mask=(rows < count)[:, None])


@triton.jit
def weights_of(q, k, tile, begin, query_segments, key_segments, scale, causal, M: tl.constexpr, T: tl.constexpr):
    """softmax(scale q kT) over the keys that a query may look at, float32 [M, T], for the queries from `begin` on;
    rows behind the last query mean nothing."""
    first_query, queries = tl.load(tile), tl.load(tile + 1)
    first_key, keys = tl.load(tile + 2), tl.load(tile + 3)
    rows, columns = begin + tl.arange(0, M), tl.arange(0, T)
    scores = tl.dot(q, tl.trans(k), input_precision="ieee") * (scale * LOG2E)
    of_query = tl.load(query_segments + first_query + rows, mask=rows < queries, other=-1)
    of_key = tl.load(key_segments + first_key + columns, mask=columns < keys, other=-2)
    seen = (of_query[:, None] == of_key[None, :]) & ((causal == 0) | (rows[:, None] >= columns[None, :]))
    scores = tl.where(seen, scores, -1e30)
    powers = tl.exp2(scores - tl.max(scores, 1)[:, None])
    return powers / tl.sum(powers, 1)[:, None]


@triton.jit
def attention_forward(q_ptr, k_ptr, v_ptr, out_ptr, tiles, query_segments, key_segments, q_stride, kv_stride,
                      out_stride, scale, causal, p, key_ptr, site, D: tl.constexpr, T: tl.constexpr, M: tl.constexpr):
    """out [queries, heads D] = dropout(weights) v; element (query, head, key in its tile) of the weights has the number
    ((query * heads + head) * 128 + key)."""
    head = tl.program_id(0)
    tile = tiles + tl.program_id(1) * 4
    first_query, queries = tl.load(tile), tl.load(tile + 1)
    first_key, keys = tl.load(tile + 2), tl.load(tile + 3)
    if queries > 0:
        k = load_rows(k_ptr + head * D, first_key, keys, kv_stride, T, D)
        v = load_rows(v_ptr + head * D, first_key, keys, kv_stride, T, D)
        for begin in range(0, T, M):
            query, left = first_query + begin, queries - begin
            q = load_rows(q_ptr + head * D, query, left, q_stride, M, D)
            weights = weights_of(q, k, tile, begin, query_segments, key_segments, scale, causal, M, T)
            quads = ((query + tl.arange(0, M)) * tl.num_programs(0) + head) * 32
            weights = tl.where(kept(key_ptr, site, quads, p, M, T), weights * (1 / (1 - p)), 0.0)
            out = tl.dot(weights.to(v.dtype), v, input_precision="ieee")
            store_rows(out_ptr + head * D, query, left, out_stride, out, M, D)


@triton.jit
def attention_backward(q_ptr, k_ptr, v_ptr, dout_ptr, dq_ptr, dk_ptr, dv_ptr, tiles, query_segments, key_segments,
                       q_stride, kv_stride, out_stride, dq_stride, dkv_stride, scale, causal, p, key_ptr, site,
                       D: tl.constexpr, T: tl.constexpr, M: tl.constexpr):
    """Gradients of q, k and v by that of the output. The weights are made again from q and k: neither they nor the
    output are kept. A sentence's keys belong to one tile: every element is written once, nothing is added to."""
    head = tl.program_id(0)
    tile = tiles + tl.program_id(1) * 4
    first_query, queries = tl.load(tile), tl.load(tile + 1)
    first_key, keys = tl.load(tile + 2), tl.load(tile + 3)
    if queries > 0:
        k = load_rows(k_ptr + head * D, first_key, keys, kv_stride, T, D)
        v = load_rows(v_ptr + head * D, first_key, keys, kv_stride, T, D)
        dk = tl.zeros([T, D], tl.float32)
        dv = tl.zeros([T, D], tl.float32)
        for begin in range(0, T, M):
            query, left = first_query + begin, queries - begin
            q = load_rows(q_ptr + head * D, query, left, q_stride, M, D)
            dout = load_rows(dout_ptr + head * D, query, left, out_stride, M, D)
            weights = weights_of(q, k, tile, begin, query_segments, key_segments, scale, causal, M, T)
            quads = ((query + tl.arange(0, M)) * tl.num_programs(0) + head) * 32
            keep = kept(key_ptr, site, quads, p, M, T)
            dropped = tl.where(keep, weights * (1 / (1 - p)), 0.0)
            dv += tl.dot(tl.trans(dropped.to(v.dtype)), dout, input_precision="ieee")
            dweights = tl.dot(dout, tl.trans(v), input_precision="ieee")
            dweights = tl.where(keep, dweights * (1 / (1 - p)), 0.0)
            dscores = (weights * (dweights - tl.sum(weights * dweights, 1)[:, None]) * scale).to(q.dtype)
            dq = tl.dot(dscores, k, input_precision="ieee")
            store_rows(dq_ptr + head * D, query, left, dq_stride, dq, M, D)
            dk += tl.dot(tl.trans(dscores), q, input_precision="ieee")
        store_rows(dk_ptr + head * D, first_key, keys, dkv_stride, dk, T, D)
        store_rows(dv_ptr + head * D, first_key, keys, dkv_stride, dv, T, D)


@triton.jit
def rotate(x_ptr, angles_ptr, positions, rows, columns, stride, direction, D: tl.constexpr, ROWS: tl.constexpr):
    """Rotary positions in place (Su et al. 2021, eq. 34): features 2i and 2i + 1 of each head by the angle of the
    word's position. x [rows, columns] with whole heads, such as q and k of a product side by side; angles float32
    [positions, D]: sine and cosine of each pair; direction 1, or -1 for the gradient. Grid
    (rows / ROWS, columns / D)."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    feature = tl.arange(0, D)
    inside = (row < rows)[:, None] & (tl.program_id(1) * D + feature < columns)[None, :]
    at = x_ptr + row.to(tl.int64)[:, None] * stride + tl.program_id(1) * D + feature[None, :]
    position = tl.load(positions + row, mask=row < rows, other=0)
    x = tl.load(at, mask=inside, other=0.0).to(tl.float32)
    angle = tl.load(angles_ptr + position[:, None] * D + feature[None, :])
    a, b = tl.split(tl.reshape(x, ROWS, D // 2, 2))
    sine, cosine = tl.split(tl.reshape(angle, ROWS, D // 2, 2))
    sine = sine * direction
    turned = tl.reshape(tl.join(a * cosine - b * sine, a * sine + b * cosine), ROWS, D)
    tl.store(at, turned.to(x_ptr.dtype.element_ty), mask=inside)
