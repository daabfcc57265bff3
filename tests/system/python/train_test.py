"""nmt.prepare and nmt.Trainer: what the programs make, callbacks, and every way to stop a run."""

import hashlib
import json
import logging
import os
import pathlib
import signal
import threading
import time
import unittest

import numpy
import python_support as support
from python_support import PROGRAMS, Case

import nmt


def config(folder, **training):
    """A model that trains in a moment, of the corpus of the other tests."""
    corpus = PROGRAMS.work / "corpus"
    return {
        "data": {"dir": folder / "prepared", "train1": [str(corpus / "train.de")], "train2": [str(corpus / "train.en")],
                 "eval1": corpus / "valid.de", "eval2": corpus / "valid.en", "vocab_size": 300,
                 "character_coverage": 1},
        "model": {"d_model": 16, "d_ff": 32, "num_blocks": 1, "num_heads": 2, "norm": "pre", "dropout_rate": 0.1},
        "training": {"batch_type": "tokens", "batch_size": 512, "num_epochs": 0, "max_updates": 12, "lr": 0.003,
                     "warmup_steps": 10, "checkpoint_every": 4, **training},
        "validation.every": 6, "validation.max_sentences": 10, "validation.samples": 1,
        "run": {"dir": folder / "run", "threads": 1, "log_every": 5},
    }


def weights(result):
    model = pathlib.Path(result.best_model) / "model.safetensors"
    return hashlib.sha256(model.read_bytes()).hexdigest()


class TrainCase(Case):
    prepared = None

    def setUp(self):
        super().setUp()
        self.config = config(self.folder)
        if TrainCase.prepared is None:
            TrainCase.prepared = self.prepare_once()
        self.config["data"]["dir"] = TrainCase.prepared

    def prepare_once(self):
        folder = PROGRAMS.work / "python"
        options = config(folder)
        nmt.prepare(options, overwrite=True)
        return options["data"]["dir"]


class Prepare(TrainCase):
    def test_prepares_and_says_what_it_did(self):
        options = config(self.folder)
        with self.assertLogs("nmt", logging.INFO) as logs:
            result = nmt.prepare(options)
        self.assertEqual(pathlib.Path(result.directory), self.folder / "prepared")
        self.assertFalse(result.up_to_date)
        self.assertIn("1,500" if "1,500" in result.table else "1500", result.table)
        self.assertTrue(logs.output)
        again = nmt.prepare(options)
        self.assertTrue(again.up_to_date)
        file = self.folder / "config.yaml"
        file.write_text(nmt.effective_configuration(options))
        self.assertTrue(nmt.prepare(file).up_to_date)
        done = support.run("nmt-prepro", "-c", file)  # what the program makes of it
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        with self.assertRaises(nmt.Error):
            nmt.prepare(file, settings={"data.vocab_size": 301})

    def test_mistakes(self):
        with self.assertRaisesRegex(nmt.Error, "did you mean training.lr"):
            nmt.Trainer(self.config, settings={"training": {"lrr": 1}})
        for wrong in (numpy.array([1.0, 2.0]), numpy.array([])):
            with self.assertRaisesRegex(TypeError, "^training.lr: a value of an option is expected, not ndarray$"):
                nmt.effective_configuration({"training.lr": wrong})
        self.assertIn("0.5", nmt.effective_configuration({"training": {"lr": numpy.array([0.5])}}))
        with self.assertRaisesRegex(nmt.Error, "^option 'data.dir=zzz': a name without '=' is expected$"):
            nmt.Trainer(self.config, settings={"data.dir=zzz": 1})
        with self.assertRaisesRegex(nmt.Error, "gone.de"):
            nmt.prepare(self.config, settings={"data.dir": self.folder / "new", "data.train1": "gone.de"})
        with self.assertRaises(nmt.Error):
            nmt.Trainer("gone.yaml")
        with self.assertRaises(TypeError):
            nmt.Trainer({"training": {"lr": object()}})
        with self.assertRaises(nmt.Error):
            nmt.Trainer(self.config, settings={"data.dir": str(self.folder / "nothing")}).train()


