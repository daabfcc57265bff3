"""Adam over flat parameters (Kingma and Ba 2015; AdamW: Loshchilov and Hutter 2019): norm, clipping
and the question for numbers that are not finite stay on the card. Counts of elements are below 2^31."""

import triton
import triton.language as tl


@triton.jit
def squared_norm(gradient, parts, count, BLOCK: tl.constexpr):
    """parts float32 [programs]: sums of squares. The number of programs is part of the sum's bits."""
    total = tl.zeros([BLOCK], tl.float32)
    for block in range(tl.program_id(0), tl.cdiv(count, BLOCK), tl.num_programs(0)):
        at = block * BLOCK + tl.arange(0, BLOCK)
        g = tl.load(gradient + at, mask=at < count, other=0.0).to(tl.float32)
        total += g * g
    tl.store(parts + tl.program_id(0), tl.sum(total, 0))


@triton.jit
def adam_control(parts, count, betas, steps, control, BLOCK: tl.constexpr):
    """One program: what the update is made with. parts float32 [count]: of squared_norm, all gradients' together.
    betas float64 [3]: beta1, beta2, the greatest norm (0: any). steps int64 [1]: grows by one where the norm is finite.
    control float32 [5]: factor of the gradients, 1 / (1 - beta1^steps), 1 / sqrt(1 - beta2^steps), 1 where the update
    counts, norm."""
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for block in range(0, count, BLOCK):
        total += tl.load(parts + block + i, mask=block + i < count, other=0.0)
    norm = tl.sqrt(tl.sum(total, 0))
    counts = norm < float("inf")  # false for what is no number
    beta1, beta2, greatest = tl.load(betas), tl.load(betas + 1), tl.load(betas + 2)
    number = tl.load(steps) + tl.where(counts, 1, 0)
    power1 = beta1 * 0 + 1
    power2 = power1
    for bit in range(0, 40):
        odd = ((number >> bit) & 1) != 0
        power1 = tl.where(odd, power1 * beta1, power1)
        power2 = tl.where(odd, power2 * beta2, power2)
        beta1 *= beta1
        beta2 *= beta2
    clips = (greatest > 0) & (norm > greatest)
    tl.store(control, tl.where(clips, greatest / tl.where(clips, norm, 1.0), 1.0).to(tl.float32))
    tl.store(control + 1, (1 / (1 - power1)).to(tl.float32))
    tl.store(control + 2, (1 / tl.sqrt(1 - power2)).to(tl.float32))
    tl.store(control + 3, tl.where(counts, 1.0, 0.0))
    tl.store(control + 4, norm)
    tl.store(steps, number)


@triton.jit
def adam(weights, first_moment, second_moment, gradient, copy, count, control, options, rate_ptr, BLOCK: tl.constexpr):
    """One update of float32 weights and moments, and the weights' copy in 16 bits. gradient float32 or 16 bits; options
    float32 [4]: beta1, beta2, epsilon, weight decay; rate float32 [1]; control as made by adam_control. Nothing changes
    where the update does not count."""
    if tl.load(control + 3) > 0.5:
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = at < count
        factor, correction1, correction2 = tl.load(control), tl.load(control + 1), tl.load(control + 2)
        beta1, beta2 = tl.load(options), tl.load(options + 1)
        epsilon, decay, rate = tl.load(options + 2), tl.load(options + 3), tl.load(rate_ptr)
        g = tl.load(gradient + at, mask=inside, other=0.0).to(tl.float32) * factor
        m = tl.load(first_moment + at, mask=inside, other=0.0)
        v = tl.load(second_moment + at, mask=inside, other=0.0)
        w = tl.load(weights + at, mask=inside, other=0.0)
        m += (g - m) * (1 - beta1)
        v = v * beta2 + g * g * (1 - beta2)
        w = w * (1 - rate * decay) - rate * correction1 * m / (tl.sqrt(v) * correction2 + epsilon)
        tl.store(weights + at, w, mask=inside)
        tl.store(first_moment + at, m, mask=inside)
        tl.store(second_moment + at, v, mask=inside)
        tl.store(copy + at, w.to(copy.dtype.element_ty), mask=inside)
