"""The figures of original_bleu_test.cpp, from the formulas of multi-bleu.perl and NLTK's corpus_bleu, in plain Python.

Usage: python3 original_bleu_golden.py
"""
import math
from collections import Counter
from fractions import Fraction

HYPOTHESES = [
    "the little dog ran over the green field",
    "a man in a blue shirt is standing on a ladder",
    "two  young people   walk",
    "yes",
    "this is an odd sentence with one more word too few?",
]
REFERENCES = [
    "the little dog runs over the green field",
    "a man in a blue shirt stands on a ladder",
    "two young  people walk",
    "yes of course",
    "this is an odd sentence with one word too few.",
]
SECOND = [
    "a little dog ran over a green field",
    "the man in the blue shirt is on a ladder today",
    "two people walk",
    "yes",
    "an odd sentence is this",
]


def ngrams(words, n):
    return Counter(tuple(words[i:i + n]) for i in range(len(words) - n + 1))


def perl_split_single(line):
    parts = line.split(" ")
    while parts and parts[-1] == "":
        parts.pop()
    return parts


def sums(hypotheses, references, split_reference, least):
    length = reference_length = 0
    correct, total = [0] * 4, [0] * 4
    for i, hypothesis in enumerate(hypotheses):
        words = hypothesis.split()
        sides = [split_reference(side[i]) for side in references]
        length += len(words)
        reference_length += min((abs(len(side) - len(words)), len(side)) for side in sides)[1]
        for n in range(1, 5):
            most = Counter()
            for side in sides:
                most |= ngrams(side, n)
            found = ngrams(words, n)
            correct[n - 1] += sum(min(count, most[ngram]) for ngram, count in found.items())
            total[n - 1] += max(least, sum(found.values()))
    return length, reference_length, correct, total


def multi_bleu(hypotheses, references, legacy):
    split = perl_split_single if legacy else str.split
    length, reference_length, correct, total = sums(hypotheses, references, split, 0)
    p = [c / t if t else 0 for c, t in zip(correct, total)]
    bp = 1 if length >= reference_length else math.exp(1 - reference_length / length)
    bleu = bp * math.exp(sum(math.log(x) if x else -9999999999 for x in p) / 4)
    tail = f"ration={length / reference_length:.3f})" if legacy else \
        f"ratio={length / reference_length:.3f}, hyp_len={length}, ref_len={reference_length})"
    return f"BLEU = {100 * bleu:.2f}, {100 * p[0]:.1f}/{100 * p[1]:.1f}/{100 * p[2]:.1f}/{100 * p[3]:.1f} (BP={bp:.3f}, {tail}"


def nltk(hypotheses, references):
    length, reference_length, correct, total = sums(hypotheses, references, str.split, 1)
    if 0 in correct:
        return 0.0
    p = [Fraction(c, t) for c, t in zip(correct, total)]
    bp = 1 if length > reference_length else math.exp(1 - reference_length / length)
    return 100 * (bp * math.exp(math.fsum(0.25 * math.log(x) for x in p)))


def longer(pairs, n):
    return zip(*[(h, r) for h, r in pairs if len(h.split()) >= n and len(r.split()) >= n])


print("multi-bleu          ", multi_bleu(HYPOTHESES, [REFERENCES], False))
print("  two references    ", multi_bleu(HYPOTHESES, [REFERENCES, SECOND], False))
print("legacy              ", multi_bleu(HYPOTHESES, [REFERENCES], True))
cut = [side[:-1] + [side[-1][:-1]] for side in (HYPOTHESES, REFERENCES)]
print("legacy, last cut    ", multi_bleu(cut[0], [cut[1]], True))
print("nltk                ", repr(nltk(HYPOTHESES, [REFERENCES])))
print("  two references    ", repr(nltk(HYPOTHESES, [REFERENCES, SECOND])))
print("  --min-len 4       ", repr(nltk(*[[*side] if i == 0 else [[*side]] for i, side in
                                          enumerate(longer(zip(HYPOTHESES, REFERENCES), 4))])))
print("  --max-len 9       ", repr(nltk(*[[*side] if i == 0 else [[*side]] for i, side in
                                          enumerate(zip(*[(h, r) for h, r in zip(HYPOTHESES, REFERENCES)
                                                          if max(len(h.split()), len(r.split())) <= 9]))])))
for words in (range(0, 5), range(5, 10), range(10, 15)):
    part = [(h, r) for h, r in zip(HYPOTHESES, REFERENCES) if len(r.split()) in words]
    if part:
        h, r = map(list, zip(*part))
        print(f"  {words.start}-{words.stop - 1}", len(part), multi_bleu(h, [r], False), repr(nltk(h, [r])))
