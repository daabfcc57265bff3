"""Residual, dropout and normalisation in one pass each way; ReLU with dropout; sums of columns.

Widths are at most BLOCK, which is a power of two. Sums over rows: each program adds up its own rows, sum_parts adds the
parts. The number of programs is part of the result's bits, so callers fix it and do not ask the card.
"""

import triton
import triton.language as tl

from kernels.dropout import kept


@triton.jit
def residual_norm_forward(x_ptr, r_ptr, r_bias_ptr, weight_ptr, bias_ptr, y_ptr, n_ptr, statistics, rows, width, has_r,
                          centred, epsilon, p, key_ptr, site, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """y = x + dropout(r + r_bias); n = norm(y) weight + bias. All [rows, width]; statistics float32 [rows, 2]: mean and
    1 / deviation. has_r 0: y = x, and y is not written. centred 1: the layer form, 0: the root of the mean square
    (mean 0, and a bias of zeros). Pre-norm continues with y beside n; post-norm with n alone."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < width)[None, :]
    at = row.to(tl.int64)[:, None] * width + column[None, :]
    x = tl.load(x_ptr + at, mask=inside, other=0.0).to(tl.float32)
    adds = inside & (has_r != 0)
    r = tl.load(r_ptr + at, mask=adds, other=0.0).to(tl.float32)
    r += tl.load(r_bias_ptr + column, mask=(column < width) & (has_r != 0), other=0.0).to(tl.float32)[None, :]
    keep = kept(key_ptr, site, row * (BLOCK // 4), p, ROWS, BLOCK)
    y = (x + tl.where(keep, r * (1 / (1 - p)), 0.0)).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + at, y, mask=adds)
    y = tl.where(inside, y.to(tl.float32), 0.0)  # as the backward pass reads it
    mean = tl.sum(y, 1) / width * centred
    d = tl.where(inside, y - mean[:, None], 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, 1) / width + epsilon)
    weight = tl.load(weight_ptr + column, mask=column < width, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + column, mask=column < width, other=0.0).to(tl.float32)
    n = d * scale[:, None] * weight[None, :] + bias[None, :]
    tl.store(n_ptr + at, n.to(n_ptr.dtype.element_ty), mask=inside)
    tl.store(statistics + row * 2, mean, mask=row < rows)
    tl.store(statistics + row * 2 + 1, scale, mask=row < rows)


@triton.jit
def residual_norm_backward(dn_ptr, dy_ptr, y_ptr, statistics, weight_ptr, dx_ptr, dr_ptr, parts, rows, width, dy_place,
                           has_r, centred, p, key_ptr, site, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """dx, and dr where r was added, by the gradients of n and y. dy_place: 0 y went nowhere else; 1 dy is y's own
    gradient (pre-norm); 2 dy is a second gradient of n (post-norm). parts float32 [programs, 3, width]: sums for
    weight, bias and r_bias."""
    column = tl.arange(0, BLOCK)
    weight = tl.load(weight_ptr + column, mask=column < width, other=0.0).to(tl.float32)[None, :]
    dweight = tl.zeros([ROWS, BLOCK], tl.float32)
    dbias = tl.zeros([ROWS, BLOCK], tl.float32)
    dr_bias = tl.zeros([ROWS, BLOCK], tl.float32)
    for block in range(tl.program_id(0), tl.cdiv(rows, ROWS), tl.num_programs(0)):
        row = block * ROWS + tl.arange(0, ROWS)
        inside = (row < rows)[:, None] & (column < width)[None, :]
        at = row.to(tl.int64)[:, None] * width + column[None, :]
        dn = tl.load(dn_ptr + at, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + at, mask=inside & (dy_place != 0), other=0.0).to(tl.float32)
        dn += tl.where(dy_place == 2, dy, 0.0)
        y = tl.load(y_ptr + at, mask=inside, other=0.0).to(tl.float32)
        mean = tl.load(statistics + row * 2, mask=row < rows, other=0.0)
        scale = tl.load(statistics + row * 2 + 1, mask=row < rows, other=0.0)
        normal = tl.where(inside, (y - mean[:, None]) * scale[:, None], 0.0)
        dweight += dn * normal
        dbias += dn
        d = dn * weight
        dx = d - (tl.sum(d, 1) / width * centred)[:, None] - normal * (tl.sum(d * normal, 1) / width)[:, None]
        dx = dx * scale[:, None] + tl.where(dy_place == 1, dy, 0.0)
        tl.store(dx_ptr + at, dx.to(dx_ptr.dtype.element_ty), mask=inside)
        keep = kept(key_ptr, site, row * (BLOCK // 4), p, ROWS, BLOCK) & inside
        dr = tl.where(keep, dx * (1 / (1 - p)), 0.0)
        tl.store(dr_ptr + at, dr.to(dr_ptr.dtype.element_ty), mask=inside & (has_r != 0))
        dr_bias += dr
    part = parts + tl.program_id(0) * 3 * width + column
    tl.store(part, tl.sum(dweight, 0), mask=column < width)
    tl.store(part + width, tl.sum(dbias, 0), mask=column < width)
    tl.store(part + 2 * width, tl.sum(dr_bias, 0), mask=column < width)


@triton.jit
def relu_dropout(h_ptr, rows, width, p, key_ptr, site, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """h = dropout(relu(h)) in place, [rows, width], width a multiple of 4. Grid (rows / ROWS, width / BLOCK)."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1) * BLOCK
    column = first + tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < width)[None, :]
    at = h_ptr + row.to(tl.int64)[:, None] * width + column[None, :]
    h = tl.load(at, mask=inside, other=0.0).to(tl.float32)
    keep = kept(key_ptr, site, row * (width // 4) + first // 4, p, ROWS, BLOCK)
    h = tl.where((h < 0) | (keep == 0), 0.0, h * (1 / (1 - p)))  # what is no number stays none
    tl.store(at, h.to(h_ptr.dtype.element_ty), mask=inside)


@triton.jit
def relu_backward(dh_ptr, h_ptr, parts, rows, width, has_relu, p, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """dh = dh / (1 - p) where h > 0, else 0, in place, h being the result of relu_dropout; parts float32
    [programs, width]: sums of its columns. has_relu 0: the sums alone, of dh as it is. Grid
    (programs, width / BLOCK)."""
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([ROWS, BLOCK], tl.float32)
    for block in range(tl.program_id(0), tl.cdiv(rows, ROWS), tl.num_programs(0)):
        row = block * ROWS + tl.arange(0, ROWS)
        inside = (row < rows)[:, None] & (column < width)[None, :]
        at = row.to(tl.int64)[:, None] * width + column[None, :]
        dh = tl.load(dh_ptr + at, mask=inside, other=0.0).to(tl.float32)
        h = tl.load(h_ptr + at, mask=inside & (has_relu != 0), other=0.0).to(tl.float32)
        through = tl.where(h > 0, dh * (1 / (1 - p)), 0.0)
        tl.store(dh_ptr + at, through.to(dh_ptr.dtype.element_ty), mask=inside & (has_relu != 0))
        total += tl.where(has_relu != 0, through, dh)
    tl.store(parts + tl.program_id(0) * width + column, tl.sum(total, 0), mask=column < width)


@triton.jit
def sum_parts(parts, sums, places, BLOCK: tl.constexpr):
    """Sums of columns of many matrices of parts in one launch. places int64 [programs, 5]: first element, rows, stride,
    columns (at most BLOCK), place in sums."""
    place = places + tl.program_id(0) * 5
    first, rows, stride = tl.load(place), tl.load(place + 1), tl.load(place + 2)
    columns, result = tl.load(place + 3), tl.load(place + 4)
    row, column = tl.arange(0, 32), tl.arange(0, BLOCK)
    total = tl.zeros([32, BLOCK], tl.float32)
    for i in range(0, rows, 32):
        inside = (i + row < rows)[:, None] & (column < columns)[None, :]
        total += tl.load(parts + first + (i + row)[:, None] * stride + column[None, :], mask=inside, other=0.0)
    tl.store(sums + result + column, tl.sum(total, 0), mask=column < columns)
