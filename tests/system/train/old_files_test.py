"""Files that nmt 0.2.0 wrote: its configuration, prepared data, model directories and a run that is resumed.

    old_files_test.py --programs BUILD_FOLDER [unittest arguments]

tests/system/fixtures/0.2.0.tar.gz holds them beside what that version made of them: test.out (run/best, beam 2), int8.out
(the int8 directory) and resumed.tsv, the validation of the run after 300 updates. Commands, with the programs of 0.2.0:
  nmt-prepro -c config.yaml && nmt-train -c config.yaml
  nmt-translate -m run/best -i test.de --beam-size 2 -q >test.out
  nmt-export -m run/best --to nmt --quantization int8 -o int8 && nmt-translate -m int8 -i test.de -q >int8.out
  nmt-train -c config.yaml --set training.max_updates=300     in a copy; the last line of run/validations.tsv
"""

import argparse
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

PROGRAMS = None
FIXTURE = pathlib.Path(__file__).resolve().parents[1] / "fixtures/0.2.0.tar.gz"


class OldFiles(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="nmt-old-files-")
        self.addCleanup(holder.cleanup)
        self.work = pathlib.Path(holder.name)
        with tarfile.open(FIXTURE) as archive:
            archive.extractall(self.work)

    def run_program(self, program, *arguments):
        done = subprocess.run([str(PROGRAMS / program), *arguments], cwd=self.work, timeout=120, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def read(self, name):
        return (self.work / name).read_text(encoding="utf-8")

    def test_models_translate_as_they_did(self):
        self.assertEqual(self.run_program("nmt-translate", "-m", "run/best", "-i", "test.de", "--beam-size", "2", "-q").stdout,
                         self.read("test.out"))
        self.assertEqual(self.run_program("nmt-translate", "-m", "int8", "-i", "test.de", "-q").stdout, self.read("int8.out"))

    def test_prepared_data_are_taken_as_they_are(self):
        before = {path.name: path.read_bytes() for path in (self.work / "prepared").iterdir()}
        self.run_program("nmt-prepro", "-c", "config.yaml")
        self.assertEqual({path.name: path.read_bytes() for path in (self.work / "prepared").iterdir()}, before)

    def test_a_run_is_resumed(self):
        self.run_program("nmt-train", "-c", "config.yaml", "--set", "training.max_updates=300")
        names = self.read("run/validations.tsv").splitlines()[0].split("\t")
        last = dict(zip(names, self.read("run/validations.tsv").splitlines()[-1].split("\t")))
        then = dict(zip(names, self.read("resumed.tsv").splitlines()[0].split("\t")))
        self.assertEqual(last["update"], "300")
        self.assertAlmostEqual(float(last["loss"]), float(then["loss"]), places=2)
        self.run_program("nmt-eval", "-c", "config.yaml", "-q")


def main():
    global PROGRAMS
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", required=True)
    options, rest = parser.parse_known_args()
    PROGRAMS = pathlib.Path(options.programs).resolve()
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
