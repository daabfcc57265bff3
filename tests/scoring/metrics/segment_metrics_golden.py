#!/usr/bin/env python3
"""Figures of segment_scores_test.cpp and alignment_error_rate_test.cpp: sacreBLEU's own resampling over metrics that it
has not, the mean of given scores and the alignment error rate, written down here in the plainest way. Needs sacrebleu
2.6 and NumPy 2. bench/preparation/alignment_error_rate.py prints the same rates, 27.8 and 12.5.
"""
import re

import sacrebleu.significance as significance
from sacrebleu.metrics.base import Metric, Score, Signature

# As COMET's may be: of two systems, one of them negative in places.
FIRST = [0.8123, 0.7411, 0.9034, 0.6512, 0.8801, 0.7903, 0.8450, 0.5127, 0.9312, 0.7004]
SECOND = [0.8342, 0.7598, 0.8911, 0.7012, 0.9013, 0.8117, 0.8449, 0.6233, 0.9401, 0.7120]
LOW = [-0.42, 0.11, -1.05, 0.27, -0.33, -0.61, 0.02, -0.18, -0.94, 0.05]

GOLD = ["0-0 1-1 2?2", "0-0 1p2 2-1", "0-1", "", "0-0 0?1 1-2 2-2"]
LINKS = ["0-0 1-1 2-2", "0-0 1-2 2-2", "", "0-0", "0-0 0-1 1-2"]
OTHER = ["0-0 1-0", "0-0 2-1", "0-1", "", "0-0 1-2 2-2"]


class Plain(Metric):
    _SIGNATURE_TYPE = Signature

    def __init__(self, statistics, score):
        super().__init__()
        self.statistics, self.score, self.num_refs = statistics, score, 1

    def _extract_corpus_statistics(self, hypotheses, references):
        return [self.statistics(*pair) for pair in zip(hypotheses, references[0])]

    def _aggregate_and_compute(self, stats):
        return self._compute_score_from_stats([sum(column) for column in zip(*stats)])

    def _compute_score_from_stats(self, stats):
        return Score("plain", self.score(*stats))

    def _preprocess_segment(self, sent):
        return sent

    def _extract_reference_info(self, refs):
        return {}

    _compute_segment_statistics = None


def links(line):
    return {tuple(map(int, re.split("[-?p]", link))) for link in line.split()}


def link_counts(found, gold):
    sure = {link for text in gold.split() if "-" in text for link in links(text)}
    return [len(links(found)), len(sure), len(links(found) & sure), len(links(found) & links(gold))]


def error_rate(found, sure, found_sure, found_possible):
    return 100 * (1 - (found_sure + found_possible) / (found + sure)) if found + sure else 0.0


def main():
    Plain.__abstractmethods__ = frozenset()
    mean = (lambda: Plain(lambda number, _: [number, 1], lambda total, count: total / count))
    aer = (lambda: Plain(link_counts, lambda *sums: error_rate(*map(float, sums))))
    for name, metric, systems, reference in (("mean", mean, (FIRST, SECOND), FIRST), ("low", mean, (LOW, FIRST), LOW),
                                             ("aer", aer, (LINKS, OTHER), GOLD)):
        for test in ("bs", "ar"):
            found = significance.PairedTest([("a", systems[0]), ("b", systems[1])], {"plain": metric()}, [reference],
                                            test_type=test)()[1]["plain"]
            for result in found:
                print(name, test, *(f"{value!r}" for value in (float(result.score), result.p_value, result.mean, result.ci)))


if __name__ == "__main__":
    main()
