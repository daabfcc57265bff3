"""The kernels' plain twins: PyTorch's own operators and autograd in float32, and Philox in NumPy."""

import numpy
import torch

F = torch.nn.functional


def philox(counter, key, rounds=7):
    """Philox4x32 (Salmon et al. 2011, section 4.3). counter: uint32 [..., 4]; key: two words. uint32 [..., 4]"""
    word = numpy.uint64(0xFFFFFFFF)
    c = [numpy.asarray(counter[..., i], numpy.uint64) for i in range(4)]
    low, high = (numpy.uint64(k) for k in key)
    for _ in range(rounds):
        first, second = numpy.uint64(0xD2511F53) * c[0], numpy.uint64(0xCD9E8D57) * c[2]
        c = [(second >> numpy.uint64(32)) ^ c[1] ^ low, second & word,
             (first >> numpy.uint64(32)) ^ c[3] ^ high, first & word]
        low, high = (low + numpy.uint64(0x9E3779B9)) & word, (high + numpy.uint64(0xBB67AE85)) & word
    return numpy.stack(c, -1).astype(numpy.uint32)


def kept(elements, key, site, p):
    """bool tensor: which of the elements with these numbers dropout keeps (kernels/dropout.py)."""
    elements = numpy.asarray(elements, numpy.uint64)
    counter = numpy.zeros(elements.shape + (4,), numpy.uint32)
    counter[..., 0], counter[..., 1] = elements // 4, site
    words = philox(counter, (key & 0xFFFFFFFF, key >> 32))
    words = numpy.take_along_axis(words, (elements % 4)[..., None].astype(int), -1)[..., 0]
    uniform = (words >> 8).astype(numpy.float32) * numpy.float32(2.0**-24)
    return torch.from_numpy(uniform >= numpy.float32(p))


def dropped(x, elements, key, site, p):
    return torch.where(kept(elements, key, site, p).to(x.device), x / (1 - p), 0.0)


def gradients(result, gradient, *inputs):
    return torch.autograd.grad(result, inputs, gradient)


def leaf(x):
    return x.float().detach().clone().requires_grad_()


def attention(q, k, v, tiles, query_segments, key_segments, heads, scale, causal, p, key, site):
    """[queries, heads D]: each sentence for itself."""
    queries, width = q.shape[0], q.shape[1] // heads
    numbers = numpy.zeros((heads, queries, k.shape[0]), numpy.int64)  # of elements, in the tile where both are
    for q0, nq, k0, nk in tiles.tolist():
        query, head = numpy.arange(q0, q0 + nq)[None, :, None], numpy.arange(heads)[:, None, None]
        numbers[:, q0:q0 + nq, k0:k0 + nk] = (query * heads + head) * 128 + numpy.arange(nk)[None, None, :]
    by_head = [x.unflatten(1, (heads, width)).transpose(0, 1) for x in (q, k, v)]
    scores = by_head[0] @ by_head[1].transpose(1, 2) * scale
    seen = query_segments[:, None] == key_segments[None, :]
    if causal:
        seen = seen & torch.ones_like(seen).tril()
    weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    return (dropped(weights, numbers, key, site, p) @ by_head[2]).transpose(0, 1).flatten(1)


def rotated(x, angles, positions, head):
    """Su et al. 2021, eq. 34, by complex numbers."""
    pairs = torch.view_as_complex(x.unflatten(1, (-1, head // 2, 2)).contiguous())
    turn = torch.complex(angles[positions.long(), 1::2], angles[positions.long(), 0::2])
    return torch.view_as_real(pairs * turn[:, None, :]).flatten(1)


def norm(y, weight, bias, epsilon, centred):
    if centred:
        return F.layer_norm(y, weight.shape, weight, bias, epsilon)
    return F.rms_norm(y, weight.shape, weight, epsilon)


def row_elements(rows, width):
    """Numbers of elements of a matrix whose rows are `width` apart."""
    return numpy.arange(rows)[:, None] * width + numpy.arange(width)[None, :]


def cross_entropy(logits, labels, smoothing):
    """Rows of: loss, -log p(label), whether the label is the best; 0 where it is negative."""
    counts = (labels >= 0).float()
    wanted = labels.clamp_min(0).long()
    loss = F.cross_entropy(logits, wanted, reduction="none", label_smoothing=smoothing)
    plain = F.cross_entropy(logits, wanted, reduction="none")
    return torch.stack([loss, plain, (logits.argmax(-1) == wanted).float()], 1) * counts[:, None]


def divergence(p, q):
    """KL(softmax(p) || softmax(q)) of each row."""
    return F.kl_div(q.log_softmax(-1), p.log_softmax(-1), log_target=True, reduction="none").sum(-1)
