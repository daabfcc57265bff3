"""Dropout by counter: a mask is a function of key, site and element, made again in the backward pass, never stored."""

import triton
import triton.language as tl

ROUNDS = tl.constexpr(7)


@triton.jit
def kept(key_ptr, site, quads, p, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """bool [ROWS, COLUMNS]: True with probability 1 - p.

    quads: [ROWS] the number of a row's first element over 4; a row's elements follow one another. Four of them take one
    call of Philox4x32 with 7 rounds (Salmon et al. 2011), counter (number over 4, site, 0, 0), key the int64 at
    key_ptr; the upper 24 bits of a word are a number in [0, 1).
    """
    counter = quads[:, None] + tl.arange(0, COLUMNS // 4)[None, :]
    zero = counter * 0
    a, b, c, d = tl.philox(tl.load(key_ptr), counter, zero + site, zero, zero, ROUNDS)
    words = tl.reshape(tl.join(tl.join(a, c), tl.join(b, d)), ROWS, COLUMNS)  # a b c d a b c d ...
    return (words >> 8).to(tl.float32) * (1.0 / 16777216) >= p
