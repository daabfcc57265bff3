"""nmt-translate --synthesize and --score-corpus, and what nmt-prepro and nmt-train make of them, with the small model of
translate_support.py (German to English).

    synthesize_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import time

from translate_support import PATIENCE, PROGRAMS, Case, main, run, translate

SAMPLING = ("--sampling", "--beam-size", "1", "--temperature", "1.5", "--seed", "7")


class Synthesize(Case):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "mono.de"
        self.lines = PROGRAMS.sources()[:40] + [""] + PROGRAMS.sources()[40:60]
        self.source.write_text("\n".join(self.lines) + "\n")

    def synthesize(self, name, *arguments):
        out = self.folder / name
        done = translate("-q", "-i", self.source, "--synthesize", out, *arguments)
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr.decode())
        return out.read_text().splitlines(), json.loads((self.folder / (name + ".json")).read_text())

    def test_pairs_are_the_lines_and_their_translations(self):
        translations = self.lines_of(translate("-q", "-i", self.source))
        pairs, record = self.synthesize("bt.tsv", "--tag", "<BT>")
        self.assertEqual(pairs, [f"<BT> {text}\t{line}" if line else "\t" for text, line in zip(translations, self.lines)])
        self.assertEqual((record["side"], record["symbols"], record["made"]["lines"]), ("source", ["<BT>"], 61))
        empty = pairs.count("\t")
        self.assertGreaterEqual(empty, 1)
        self.assertEqual(record["made"]["empty"], empty)
        self.assertIn(f"; {empty} pairs without text", translate("-i", self.source, "--synthesize", self.folder / "again.tsv",
                                                                 "--tag", "<BT>").stderr.decode())
        self.assertEqual(len(record["made"]["models"][0]["sha256"]), 64)
        self.assertEqual(record["made"]["inputs"], {str(self.source): hashlib.sha256(self.source.read_bytes()).hexdigest()})
        self.assertEqual(record["made"]["decoding"]["beam_size"], "3")
        pairs, _ = self.synthesize("forward.tsv", "--synthetic-side", "target")
        self.assertEqual(pairs, [f"{line}\t{text}" for text, line in zip(translations, self.lines)])

    def test_parts_together_are_the_whole(self):
        for options in (SAMPLING, (*SAMPLING, "--noise", "0.2", "--first-line", "100")):
            whole, _ = self.synthesize("whole.tsv", *options)
            parts = []
            for number in (1, 2, 3):
                pairs, record = self.synthesize(f"part{number}.tsv", *options, "--shard", f"{number}/3")
                self.assertIn(len(pairs), (20, 21))
                self.assertEqual(record["made"]["lines"], len(pairs))
                parts += pairs
            self.assertEqual(parts, whole)
        translations = self.lines_of(translate("-q", "-i", self.source))
        self.assertEqual(self.lines_of(translate("-q", "-i", self.source, "--shard", "2/2")), translations[30:])

    def test_a_killed_run_resumes(self):
        self.source.write_text("\n".join(self.lines * 40) + "\n")
        options = (*SAMPLING, "--noise", "0.1", "--buffer-lines", "50", "--threads", "1")
        whole, _ = self.synthesize("whole.tsv", *options)
        out = self.folder / "bt.tsv"
        command = ["-i", str(self.source), "--synthesize", str(out), *options]
        process = subprocess.Popen([PROGRAMS.path("nmt-translate"), "-m", str(PROGRAMS.model), *command],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not any(path.stat().st_size for path in self.folder.glob("bt.tsv.*.partial")):
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertFalse(out.exists())
        done = translate(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr.decode(), r"lines are there from before")
        self.assertEqual(out.read_text().splitlines(), whole)

    def test_the_nearest_of_the_best(self):
        best = [line.split("\t") for line in self.lines_of(translate("-q", "-i", self.source, "--n-best", "3"))]
        references = self.folder / "references.en"
        last = {}  # of each line, but for empty ones: nothing is like those
        for number, text in best:
            last[number] = text or last.get(number, "")
        wanted = list(last.values())
        references.write_text("\n".join(wanted) + "\n")
        pairs, _ = self.synthesize("kd.tsv", "--synthetic-side", "target", "--n-best", "3", "--nearest", references)
        self.assertEqual([pair.split("\t")[1] for pair in pairs], wanted)
        references.write_text("\n".join(wanted[:30]) + "\n")
        self.assert_error(translate("-q", "-i", self.source, "--synthesize", self.folder / "x.tsv", "--n-best", "3",
                                    "--nearest", references), "--nearest", "ends before line 31 of the input")

    def test_options(self):
        out = ("-i", self.source, "--synthesize", self.folder / "bt.tsv")
        for arguments, part in (((*out, "-o", "x"), "excludes"), (("--tag", "<BT>"), "requires --synthesize"),
                                ((*out, "--n-best", "2"), "leave out --n-best"), ((*out, "--scores"), "--synthesize: has a form"),
                                ((*out, "--nearest", self.source), "give --n-best"), ((*out, "--noise", "0.6"), "--noise"),
                                ((*out, "--tag", " x"), "--tag"), ((*out, "--shard", "3/2"), "--shard 3/2: must be I/N"),
                                (("-i", self.source, "--shard", "0/2"), "--shard 0/2: must be I/N"),
                                (("--shard", "1/2"), "--shard: counts the lines of a file"),
                                ((*out, "--score", self.source), "the score of a given translation"),
                                (("-i", self.source, "--synthesize", self.source), "is the same file")):
            with self.subTest(arguments=arguments):
                self.assert_error(translate(*arguments), part)

    def test_it_is_trained_on(self):
        """Back-translations of a model from English, which is this one for the test's sake: the corpus is what counts."""
        self.synthesize("bt.tsv", "--tag", "<BT>", *SAMPLING)
        config = self.folder / "config.yaml"
        config.write_text(f"""
data:
  dir: {self.folder}/prepared
  source_language: en
  target_language: de
  train1: [{PROGRAMS.work}/corpus/train.en]
  train2: [{PROGRAMS.work}/corpus/train.de]
  train_tsv: {self.folder}/bt.tsv
  vocab_size: 600
  user_symbols: [<BT>]
""")
        done = run("nmt-prepro", "-c", config)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"bt.tsv (synthetic source)", done.stdout)
        self.assertNotIn(b"lacks <BT>", done.stderr)
        manifest = json.loads((self.folder / "prepared" / "manifest.json").read_text())
        self.assertEqual(manifest["synthetic"][0]["made"]["seed"], 7)


