"""nmt.Translator: the same translations as nmt-translate, results as arrays, threads, signals, processes."""

import bz2
import gc
import gzip
import json
import lzma
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy
import python_support as support
from python_support import PROGRAMS, Case

import nmt


class TranslateCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.translator = nmt.Translator(PROGRAMS.model, threads=1)
        cls.sources = PROGRAMS.sources()[:40]

    def program_records(self, *arguments, lines=None):
        text = "\n".join(lines or self.sources) + "\n"
        done = support.translate("--threads", "1", "--format", "jsonl", *arguments, text=text)
        return [json.loads(line) for line in self.lines_of(done)]


class Translate(TranslateCase):
    def test_gives_what_the_program_gives(self):
        results = self.translator.translate(self.sources)
        program = self.lines_of(support.translate("--threads", "1", text="\n".join(self.sources) + "\n"))
        self.assertEqual([result.text for result in results], program)

    def test_options_are_those_of_the_program(self):
        results = self.translator.translate(self.sources, beam_size=4, n_best=2, length_penalty=0.3, return_tokens=True,
                                            return_alignment=True)
        program = self.program_records("--beam-size", "4", "--n-best", "2",
                                       "--length-penalty", "0.3", "--token-scores")
        for result, record in zip(results, program):
            self.assertEqual([a.text for a in result.alternatives], [found["translation_text"] for found in record["alternatives"]])
            for alternative, found in zip(result.alternatives, record["alternatives"]):
                self.assertAlmostEqual(alternative.score, found["score"], places=4)

    def test_the_best_of_mbr_has_the_highest_expected_utility(self):
        for result in self.translator.translate(self.sources[:3], beam_size=4, n_best=4, mbr="chrf"):
            utilities = [alternative.expected_utility for alternative in result.alternatives]
            self.assertEqual(utilities[0], max(utilities))
        self.assertIsNone(self.translator.translate(self.sources[0]).alternatives[0].expected_utility)

    def test_an_adapter_is_read(self):
        weights = pathlib.Path(PROGRAMS.model) / "model.safetensors"
        with self.assertRaisesRegex(nmt.Error, "model.safetensors: is no adapter"):
            nmt.Translator(PROGRAMS.model, adapter=weights)

    def test_one_text_and_many(self):
        one = self.translator.translate(self.sources[0])
        self.assertIsInstance(one, nmt.Translation)
        self.assertEqual([one], self.translator.translate([self.sources[0]]))
        self.assertEqual(str(one), one.text)
        self.assertEqual(self.translator.translate([]), [])
        self.assertEqual(self.translator.translate(iter(self.sources[:3])), self.translator.translate(self.sources[:3]))

    def test_an_empty_text(self):
        empty = self.translator.translate("  ")
        self.assertEqual((empty.text, empty.alternatives, empty.score, empty.attention), ("", [], 0.0, None))

    def test_precisions_and_their_names(self):
        names = {name: nmt.Translator(PROGRAMS.model, precision=name).models[0].precision
                 for name in ("int8", "float32", "fp32")}
        self.assertEqual(names, {"int8": "int8", "float32": "fp32", "fp32": "fp32"})

    def test_an_ensemble(self):
        both = nmt.Translator([PROGRAMS.model, str(PROGRAMS.model)], weights=[1, 1], threads=1)
        self.assertEqual(len(both.models), 2)
        self.assertEqual([r.text for r in both.translate(self.sources[:5])],
                         [r.text for r in self.translator.translate(self.sources[:5])])

    def test_prefixes_phrases_and_glossary(self):
        text = self.sources[0]
        self.assertTrue(self.translator.translate(text, prefix="A").text.startswith("A"))
        results = self.translator.translate([text, text], prefix=["Two", ""])
        self.assertTrue(results[0].text.startswith("Two"))
        self.assertEqual(results[1].text, self.translator.translate(text).text)
        word = self.translator.translate(text).text.split()[-1].rstrip(".")
        self.assertNotIn(word, self.translator.translate(nmt.Request(text, must_not=[word])).text)
        self.assertNotIn(word, self.translator.translate(text, must_not=[word]).text)
        source = text.split()[1]
        for glossary in ({source: "xylophone"}, nmt.Glossary({source: "xylophone"}),
                         pickle.loads(pickle.dumps(nmt.Glossary(f"{source}\txylophone\n")))):
            self.assertIn("xylophone", self.translator.translate(text, glossary=glossary).text)
        self.assertIn("xylophone", self.translator.translate(f"#{source} {text}", glossary={f"#{source}": "xylophone"}).text)
        with self.assertRaisesRegex(nmt.Error, "glossary:2"):
            nmt.Glossary("a\tb\nc\n")
        with self.assertRaisesRegex(nmt.Error, "holds a tab or a line end"):
            nmt.Glossary({"a": "b\rc"})

    def test_samples_are_a_function_of_the_seed_and_the_line(self):
        sampling = nmt.Sampling(temperature=1.5, seed=7)
        whole = [r.text for r in self.translator.translate(self.sources, sampling=sampling)]
        blocks = self.translator.translate_iter(self.sources, block_lines=7, sampling=sampling)
        self.assertEqual([r.text for r in blocks], whole)
        self.assertNotEqual(whole, [r.text for r in self.translator.translate(self.sources)])

    def test_scores_of_given_translations(self):
        found = self.translator.translate(self.sources[:5], return_tokens=True)
        scored = self.translator.score(self.sources[:5], [r.text for r in found], return_tokens=True)
        self.assertEqual(len(scored), 5)
        for result, alternative in zip(found, scored):
            self.assertAlmostEqual(result.log_probability, alternative.log_probability, places=3)
            self.assertAlmostEqual(float(alternative.token_scores.sum()), alternative.log_probability, places=3)

    def test_documents(self):
        html = f"<p>{self.sources[0]}</p>"
        self.assertEqual(self.translator.translate_document(html, "html").decode(),
                         f"<p>{self.translator.translate(self.sources[0]).text}</p>")

    def test_tokenizer(self):
        tokenizer = nmt.Tokenizer(PROGRAMS.model)
        ids = tokenizer.encode(self.sources[0])
        self.assertEqual(tokenizer.decode(ids, "source"), self.sources[0])
        self.assertEqual(tokenizer.detokenize(tokenizer.tokenize(self.sources[0])), self.sources[0])
        self.assertEqual(tokenizer.vocabulary_size(), 600)
        with self.assertRaises(nmt.Error):
            tokenizer.decode([600])


