#!/usr/bin/env python3
"""Expected utilities of candidates by sacreBLEU's sentence scores, for minimum_bayes_risk_test.cpp. Prints them.

    pip install sacrebleu==2.6.0; python3 expected_utilities.py
"""

import json

from sacrebleu.metrics import BLEU, CHRF

TEXTS = ["A dog runs over the grass.", "A dog is running across the grass.", "The dog runs across a meadow.", "A cat sleeps.",
         "Über die Wiese läuft ein Hund."]
WEIGHTS = [3, 2, 2, 1, 0.5]

metrics = {"chrf": CHRF(), "bleu": BLEU(effective_order=True)}
expected = {name: [sum(weight * metric.sentence_score(text, [reference]).score for reference, weight in zip(TEXTS, WEIGHTS))
                   / sum(WEIGHTS) for text in TEXTS] for name, metric in metrics.items()}
print(json.dumps(expected, indent=1))