class Train(TrainCase):
    def test_callbacks_get_plain_numbers_in_this_thread(self):
        seen, threads = [], set()

        def note(kind):
            def call(figures):
                threads.add(threading.current_thread())
                seen.append((kind, figures))
            return call

        trainer = nmt.Trainer(self.config)
        result = trainer.train(on_start=note("start"), on_update=note("update"), on_interval=note("interval"),
                               on_validation=note("validation"), on_checkpoint=note("checkpoint"))
        self.assertEqual(threads, {threading.current_thread()})
        kinds = [kind for kind, _ in seen]
        self.assertEqual(kinds[0], "start")
        updates = [figures for kind, figures in seen if kind == "update"]
        self.assertEqual([figures.update for figures in updates], list(range(1, 13)))
        self.assertTrue(all(figures.loss > 0 and 0 <= figures.accuracy <= 1 for figures in updates))
        self.assertLess(updates[-1].loss, updates[0].loss)
        self.assertEqual([figures.update for kind, figures in seen if kind == "interval"][:2], [5, 10])
        validations = [figures for kind, figures in seen if kind == "validation"]
        self.assertEqual([figures.update for figures in validations], [6, 12])
        self.assertIn("BLEU", validations[0].bleu_text)
        self.assertTrue(validations[0].samples[0].source)
        self.assertEqual([update for kind, update in seen if kind == "checkpoint"], [4, 8, 12])
        self.assertFalse(result.stopped)
        self.assertEqual((result.updates, result.run_directory), (12, trainer.run_directory))
        self.assertEqual(result.best.bleu, max(figures.bleu for figures in validations if figures.is_best))
        self.assertIsInstance(nmt.Translator(result.best_model).translate("Hallo").text, str)
        logged = [json.loads(line) for line in (pathlib.Path(result.run_directory) / "metrics.jsonl").open()]
        self.assertTrue(logged)

    def test_the_program_trains_the_same(self):
        result = nmt.Trainer(self.config).train()
        file = self.folder / "config.yaml"
        file.write_text(nmt.effective_configuration(self.config, settings={"run.dir": self.folder / "program"}))
        done = support.run("nmt-train", "-c", file)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        program = hashlib.sha256((self.folder / "program" / "best" / "model.safetensors").read_bytes()).hexdigest()
        self.assertEqual(weights(result), program)

    def test_every_way_to_stop_goes_on_to_the_same_bits(self):
        support.heed_control_c(self)
        whole = weights(nmt.Trainer(self.config).train())

        def by_false(update):
            return update.update < 5

        def by_numpys_false(update):
            return numpy.bool_(update.update < 5)

        def by_stop_training(update):
            if update.update == 5:
                raise nmt.StopTraining

        def by_error(update):
            if update.update == 5:
                raise ZeroDivisionError("of the callback")

        def by_control_c(update):
            if update.update == 5:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)

        for stop, raised in ((by_false, None), (by_numpys_false, None), (by_stop_training, None), (by_error, ZeroDivisionError),
                             (by_control_c, KeyboardInterrupt)):
            with self.subTest(stop.__name__):
                trainer = nmt.Trainer(self.config, settings={"run.dir": self.folder / stop.__name__})
                if raised is None:
                    result = trainer.train(on_update=stop)
                    self.assertTrue(result.stopped)
                    self.assertLess(result.updates, 12)
                else:
                    with self.assertRaises(raised):
                        trainer.train(on_update=stop)
                starts = []
                result = trainer.train(on_start=starts.append)
                self.assertGreaterEqual(starts[0].update, 5)
                self.assertEqual((result.stopped, weights(result)), (False, whole))

    def test_control_c_hides_no_update(self):
        support.heed_control_c(self)
        trainer, seen = nmt.Trainer(self.config), []
        for moment in (0.4, 0.02, 0.01):  # while it works, and in no callback
            timer = threading.Timer(moment, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.start()
            try:
                trainer.train(on_update=lambda update: seen.append(update.update))
                time.sleep(2 * moment)  # it may have ended first
            except KeyboardInterrupt:
                pass
            timer.join()
        trainer.train(on_update=lambda update: seen.append(update.update))
        self.assertEqual(seen, list(range(1, 13)))

    def test_control_c_ends_the_wait_for_another_run(self):
        support.heed_control_c(self)
        self.config["training"]["max_updates"] = 1_000_000
        begun, ends = threading.Event(), threading.Event()

        def until_it_ends(update):
            begun.set()
            return not ends.is_set()

        other = threading.Thread(target=nmt.Trainer(self.config).train, kwargs={"on_update": until_it_ends})
        other.start()
        begun.wait()
        timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                nmt.Trainer(self.config, settings={"run.dir": self.folder / "other"}).train()
        finally:
            ends.set()
            other.join()
            timer.join()

    def test_a_training_in_a_callback_of_another_is_refused(self):
        other = nmt.Trainer(self.config, settings={"run.dir": self.folder / "other"})
        for name in ("on_start", "on_update", "on_validation"):
            with self.subTest(name), self.assertRaisesRegex(nmt.Error, "^a training was begun in a callback of another one"):
                nmt.Trainer(self.config, restart=True).train(**{name: lambda _: other.train()})
        self.assertFalse((self.folder / "other").exists())
        other.train()

    def test_wrong_arguments_begin_no_run(self):
        for call, message in ((lambda: nmt.Trainer(self.config).train(on_update=5), "on_update: a function is expected, not int"),
                              (lambda: nmt.Trainer(self.config, restart="no"), "restart: True or False is expected, not str"),
                              (lambda: nmt.prepare(self.config, overwrite=0), "overwrite: True or False is expected, not int")):
            with self.assertRaisesRegex(TypeError, f"^{message}$"):
                call()
        self.assertFalse(self.config["run"]["dir"].exists())

    def test_restart(self):
        trainer = nmt.Trainer(self.config)
        trainer.train()
        again = nmt.Trainer(self.config, restart=True)
        starts = []
        again.train(on_start=starts.append)
        again.train(on_start=starts.append)
        self.assertEqual([start.update for start in starts], [0, 12])
        self.assertTrue((self.folder / "run.old-1").is_dir())

    def test_what_is_refused_sets_no_run_aside(self):
        """Once the old run was renamed first, and a new folder left in its place."""
        wrong = {"freeze": ["no such weight*"]}
        with self.assertRaisesRegex(nmt.Error, "no weight is called"):
            nmt.Trainer({**self.config, "training": {**self.config["training"], **wrong}}).train()
        run = pathlib.Path(self.config["run"]["dir"])
        self.assertFalse(run.exists())
        nmt.Trainer(self.config).train()
        for change, message in ((wrong, "no weight is called"),
                                ({"init_from": str(run / "best")}, "lies in run.dir .*, which --restart sets aside")):
            changed = {**self.config, "training": {**self.config["training"], **change}}
            with self.assertRaisesRegex(nmt.Error, message):
                nmt.Trainer(changed, restart=True).train()
            self.assertTrue((run / "best").is_dir())
            self.assertFalse((self.folder / "run.old-1").exists())

    def test_another_thread_runs_meanwhile(self):
        ticks, done = [0], threading.Event()

        def tick():
            while not done.is_set():
                ticks[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        counts = []
        try:
            nmt.Trainer(self.config).train(on_update=lambda _: counts.append(ticks[0]))
        finally:
            done.set()
            thread.join()
        self.assertGreater(counts[-1], counts[0] + 5)


if __name__ == "__main__":
    support.main(__doc__)
