"""Embeddings of words and their gradients. Grids are (rows or pieces, width / BLOCK); width is a multiple of 4."""

import triton
import triton.language as tl

from kernels.dropout import kept


@triton.jit
def embedding_forward(words, positions, table, position_table, out_ptr, rows, width, has_positions, scale, p, key_ptr,
                      site, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """out [rows, width] = dropout(scale table[word] + position_table[position]). words, positions int32 [rows]."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1) * BLOCK
    column = first + tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < width)[None, :]
    adds = inside & (has_positions != 0)
    word = tl.load(words + row, mask=row < rows, other=0).to(tl.int64)
    position = tl.load(positions + row, mask=(row < rows) & (has_positions != 0), other=0).to(tl.int64)
    x = tl.load(table + word[:, None] * width + column[None, :], mask=inside, other=0.0).to(tl.float32) * scale
    x += tl.load(position_table + position[:, None] * width + column[None, :], mask=adds, other=0.0).to(tl.float32)
    keep = kept(key_ptr, site, row * (width // 4) + first // 4, p, ROWS, BLOCK)
    x = tl.where(keep, x * (1 / (1 - p)), 0.0)
    at = row.to(tl.int64)[:, None] * width + column[None, :]
    tl.store(out_ptr + at, x.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def embedding_pieces(dx_ptr, order, pieces, dtable, parts, width, scale, p, key_ptr, site, BLOCK: tl.constexpr,
                     ROWS: tl.constexpr):
    """Adds `scale` times the gradient of embedding_forward's result, [words, width], to the float32 dtable.

    order int32 [words]: words' rows, those of one word of the vocabulary together, in the order of the batch. pieces
    int32 [pieces, 3]: first place in order, rows (at most ROWS; 0: nothing to do), and the row of dtable where all of a
    word's rows are in this piece, else -1 - the row of parts, which embedding_words adds up. Made by the host; nothing
    else writes to that row, so sums have one order.
    """
    piece = pieces + tl.program_id(0) * 3
    begin, count, place = tl.load(piece), tl.load(piece + 1), tl.load(piece + 2)
    if count > 0:
        i = tl.arange(0, ROWS)
        first = tl.program_id(1) * BLOCK
        column = first + tl.arange(0, BLOCK)
        row = tl.load(order + begin + i, mask=i < count, other=0)
        inside = (i < count)[:, None] & (column < width)[None, :]
        at = dx_ptr + row.to(tl.int64)[:, None] * width + column[None, :]
        dx = tl.load(at, mask=inside, other=0.0).to(tl.float32)
        keep = kept(key_ptr, site, row * (width // 4) + first // 4, p, ROWS, BLOCK)
        total = tl.sum(tl.where(keep, dx * (1 / (1 - p)), 0.0), 0) * scale
        if place >= 0:
            to = dtable + place.to(tl.int64) * width + column
            tl.store(to, tl.load(to, mask=column < width, other=0.0) + total, mask=column < width)
        else:
            tl.store(parts + (-1 - place).to(tl.int64) * width + column, total, mask=column < width)


@triton.jit
def embedding_words(entries, parts, dtable, width, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """Adds the parts of words with several pieces to dtable. entries int32 [words, 3]: row of dtable, first row of
    parts, rows (0: nothing to do)."""
    entry = entries + tl.program_id(0) * 3
    word, begin, count = tl.load(entry), tl.load(entry + 1), tl.load(entry + 2)
    if count > 0:
        i = tl.arange(0, ROWS)
        column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        total = tl.zeros([ROWS, BLOCK], tl.float32)
        for block in range(0, count, ROWS):
            inside = (block + i < count)[:, None] & (column < width)[None, :]
            total += tl.load(parts + (begin + block + i).to(tl.int64)[:, None] * width + column[None, :], mask=inside,
                             other=0.0)
        at = dtable + word.to(tl.int64) * width + column
        tl.store(at, tl.load(at, mask=column < width, other=0.0) + tl.sum(total, 0), mask=column < width)
