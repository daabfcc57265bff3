#!/usr/bin/env python3
"""The model of configs/multi30k_trevett.yaml in plain PyTorch: what that recipe reaches without this toolkit.

    bench/training/trevett_pytorch.py --data DIR --out DIR [--seed 1234] [--epochs 10] [--threads 2]

--data: train, val and test_2016_flickr, each .de and .en, of lower-cased tokens joined by blanks (data_scripts/spacy_tokens.py).
Prints each epoch's validation loss as the mean over batches, which is what the tutorial counts, and over tokens, then those of
the test set with the weights that had the lowest mean over batches. Writes its greedy translations to --out/hypotheses.en:

    nmt-score DIR/test_2016_flickr.en -i hypotheses.en --tokenize none --force
"""

import argparse
import collections
import copy
import math
import pathlib
import random
import time

import torch
from torch import nn
from torch.nn import functional

PAD, UNKNOWN, BEGIN, END = range(4)
FEATURES, INNER, BLOCKS, HEADS, DROPOUT, POSITIONS = 256, 512, 3, 8, 0.1, 100
BATCH, LONGEST_OUTPUT = 128, 50


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(FEATURES, FEATURES) for _ in range(4))

    def forward(self, x, memory, mask):
        """x [batch, target, features], memory [batch, source, features], mask true where attention may look."""
        def heads(y):
            return y.view(y.shape[0], y.shape[1], HEADS, -1).transpose(1, 2)
        scores = heads(self.query(x)) @ heads(self.key(memory)).transpose(2, 3) / math.sqrt(FEATURES / HEADS)
        weights = functional.dropout(scores.masked_fill(~mask, -1e10).softmax(-1), DROPOUT, self.training)
        return self.output((weights @ heads(self.value(memory))).transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Each part: dropout, sum with what came in, normalisation."""

    def __init__(self, is_decoder):
        super().__init__()
        self.attentions = nn.ModuleList(Attention() for _ in range(1 + is_decoder))
        self.inner, self.outer = nn.Linear(FEATURES, INNER), nn.Linear(INNER, FEATURES)
        self.norms = nn.ModuleList(nn.LayerNorm(FEATURES) for _ in range(2 + is_decoder))

    def forward(self, x, mask, memory=None, memory_mask=None):
        def add(norm, y):
            return norm(x + functional.dropout(y, DROPOUT, self.training))
        x = add(self.norms[0], self.attentions[0](x, x, mask))
        if memory is not None:
            x = add(self.norms[1], self.attentions[1](x, memory, memory_mask))
        inner = functional.dropout(functional.relu(self.inner(x)), DROPOUT, self.training)
        return add(self.norms[-1], self.outer(inner))


class Side(nn.Module):
    """The encoder or the decoder: words, positions, blocks."""

    def __init__(self, words, is_decoder):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, FEATURES), nn.Embedding(POSITIONS, FEATURES)
        self.blocks = nn.ModuleList(Block(is_decoder) for _ in range(BLOCKS))

    def forward(self, ids, *masks_and_memory):
        x = self.words(ids) * math.sqrt(FEATURES) + self.positions(torch.arange(ids.shape[1]))
        x = functional.dropout(x, DROPOUT, self.training)
        for block in self.blocks:
            x = block(x, *masks_and_memory)
        return x


class Model(nn.Module):
    def __init__(self, source_words, target_words):
        super().__init__()
        self.encoder, self.decoder = Side(source_words, False), Side(target_words, True)
        self.output = nn.Linear(FEATURES, target_words)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def encode(self, source):
        mask = (source != PAD)[:, None, None, :]
        return self.encoder(source, mask), mask

    def decode(self, target, memory, memory_mask):
        length = target.shape[1]
        mask = (target != PAD)[:, None, None, :] & torch.ones(length, length, dtype=torch.bool).tril()
        return self.output(self.decoder(target, mask, memory, memory_mask))

    def loss(self, source, target):
        """(sum over tokens, number of tokens)."""
        logits, labels = self.decode(target[:, :-1], *self.encode(source)), target[:, 1:]
        loss = functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, reduction="sum")
        return loss, int((labels != PAD).sum())


class Text:
    """Lines of both sides as ids."""

    def __init__(self, folder):
        self.lines = {(name, side): [line.split() for line in open(folder / f"{name}.{side}", encoding="utf-8")]
                      for name in ("train", "val", "test_2016_flickr") for side in ("de", "en")}
        self.words = {}
        for side in ("de", "en"):
            counts = collections.Counter(word for line in self.lines["train", side] for word in line)
            frequent = [word for word, count in counts.most_common() if count >= 2]
            self.words[side] = ["<pad>", "<unk>", "<s>", "</s>", *frequent]
        self.ids = {side: {word: i for i, word in enumerate(words)} for side, words in self.words.items()}

    def pairs(self, name):
        def ids(side):
            return [[BEGIN, *(self.ids[side].get(word, UNKNOWN) for word in line), END] for line in self.lines[name, side]]
        return list(zip(ids("de"), ids("en")))


def padded(rows):
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


def batches(pairs, shuffle):
    """Batches of pairs of similar length, as torchtext's BucketIterator makes them: pools of 100 batches are sorted."""
    pairs = random.sample(pairs, len(pairs)) if shuffle else sorted(pairs, key=lambda pair: len(pair[0]))
    pools = [pairs[i:i + 100 * BATCH] for i in range(0, len(pairs), 100 * BATCH)] if shuffle else [pairs]
    made = []
    for pool in pools:
        pool = sorted(pool, key=lambda pair: len(pair[0]))
        made += [pool[i:i + BATCH] for i in range(0, len(pool), BATCH)]
    if shuffle:
        random.shuffle(made)
    return [(padded([source for source, _ in batch]), padded([target for _, target in batch])) for batch in made]


@torch.no_grad()
def losses(model, pairs):
    """(mean over batches of their mean over tokens, mean over tokens)."""
    model.eval()
    each = [model.loss(*batch) for batch in batches(pairs, False)]
    return (sum(float(loss) / tokens for loss, tokens in each) / len(each),
            sum(float(loss) for loss, _ in each) / sum(tokens for _, tokens in each))


@torch.no_grad()
def greedy(model, pairs):
    """Ids of the translations, without markers; at most LONGEST_OUTPUT words."""
    model.eval()
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]))
    found = [None] * len(pairs)
    for begin in range(0, len(order), 100):
        part = order[begin:begin + 100]
        memory, mask = model.encode(padded([pairs[i][0] for i in part]))
        target = torch.full((len(part), 1), BEGIN)
        ended = torch.zeros(len(part), dtype=torch.bool)
        while target.shape[1] <= LONGEST_OUTPUT and not bool(ended.all()):
            best = model.decode(target, memory, mask)[:, -1].argmax(-1).masked_fill(ended, PAD)
            ended |= best == END
            # A column of padding would hide itself from attention; what follows the end is thrown away below.
            target = torch.cat([target, best.masked_fill(best == PAD, END)[:, None]], 1)
        for row, i in zip(target.tolist(), part):
            row = row[1:]
            found[i] = row[:row.index(END)] if END in row else row
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=1234)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    random.seed(arguments.seed)
    text = Text(arguments.data)
    train, val, test = (text.pairs(name) for name in ("train", "val", "test_2016_flickr"))
    model = Model(len(text.words["de"]), len(text.words["en"]))
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, "
          f"{len(text.words['de'])} and {len(text.words['en'])} words", flush=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0005)
    lowest, best = math.inf, None
    for epoch in range(1, arguments.epochs + 1):
        began = time.monotonic()
        model.train()
        for source, target in batches(train, True):
            optimizer.zero_grad()
            loss, tokens = model.loss(source, target)
            (loss / tokens).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1)
            optimizer.step()
        seconds = time.monotonic() - began
        by_batch, by_token = losses(model, val)
        print(f"epoch {epoch}: {seconds:.0f} s, val loss {by_batch:.3f} over batches, {by_token:.3f} over tokens", flush=True)
        if by_batch < lowest:
            lowest, best = by_batch, copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    by_batch, by_token = losses(model, test)
    print(f"test: perplexity {math.exp(by_batch):.3f} over batches, {math.exp(by_token):.3f} over tokens")
    arguments.out.mkdir(parents=True, exist_ok=True)
    with open(arguments.out / "hypotheses.en", "w", encoding="utf-8") as file:
        for ids in greedy(model, test):
            file.write(" ".join(text.words["en"][i] for i in ids) + "\n")


if __name__ == "__main__":
    main()
