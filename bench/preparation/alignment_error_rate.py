#!/usr/bin/env python3
"""Alignment error rate (Och and Ney 2003, eq. 26) of word alignments beside links that were made by hand.

alignment_error_rate.py GOLD LINKS [LINKS...]

GOLD has a line a pair: its number, a tab, and links "source-target" (sure) or "source?target" (possible). Each file of
LINKS has a line for every pair of the text, or one for each of GOLD's; links are "source-target", from 0.
"""
import re
import sys


def read_gold(path):
    gold = {}
    for line in open(path, encoding="utf-8"):
        if line.startswith("#") or not line.strip():
            continue
        number, _, links = line.rstrip("\n").partition("\t")
        found = re.findall(r"(\d+)([-?])(\d+)", links)
        possible = {(int(s), int(t)) for s, _, t in found}
        gold[int(number)] = ({(int(s), int(t)) for s, kind, t in found if kind == "-"}, possible)
    return gold


def read_links(path, gold):
    lines = [line.split() for line in open(path, encoding="utf-8")]
    numbers = list(gold) if len(lines) == len(gold) else range(1, len(lines) + 1)
    return {number: {tuple(map(int, link.split("-"))) for link in line} for number, line in zip(numbers, lines)}


def rates(gold, links):
    """Error rate, precision, recall in percent."""
    sure = possible = found = sure_found = 0
    for number, (own_sure, own_possible) in gold.items():
        made = links[number]
        sure += len(own_sure)
        found += len(made)
        sure_found += len(made & own_sure)
        possible += len(made & own_possible)
    return (100 * (1 - (sure_found + possible) / (sure + found)), 100 * possible / found, 100 * sure_found / sure)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    gold = read_gold(sys.argv[1])
    print("AER    precision recall")
    for path in sys.argv[2:]:
        print("%5.1f  %5.1f     %5.1f   %s" % (*rates(gold, read_links(path, gold)), path))


if __name__ == "__main__":
    main()
