"""Which stages .ci/run adds."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

import ci_stages


class CiStages(unittest.TestCase):
    def test_a_change_brings_the_stages_of_its_folders(self):
        self.assertEqual(ci_stages.stages_of(["interfaces/server/http/form.cpp"], 0), ["sanitizers", "threads"])
        self.assertEqual(ci_stages.stages_of(["mkdocs.yml"], 3), ["site"])

    def test_each_stage_has_its_turn(self):
        turns = {tuple(ci_stages.stages_of(["LICENSE"], day)) for day in range(len(ci_stages.FOLDERS))}
        self.assertEqual(turns, {(name,) for name in ci_stages.FOLDERS})

    def test_a_folder_is_no_beginning_of_a_name(self):
        self.assertEqual(ci_stages.stages_of(["src/nnx/a.cpp"], 3), ["site"])

    def test_every_folder_is_there(self):
        for folders in ci_stages.FOLDERS.values():
            for folder in folders:
                self.assertTrue((ROOT / folder).exists(), folder)


if __name__ == "__main__":
    unittest.main()
