"""Adadelta (Zeiler 2012, algorithm 1) in NumPy: prints the values of tests/training/optimizers/adadelta_test.cpp.

    python tests/training/golden/make_adadelta.py
"""

import numpy as np

RHO, EPSILON, RATE, DECAY = 0.9, 1e-4, 2.0, 0.01
GRADIENTS = np.array([[1.0, -0.5, 0.0], [0.25, 3.0, -2.0], [-1.0, 0.125, 0.5], [0.5, -4.0, 1.0]])


def rms(mean_square):
    return np.sqrt(mean_square + EPSILON)


def run(decay):
    x = np.array([1.0, -2.0, 0.5])
    squares, changes = np.zeros(3), np.zeros(3)
    for gradient in GRADIENTS:
        squares = RHO * squares + (1 - RHO) * gradient**2
        change = -rms(changes) / rms(squares) * gradient
        changes = RHO * changes + (1 - RHO) * change**2
        x = x - RATE * decay * x + RATE * change
        print("    {" + ", ".join(f"{value:.10f}" for value in x) + "},")
    print("squares ", squares, "changes ", changes)


np.set_printoptions(precision=12)
for decay in (0.0, DECAY):
    print("weight decay", decay)
    run(decay)
