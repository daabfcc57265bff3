#!/usr/bin/env python3
"""Writes lexicon.json beside it: IBM Model 1 (Brown et al. 1993) on two small corpora, in plain Python.

The algorithm is the textbook's, word by word over dictionaries, with an empty word in every source; nothing is pruned.
"""
import json
import pathlib

EMPTY = "empty"


def model_one(pairs, iterations):
    """{source: {target: p(target | source)}} after so many iterations of expectation maximisation."""
    cooccurring = {}
    for source, target in pairs:
        for s in [EMPTY] + source:
            cooccurring.setdefault(s, set()).update(target)
    p = {s: {t: 1.0 for t in targets} for s, targets in cooccurring.items()}  # uniform; the scale cancels
    for _ in range(iterations):
        counts = {s: dict.fromkeys(targets, 0.0) for s, targets in cooccurring.items()}
        for source, target in pairs:
            for t in target:
                total = sum(p[s][t] for s in [EMPTY] + source)
                for s in [EMPTY] + source:
                    counts[s][t] += p[s][t] / total
        p = {s: {t: c / sum(row.values()) for t, c in row.items()} for s, row in counts.items()}
    return p


def by_hand():
    """das Haus, das Buch, ein Buch (4 5 6 7) - the house, the book, a book (4 5 6 7)."""
    return [([4, 5], [4, 5]), ([4, 6], [4, 6]), ([7, 6], [7, 6])]


def drawn(count):
    """Pairs of a small vocabulary by a linear congruential generator; pieces repeat, sides may be empty."""
    state = 12345

    def draw(limit):
        nonlocal state
        state = (state * 1103515245 + 12345) % 2**31
        return (state >> 8) % limit

    pairs = []
    for _ in range(count):
        source = [4 + draw(draw(16) + 1) for _ in range(draw(9))]
        # Mostly word by word, as the source has it, and some noise.
        target = [4 + (s - 4) * 7 % 16 if draw(4) else 4 + draw(16) for s in source] + [4 + draw(3)] * draw(3)
        pairs.append((source, target))
    return pairs


def case(name, pairs, iterations):
    used = [(source, target) for source, target in pairs if source and target]
    p = model_one(used, iterations)
    rows = [[s, t, probability] for s in sorted(k for k in p if k != EMPTY) for t, probability in sorted(p[s].items())]
    return {"name": name, "iterations": iterations, "pairs": pairs, "probabilities": rows}


def main():
    cases = [case("by_hand_1", by_hand(), 1), case("by_hand_3", by_hand(), 3), case("drawn_5", drawn(300), 5)]
    path = pathlib.Path(__file__).with_name("lexicon.json")
    path.write_text(json.dumps(cases, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
