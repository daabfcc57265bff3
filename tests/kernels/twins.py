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


def attention_of_rows(q, keys, values, heads, scale):
    """One query [heads D] against keys and values [positions, heads D]."""
    q, keys, values = (x.float().unflatten(-1, (heads, -1)) for x in (q, keys, values))
    weights = (torch.einsum("hd,phd->hp", q, keys) * scale).softmax(-1)
    return torch.einsum("hp,phd->hd", weights, values).flatten()


class Beam:
    """Beam search of one sentence by lists, as nmt::search() describes it: what choose_beams does step by step."""

    def __init__(self, beam, n_best, limit, penalties, stopping):
        self.beam, self.n_best, self.limit, self.penalties, self.stopping = beam, n_best, limit, penalties, stopping
        self.live, self.finished, self.done = [(0.0, [], [])], [], False  # log-probability, words, their own

    def best_of(self, logits):
        """Of each row (log-probability of the word, word): one more than the beam has, neither <pad> nor <s>."""
        rows = []
        for row in logits.float().log_softmax(-1):
            row[[0, 2]] = -torch.inf
            best, words = (x[:self.beam + 1].tolist() for x in row.sort(descending=True, stable=True))
            rows.append([(log_p, word) for log_p, word in zip(best, words) if log_p > -torch.inf])
        return rows

    def step(self, logits):
        """logits: of the live rows. Their words are those of self.live, the parents self.parents."""
        extensions = []
        for parent, (row, (total, _, _)) in enumerate(zip(self.best_of(logits), self.live)):
            extensions += [(-(total + log_p), parent, word, log_p) for log_p, word in row]
        live, parents, length = [], [], len(self.live[0][1])
        for rank, (total, parent, word, log_p) in enumerate(sorted(extensions)[:2 * self.beam]):
            extended = (-total, self.live[parent][1] + [word], self.live[parent][2] + [log_p])
            if word == 3 and rank < self.beam:
                self.finished.append((-total / self.penalties[length + 1],) + extended)
            elif word != 3 and len(live) < self.beam:
                live.append(extended)
                parents.append(parent)
        self.finished.sort(key=lambda one: -one[0])  # stable
        self.live, self.parents, length = live, parents, length + 1
        highest = self.penalties[self.limit]
        counted = self.stopping == 2 or (self.stopping == 0 and self.penalties[1] != highest)

        def loses(one):
            return len(self.finished) >= self.n_best and one[0] / highest <= self.finished[self.n_best - 1][0]

        behind = self.stopping == 2 or (self.finished and live[0][0] / self.penalties[length] <= self.finished[0][0])
        enough = len(self.finished) >= self.beam and (self.beam == 1 or (counted and behind))
        self.done = length >= self.limit or loses(live[0]) or enough
        if not self.done and not counted:
            self.live = [one for one in live if not loses(one)]
            self.parents = parents[:len(self.live)]
