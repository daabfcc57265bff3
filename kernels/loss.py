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
