"""SGD, RAdam and Adafactor in NumPy: prints the values of tests/training/optimizers/optimizers_test.cpp.

    python tests/training/golden/make_optimizers.py

The equations are those of the papers (Sutskever et al. 2013; Liu et al. 2020, algorithm 2; Shazeer and Stern 2018,
algorithms 4 and 5), in double, with weight decay decoupled (Loshchilov and Hutter 2019) or added to the gradient.
"""

import numpy as np

START = np.array([[1.0, -2.0, 0.5], [0.25, -0.125, 3.0]])


def gradient(t):
    """The gradient of update t = 1, 2, ...; one of them is small, one is large."""
    size = {3: 1e-3, 5: 30.0}.get(t, 1.0)
    return size * np.array([[np.cos(t), -0.5 * t, 0.25], [np.sin(2 * t), 1.0 / t, -0.75]])


def decayed(x, g, rate, decay, decoupled):
    return (x - rate * decay * x, g) if decoupled else (x, g + decay * x)


def sgd(rate, momentum, decay, decoupled, updates):
    x, v = START.copy(), np.zeros_like(START)
    for t in range(1, updates + 1):
        x, g = decayed(x, gradient(t), rate, decay, decoupled)
        v = momentum * v + g
        x = x - rate * v
    return x


def radam(rate, decay, decoupled, updates, b1=0.8, b2=0.9, epsilon=1e-6):
    x, m, v = START.copy(), np.zeros_like(START), np.zeros_like(START)
    most = 2 / (1 - b2) - 1
    for t in range(1, updates + 1):
        x, g = decayed(x, gradient(t), rate, decay, decoupled)
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        unbiased = m / (1 - b1**t)
        length = most - 2 * t * b2**t / (1 - b2**t)
        if length > 5:
            r = np.sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length))
            x = x - rate * unbiased * r * np.sqrt(1 - b2**t) / (np.sqrt(v) + epsilon)
        else:
            x = x - rate * unbiased
    return x


def rms(x):
    return np.sqrt(np.mean(x * x))


def adafactor(rate, scale_by_weights, as_vector, decay, updates, exponent=0.8, clip=1.0):
    x = START.reshape(-1).copy() if as_vector else START.copy()
    row, column, whole = np.zeros(2), np.zeros(3), np.zeros(6)
    for t in range(1, updates + 1):
        g = gradient(t).reshape(x.shape)
        keep = 1 - t**-exponent
        squares = g * g + 1e-30
        x = x - rate * decay * x
        if as_vector:
            whole = keep * whole + (1 - keep) * squares
            second = whole
        else:
            row = keep * row + (1 - keep) * squares.mean(axis=1)
            column = keep * column + (1 - keep) * squares.mean(axis=0)
            second = np.outer(row, column) / row.mean()
        u = g / np.sqrt(second)
        u = u / max(1.0, rms(u) / clip)
        x = x - rate * (max(1e-3, rms(x)) if scale_by_weights else 1.0) * u
    return x


def show(name, x):
    print(f"{name}: {{" + ", ".join(f"{value:.10f}" for value in x.reshape(-1)) + "}")


show("sgd, momentum 0.9", sgd(0.01, 0.9, 0, True, 6))
show("sgd, no momentum, gradient decay 0.1", sgd(0.01, 0, 0.1, False, 6))
show("radam, 4 updates", radam(0.1, 0, True, 4))
show("radam, 9 updates, decoupled decay 0.1", radam(0.1, 0.1, True, 9))
show("radam, 9 updates, gradient decay 0.1", radam(0.1, 0.1, False, 9))
show("adafactor, scaled", adafactor(0.1, True, False, 0, 6))
show("adafactor, unscaled, decay 0.1", adafactor(0.1, False, False, 0.1, 6))
show("adafactor of a vector", adafactor(0.1, True, True, 0, 6))
