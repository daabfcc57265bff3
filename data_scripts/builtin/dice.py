"""A seeded source of choices whose sequence does not depend on the Python version."""

import random


class Dice:
    """Draws from random.Random(seed).random() alone, the one method that Python promises to keep stable."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def below(self, n):
        """An integer of 0..n-1."""
        return int(self._random.random() * n)

    def pick(self, items):
        """One item of a non-empty sequence, all equally likely."""
        return items[self.below(len(items))]

    def chance(self, probability):
        """True with the given probability."""
        return self._random.random() < probability

    def weighted(self, table):
        """One key of a sequence of (key, weight) pairs."""
        ball = self._random.random() * sum(weight for _, weight in table)
        for key, weight in table:
            ball -= weight
            if ball < 0:
                return key
        return table[-1][0]

    def shuffle(self, items):
        """Shuffles a list in place (Fisher-Yates)."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
