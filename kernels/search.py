"""A step of greedy and beam search: attention through ancestors, the best pieces of each row, the choice of a beam.

Rows are hypotheses, `beam` of them side by side for each sentence. Nothing is moved when a beam reorders: keys and
values stay where their step wrote them, and ancestors [rows, capacity] names for each earlier position the row that
did. What was chosen stays in a history that is followed back once a sentence is done. Rows of sentences that are done
compute what nobody looks at, so a recorded graph serves any number of them.
"""

import triton
import triton.language as tl

from kernels.attention import load_rows, store_rows

PAD, BEGIN, END = tl.constexpr(0), tl.constexpr(2), tl.constexpr(3)
RUNNING, DONE, DAMAGED = tl.constexpr(1), tl.constexpr(2), tl.constexpr(3)
HEURISTIC, FIRST = tl.constexpr(0), tl.constexpr(2)
QUERIES = tl.constexpr(16)  # rows of a product at least
NONE = tl.constexpr(float("-inf"))


@triton.jit
def self_attention_step(qkv_ptr, cache, ancestors, positions, out_ptr, rows, capacity, scale, D: tl.constexpr,
                        T: tl.constexpr):
    """out [rows, heads D]: each row's query against the keys of its hypothesis so far and its own. qkv [rows, 3 heads
    D]; keys and values go to cache [capacity, rows, 2 heads D] at the row's position. Grid (rows, heads); `rows` are
    those of the cache, of which the grid may take the first ones. T positions at a time."""
    row, head, heads = tl.program_id(0), tl.program_id(1), tl.num_programs(1)
    width, feature = heads * D, head * D + tl.arange(0, D)
    position = tl.load(positions + row)
    own = qkv_ptr + row.to(tl.int64) * 3 * width + feature
    q = tl.load(own).to(tl.float32) * scale
    key, value = tl.load(own + width), tl.load(own + 2 * width)
    to = cache + (position.to(tl.int64) * rows + row) * 2 * width + feature
    tl.store(to, key)
    tl.store(to + width, value)
    # Its own key first: the highest score, the sum of powers, and the sum of values so far.
    highest = tl.sum(q * key.to(tl.float32), 0)
    powers = highest * 0 + 1
    out = value.to(tl.float32)
    for begin in range(0, position, T):
        at = begin + tl.arange(0, T)
        row_then = tl.load(ancestors + row.to(tl.int64) * capacity + at, mask=at < position, other=0)
        place = cache + ((at.to(tl.int64) * rows + row_then) * 2 * width)[:, None] + feature[None, :]
        keys = tl.load(place, mask=(at < position)[:, None], other=0.0).to(tl.float32)
        values = tl.load(place + width, mask=(at < position)[:, None], other=0.0).to(tl.float32)
        scores = tl.where(at < position, tl.sum(keys * q[None, :], 1), NONE)
        higher = tl.maximum(highest, tl.max(scores, 0))
        fade, weights = tl.exp(highest - higher), tl.exp(scores - higher)
        powers = powers * fade + tl.sum(weights, 0)
        out = out * fade + tl.sum(weights[:, None] * values, 0)
        highest = higher
    tl.store(out_ptr + row.to(tl.int64) * width + feature, (out / powers).to(out_ptr.dtype.element_ty))