class Errors(TranslateCase):
    def test_what_the_user_can_mend(self):
        with self.assertRaisesRegex(nmt.Error, "model.json"):
            nmt.Translator(self.folder)
        with self.assertRaisesRegex(nmt.Error, "beam_size"):
            self.translator.translate("x", beam_size=0)
        with self.assertRaisesRegex(nmt.Error, "n.best 100"):
            self.translator.translate("x", n_best=100)
        with self.assertRaises(nmt.Error):
            nmt.Translator(PROGRAMS.model, precision="int3")
        self.assertTrue(issubclass(nmt.Error, ValueError) and issubclass(nmt.MachineError, RuntimeError))

    def test_a_score_refuses_options_of_a_search(self):
        for options, name in (({"beam_size": 4}, "beam_size"), ({"diversity_groups": 2}, "diversity_groups"),
                              ({"max_length_ratio": 1.5}, "max_length_ratio"), ({"first_line": 3}, "first_line"),
                              ({"settings": {"stopping": "optimal"}}, "stopping")):
            with self.subTest(name), self.assertRaisesRegex(
                    nmt.Error, f"^the score of a given translation: {name} has no effect on it; leave it out$"):
                self.translator.score(["a"], ["b"], **options)
        self.assertEqual(len(self.translator.score(["a"], ["b"], length_penalty=1, batch_size=2, settings={"shortlist": 0})), 1)
        self.assertEqual(len(nmt.Translator(PROGRAMS.model, threads=1, settings={"beam_size": 2}).score(["a"], ["b"])), 1)

    def test_wrong_types(self):
        wrong = [({"beam": 4}, "there is no option beam; did you mean beam_size"),
                 ({"beam_size": "4"}, "beam_size: a whole number is expected, not str"),
                 ({"beam_size": 4.5}, "beam_size: a whole number is expected, not float"),
                 ({"return_tokens": 1}, "return_tokens: True or False is expected, not int"),
                 ({"must": "phrase"}, "must: a list of str is expected, not str"),
                 ({"must": [1]}, r"must\[0\]: a str is expected, not int"),
                 ({"glossary": 3}, "glossary: nmt.Glossary, a dict or a path is expected, not int"),
                 ({"settings": ["a=b"]}, "settings: a dict is expected, not list")]
        for options, message in wrong:
            with self.subTest(options), self.assertRaisesRegex(TypeError, message):
                self.translator.translate("x", **options)
        with self.assertRaisesRegex(TypeError, r"texts\[1\]: a str or nmt.Request is expected, not int"):
            self.translator.translate(["x", 1])
        with self.assertRaisesRegex(TypeError, "not bytes"):
            self.translator.translate(b"x")
        with self.assertRaisesRegex(TypeError, "not one text"):
            self.translator.translate_iter("x")
        with self.assertRaisesRegex(ValueError, "prefix: 1 for 2 texts"):
            self.translator.translate(["x", "y"], prefix=["z"])
        with self.assertRaisesRegex(nmt.Error, "beam_size: the number is out of range"):
            self.translator.translate("x", beam_size=2**70)
        with self.assertRaisesRegex(nmt.Error, "seed -1: use 0 or more"):
            self.translator.translate("x", sampling=nmt.Sampling(seed=-1))
        tokenizer = nmt.Tokenizer(PROGRAMS.model)
        for call, message in (
                (lambda: nmt.Translator(None), "model: a list of paths is expected, not NoneType"),
                (lambda: nmt.Translator(b"model"), "model: a list of paths is expected, not bytes"),
                (lambda: nmt.Translator(PROGRAMS.model, threads="2"), "threads: a whole number is expected, not str"),
                (lambda: nmt.Translator(PROGRAMS.model, device=None), "device: a str is expected, not NoneType"),
                (lambda: nmt.Translator(PROGRAMS.model, precision=3), "precision: a str is expected, not int"),
                (lambda: nmt.Translator(PROGRAMS.model, weights=0.5), "weights: a list of numbers is expected, not float"),
                (lambda: self.translator.translate(None), "texts: a list of str is expected, not NoneType"),
                (lambda: self.translator.translate("x", sampling={"top_k": 3}), "sampling: nmt.Sampling is expected, not dict"),
                (lambda: self.translator.translate(["x"], prefix=b"y"), "prefix: a str, or a list of str, is expected, not bytes"),
                (lambda: self.translator.translate("x", prefix=1), "prefix: a str, or a list of str, is expected, not int"),
                (lambda: nmt.Translator(PROGRAMS.model, precision=0), "precision: a str is expected, not int"),
                (lambda: self.translator.translate("x", settings={"beam_size": object()}),
                 "beam_size: a value of an option is expected, not object"),
                (lambda: self.translator.translate("x", glossary={"a": 1}), "glossary: a str is expected, not int"),
                (lambda: self.translator.translate_document(3, "html"), "document: a str or bytes is expected, not int"),
                (lambda: tokenizer.encode(None), "text: a str is expected, not NoneType"),
                (lambda: tokenizer.decode("x"), "ids: a list of int is expected, not str")):
            with self.subTest(message), self.assertRaisesRegex(TypeError, f"^{message}$"):
                call()
        for call, message in (
                (lambda: tokenizer.decode([2**40]), "ids 1099511627776: use at most 2147483647"),
                (lambda: tokenizer.encode("a", "both"), "side 'both': use \"source\" or \"target\""),
                (lambda: nmt.Translator([PROGRAMS.model] * 2, weights=[10**400, 1]), "weights: the number is out of range"),
                (lambda: nmt.Translator([PROGRAMS.model] * 2, weights=[1e308, 1e308]),
                 "the weights of the models: their sum is too large; use smaller ones"),
                (lambda: nmt.Translator("model\0x"), r"model 'model\\x00x': a zero byte stands in the name"),
                (lambda: self.translator.translate_file(PROGRAMS.work / "test.de", "out\0x"),
                 r"output 'out\\x00x': a zero byte stands in the name"),
                (lambda: nmt.Translator("f\udcfc"), r"model 'f\\udcfc': holds bytes that are no UTF-8"),
                (lambda: nmt.Translator(PROGRAMS.model, device="f\udcfc"), r"device 'f\\udcfc': holds bytes that are no UTF-8"),
                (lambda: self.translator.translate("x", settings={"beam_size": "f\udcfc"}),
                 r"beam_size '\"f\\udcfc\"': holds bytes that are no UTF-8"),
                (lambda: self.translator.translate("x", glossary={"a": "f\udcfc"}),
                 r"glossary 'f\\udcfc': holds bytes that are no UTF-8"),
                (lambda: self.translator.translate("x", must=[" "]), "must and must_not: a phrase is empty; leave it out"),
                (lambda: nmt.Translator(PROGRAMS.model, weights=[2.0]),
                 r"the weights of the models \(--model-weights\): one model has no other to weigh against; leave them out"),
                (lambda: self.translator.translate("x", settings={"alignment_layer": 9}),
                 "decoding.alignment_layer 9: the decoder has 2; use 1 to 2, or 0 for the last but one"),
                (lambda: nmt.Translator([PROGRAMS.model] * 2, weights=[0, 1]), "model weight 0: use a finite number above 0"),
                (lambda: nmt.Translator([PROGRAMS.model] * 2, weights=[float("nan"), 1]), "weights nan: use a finite number")):
            with self.subTest(message), self.assertRaisesRegex(nmt.Error, f"^{message}$"):
                call()


