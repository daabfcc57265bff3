"""Writes unicode.tsv and random.tsv beside itself: what src/base must compute, worked out by Python alone.

The files in the repository were made with Python 3.11 (Unicode 14). Columns are described at each function.
"""

import pathlib
import random
import sys
import unicodedata

HERE = pathlib.Path(__file__).parent
MASK = (1 << 64) - 1


def unicode_rows():
    """kind, input, output (both UTF-8 bytes in hexadecimal), and for `repair` the offset of the first invalid byte or -1."""
    for code in range(0x110000):
        if chr(code).isspace():
            yield "space", f"{code:x}", ""
    letters = [c for c in map(chr, range(0x110000)) if not "\ud800" <= c <= "\udfff"]
    texts = ["", "ΟΔΥΣΣΕΥΣ", "ΣΑΣ ΣΑΣ", "Σ", "ΑΣ.", "ΑΣ'Α", "A\u0301Σ", "İSTANBUL", "ISTANBUL", "STRASSE ẞ", "ǅ", "Hello, WORLD"]
    for text in [c for c in letters if c.lower() != c] + texts:
        yield "lower", text.encode().hex(), text.lower().encode().hex()
    for text in [c for c in letters if c.upper() != c][::5] + ["", "straße", "ﬁne", "ŉ", "ǆ", "ΐ", "Hello, 1st"]:
        yield "upper", text.encode().hex(), text.upper().encode().hex()
    changed = [c for c in letters if unicodedata.normalize("NFKC", c) != c]
    texts = ["", "plain", "ﬁne", "e\u0301", "q\u0323\u0307", "q\u0307\u0323", "각", "ｶﾞ", "½ x²", "a\u00a0b", "…"]
    for text in changed[::5] + texts:
        yield "nfkc", text.encode().hex(), unicodedata.normalize("NFKC", text).encode().hex()
    # Bytes around every limit of the table of well-formed sequences, so that many strings are nearly valid.
    edges = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE]
    edges += [0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]
    generator = random.Random(1)
    rows = {bytes([a]) for a in edges} | {bytes([a, b]) for a in edges[9:] for b in edges[1:10]}
    while len(rows) < 1500:
        row = b"ascii first" * generator.choice([0, 0, 1])
        for _ in range(generator.randrange(1, 4)):
            row += bytes([generator.choice(edges[9:])]) + bytes(generator.choices(edges[3:9], k=generator.randrange(4)))
            row += generator.choice([b"", b"z", "é€😀".encode()])
        rows.add(row)
    for row in sorted(rows):
        try:
            row.decode()
            offset = -1
        except UnicodeDecodeError as error:
            offset = error.start
        yield "repair", row.hex(), row.decode(errors="replace").encode().hex(), str(offset)


class SplitMix64:
    """Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014), and how the key becomes its state."""

    STEP = 0x9E3779B97F4A7C15

    def __init__(self, key):
        self.state = self.mix(len(key) + self.STEP)
        for word in key:
            self.state = self.mix(self.state + self.mix(word + self.STEP) + self.STEP)

    @staticmethod
    def mix(z):
        z &= MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def next(self):
        self.state = (self.state + self.STEP) & MASK
        return self.mix(self.state)

    def below(self, bound):
        """Lemire 2019: the high word of the product, drawn again where the low word is under 2^64 mod bound."""
        while True:
            high, low = divmod(self.next() * bound, 1 << 64)
            if low >= (1 << 64) % bound:
                return high


def random_rows():
    """key, three next(), three below(bound) with the bound, and a shuffle of 0..9, each from the fresh key."""
    bounds = [1, 2, 10, 1000, 3 << 62, MASK]
    for key in [[], [0], [1], [0, 0], [1, 2], [2, 1], [42, 7, 1 << 63], [MASK]]:
        numbers = SplitMix64(key)
        yield "next", key, [numbers.next() for _ in range(3)]
        for bound in bounds:
            numbers = SplitMix64(key)
            yield "below", key, [bound] + [numbers.below(bound) for _ in range(3)]
        numbers = SplitMix64(key)
        items = list(range(10))
        for i in range(10, 1, -1):
            j = numbers.below(i)
            items[i - 1], items[j] = items[j], items[i - 1]
        yield "shuffle", key, items


def main():
    with open(HERE / "unicode.tsv", "w") as out:
        for row in unicode_rows():
            print(*row, sep="\t", file=out)
    with open(HERE / "random.tsv", "w") as out:
        for kind, key, values in random_rows():
            print(kind, " ".join(map(str, key)), " ".join(map(str, values)), sep="\t", file=out)
    print(f"Python {sys.version.split()[0]}, Unicode {unicodedata.unidata_version}", file=sys.stderr)


if __name__ == "__main__":
    main()
