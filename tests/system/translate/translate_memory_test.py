"""The memory of nmt-translate: it stays as it is over a million lines, and it is bounded whatever one line holds.

    translate_memory_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import itertools
import os
import statistics
import subprocess
import sys
import threading
import time

from translate_support import PROGRAMS, Case, main

LINES = int(os.environ.get("NMT_TRANSLATE_LINES", 1_000_000))
GROWTH = 0.01  # of resident memory, from the middle to the end
FAST = ("-q", "--beam-size", "1", "--threads", "1", "--max-length-ratio", "0")


def megabytes(pid, field):
    """VmRSS or RssAnon of a process; 0 when it has ended."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) / 1000 for line in status if line.startswith(field + ":")), 0)
    except FileNotFoundError:
        return 0


def start(*arguments, **options):
    return subprocess.Popen([PROGRAMS.path("nmt-translate"), "-m", str(PROGRAMS.model), *FAST, *arguments], **options)


class MillionLines(Case):
    def test_memory_does_not_grow(self):
        sentences = [" ".join(line.split()[:3]) for line in PROGRAMS.sources()]
        process = start("--max-length-offset", "4", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.kill)

        def write():
            text = itertools.cycle(sentences)
            for _ in range(LINES // 1000):
                process.stdin.write("".join(f"{line}\n" for line in itertools.islice(text, 1000)).encode())
            process.stdin.flush()  # and stays open: the process is looked at when it has done all

        writer = threading.Thread(target=write)
        writer.start()
        sizes, begin = [], time.monotonic()  # resident memory after each hundredth of the lines
        for line in range(1, LINES // 1000 * 1000 + 1):
            self.assertTrue(process.stdout.readline())
            if line % (LINES // 100) == 0:
                sizes.append(megabytes(process.pid, "VmRSS"))
        seconds = time.monotonic() - begin
        writer.join()
        process.stdin.close()
        self.assertEqual(process.stdout.read(), b"")
        self.assertEqual(process.wait(), 0)
        # The five hundredths before each: blocks of lines differ in size.
        half, end = statistics.median(sizes[45:50]), statistics.median(sizes[95:100])
        print(f"\n{LINES} lines in {seconds:.0f} s; resident MB after each tenth: "
              f"{', '.join(f'{size:.1f}' for size in sizes[9::10])}; in the middle {half:.1f}, at the end {end:.1f}",
              file=sys.stderr)
        self.assertLess(end / half, 1 + GROWTH)


class LongLines(Case):
    """A line of 8 MiB is translated; of a longer one what is beyond is left out, and never held."""
    LONGEST = 8 << 20

    def check(self, line, *warnings):
        """Short parts: a batch of long ones takes memory, too, in proportion to their length."""
        text = self.folder / "text"
        with open(text, "wb") as file:
            file.write(b"Ja .\n" + line + b"\nJa .\n")
        with open(self.folder / "errors", "w+") as errors, open(self.folder / "out", "w+b") as output:
            begin, peak = time.monotonic(), 0
            process = start("--max-length-offset", "2", "--max-source-length", "128", "-i", str(text), stdout=output,
                            stderr=errors)
            while process.poll() is None:
                peak = max(peak, megabytes(process.pid, "RssAnon"))
                time.sleep(0.02)
            errors.seek(0), output.seek(0)
            said, lines = errors.read(), output.read().split(b"\n")
        print(f"\n{len(line):,} bytes: {time.monotonic() - begin:.0f} s, {peak:.0f} MB", file=sys.stderr)
        self.assertEqual(process.returncode, 0, said)
        self.assertEqual(len(lines), 4)
        self.assertEqual(lines[0], lines[2])
        self.assertGreater(len(lines[1]), 1000)
        for warning in warnings:
            self.assertIn(warning, said)
        self.assertEqual("only its beginning" in said, len(line) > self.LONGEST)
        self.assertLess(peak, 1500)

    def test_a_million_words(self):
        self.check(b" ".join([b"ja"] * 1_000_000), ":2: 2000000 pieces are too long: translated in parts")

    def test_a_word_of_a_million_letters(self):
        self.check(b"x" * 1_000_000, "are too long: translated in parts")

    def test_a_hundred_megabytes(self):
        cut = ":2: more than 8 MiB: only its beginning is translated"
        self.check(b"ein Haus " * 11_111_111, cut, "translated in parts")
        self.check("\u00df\u4e2d".encode() * 20_000_000, cut, "translated in parts")


if __name__ == "__main__":
    main(__doc__)
