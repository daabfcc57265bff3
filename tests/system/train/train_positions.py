"""Real talks, every kind of positions, in fp32 and bf16: 500 updates on sentences of at most 40 pieces, with a validation of
longer ones after every 50, to the end.

    train_positions.py NMT_PREPRO NMT_TRAIN [unittest arguments]

Needs data/iwslt14 of $NMT_SHARED (else of ../shared beside the project); it is skipped without.
"""

import csv
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]

CONFIG = """
data:
  dir: {work}/prepared
  train1: {data}/train.de.gz
  train2: {data}/train.en.gz
  eval1: {data}/valid.de.gz
  eval2: {data}/valid.en.gz
  vocab_size: 2000
  maxlen1: 40
  maxlen2: 40
model: {{d_model: 64, d_ff: 128, num_blocks: 1, num_heads: 2, norm: pre, dropout_rate: 0.1, max_positions: 1024}}
training: {{batch_type: tokens, batch_size: 1500, num_epochs: 0, max_updates: 500, lr: 0.004, warmup_steps: 100}}
validation: {{every: 50, metrics: [loss, bleu], max_sentences: 20}}
"""

PREPRO = TRAIN = None  # set by main


def kinds():
    """The kinds of model.positions, from their one table."""
    text = (SOURCE / "src" / "config" / "kinds.h").read_text(encoding="utf-8")
    return re.findall(r'"(\w+)"', re.search(r"kNames<PositionKind> = names\(([^)]*)\)", text).group(1))


class EveryKindOfPositions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        data = pathlib.Path(os.environ.get("NMT_SHARED", SOURCE / ".." / "shared")).resolve() / "data" / "iwslt14"
        if not (data / "train.de.gz").exists():
            raise unittest.SkipTest(f"needs {data}")
        cls.temporary = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.temporary.name)
        (cls.work / "config.yaml").write_text(CONFIG.format(work=cls.work, data=data))
        subprocess.run([PREPRO, "-c", cls.work / "config.yaml"], check=True, stderr=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_a_training_on_talks_comes_to_its_end(self):
        self.assertGreater(len(kinds()), 10)
        for kind in kinds():
            for precision in ("fp32", "bf16"):
                run = self.work / f"{kind}-{precision}"
                settings = {"model.positions": kind, "run.precision": precision, "run.dir": run}
                with self.subTest(positions=kind, precision=precision):
                    done = subprocess.run(
                        [TRAIN, "-c", self.work / "config.yaml", *(a for k, v in settings.items() for a in ("--set", f"{k}={v}"))],
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1800)
                    self.assertEqual(done.returncode, 0, done.stdout[-2000:])
                    with open(run / "validations.tsv", encoding="utf-8", newline="") as table:
                        rows = list(csv.DictReader(table, delimiter="\t"))
                    self.assertEqual([int(row["update"]) for row in rows][:10], list(range(50, 501, 50)))
                    losses = [float(row["loss"]) for row in rows]
                    self.assertTrue(all(map(math.isfinite, losses)), losses)
                    self.assertLess(losses[9], losses[0], "it learns")
                    print(f"{kind} {precision}: loss {losses[0]:.3f} after 50 updates, {losses[9]:.3f} after 500", file=sys.stderr)


if __name__ == "__main__":
    PREPRO, TRAIN = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
