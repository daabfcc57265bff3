"""Label-smoothed cross-entropy of a row of logits, whose gradient takes their place: one program a row, two passes in
blocks, the second of which finds the row in the L2 cache."""

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def smoothed_cross_entropy(logits, labels, losses, scale_ptr, classes, stride, smoothing, BLOCK: tl.constexpr):
    """logits [rows, classes], rows `stride` apart; labels int32 [rows], negative where a row does not count: all 0.
    losses float32 [rows, 3]: -sum_v q_v log p_v with q = (1 - smoothing) onehot + smoothing / classes, -log p(label),
    both in nats, and 1 where the label is the first of the highest logits. The gradient of the first, times the float32
    at scale_ptr, is written over the logits."""
    row = tl.program_id(0).to(tl.int64)
    line = logits + row * stride
    label = tl.load(labels + row)
    scale = tl.load(scale_ptr)
    column = tl.arange(0, BLOCK)
    maxima = tl.full([BLOCK], -1e30, tl.float32)
    places = tl.zeros([BLOCK], tl.int32)
    powers = tl.zeros([BLOCK], tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(0, classes, BLOCK):
        inside = i + column < classes
        x = tl.load(line + i + column, mask=inside, other=-1e30, eviction_policy="evict_last").to(tl.float32)
        higher = x > maxima
        places = tl.where(higher, i + column, places)
        next_maxima = tl.where(higher, x, maxima)
        powers = powers * tl.exp2((maxima - next_maxima) * LOG2E) + tl.exp2((x - next_maxima) * LOG2E)
        maxima = next_maxima
        total += tl.where(inside, x, 0.0)
    maximum = tl.max(maxima, 0)
    best = tl.min(tl.where(maxima == maximum, places, 2147483647), 0)
    log_sum = maximum + tl.log(tl.sum(powers * tl.exp2((maxima - maximum) * LOG2E), 0))
    counts = label >= 0
    of_label = log_sum - tl.load(line + tl.maximum(label, 0)).to(tl.float32)
    of_all = log_sum - tl.sum(total, 0) / classes
    tl.store(losses + row * 3, tl.where(counts, (1 - smoothing) * of_label + smoothing * of_all, 0.0))
    tl.store(losses + row * 3 + 1, tl.where(counts, of_label, 0.0))
    tl.store(losses + row * 3 + 2, tl.where(counts & (best == label), 1.0, 0.0))
    tl.debug_barrier()  # the label's logit is read before its gradient is written
    for i in range(0, classes, BLOCK):
        inside = i + column < classes
        x = tl.load(line + i + column, mask=inside, other=-1e30, eviction_policy="evict_first").to(tl.float32)
        gradient = tl.exp2((x - log_sum) * LOG2E) - smoothing / classes
        gradient = (gradient - tl.where(i + column == label, 1 - smoothing, 0.0)) * scale
        tl.store(line + i + column, tl.where(counts, gradient, 0.0).to(logits.dtype.element_ty), mask=inside)


@triton.jit
def row_statistics(maxima, powers, total, label_logit, classes, smoothing):
    """(log of the sum of exponentials, -log p(label), smoothed cross-entropy) by each thread's parts."""
    maximum = tl.max(maxima, 0)
    log_sum = maximum + tl.log(tl.sum(powers * tl.exp2((maxima - maximum) * LOG2E), 0))
    of_label = log_sum - label_logit
    return log_sum, of_label, (1 - smoothing) * of_label + smoothing * (log_sum - tl.sum(total, 0) / classes)


@triton.jit
def paired_cross_entropy(logits, labels, losses, scale_ptr, pair, classes, stride, smoothing, BLOCK: tl.constexpr):
    """The same for two predictions p and q of one word, in rows 2i and 2i + 1 (R-Drop, Liang et al. 2021), one program
    a pair: a CE(p) + b CE(q) + c KL(p||q) + d KL(q||p). labels int32 [pairs]; losses float32 [pairs, 3]: that, and for
    p -log p(label) and whether the label is the first of the highest; pair float32 [4]: a, b, c, d."""
    row = tl.program_id(0).to(tl.int64)
    line_p = logits + row * 2 * stride
    line_q = line_p + stride
    label = tl.load(labels + row)
    scale = tl.load(scale_ptr)
    a, b, c, d = tl.load(pair), tl.load(pair + 1), tl.load(pair + 2), tl.load(pair + 3)
    column = tl.arange(0, BLOCK)
    maxima_p = tl.full([BLOCK], -1e30, tl.float32)
    maxima_q = maxima_p
    places = tl.zeros([BLOCK], tl.int32)
    powers_p = tl.zeros([BLOCK], tl.float32)
    powers_q, total_p, total_q, shift_p, shift_q = powers_p, powers_p, powers_p, powers_p, powers_p
    for i in range(0, classes, BLOCK):
        inside = i + column < classes
        x = tl.load(line_p + i + column, mask=inside, other=-1e30, eviction_policy="evict_last").to(tl.float32)
        y = tl.load(line_q + i + column, mask=inside, other=-1e30, eviction_policy="evict_last").to(tl.float32)
        places = tl.where(x > maxima_p, i + column, places)
        next_p, next_q = tl.maximum(maxima_p, x), tl.maximum(maxima_q, y)
        before_p, before_q = tl.exp2((maxima_p - next_p) * LOG2E), tl.exp2((maxima_q - next_q) * LOG2E)
        power_p, power_q = tl.exp2((x - next_p) * LOG2E), tl.exp2((y - next_q) * LOG2E)
        powers_p = powers_p * before_p + power_p
        powers_q = powers_q * before_q + power_q
        shift_p = shift_p * before_p + power_p * (x - y)  # sums of p and q times the difference of logits
        shift_q = shift_q * before_q + power_q * (x - y)
        total_p += tl.where(inside, x, 0.0)
        total_q += tl.where(inside, y, 0.0)
        maxima_p, maxima_q = next_p, next_q
    at_label = tl.maximum(label, 0)
    label_p, label_q = tl.load(line_p + at_label).to(tl.float32), tl.load(line_q + at_label).to(tl.float32)
    log_p, of_label, loss_p = row_statistics(maxima_p, powers_p, total_p, label_p, classes, smoothing)
    log_q, _, loss_q = row_statistics(maxima_q, powers_q, total_q, label_q, classes, smoothing)
    maximum = tl.max(maxima_p, 0)
    best = tl.min(tl.where(maxima_p == maximum, places, 2147483647), 0)
    mean_p = tl.sum(shift_p * tl.exp2((maxima_p - log_p) * LOG2E), 0)
    mean_q = tl.sum(shift_q * tl.exp2((maxima_q - log_q) * LOG2E), 0)
    forward = mean_p - (log_p - log_q)
    backward = log_p - log_q - mean_q
    counts = label >= 0
    tl.store(losses + row * 3, tl.where(counts, a * loss_p + b * loss_q + c * forward + d * backward, 0.0))
    tl.store(losses + row * 3 + 1, tl.where(counts, of_label, 0.0))
    tl.store(losses + row * 3 + 2, tl.where(counts & (best == label), 1.0, 0.0))
    tl.debug_barrier()  # the labels' logits are read before their gradients are written
    for i in range(0, classes, BLOCK):
        inside = i + column < classes
        x = tl.load(line_p + i + column, mask=inside, other=-1e30, eviction_policy="evict_first").to(tl.float32)
        y = tl.load(line_q + i + column, mask=inside, other=-1e30, eviction_policy="evict_first").to(tl.float32)
        p, q = tl.exp2((x - log_p) * LOG2E), tl.exp2((y - log_q) * LOG2E)
        ratio = (x - log_p) - (y - log_q)
        wanted = smoothing / classes + tl.where(i + column == label, 1 - smoothing, 0.0)
        of_p = a * (p - wanted) + c * p * (ratio - forward) + d * (p - q)
        of_q = b * (q - wanted) - c * (p - q) - d * q * (ratio + backward)
        tl.store(line_p + i + column, tl.where(counts, of_p * scale, 0.0).to(logits.dtype.element_ty), mask=inside)
        tl.store(line_q + i + column, tl.where(counts, of_q * scale, 0.0).to(logits.dtype.element_ty), mask=inside)