class Arrays(TranslateCase):
    def test_attention(self):
        result = self.translator.translate(self.sources[0], return_attention=True, return_tokens=True)
        attention = result.attention
        self.assertEqual(attention.weights.shape, (len(attention.target_tokens), len(attention.source_tokens)))
        self.assertEqual(attention.weights.dtype, numpy.float32)
        self.assertEqual(attention.target_tokens, result.tokens)
        self.assertTrue((attention.weights.sum(axis=1) <= 1.001).all())
        self.assertGreater(attention.weights.max(), 0.2)
        self.assertIs(numpy.asarray(attention), attention.weights)
        self.assertIsNone(self.translator.translate(self.sources[0]).attention)

    def test_memory_belongs_to_the_arrays(self):
        weights = self.translator.translate(self.sources[0], return_attention=True).attention.weights
        before = weights.copy()
        gc.collect()
        for _ in range(3):
            self.translator.translate(self.sources, return_attention=True)
        numpy.testing.assert_array_equal(weights, before)
        self.assertFalse(weights.flags.writeable)
        self.assertFalse(weights.flags.owndata)  # no copy: the memory that the library filled

    def test_a_text_in_parts(self):
        short = nmt.Translator(PROGRAMS.model, threads=1, max_source_length=12)
        result = short.translate(" ".join(self.sources[:3]), return_attention=True, return_alignment=True)
        self.assertTrue(result.split)
        weights = result.attention.weights
        self.assertEqual(weights.shape, (len(result.attention.target_tokens), len(result.attention.source_tokens)))
        self.assertEqual(weights[0, -1], 0)
        self.assertEqual(weights[-1, 0], 0)
        self.assertGreater(weights[-1].sum(), 0.5)

    def test_alignment_and_tokens(self):
        result = self.translator.translate(self.sources[0], return_alignment=True, return_tokens=numpy.True_)
        self.assertEqual((result.alignment.ndim, result.alignment.shape[1], result.alignment.dtype), (2, 2, numpy.int32))
        self.assertLess(result.alignment[:, 0].max(), len(self.sources[0].split()))
        self.assertLess(result.alignment[:, 1].max(), len(result.text.split()))
        self.assertEqual(len(result.tokens), len(result.token_scores))
        self.assertEqual(len(result.tokens), result.alternatives[0].token_count)
        self.assertEqual(result.tokens[-1], "</s>")
        program = self.lines_of(support.translate("--alignment", "pharaoh", text=self.sources[0] + "\n"))
        self.assertEqual(" ".join(f"{source}-{target}" for source, target in result.alignment),
                         program[0].split("\t")[1])

    def test_results_and_requests_are_hashed_as_they_are_compared(self):
        first, again, other = (self.translator.translate(text, n_best=2, return_tokens=True, return_attention=True)
                               for text in (self.sources[0], self.sources[0], self.sources[1]))
        self.assertEqual({first, again, other}, {first, other})
        self.assertEqual(len({first, again, other}), 2)
        self.assertEqual(len({*first.alternatives, *again.alternatives}), 2)
        self.assertEqual(hash(nmt.Request("a", must=["b"])), hash(nmt.Request("a", must=("b",))))
        validation = nmt.Validation(1, 2, "", 3.0, 20.0, 0.5, None, None, "", "", True, 1.0, "", [nmt.Sample("a", "b", "c")])
        self.assertEqual(len({validation, pickle.loads(pickle.dumps(validation))}), 1)

    def test_results_are_pickled(self):
        result = self.translator.translate(self.sources[0], return_attention=True, return_tokens=True, n_best=2)
        again = pickle.loads(pickle.dumps(result))
        self.assertEqual(again, result)
        numpy.testing.assert_array_equal(again.attention.weights, result.attention.weights)


