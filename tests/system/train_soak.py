"""10,000 updates of nmt-train: memory stays flat, speed steady, nothing is warned of.

    train_soak.py NMT_PREPRO NMT_TRAIN [unittest arguments]

Speed is measured in processor time, so that other work on the machine counts little; that of each part is printed.
"""

import json
import os
import pathlib
import tempfile
import time
import unittest

from train_kill import CONFIG, Run, prepare, temporary_folder

UPDATES = 10_000
PART = 1_000  # updates; the first part is warm-up
MEMORY_GROWTH = 0.01  # share of the memory after the first parts
SLOWING = 0.05  # of the best part of the last third beside the best of the first: other work slows, nothing speeds up
SETTINGS = ("training.batch_size=512", "training.accumulate=1", "training.checkpoint_every=1000", "validation.every=1000",
            "run.log_every=100")


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def watch(process, metrics):
    """(update, processor seconds, bytes) whenever the log has grown, until the process ends."""
    samples = []
    while process.poll() is None:
        try:
            lines = metrics.read_text().splitlines()
            update = json.loads(lines[-1])["update"]
            if not samples or update > samples[-1][0]:
                samples.append((update, processor_seconds(process.pid), resident_bytes(process.pid)))
        except (FileNotFoundError, IndexError, ValueError):
            pass  # no line yet, or half of one, or it has just ended
        time.sleep(0.05)
    return samples


class Soak(unittest.TestCase):
    def test_memory_and_speed_stay_as_they_are(self):
        work = temporary_folder(type(self))
        config = prepare(work, CONFIG.format(work=work, updates=UPDATES), train=2000, valid=50)
        run = Run(config, work / "run", SETTINGS)
        with tempfile.TemporaryFile("w+") as log:  # a pipe that nobody reads would fill
            process = run.start(stderr=log)
            samples = watch(process, work / "run" / "metrics.jsonl")
            log.seek(0)
            errors = log.read()
        self.assertEqual(process.returncode, 0, errors[-2000:])
        self.assertNotIn("warn", errors.lower())
        self.assertGreater(len(samples), UPDATES / 100 * 0.8, "samples of nearly every line of the log")

        parts = {}  # of PART updates: those that saw both ends
        for update, seconds, size in samples:
            parts.setdefault((update - 1) // PART, []).append((update, seconds, size))
        rates, sizes = [], []
        for part in sorted(parts)[1:]:
            (first, begin, _), (last, end, _) = parts[part][0], parts[part][-1]
            rates.append((last - first) / (end - begin))
            sizes.append(max(size for _, _, size in parts[part]))
        print(f"\nupdates a processor second: {', '.join(f'{rate:.1f}' for rate in rates)}")
        print(f"resident MB: {', '.join(f'{size / 1e6:.1f}' for size in sizes)}")
        self.assertEqual(len(rates), UPDATES // PART - 1)
        self.assertLess(max(sizes[2:]) / max(sizes[:2]), 1 + MEMORY_GROWTH)
        third = len(rates) // 3
        self.assertGreater(max(rates[-third:]), (1 - SLOWING) * max(rates[:third]))


if __name__ == "__main__":
    import sys
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
