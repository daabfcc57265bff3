"""scripts/ablation_table.py and positions_table.py with stand-ins for the programs."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS))
import ablation_table  # noqa: E402

ROWS = "update\tweights\tbleu\n"
# Writes what a training of `max_updates` leaves.
TRAIN = """#!/usr/bin/env python3
import json, pathlib, sys
options = dict(part.split("=", 1) for part in sys.argv if "=" in part)
run = pathlib.Path(options["run.dir"])
(run / "checkpoints" / "000002").mkdir(parents=True)
(run / "best").mkdir()
(run / "checkpoints" / "000002" / "state.json").write_text('{"seconds": 60}')
(run / "best" / "model.json").write_text('{"summary": {"weights": ""}}')
(run / "validations.tsv").write_text("update\\tweights\\tbleu\\n2\\t\\t10\\n2\\tmoving average\\t11\\n")
(run / "metrics.jsonl").write_text('{"update": 2}')
"""
EVALUATE = "#!/bin/sh\necho 'BLEU|x = 20.00 1/2'; echo 'chrF2|x = 30.00'\n"


class Tables(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.work = self.folder / "work"
        for name, text in (("nmt-train", TRAIN), ("nmt-eval", EVALUATE), ("nmt-prepro", "#!/bin/sh\n")):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)

    def table(self, script, *arguments):
        done = subprocess.run([sys.executable, "-B", str(SCRIPTS / script), "--programs", str(self.folder), "--work",
                               str(self.work), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return done.returncode, done.stdout, done.stderr

    def check_settings_are_kept(self, result, *command):
        changed = (*command, "--set", "run.threads=1")
        code, first, err = self.table(*changed)
        self.assertEqual(code, 0, err)
        self.assertEqual(self.table(*changed)[:2], (0, first))
        for other in (command, (*command, "--set", "run.threads=2")):
            code, out, err = self.table(*other)
            self.assertEqual((code, err),
                             (1, f"{result}: begun with other --set (--set run.threads=1); name another --work\n"))
            self.assertNotIn("20.00", out)
        old = json.loads(result.read_text())  # as an older version wrote it
        del old["settings"]
        result.write_text(json.dumps(old))
        self.assertEqual(self.table(*command)[0], 0)
        self.assertEqual(self.table(*changed)[0], 1)

    def test_positions_of_other_settings(self):
        self.check_settings_are_kept(self.work / "rotary.json", "positions_table.py", "rotary")

    def test_variants_of_other_settings(self):
        self.check_settings_are_kept(self.work / "plain-2-1.json", "ablation_table.py", "--updates", "2", "--seeds", "1",
                                     "plain")

    def test_other_settings_are_told_before_the_first_run(self):
        self.table("positions_table.py", "none")
        self.assertEqual(self.table("positions_table.py", "--set", "a.b=1", "rotary", "none")[0], 1)
        self.assertFalse((self.work / "rotary").exists())

    def test_a_run_without_means_of_checkpoints(self):
        code, out, err = self.table("ablation_table.py", "--updates", "2", "--seeds", "1", "plain")
        self.assertEqual(code, 0, err)
        self.assertIn("| plain | nothing | 10.00 | 11.00 | - | - |", out)

    def test_the_last_are_as_many_as_the_run_averages(self):
        means = {"average of updates 4, 6": 12, "average of updates 2, 4, 6": 13}
        rows = ROWS + "".join(f"{update}\t\t{update}\n" for update in (2, 4, 6))
        self.folder.joinpath("validations.tsv").write_text(
            rows + "".join(f"6\t{weights}\t{bleu}\n" for weights, bleu in means.items()))
        found = {count: ablation_table.validated(self.folder, 6, count) for count in (0, 2, 3)}
        self.assertEqual((found[2]["mean of the last"], found[2]["mean of the best"]), (12, 13))
        self.assertEqual((found[3]["mean of the last"], found[3]["mean of the best"]), (13, 12))
        self.assertNotIn("mean of the last", found[0])


if __name__ == "__main__":
    unittest.main()