class ScoreCorpus(Case):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "prepared"
        shutil.copytree(PROGRAMS.work / "prepared", self.data)

    def scores(self, name="forward"):
        header, *scores = (self.data / f"{name}.scores").read_text().splitlines()
        return json.loads(header), [float(score) for score in scores]

    def score(self, **settings):
        done = translate("--score-corpus", self.data, **settings)
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr.decode())
        return done.stderr.decode()

    def reversed_model(self):
        """The model under exchanged languages."""
        model = self.folder / "reversed"
        shutil.copytree(PROGRAMS.model, model)
        record = json.loads((model / "model.json").read_text())
        record["tokenizer"] |= {"source_language": "en", "target_language": "de"}
        (model / "model.json").write_text(json.dumps(record))
        return model

    def test_scores_are_those_of_score(self):
        self.score()
        header, scores = self.scores()
        self.assertEqual((header["pairs"], len(scores)), (len(PROGRAMS.sources()), len(PROGRAMS.sources())))
        targets = PROGRAMS.work / "corpus" / "train.en"
        rows = [line.split("\t") for line in self.lines_of(translate(
            "-q", "-i", PROGRAMS.work / "corpus" / "train.de", "--score", targets, "--format", "tsv", "--length-penalty", "0"))]
        for row, score in list(zip(rows, scores))[:100]:
            self.assertAlmostEqual(float(row[2]) / int(row[3]), score, delta=2e-6)

    def test_a_killed_run_resumes(self):
        self.score()
        whole = (self.data / "forward.scores").read_bytes()
        (self.data / "forward.scores").unlink()
        lines = whole.splitlines(keepends=True)
        process = subprocess.Popen([PROGRAMS.path("nmt-translate"), "-m", str(PROGRAMS.model), "--score-corpus", str(self.data)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and process.poll() is None and not list(self.data.glob("*.partial")):
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kept = list(self.data.glob("*.partial"))
        if kept:  # the small corpus is one block: as if it had ended within it
            kept[0].write_bytes(b"".join(lines[:300]) + b"-1.2")
            self.assertIn("299 pairs are scored from before", self.score())
        else:
            self.score()
        self.assertEqual((self.data / "forward.scores").read_bytes(), whole)
        self.assertFalse(list(self.data.glob("*.partial")))

    def test_training_takes_the_best(self):
        self.score()
        self.score(model=self.reversed_model())
        for name in ("forward", "backward"):
            self.assertEqual(len(self.scores(name)[1]), 1500)
        options = ("--set", f"data.dir={self.data}", "--set", "data.keep_best=dual 0.5", "--set", "training.pair_weights=forward")
        done = run("nmt-prepro", "-c", PROGRAMS.config, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, rb"data\.keep_best dual 0\.5: [78]\d\d of 1,500 training pairs stay")
        runs = []
        for name, updates in (("whole", 8), ("parts", 4), ("parts", 8)):
            done = run("nmt-train", "-c", PROGRAMS.config, *options, "--set", f"training.max_updates={updates}", "--set",
                       "validation.every=4", "--set", "training.checkpoint_every=4", "--run-dir", self.folder / name)
            self.assertEqual(done.returncode, 0, done.stderr)
            runs.append(self.folder / name)
        newest = [sorted((folder / "checkpoints").iterdir(), key=os.path.getmtime)[-1] / "model.safetensors"
                  for folder in runs[::2]]
        self.assertEqual(newest[0].read_bytes(), newest[1].read_bytes())
        done = run("nmt-train", "-c", PROGRAMS.config, *options[:2], "--set", "data.keep_best=dual 0.6", "--set",
                   "training.pair_weights=forward", "--set", "validation.every=4", "--set", "training.checkpoint_every=4",
                   "--run-dir", self.folder / "parts")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"keep_best", done.stderr)

    def test_what_does_not_fit_is_refused(self):
        empty = self.folder / "empty"
        empty.mkdir()
        self.assert_error(translate("--score-corpus", empty), "no prepared data there")
        self.assert_error(translate("--score-corpus", self.data, "-i", "x"), "excludes")
        self.assert_error(translate("--score-corpus", self.data, "--scores"), "--score-corpus: has a form of its own")
        model = self.folder / "model"
        shutil.copytree(PROGRAMS.model, model)
        record = json.loads((model / "model.json").read_text())
        record["tokenizer"]["source_language"] = "fr"
        (model / "model.json").write_text(json.dumps(record))
        self.assert_error(translate("--score-corpus", self.data, model=model), "its pairs are de to en, the model translates fr to en")


if __name__ == "__main__":
    main(__doc__)