class Streams(TranslateCase):
    def test_order_and_bounded_reading(self):
        read = []

        def lines():
            for line in self.sources:
                read.append(line)
                yield line + "\n"

        results = self.translator.translate_iter(lines(), block_lines=4)
        first = next(results)
        self.assertEqual(len(read), 4)  # no more than a block
        expected = [r.text for r in self.translator.translate(self.sources)]
        self.assertEqual([first.text] + [r.text for r in results], expected)

    def test_what_came_before_an_error_is_translated_first(self):
        expected = [r.text for r in self.translator.translate(self.sources[:5])]

        def broken():
            yield from self.sources[:5]
            raise OSError("the source ends")

        def before_the_error(lines, error, what, **options):
            found = []
            with self.assertRaisesRegex(error, what) as raised:
                for result in self.translator.translate_iter(lines, **options):
                    found.append(result.text)
            self.assertTrue(raised.exception.__suppress_context__ or raised.exception.__context__ is None)
            return found

        for size in (1, 3, 5, 100):
            with self.subTest(block_lines=size):
                self.assertEqual(before_the_error(broken(), OSError, "^the source ends$", block_lines=size), expected)
                self.assertEqual(before_the_error([*self.sources[:5], 3, *self.sources], TypeError,
                                                  r"^texts\[5\]: a str or nmt.Request is expected, not int$", block_lines=size),
                                 expected)
                wrong = nmt.Request("a", must=(each for each in " "))
                self.assertEqual(before_the_error([*self.sources[:5], wrong, "b"], nmt.Error, "a phrase is empty",
                                                  block_lines=size), expected)
        self.assertEqual(before_the_error([3], TypeError, r"^texts\[0\]: "), [])
        sampling = nmt.Sampling(temperature=1.5, seed=7)
        drawn = [r.text for r in self.translator.translate(self.sources[:5], sampling=sampling, first_line=2)]
        self.assertEqual(before_the_error([*self.sources[:5], 3], TypeError, "texts", sampling=sampling, first_line=2), drawn)
        packed = self.folder / "cut.gz"
        packed.write_bytes(gzip.compress(("\n".join(self.sources[:5]) + "\n").encode())[:-4])
        self.assertEqual(before_the_error(packed, nmt.Error, "damaged gzip after line 5"), expected)

    def test_a_glossary_is_read_once(self):
        source, terms = self.sources[0].split()[1], self.folder / "terms"
        terms.write_text(f"{source}\txylophone\n")
        results = self.translator.translate_iter(self.sources[:1] * 3, block_lines=1, glossary=terms)
        self.assertIn("xylophone", next(results).text)
        terms.unlink()
        self.assertEqual(["xylophone" in result.text for result in results], [True, True])

    def test_a_line_that_is_too_long_is_cut_and_told(self):
        source, output = self.folder / "in.de", self.folder / "out.en"
        source.write_text(" " * ((8 << 20) - 1) + "\u00e4" + "a" * 9 + "\nJa .\n")
        with self.assertLogs("nmt", "WARNING") as log:
            results = [r.text for r in self.translator.translate_iter(source)]
        self.assertEqual([r.split(":", 4)[2:] for r in log.output],
                         [[f"{source}", "1", " more than 8 MiB: only its beginning is translated"]])
        self.translator.translate_file(source, output)
        self.assertEqual(results, output.read_text().splitlines())
        self.assertEqual(results[0], "")

    def test_files(self):
        source, output = self.folder / "in.de", self.folder / "out.en"
        source.write_text("\n".join(self.sources) + "\n")
        statistics = self.translator.translate_file(source, output)
        expected = [r.text for r in self.translator.translate(self.sources)]
        self.assertEqual(output.read_text().splitlines(), expected)
        self.assertEqual((statistics.lines, statistics.repaired), (len(self.sources), 0))
        self.assertEqual([r.text for r in self.translator.translate_iter(source)], expected)
        subprocess.run(["gzip", "-k", str(source)], check=True)
        self.assertEqual([r.text for r in self.translator.translate_iter(pathlib.Path(f"{source}.gz"))], expected)
        with self.assertRaises(nmt.Error):
            self.translator.translate_file(self.folder / "gone", output)
        terms = self.folder / "terms"
        terms.write_text("Hund\tdog\n")
        with self.assertRaisesRegex(nmt.Error, "the same file as glossary"):
            self.translator.translate_file(source, terms, glossary=terms)
        self.assertEqual(terms.read_text(), "Hund\tdog\n")
        with self.assertRaisesRegex(nmt.Error, "n_best has no effect"):
            self.translator.translate_file(source, output, beam_size=2, n_best=2)

    def test_what_is_not_utf8_is_told_to_the_logger(self):
        source = self.folder / "in.de"
        source.write_bytes(b"Ein \xff Hund .\nEin Hund .\n")
        with self.assertLogs("nmt") as logs:
            statistics = self.translator.translate_file(source, self.folder / "out.en")
        self.assertEqual(statistics.repaired, 1)
        self.assertIn("UTF-8", " ".join(logs.output))
        lines = source.read_bytes().decode(errors="surrogateescape").splitlines()
        for results in (self.translator.translate(lines), list(self.translator.translate_iter(source))):
            self.assertEqual([result.text for result in results], (self.folder / "out.en").read_text().splitlines())
            self.assertEqual([result.repaired for result in results], [True, False])
        self.assertTrue(self.translator.translate("Ein \ud800 Hund .").repaired)

    def test_an_iterator_keeps_the_phrases_of_a_generator(self):
        phrase = self.translator.translate(self.sources[1]).text.split()[0]
        for name in ("must", "must_not"):
            listed = self.translator.translate(self.sources[:1], **{name: [phrase]})
            generated = self.translator.translate_iter(self.sources[:1], **{name: (each for each in [phrase])})
            self.assertEqual([r.text for r in generated], [r.text for r in listed])

    def test_settings_may_name_their_section(self):
        self.assertEqual(self.translator.translate(self.sources[0], settings={"decoding.beam_size": 1}).text,
                         self.translator.translate(self.sources[0], beam_size=1).text)

    def test_an_iterator_refuses_what_is_wrong_at_once(self):
        translate = self.translator.translate_iter
        for error, what, call in (
                (TypeError, "did you mean beam_size", lambda: translate(["a"], beam=4)),
                (nmt.Error, "beam_size", lambda: translate(["a"], beam_size=0)),
                (nmt.Error, r"^gone: cannot read \(No such file or directory\)$", lambda: translate(pathlib.Path("gone"))),
                (nmt.Error, "a zero byte stands in the name", lambda: translate(pathlib.Path("a\0b"))),
                (TypeError, "lines: an iterable of str", lambda: translate(None)),
                (TypeError, "prefix: one str", lambda: translate(["a"], prefix=(text for text in "ab"))),
                (TypeError, "block_lines: a whole number", lambda: translate(["a"], block_lines="3")),
                (nmt.Error, "block_lines 0", lambda: translate(["a"], block_lines=0))):
            with self.subTest(what), self.assertRaisesRegex(error, what):
                call()
        with self.assertRaisesRegex(TypeError, r"^texts\[2\]: a str or nmt.Request is expected, not int$"):
            list(translate(["a", "b", 3], block_lines=2))
        packed = self.folder / "cut.gz"
        packed.write_bytes(gzip.compress("\n".join(self.sources * 50).encode())[:-12])
        with self.assertRaisesRegex(nmt.Error, r"cut\.gz: damaged gzip after line \d+ .*get the file anew"):
            list(translate(packed, beam_size=1))
        for content, what in (("Ein Hund.\n".encode("utf-16"), "UTF-16; convert it"), (bz2.compress(b"a\n"), "packed with bzip2"),
                              (lzma.compress(b"a\n"), "packed with xz"), (b"PK\x03\x04.", "a zip archive")):
            (self.folder / "foreign").write_bytes(content)
            with self.assertRaisesRegex(nmt.Error, rf"/foreign: is {what}.* first \(plain UTF-8 text and gzip are read\)$"):
                list(translate(self.folder / "foreign"))
            with self.assertRaisesRegex(nmt.Error, rf"/foreign: is {what}.* first \(plain UTF-8 text, gzip and zstd are read\)$"):
                self.translator.translate_file(self.folder / "foreign", self.folder / "out")


