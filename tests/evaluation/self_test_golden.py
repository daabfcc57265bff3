"""Prints the figures of src/evaluation/self_test.cpp: sacreBLEU on its two sentences, the equations of attention and of the
paper's positions in NumPy, in double precision.

    .deps/dev/bin/python tests/evaluation/self_test_golden.py
"""

import numpy as np
from sacrebleu.metrics import BLEU, CHRF

HYPOTHESES = ["The boat leaves the harbour at 7.30, doesn't it?", "Two children carry a blue kite."]
REFERENCES = ["The boat leaves the harbour at 7.30, does it not?", "Two children are carrying a blue kite."]

print(BLEU().corpus_score(HYPOTHESES, [REFERENCES]).score)
print(CHRF().corpus_score(HYPOTHESES, [REFERENCES]).score)

x = np.array([[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]])
q = x @ np.array([[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]])
k = x @ np.array([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]])
v = x @ np.array([[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]])
weights = np.exp(q @ k.T / np.sqrt(3))
print((weights / weights.sum(1, keepdims=True) @ v).round(10).tolist())

feature = np.arange(512)
angle = 2 / 10000 ** ((feature - feature % 2) / 512)
position = np.where(feature % 2 == 0, np.sin(angle), np.cos(angle))
print(position[[0, 1, 2, 3, 508, 509, 510, 511]].tolist())