@triton.jit
def source_attention_step(q_ptr, kv_ptr, sources, out_ptr, beam, kv_stride, scale, D: tl.constexpr, T: tl.constexpr):
    """out [rows, heads D]: the queries of a sentence's rows (at most 16) against the keys of its source words. kv: row
    of a word [kv_stride], of which kv_ptr is the layer's first key: keys, then values, heads D each. sources int32
    [sentences, 2]: first word, words (at least 1). Grid (sentences, heads); T words at a time."""
    sentence, head = tl.program_id(0), tl.program_id(1)
    width = tl.num_programs(1) * D
    first, words = tl.load(sources + sentence * 2).to(tl.int64), tl.load(sources + sentence * 2 + 1)
    first_row = sentence.to(tl.int64) * beam
    q = load_rows(q_ptr + head * D, first_row, beam, width, QUERIES, D)
    highest = tl.full([QUERIES], NONE, tl.float32)
    powers = tl.zeros([QUERIES], tl.float32)
    out = tl.zeros([QUERIES, D], tl.float32)
    for begin in range(0, words, T):
        k = load_rows(kv_ptr + head * D, first + begin, words - begin, kv_stride, T, D)
        v = load_rows(kv_ptr + width + head * D, first + begin, words - begin, kv_stride, T, D)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where((begin + tl.arange(0, T) < words)[None, :], scores, NONE)
        higher = tl.maximum(highest, tl.max(scores, 1))
        fade, weights = tl.exp(highest - higher), tl.exp(scores - higher[:, None])
        powers = powers * fade + tl.sum(weights, 1)
        out = out * fade[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
        highest = higher
    store_rows(out_ptr + head * D, first_row, beam, width, out / powers[:, None], QUERIES, D)


@triton.jit
def best_of_parts(logits, part_values, part_words, part_sums, classes, stride, count, BLOCK: tl.constexpr,
                  K: tl.constexpr):
    """The first of two passes over logits [rows, stride]: of each part, BLOCK columns of a row, the `count` best words
    but <pad> and <s>, part_values and part_words [rows, parts, K], of equal ones the lower first; and part_sums
    float32 [rows, parts, 2]: the maximum, and the sum of exponentials less it. Grid (rows, parts)."""
    row, part = tl.program_id(0), tl.program_id(1)
    place = row * tl.num_programs(1) + part
    column = part * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(logits + row.to(tl.int64) * stride + column, mask=column < classes, other=NONE).to(tl.float32)
    highest = tl.max(x, 0)
    tl.store(part_sums + place * 2, highest)
    tl.store(part_sums + place * 2 + 1, tl.sum(tl.exp(x - highest), 0))
    x = tl.where((column == PAD) | (column == BEGIN), NONE, x)
    for i in range(count):
        value, best = tl.max(x, 0, return_indices=True, return_indices_tie_break_left=True)
        tl.store(part_values + place * K + i, value)
        tl.store(part_words + place * K + i, part * BLOCK + best)
        x = tl.where(column == part * BLOCK + best, NONE, x)


@triton.jit
def choose_beams(part_values, part_words, part_sums, totals, words, positions, ancestors, history, ended, penalties,
                 sentences, beam, capacity, part_count, count, classes, stopping, B: tl.constexpr, K: tl.constexpr,
                 PARTS: tl.constexpr):
    """A step of SentenceBeam (src/search/beams.cpp) for each sentence that runs: the rules stand at nmt::search().

    part_*: of best_of_parts, `count` = beam + 1. totals float64 [rows]: log-probability of each live hypothesis, best
    first, -inf behind them. words, positions int32 [rows]: what the next step is fed. history int32 [rows, capacity,
    3]: word, parent in the beam, bits of the word's log-probability. ended float64 [rows, 5]: the best hypotheses that
    have finished, in any order: score (-inf: none), log-probability, that of </s>, step * 16 + rank (none: numbers
    beyond all steps), parent. penalties float64 [capacity + 1] by length. sentences int32 [sentences, 8]: RUNNING,
    DONE or DAMAGED (logits that are no numbers); length; limit; n_best; how many have finished; live rows at the end.
    stopping: HEURISTIC, 1 or FIRST. Grid (sentences)."""
    state = sentences + tl.program_id(0) * 8
    if tl.load(state) == RUNNING:
        length, limit, n_best = tl.load(state + 1), tl.load(state + 2), tl.load(state + 3)
        finished = tl.load(state + 4)
        b = tl.arange(0, B)
        row = tl.program_id(0) * beam + b
        live_totals = tl.load(totals + row, mask=b < beam, other=NONE)

        # The second pass: the parts of each row together.
        p = tl.arange(0, PARTS)
        sums = part_sums + (row[:, None] * part_count + p[None, :]) * 2
        of_part = (b < beam)[:, None] & (p < part_count)[None, :]
        highest = tl.load(sums, mask=of_part, other=NONE)
        top = tl.max(tl.where(of_part, highest, NONE), 1)
        top = tl.where(b < beam, top, 0.0)
        powers = tl.sum(tl.load(sums + 1, mask=of_part, other=0.0) * tl.exp(highest - top[:, None]), 1)
        normaliser = top + tl.log(powers)
        is_number = (normaliser > NONE) & (normaliser < float("inf"))
        damaged = tl.max(((live_totals > NONE) & (is_number == 0)).to(tl.int32), 0)

        c = tl.arange(0, PARTS * K)
        at = (row[:, None] * part_count + (c // K)[None, :]) * K + (c % K)[None, :]
        listed = (b < beam)[:, None] & ((c // K < part_count) & (c % K < count))[None, :]
        logit = tl.load(part_values + at, mask=listed, other=NONE)
        word = tl.load(part_words + at, mask=listed, other=0)
        log_p = tl.where(logit > NONE, logit - normaliser[:, None], NONE)
        # What a hypothesis and a word make, and a number by which equal ones are ordered.
        left = tl.where(log_p > NONE, live_totals[:, None] + log_p.to(tl.float64), NONE)
        number = tl.where(listed, b[:, None] * classes + word, 2147483647)

        from_row = tl.program_id(0) * beam * 5 + b * 5
        e_scores = tl.load(ended + from_row, mask=b < beam, other=NONE)
        e_totals = tl.load(ended + from_row + 1, mask=b < beam, other=0.0)
        e_log_p = tl.load(ended + from_row + 2, mask=b < beam, other=0.0)
        e_arrivals = tl.load(ended + from_row + 3, mask=b < beam, other=NONE)
        e_parents = tl.load(ended + from_row + 4, mask=b < beam, other=0.0)
        penalty = tl.load(penalties + length + 1)

        chosen = length * 0
        new_totals = tl.full([B], NONE, tl.float64)
        new_words = tl.full([B], 3, tl.int32)
        new_parents = tl.zeros([B], tl.int32)
        new_log_p = tl.zeros([B], tl.float32)
        for rank in range(2 * beam):
            total = tl.max(left)
            picked = tl.min(tl.where(left == total, number, 2147483647))
            is_it = number == picked
            picked_log_p = tl.sum(tl.where(is_it, log_p, 0.0))
            left = tl.where(is_it, NONE, left)
            parent = picked // classes
            is_end = picked - parent * classes == END
            found = tl.where(total > NONE, 1, 0)  # Triton 3.6's interpreter would broadcast the comparison as a float
            ends = (found != 0) & is_end & (rank < beam)
            score = total / penalty
            worst = tl.min(tl.where(b < beam, e_scores, float("inf")), 0)
            latest = tl.max(tl.where(e_scores == worst, e_arrivals, NONE), 0)
            replaced = ends & (e_scores == worst) & (e_arrivals == latest) & (score > e_scores)
            e_scores = tl.where(replaced, score, e_scores)
            e_totals = tl.where(replaced, total, e_totals)
            e_log_p = tl.where(replaced, picked_log_p.to(tl.float64), e_log_p)
            e_arrivals = tl.where(replaced, (length * 16 + rank).to(tl.float64), e_arrivals)
            e_parents = tl.where(replaced, parent.to(tl.float64), e_parents)
            finished += ends.to(tl.int32)
            continues = (found != 0) & (is_end == 0) & (chosen < beam)
            new = continues & (b == chosen)
            new_totals = tl.where(new, total, new_totals)
            new_words = tl.where(new, picked - parent * classes, new_words)
            new_parents = tl.where(new, parent, new_parents)
            new_log_p = tl.where(new, picked_log_p, new_log_p)
            chosen += continues.to(tl.int32)

        # Whether it is over, and what cannot be among the n best any more.
        now = length + (chosen > 0).to(tl.int32)
        at_limit = tl.load(penalties + limit)
        # The n-th best: as many are no worse, and fewer are better.
        no_worse = tl.sum((e_scores[None, :] >= e_scores[:, None]).to(tl.int32), 1)
        nth = tl.max(tl.where(no_worse >= n_best, e_scores, NONE), 0)
        best_live = tl.max(new_totals, 0)
        loses = (finished >= n_best) & (new_totals / at_limit <= nth)
        enough = finished >= beam
        counted = (stopping == FIRST) | ((stopping == HEURISTIC) & (tl.load(penalties + 1) != at_limit))
        behind = (stopping == FIRST) | (best_live / tl.load(penalties + now) <= tl.max(e_scores, 0))
        over = (chosen == 0) | (now >= limit) | ((finished >= n_best) & (best_live / at_limit <= nth))
        over = over | (enough & ((beam == 1) | (counted & behind))) | (damaged != 0)
        new_totals = tl.where(loses & (counted == 0) & (over == 0), NONE, new_totals)

        tl.debug_barrier()  # each thread has read what is now written
        is_new = b < chosen
        entry = history + (row.to(tl.int64) * capacity + length) * 3
        tl.store(entry, new_words, mask=is_new)
        tl.store(entry + 1, new_parents, mask=is_new)
        tl.store(entry + 2, new_log_p.to(tl.int32, bitcast=True), mask=is_new)
        first_row = tl.program_id(0) * beam
        parent_ancestors = ancestors + (first_row + new_parents).to(tl.int64) * capacity
        own_ancestors = ancestors + row.to(tl.int64) * capacity
        for begin in range(0, length, 64):
            before = begin + tl.arange(0, 64)
            inside = is_new[:, None] & (before < length)[None, :]
            theirs = tl.load(parent_ancestors[:, None] + before[None, :], mask=inside, other=0)
            tl.debug_barrier()  # rows are read by all before any is written to
            tl.store(own_ancestors[:, None] + before[None, :], theirs, mask=inside)
        tl.store(own_ancestors + length, first_row + new_parents, mask=is_new)
        tl.store(totals + row, new_totals, mask=(b < beam) & (chosen > 0))
        tl.store(words + row, tl.where(over, PAD, new_words), mask=b < beam)
        tl.store(positions + row, tl.where(over, 0, now), mask=b < beam)
        tl.store(ended + from_row, e_scores, mask=b < beam)
        tl.store(ended + from_row + 1, e_totals, mask=b < beam)
        tl.store(ended + from_row + 2, e_log_p, mask=b < beam)
        tl.store(ended + from_row + 3, e_arrivals, mask=b < beam)
        tl.store(ended + from_row + 4, e_parents, mask=b < beam)
        were_live = tl.sum((live_totals > NONE).to(tl.int32), 0)
        tl.store(state, tl.where(damaged != 0, DAMAGED, tl.where(over, DONE, RUNNING)))
        tl.store(state + 1, now)
        tl.store(state + 4, finished)
        tl.store(state + 5, tl.where(chosen > 0, chosen, tl.where(finished > 0, 0, were_live)))