class Threads(TranslateCase):
    def test_another_thread_runs_meanwhile(self):
        moments = support.moments_of_another_thread(lambda: self.translator.translate(self.sources * 20))
        self.assertGreater(len(moments), 7)
        self.assertLess(support.longest_pause(moments), (moments[-1] - moments[0]) / 2)

    def test_a_call_has_the_threads_that_it_was_given(self):
        """Also more than there are processors, and whatever another user of LibTorch in the process has set."""
        for models, before in ((1, 9), (2, 1)):  # one has helpers since it was loaded; several have LibTorch's threads
            with self.subTest(models=models):
                done = support.python("""
                    import os, sys, threading, nmt
                    most, ended = 0, threading.Event()
                    def threads():
                        return len(os.listdir("/proc/self/task"))
                    def watch():
                        global most
                        while not ended.wait(0.001):
                            most = max(most, threads())
                    translator = nmt.Translator([sys.argv[1]] * int(sys.argv[3]), threads=9)
                    before = threads() if len(translator.models) == 1 else 1
                    watcher = threading.Thread(target=watch)
                    watcher.start()
                    translator.translate([f"{sys.argv[2]} {i}" for i in range(1000)])
                    ended.set()
                    watcher.join()
                    print(before, most - before)  # this one is the caller's, one the watcher's
                    """, PROGRAMS.model, self.sources[0], models)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{before} 9\n", ""))

    def test_threads_share_a_translator(self):
        expected = [r.text for r in self.translator.translate(self.sources)]
        found = [None] * 4

        def work(number):
            found[number] = [r.text for r in self.translator.translate(self.sources)]

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [expected] * 4)


