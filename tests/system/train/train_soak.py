"""10,000 updates of nmt-train: memory stays flat, speed steady, nothing is warned of.

    train_soak.py NMT_PREPRO NMT_TRAIN [unittest arguments]

A machine's own speed is not steady, so the speed after 9,000 updates is that beside a second run in its first thousand:
the two take turns, processor time counts, and the best turn of each: other work slows, nothing speeds up.
"""

import json
import os
import pathlib
import signal
import statistics
import tempfile
import time
import unittest

from train_kill import CONFIG, Run, prepare, temporary_folder

UPDATES = 10_000
PART = 1_000  # updates between validations; the first part is warm-up
LOG_EVERY = 20
MEMORY_GROWTH = 0.005  # of the last third beside the third before: 300 bytes an update; the heap settles first
GROWTH_FROM_HALF = 0.01
SLOWING = 0.05
WARM = 100  # updates after the beginning of a part in which nothing is measured
TURNS, TURN = 10, 60  # updates; all turns and the lines of the log around them lie within one part
SETTINGS = ("training.batch_size=512", "training.accumulate=1", "training.checkpoint_every=1000",
            "validation.every=1000", f"run.log_every={LOG_EVERY}")


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def speed(samples):
    """Updates a processor second."""
    (first, begin, _), (last, end, _) = samples[0], samples[-1]
    return (last - first) / (end - begin)


class Watched:
    """A training process, and what is seen whenever its log has grown."""

    def __init__(self, run, log):
        self.metrics = run.directory / "metrics.jsonl"
        self.process = run.start(stderr=log)

    def watch(self, enough=lambda samples: False):
        """(update, processor seconds, bytes) of each line of the log until there are enough, or the process ends."""
        samples = []
        while self.process.poll() is None and not enough(samples):
            try:
                update = json.loads(self.metrics.read_text().splitlines()[-1])["update"]
                if not samples or update > samples[-1][0]:
                    samples.append((update, processor_seconds(self.process.pid), resident_bytes(self.process.pid)))
            except (FileNotFoundError, IndexError, ValueError):
                pass  # no line yet, or half of one, or it has just ended
            time.sleep(0.005)
        return samples

    def stop_at(self, update):
        samples = self.watch(lambda seen: seen and seen[-1][0] >= update)
        self.process.send_signal(signal.SIGSTOP)
        return samples

    def take_turn(self):
        """The speed of a turn. The first line that is seen is one from before it."""
        self.process.send_signal(signal.SIGCONT)
        samples = self.watch(lambda seen: len(seen) > 1 and seen[-1][0] - seen[1][0] >= TURN)
        self.process.send_signal(signal.SIGSTOP)
        return speed(samples[1:])


class Soak(unittest.TestCase):
    def start(self, config, directory, log):
        watched = Watched(Run(config, directory, SETTINGS), log)
        self.addCleanup(watched.process.kill)
        return watched

    def test_memory_and_speed_stay_as_they_are(self):
        work = temporary_folder(type(self))
        config = prepare(work, CONFIG.format(work=work, updates=UPDATES), train=2000, valid=50)
        with tempfile.TemporaryFile("w+") as log:  # a pipe that nobody reads would fill
            old = self.start(config, work / "old", log)
            samples = old.stop_at(UPDATES - PART + WARM)
            new = self.start(config, work / "new", log)
            new.stop_at(WARM)
            turns = [(new.take_turn(), old.take_turn()) for _ in range(TURNS)]
            new.process.kill()
            old.process.send_signal(signal.SIGCONT)
            samples += old.watch()
            log.seek(0)
            errors = log.read()
        self.assertEqual(old.process.returncode, 0, errors[-2000:])
        self.assertNotIn("warn", errors.lower())

        parts = {}  # of PART updates: those that saw both ends
        for sample in samples:
            parts.setdefault((sample[0] - 1) // PART, []).append(sample)
        self.assertEqual(len(parts), UPDATES // PART)
        sizes = [statistics.median(size for _, _, size in parts[part]) for part in sorted(parts)[1:]]
        print(f"\nresident MB, medians: {', '.join(f'{size / 1e6:.1f}' for size in sizes)}")
        print(f"updates a processor second: {', '.join(f'{speed(parts[part]):.1f}' for part in sorted(parts))}")
        print(f"new and old in turns: {', '.join(f'{early:.1f} {late:.1f}' for early, late in turns)}")
        half = UPDATES // 2 // PART - 2  # the part that ends there; the first is not among the sizes
        self.assertLess(sizes[-1] / sizes[half], 1 + GROWTH_FROM_HALF)
        third = len(sizes) // 3
        self.assertLess(max(sizes[-third:]) / max(sizes[-2 * third:-third]), 1 + MEMORY_GROWTH)
        early, late = map(max, zip(*turns))
        self.assertGreater(late / early, 1 - SLOWING)


if __name__ == "__main__":
    import sys
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
