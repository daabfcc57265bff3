"""Runs nmt-eval as users do, with the small model of the tests of nmt-translate.

    eval_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import gzip
import html
import json
import os
import re
import resource
import shutil
import subprocess
import threading

from translate_support import PATIENCE, PROGRAMS, Case, main, run, translate


class Evaluate(Case):
    def test_a_limit_of_file_sizes_ends_nmt_score_with_a_message(self):
        reference = PROGRAMS.work / "corpus" / "valid.en"
        with open(self.folder / "scores", "wb") as stream:
            done = subprocess.run([PROGRAMS.path("nmt-score"), reference, "-i", reference], stdout=stream,
                                  stderr=subprocess.PIPE, timeout=PATIENCE,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        self.assertEqual((done.returncode, done.stderr),
                         (1, b"nmt-score: cannot write to standard output; is the disk full?\n"))

    def test_the_scores_are_printed_where_files_cannot_be_written(self):
        def no_room():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        corpus, report = PROGRAMS.work / "corpus", self.folder / "report"
        done = subprocess.run([PROGRAMS.path("nmt-eval"), "-m", PROGRAMS.model, "-q", "--source", corpus / "valid.de",
                               "--reference", corpus / "valid.en", "--report", report],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, preexec_fn=no_room)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.decode(), f"nmt-eval: {report}: cannot write (File too large)\n")
        self.assertIn(b"BLEU", done.stdout)

    def scores(self, *arguments):
        return [line for line in self.lines_of(run("nmt-eval", *arguments)) if not line.startswith("loss = ")]

    def test_loss(self):
        last = self.lines_of(run("nmt-eval", "-c", PROGRAMS.config))[-1]
        self.assertRegex(last, r"^loss = \d+\.\d{4}, perplexity = \d+\.\d{4} \([0-9,]+ target tokens\)$")
        self.assertEqual(len(self.lines_of(run("nmt-eval", "-c", PROGRAMS.config, "--no-loss"))), 2)
        refused = run("nmt-eval", "-c", PROGRAMS.config, "--teacher-forcing", "0")
        self.assert_error(refused, "teacher forcing 0: is for recurrent models")

    def test_self_test(self):
        lines = self.lines_of(run("nmt-eval", "--self-test"))
        self.assertGreaterEqual(len(lines), 9)  # four worked numbers, two of attention and three products at least
        for line in lines:
            self.assertRegex(line, r"^ok      \w")

    def test_similarity(self):
        def cosine(*arguments):
            line, = self.lines_of(run("nmt-eval", *arguments))
            what, _, number = line.partition(" = ")
            return what, float(number)
        model = ("-m", PROGRAMS.model, "--similarity")
        one, other = PROGRAMS.sources()[:2]
        self.assertEqual(cosine(*model, "Hund", "Hund"), ("cosine of embeddings", 1))
        self.assertLess(cosine(*model, "Hund", "kein")[1], 0.9)
        self.assertEqual(cosine(*model, one, one), ("cosine of encoder outputs", 1))
        self.assertEqual(cosine(*model, one, other), cosine(*model, other, one))
        self.assertLess(cosine(*model, one, other)[1], 0.99)
        self.assertEqual(cosine("-c", PROGRAMS.config, "--similarity", one, other), cosine(*model, one, other))

    def test_contrastive(self):
        corpus = PROGRAMS.work / "corpus"
        sources, references = ((corpus / f"valid.{side}").read_text().splitlines()[:20] for side in ("de", "en"))
        wrong = references[1:] + references[:1]
        items = self.folder / "items.tsv"
        items.write_text("".join(f"{'long' if len(s) > 40 else 'short'}\t{s}\t{r}\t{w}\n"
                                 for s, r, w in zip(sources, references, wrong)))

        def scores(translations):
            (self.folder / "targets").write_text("".join(line + "\n" for line in translations))
            return [float(line.split("\t")[0]) for line in self.lines_of(run(
                "nmt-translate", "-q", "-m", PROGRAMS.model, "--score", self.folder / "targets", "-i", corpus / "twenty",
                "--length-penalty", 0))]
        (corpus / "twenty").write_text("".join(line + "\n" for line in sources))
        right = [good > bad for good, bad in zip(scores(references), scores(wrong))]
        lines = self.lines_of(run("nmt-eval", "-q", "-m", PROGRAMS.model, "--contrastive", items, "--categories",
                                  "--length-penalty", 0))
        self.assertEqual(lines[0], f"contrastive accuracy = {5 * sum(right):.2f} ({sum(right)} of 20)")
        self.assertEqual([line.split(" = ")[0] for line in lines[1:]], ["  long", "  short"])
        self.assertEqual(self.lines_of(run("nmt-eval", "-c", PROGRAMS.config, "--contrastive", items, "--categories",
                                           "--length-penalty", 0)), lines)
        both = self.lines_of(run("nmt-eval", "-q", "-m", PROGRAMS.model, "-m", PROGRAMS.model, "--contrastive", items))
        self.assertTrue(both[0].startswith(f"{PROGRAMS.model}: contrastive accuracy = "), both)

    def test_reranking(self):
        corpus, model = PROGRAMS.work / "corpus", self.folder / "model"
        shutil.copytree(PROGRAMS.model, model)
        shutil.copytree(PROGRAMS.model, self.folder / "further")
        test = ("--source", corpus / "valid.de", "--reference", corpus / "valid.en")
        table = run("nmt-eval", "-q", "-m", model, *test, "--tune-rerank", self.folder / "further", "--beam-size", 4)
        self.assertIn("reranked: ", "".join(self.lines_of(table)))
        stored = json.loads((model / "rerank.json").read_text())
        self.assertEqual(stored["models"][0]["directory"], "../further")
        self.assertGreaterEqual(stored["tuned"]["bleu"][1], stored["tuned"]["bleu"][0])
        hypotheses = self.folder / "hyp"
        scores = self.scores("-q", "-m", model, *test, "--rerank", "--beam-size", 4, "--hypotheses-out", hypotheses)
        self.assertIn(f"= {stored['tuned']['bleu'][1]:.2f} ", scores[0])
        done = translate("--rerank", "--beam-size", 4, "-i", corpus / "valid.de", model=model)
        self.assertEqual(done.stdout, hypotheses.read_bytes())

    def test_several_test_sets(self):
        corpus = PROGRAMS.work / "corpus"
        several = ", ".join(f"{{name: {name}, source: {corpus}/{name}.de, target: {corpus}/{name}.en}}"
                            for name in ("valid", "test"))
        lines = self.lines_of(run("nmt-eval", "-c", PROGRAMS.config, "--set", "data.test1=", "--set", "data.test2=",
                                  "--set", f"data.test=[{several}]", "--hypotheses-out", self.folder / "hyp"))
        self.assertEqual([line.split()[0] for line in lines[1:3]], ["valid", "test"])
        self.assertIn(f" {lines[2].split()[2]} ", self.scores("-c", PROGRAMS.config)[0])
        self.assertEqual((self.folder / "hyp.test").read_text(), translate("-i", corpus / "test.de").stdout.decode())

    def test_robust(self):
        """The set under each change, scored without case; the plain one as nmt-score scores it."""
        source, reference = (PROGRAMS.work / "corpus" / name for name in ("test.de", "test.en"))
        done = run("nmt-eval", "-m", PROGRAMS.model, "--source", source, "--reference", reference, "--robust", "--no-loss",
                   "--hypotheses-out", self.folder / "hyp")
        lines = self.lines_of(done)
        rows = [line.split() for line in lines[1:7]]
        self.assertEqual([row[0] for row in rows], ["plain", "upper", "title", "typos", "no_end_mark", "joined"])
        self.assertEqual(re.findall(r", (\w+): BLEU [0-9.]+;", done.stderr.decode()), [row[0] for row in rows])
        sentences = len(source.read_text().splitlines())
        self.assertEqual([int(row[1]) for row in rows], [sentences] * 5 + [(sentences + 1) // 2])
        self.assertIn("case:lc", lines[7])
        plain = self.folder / "hyp.plain"
        self.assertEqual(plain.read_text(), translate("-i", source).stdout.decode())
        scored = run("nmt-score", reference, "-i", plain, "-m", "bleu", "-lc", "-b", "-w", "2")
        self.assertEqual(rows[0][2], scored.stdout.decode().strip())

    def test_run_and_model_agree(self):
        source, reference = (PROGRAMS.work / "corpus" / name for name in ("test.de", "test.en"))
        of_run = self.scores("-c", PROGRAMS.config)
        self.assertEqual(len(of_run), 2)
        self.assertRegex(of_run[0], r"^BLEU\|nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:\S+ = ")
        self.assertRegex(of_run[1], r"^chrF2\|nrefs:1\|case:mixed\|eff:yes\|nc:6\|nw:0\|space:no\|version:\S+ = ")
        self.assertEqual(self.scores("-m", PROGRAMS.model, "--source", source, "--reference", reference), of_run)
        self.assertNotEqual(self.scores("-c", PROGRAMS.config, "--split", "valid"), of_run)

    def test_files(self):
        names = [self.folder / name for name in ("hypotheses", "report.json", "results")]
        scores = self.scores("-c", PROGRAMS.config, "--hypotheses-out", names[0], "--report", names[1],
                             "--results-file", names[2])
        hypotheses = names[0].read_text()
        source, reference = (PROGRAMS.work / "corpus" / name for name in ("test.de", "test.en"))
        self.assertEqual(hypotheses, translate("-i", source).stdout.decode(), "nmt-translate writes the same")
        scored = run("nmt-score", reference, "-i", names[0], "-m", "bleu", "chrf", "-f", "text", "-w", "2")
        printed = [line.strip() for line in scored.stdout.decode().splitlines()]  # sacreBLEU aligns the lines
        self.assertEqual(printed, scores, "nmt-score prints the same")

        report = json.loads(names[1].read_text())
        self.assertEqual([score["text"] for score in report["systems"][0]["scores"]], scores)
        self.assertEqual(report["test_set"]["sentences"], hypotheses.count("\n"))
        self.assertEqual(report["systems"][0]["search"]["beam_size"], 3)

        results = names[2].read_text()
        first = zip(source.read_text().splitlines(), reference.read_text().splitlines(), hypotheses.splitlines())
        expected = "".join(f"- source: {a}\n- expected: {b}\n- got: {c}\n\n" for a, b, c in first)
        self.assertTrue(results.startswith(expected))
        self.assertRegex(results[len(expected):], r"^Bleu Score = [0-9.]+$")
        self.assertTrue(scores[0].split(" = ")[1].startswith("%.2f" % float(results.rsplit(" ", 1)[1])))

    def test_several_references_and_xml(self):
        sources = PROGRAMS.sources()[:20]
        (self.folder / "s.de").write_text("\n".join(sources) + "\n")
        (self.folder / "s.xml").write_text("<srcset>\n" + "".join(f'<seg id="{i}"> {line} </seg>\n' for i, line
                                                                in enumerate(sources, 1)) + "</srcset>\n")
        references = (PROGRAMS.work / "corpus" / "train.en").read_text().splitlines()
        (self.folder / "r1.en").write_text("\n".join(references[:20]) + "\n")
        (self.folder / "r2.en").write_text("\n".join(references[20:40]) + "\n")
        both = ("--reference", self.folder / "r1.en", "--reference", self.folder / "r2.en")
        plain = self.scores("-m", PROGRAMS.model, "--source", self.folder / "s.de", *both)
        self.assertIn("nrefs:2", plain[0])
        self.assertEqual(self.scores("-m", PROGRAMS.model, "--source", self.folder / "s.xml", *both), plain)

    def forms_of_a_set(self, pairs):
        """Name to what a source file and a reference file hold; one text where both sides stand in it."""
        escaped = [tuple(map(html.escape, pair)) for pair in pairs]
        tags = "<url>http://x</url>\n<talkid>1</talkid>\n<title>{}</title>\n"
        segments = "<?xml version='1.0'?>\n<mteval>\n<{0} setid='x'>\n{1}\n</{0}>\n</mteval>\n"

        def lines(side, form="{1}"):
            return "\n".join(form.format(i, pair[side]) for i, pair in enumerate(pairs))

        def documents(side):
            return "<p>" + "\n".join(f'<seg id="{i}">{pair[side]}</seg>' for i, pair in enumerate(escaped)) + "</p>"

        units = (f'<tu><tuv xml:lang="en-GB"><seg>{b}</seg></tuv>\n<tuv xml:lang="fr"><seg>non</seg></tuv><tuv xml:lang="de">'
                 f"<seg>{a}</seg></tuv></tu>\n" for a, b in escaped)
        wmt = (f'<dataset id="x"><doc id="a" origlang="de"><src lang="de">{documents(0)}</src>\n<hyp system="s"><p><seg id="0">no'
               f'</seg></p></hyp><ref lang="en" translator="A">{documents(1)}</ref>\n<ref lang="en" translator="B"><p>'
               f'<seg id="0">no</seg></p></ref></doc></dataset>')
        return {"plain": (lines(0), lines(1)),
                "tags": (tags.format("x") + lines(0), tags.format("y") + lines(1)),
                "sgm": tuple(segments.format(name, lines(side, '<seg\tid="{0}"> {1} </seg>'))
                             for side, name in enumerate(("srcset", "refset"))),
                "tsv": "".join(f"{a}\t{b}\n" for a, b in pairs),
                "jsonl": "".join(json.dumps({"source": a, "target": b}) + "\n" for a, b in pairs),
                "translation.jsonl": "".join(json.dumps({"translation": {"en": b, "de": a}}) + "\n" for a, b in pairs),
                "xml": '<?xml version="1.0" encoding="utf-8"?>\n' + wmt,
                "tmx": f'<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4"><header srclang="en"/><body>'
                       f'{"".join(units)}</body></tmx>'}

    def piped(self, path):
        """A pipe that gives the bytes of a file once, and has another name."""
        pipe = self.folder / f"pipe{len(list(self.folder.iterdir()))}"
        os.mkfifo(pipe)
        threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()), daemon=True).start()
        return pipe

    # A file means the same to all, whatever its form and wherever its bytes come from.
    def test_every_form_of_a_set_gives_the_same_scores(self):
        texts = [(PROGRAMS.work / "corpus" / f"test.{side}").read_text().splitlines()[:30] for side in ("de", "en")]
        expected = translations = None
        for form, content in self.forms_of_a_set(list(zip(*texts))).items():
            files = []
            for side, text in enumerate(content if isinstance(content, tuple) else (content,)):
                files.append(self.folder / f"{side}.{form}")
                files[-1].write_text(text)
                (self.folder / f"{side}.{form}.gz").write_bytes(gzip.compress(text.encode()))
            source, reference = files[0], files[-1]
            packed = tuple(file.with_name(file.name + ".gz") for file in (source, reference))
            for kind, named in {"file": lambda: (source, reference), "pipe": lambda: (self.piped(source), self.piped(reference)),
                                "packed": lambda: packed, "packed pipe": lambda: tuple(map(self.piped, packed))}.items():
                with self.subTest(form=form, kind=kind):
                    source_file, reference_file = named()
                    scores = self.scores("-m", PROGRAMS.model, "--source", source_file, "--reference", reference_file)
                    expected = expected or scores
                    self.assertEqual(scores, expected)
            lines = translate("--input-format", "set", "-q", "-i", source).stdout
            translations = translations or lines
            self.assertEqual(lines, translations, form)
        self.assertEqual(len(translations.splitlines()), 30)

    def test_several_models_are_compared_with_the_first(self):
        copy = self.folder / "copy"
        shutil.copytree(PROGRAMS.model, copy)
        done = run("nmt-eval", "-c", PROGRAMS.config, "-m", PROGRAMS.model, "-m", copy, "--report",
                   self.folder / "report.json", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = done.stdout.decode()
        self.assertIn(f"Baseline: {PROGRAMS.model}", table)
        self.assertIn(str(copy), table)
        self.assertIn("p = ", table)
        columns = json.loads((self.folder / "report.json").read_text())["comparison"]["columns"]
        self.assertEqual([column["metric"] for column in columns], ["BLEU", "chrF2"])
        self.assertEqual(columns[0]["results"][0]["score"], columns[0]["results"][1]["score"])

    def test_an_ensemble_of_equals_is_one_of_them(self):
        copy = self.folder / "copy"
        shutil.copytree(PROGRAMS.model, copy)
        alone = self.scores("-c", PROGRAMS.config)
        both = ("-c", PROGRAMS.config, "-m", PROGRAMS.model, "-m", copy, "--ensemble", "--report",
                self.folder / "report.json")
        self.assertEqual(self.scores(*both), alone)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual([system["model"] for system in report["systems"]], [f"{PROGRAMS.model} + {copy}"])
        self.assertEqual(self.scores(*both, "--combination", "log_linear", "--model-weights", "3", "1"), alone)

    def test_search_options_and_settings(self):
        greedy = self.scores("-c", PROGRAMS.config, "--beam-size", "1")
        self.assertEqual(self.scores("-c", PROGRAMS.config, "--set", "decoding.beam_size=1"), greedy)
        short = ("decoding.max_length_ratio=0", "decoding.max_length_offset=3")
        for one in (("--max-length-ratio", "0", "--max-length-offset", "3"), ("--set", short[0], "--set", short[1])):
            self.assertNotEqual(self.scores("-c", PROGRAMS.config, "--beam-size", "1", *one), greedy, one)
        shown = run("nmt-eval", "-c", PROGRAMS.config, "--set", "decoding.beam_size=7", "--print-config")
        self.assertIn("beam_size: 7", shown.stdout.decode())

    def model_with(self, **decoding):
        """A copy of the model, with other search options of its own."""
        model = self.folder / "own"
        shutil.copytree(PROGRAMS.model, model)
        description = json.loads((model / "model.json").read_text())
        description["configuration"]["decoding"].update(decoding)
        (model / "model.json").write_text(json.dumps(description))
        return model

    def test_what_a_flag_turns_off_takes_its_options_along(self):
        text = PROGRAMS.sources()[0]
        for own, flags in (({"sampling": True, "beam_size": 1, "seed": 5, "top_k": 3},
                            ("--no-sampling", "--beam-size", "3")),
                           ({"diversity_groups": 3, "diversity_strength": 0.8}, ("--diversity-groups", "1")),
                           ({"shortlist": 20, "shortlist_frequent": 7}, ("--shortlist", "0"))):
            with self.subTest(own=own):
                model = self.model_with(**own)
                self.assertEqual(self.lines_of(translate("-t", text, *flags, model=model)),
                                 self.lines_of(translate("-t", text)))
                shutil.rmtree(model)
        typed = translate("-t", text, "--no-sampling", "--seed", "6", model=self.model_with(sampling=True, beam_size=1))
        self.assert_error(typed, "decoding.seed", "is for sampling")

    def test_a_length_penalty_of_samples_is_one_of_their_scores(self):
        text = PROGRAMS.sources()[0]
        sampling = ("-t", text, "--sampling", "--seed", "7")
        model = self.model_with(length_penalty=1, length_penalty_form="simple")
        self.assertEqual(self.lines_of(translate(*sampling, model=model)), self.lines_of(translate(*sampling)))
        scores = [float(self.lines_of(translate(*sampling, "--scores", "--length-penalty", penalty))[0].split("\t")[1])
                  for penalty in ("0", "1")]
        self.assertLess(*scores)
        done = run("nmt-eval", "-c", PROGRAMS.config, "--no-loss", "-q", "--sampling", "--length-penalty", "1")
        self.assertIn(b"the drawing of samples: --length-penalty has no effect on it", done.stderr)

    def test_whole_batches_are_those_of_the_batch_size_that_is_given(self):
        whole = ("-c", PROGRAMS.config, "--set", "evaluation.whole_batches=true", "--no-loss", "-q", "--report",
                 self.folder / "report.json")
        for size in (7, 64):
            self.lines_of(run("nmt-eval", *whole, "--batch-size", size))
            of_set = json.loads((self.folder / "report.json").read_text())["test_set"]
            self.assertEqual(of_set["sentences"] % size, 0)
            self.assertLess(of_set.get("left_out", 0), size)

    def test_a_seed_that_is_none_matters_for_resamples_only(self):
        def with_seed(*arguments):
            return subprocess.run([PROGRAMS.path("nmt-eval"), "-c", PROGRAMS.config, "-q", *arguments],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE,
                                  env={**os.environ, "SACREBLEU_SEED": "many"})
        self.lines_of(with_seed("--no-loss"))
        self.assert_error(with_seed("--confidence"), "SACREBLEU_SEED=many: ")

    def test_confidence(self):
        self.assertRegex(self.scores("-c", PROGRAMS.config, "--confidence")[0], r"bs:1000\|seed:\d+.* = .*μ = ")


class Errors(Case):
    def test_options(self):
        model, missing = ("-m", str(PROGRAMS.model)), str(self.folder / "missing")
        two, three, latin = self.folder / "two", self.folder / "three", self.folder / "latin"
        two.write_text("a\nb\n")
        other = self.folder / "other"
        other.write_text("c\nd\n")
        three.write_text("a\nb\nc\n")
        latin.write_bytes(b"a\nb\xe4\n")
        config = ("-c", str(PROGRAMS.config))
        before = sorted(os.listdir(self.folder))
        for arguments, parts in (
                ((), ["-c CONFIG", "-m DIR"]),
                (model, ["--source"]),
                ((*model, "--source", two), ["--reference"]),
                ((*model, "--reference", two), ["--source"]),
                ((*model, "--source", two, "--reference", three), [str(three), "3 sentences", "has 2"]),
                ((*model, "--source", two, "--reference", latin), [f"{latin}:2", "UTF-8"]),
                ((*model, "--source", missing, "--reference", two), [missing]),
                (("-m", missing, "--source", two, "--reference", other), [missing]),
                (("-m", missing, "--source", two, "--reference", other, "--report", missing + "/report"),
                 [missing + "/report", "make it first"]),  # before the model is looked for
                ((*model, "--source", two, "--reference", other, "--report", self.folder),
                 [str(self.folder), "is a folder"]),
                ((*model, "--source", two, "--reference", other, "--hypotheses-out", self.folder / "." / "two"),
                 ["--hypotheses-out", "the same file as --source"]),
                ((*model, "--source", two, "--reference", other, "--hypotheses-out", missing, "--report", missing),
                 ["--hypotheses-out", "the same file as --report"]),
                ((*model, "--source", two, "--reference", other, "--alignment-layer", "9"),
                 ["decoding.alignment_layer 9: the decoder has 2"]),
                (("-c", missing), [missing]),
                ((*config, "--set", "decoding.beam=3"), ["decoding.beam"]),
                ((*config, "--set", f"run.dir={missing}"), [missing, "nmt-train"]),
                ((*config, "--set", "data.test1="), ["data.test1"]),
                ((*config, "--split", "train"), ["--split"]),
                ((*model, *model, "--source", two, "--reference", other, "--hypotheses-out", missing),
                 ["--hypotheses-out"]),
                ((*model, *model, "--source", two, "--reference", other, "--results-file", missing),
                 ["--results-file"]),
                ((*model, "--ensemble", "--source", two, "--reference", other), ["--ensemble", "-m"]),
                ((*model, *model, "--combination", "log_linear", "--source", two, "--reference", other),
                 ["--combination: joins the models of --ensemble"]),
                ((*model, *model, "--ensemble", "--model-weights", "1", "--source", two, "--reference", other),
                 ["--model-weights: 1 for 2 models"]),
                ((*model, *model, "--ensemble", "--model-weights", "1", "-1", "--source", two, "--reference", other),
                 ["weight -1"]),
                ((*model, "--similarity", "a"), ["--similarity"]),
                ((*model, *model, "--similarity", "a", "b"), ["--similarity", "one model"]),
                ((*model, "--source", two, "--reference", other, "--similarity", "a", "b"), ["--similarity"]),
                ((*model, "--similarity", "a", "b", "--hypotheses-out", missing), ["--similarity", "scores no"]),
                (("--self-test", "-q"), ["--quiet", "not with --self-test"]),
                ((*model, "--similarity", "a", " "), ["similarity", "no text"]),
                (("--similarity", "a", "b"), ["-m DIR"]),
                ((*model, "--contrastive", two), ["--contrastive", ":1: 1 columns"]),
                ((*model, "--contrastive", missing), [missing]),
                ((*model, "--source", two, "--reference", other, "--rerank"), ["rerank.json", "--tune-rerank DIR"]),
                ((*model, "--source", two, "--reference", other, "--tune-rerank", missing), [missing]),
                ((*model, "--contrastive", two, "--report", missing), ["--contrastive", "scores no translations"]),
                ((*model, "--source", two, "--reference", other, "--contrastive", two), ["--contrastive", "own texts"]),
                ((*model, "--self-test"), ["--self-test"]),
                ((*model, "--source", two, "--reference", other, "-q", "--report", missing + "/report"), [missing])):
            with self.subTest(arguments=arguments):
                done = run("nmt-eval", *arguments)
                self.assert_error(done, *parts)
        self.assertEqual(sorted(os.listdir(self.folder)), before)


if __name__ == "__main__":
    main(__doc__)