class Signals(TranslateCase):
    def interrupt_after(self, seconds):
        timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        self.addCleanup(timer.join)

    def test_control_c_ends_a_call(self):
        support.heed_control_c(self)
        many = [f"{source} {i}" for i in range(1000) for source in self.sources]  # more than a minute
        began = time.monotonic()
        self.interrupt_after(0.5)
        with self.assertRaises(KeyboardInterrupt):
            self.translator.translate(many)
        self.assertLess(time.monotonic() - began, 15)
        self.assertEqual(len(self.translator.translate(self.sources[:2])), 2)  # nothing is harmed

    def test_control_c_ends_the_wait_for_a_named_pipe(self):
        support.heed_control_c(self)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.interrupt_after(0.5)
        with self.assertRaises(KeyboardInterrupt):
            self.translator.translate_file(pipe, self.folder / "out")
        self.assertFalse((self.folder / "out").exists())

    def test_other_signals_are_handled_and_the_work_goes_on(self):
        handled = []
        before = signal.signal(signal.SIGALRM, lambda *_: handled.append(time.monotonic()))
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            began = time.monotonic()
            results = self.translator.translate(self.sources * 100)
            ended = time.monotonic()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertEqual(len(results), len(self.sources) * 100)
        self.assertLess(handled[0] - began, (ended - began) / 2)


def translate_in_a_child(arguments):
    translator, lines = arguments
    return [result.text for result in translator.translate(lines)]


class Processes(TranslateCase):
    def test_a_pickle_loads_the_model_again(self):
        again = pickle.loads(pickle.dumps(self.translator))
        self.assertEqual(repr(again), repr(self.translator))
        self.assertEqual(again.translate(self.sources[0]), self.translator.translate(self.sources[0]))

    def test_processes_made_by_spawn(self):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            self.assertEqual(pool.map(translate_in_a_child, [(self.translator, self.sources[:3])]),
                             [[r.text for r in self.translator.translate(self.sources[:3])]])

    def test_processes_forked_before_the_first_call(self):
        done = support.python("""
            import os, sys, nmt
            child = os.fork()
            text = str(nmt.Translator(sys.argv[1], threads=2).translate([sys.argv[2]] * 4)[3])
            os.write(1, f"{text}\\n".encode())  # at once: both write into one pipe
            if child != 0:
                assert os.waitpid(child, 0)[1] == 0
            """, PROGRAMS.model, self.sources[0])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.splitlines(), [self.translator.translate(self.sources[0]).text] * 2)


if __name__ == "__main__":
    support.main(__doc__)
