"""Prints the tables of src/text/moses/moses_characters.cpp: the characters that sacremoses 0.2.0 counts as letters, numbers and
so on, as ranges. Those are properties of old versions of Unicode (7.0 to 9.0), which no library gives any more.

    .deps/dev/bin/python tests/text/golden/moses_characters.py
"""

from sacremoses import MosesDetokenizer, MosesTokenizer
from sacremoses.util import CJKChars

WIDTH = 120


def runs(characters, steps=(1,)):
    """(first, last, step) that cover the characters; steps: which distances between neighbours may make a run."""
    left = sorted(ord(c) for c in characters)
    found = []
    while left:
        length, step = 1, 1
        for candidate in steps:
            count = 1
            while count < len(left) and left[count] == left[0] + count * candidate:
                count += 1
            if count > length:
                length, step = count, candidate
        found.append((left[0], left[length - 1], step))
        left = left[length:]
    return found


def show(name, rows, with_step=False):
    print(f"constexpr {'Steps' if with_step else 'Range'} {name}[] = {{")
    line = "   "
    for first, last, step in rows:
        cell = f" {{0x{first:X}, 0x{last:X}, {step}}}," if with_step else f" {{0x{first:X}, 0x{last:X}}},"
        if len(line) + len(cell) > WIDTH:
            print(line)
            line = "   "
        line += cell
    print(line.rstrip(",") + "};")


def main():
    letters = set(MosesDetokenizer.IsAlpha)
    marks = set(MosesTokenizer.IsAlpha) - letters
    digits = set(MosesTokenizer.IsAlnum) - letters - marks
    numbers = set(MosesTokenizer.IsN) - {"\n"}  # the ends of lines in their lists
    currency = set(MosesTokenizer.IsSc) - {"\n"}
    zeros = sorted(ord(c) for c in digits)[::10]
    assert digits == {chr(zero + i) for zero in zeros for i in range(10)}
    assert digits <= numbers  # of the other numbers some are letters: Roman ones
    show("kLetters", runs(letters))
    show("kMarks", runs(marks))
    show("kDigits", runs(digits))
    show("kOtherNumbers", runs(numbers - digits))
    show("kLowerCase", runs(MosesTokenizer.IsLower, steps=(1, 2)), with_step=True)
    show("kCurrency", runs(currency))
    show("kIdeographs", [(first, last, 1) for first, last in CJKChars.ranges])


main()
