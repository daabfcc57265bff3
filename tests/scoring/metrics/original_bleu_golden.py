"""The figures of original_bleu_test.cpp: those of NLTK by NLTK itself (pip install nltk==3.10.4), those of multi-bleu.perl from
its formulas in plain Python.

Usage: python3 original_bleu_golden.py
"""
import math
import re
import warnings
from collections import Counter

from nltk.translate.bleu_score import corpus_bleu

warnings.simplefilter("ignore")  # of orders without a match

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
TIE = (["a b c d"], ["a b c d e"], ["a b c"])  # references one word longer and one shorter
# Line ends as Perl sees them: \r, a tab and Unicode's white space are no single spaces, and the latter no white space.
ENDS = (["we leave now today\u3000", "see you soon friend\r"], ["we leave now today\r", "see you soon friend \t"])


def ngrams(words, n):
    return Counter(tuple(words[i:i + n]) for i in range(len(words) - n + 1))


def perl_split(line):
    return re.findall(r"[^ \t\n\v\f\r]+", line)


def perl_split_single(line):
    parts = line.split(" ")
    while parts and parts[-1] == "":
        parts.pop()
    return parts


def sums(hypotheses, references, split, split_reference, first_wins=False):
    length = reference_length = 0
    correct, total = [0] * 4, [0] * 4
    for i, hypothesis in enumerate(hypotheses):
        words = split(hypothesis)
        sides = [split_reference(side[i]) for side in references]
        length += len(words)
        # The legacy program has `if ($diff < $closest_diff)` only; the others take the shorter one of two as close.
        distances = [(abs(len(side) - len(words)), 0 if first_wins else len(side), len(side)) for side in sides]
        reference_length += min(distances, key=lambda distance: distance[:2])[2]
        for n in range(1, 5):
            most = Counter()
            for side in sides:
                most |= ngrams(side, n)
            found = ngrams(words, n)
            correct[n - 1] += sum(min(count, most[ngram]) for ngram, count in found.items())
            total[n - 1] += sum(found.values())
    return length, reference_length, correct, total


def multi_bleu(hypotheses, references, legacy):
    split_reference = perl_split_single if legacy else perl_split
    length, reference_length, correct, total = sums(hypotheses, references, perl_split, split_reference, legacy)
    if not legacy and reference_length == 0:
        return "BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)"
    p = [c / t if t else 0 for c, t in zip(correct, total)]
    bp = 1 if length >= reference_length else math.exp(1 - reference_length / length)
    bleu = bp * math.exp(sum(math.log(x) if x else -9999999999 for x in p) / 4)
    tail = f"ration={length / reference_length:.3f})" if legacy else \
        f"ratio={length / reference_length:.3f}, hyp_len={length}, ref_len={reference_length})"
    return f"BLEU = {100 * bleu:.2f}, {100 * p[0]:.1f}/{100 * p[1]:.1f}/{100 * p[2]:.1f}/{100 * p[3]:.1f} (BP={bp:.3f}, {tail}"


def nltk(hypotheses, references):
    return 100 * corpus_bleu([[side[i].split() for side in references] for i in range(len(hypotheses))],
                             [line.split() for line in hypotheses])


def longer(pairs, n):
    return zip(*[(h, r) for h, r in pairs if len(h.split()) >= n and len(r.split()) >= n])


print("multi-bleu          ", multi_bleu(HYPOTHESES, [REFERENCES], False))
print("  two references    ", multi_bleu(HYPOTHESES, [REFERENCES, SECOND], False))
print("legacy              ", multi_bleu(HYPOTHESES, [REFERENCES], True))
cut = [side[:-1] + [side[-1][:-1]] for side in (HYPOTHESES, REFERENCES)]
print("legacy, last cut    ", multi_bleu(cut[0], [cut[1]], True))
for name, legacy in (("multi-bleu", False), ("legacy", True)):
    print(f"  {name}, as close", multi_bleu(TIE[0], TIE[1:], legacy))
    print(f"  {name}, other order", multi_bleu(TIE[0], TIE[:0:-1], legacy))
    print(f"  {name}, line ends", multi_bleu(ENDS[0], [ENDS[1]], legacy))
print("no reference words  ", multi_bleu(["a b c x"], [[""]], False))
print("nltk                ", repr(nltk(HYPOTHESES, [REFERENCES])))
print("  orders, no match  ", *(repr(nltk([line], [["a b c d e"]])) for line in ("a b c x e", "a b c x", "a", "x", "")))
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
