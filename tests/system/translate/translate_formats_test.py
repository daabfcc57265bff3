"""What nmt-translate reads and writes: formats, alignments, constraints, paragraphs, scores, ensembles.

    translate_formats_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import html
import json
import os
import pty
import select
import shutil
import subprocess
import time
import xml.etree.ElementTree

from translate_support import PATIENCE, PROGRAMS, Case, main, run, translate


class Formats(Case):
    def test_tsv(self):
        sources = PROGRAMS.sources()[:4] + ["", "Ja\t."]
        text = "\n".join(sources) + "\n"
        plain = self.lines_of(translate(text=text))
        rows = [line.split("\t") for line in self.lines_of(translate("--format", "tsv", text=text))]
        self.assertEqual([row[0] for row in rows], [str(number) for number in range(1, 7)])
        self.assertEqual({row[1] for row in rows}, {"1"})
        self.assertEqual([row[4] for row in rows], sources[:5] + ["Ja ."])
        self.assertEqual([row[5] for row in rows], plain)
        for row in rows[:4]:
            self.assertLess(float(row[2]), 0)
            self.assertGreater(int(row[3]), 1)

    def test_json_lines_hold_what_the_columns_hold(self):
        text = "\n".join(PROGRAMS.sources()[:4]) + "\n\n"
        arguments = ("--beam-size", "4", "--n-best", "3", "--token-scores", "--alignment", "pharaoh")
        objects = [json.loads(line) for line in self.lines_of(translate(*arguments, "--format", "jsonl", text=text))]
        rows = [line.split("\t") for line in self.lines_of(translate(*arguments, "--format", "tsv", text=text))]
        self.assertEqual(len(objects), 5)
        self.assertEqual(len(rows), 4 * 3 + 1)
        self.assertEqual([item["line"] for item in objects], [1, 2, 3, 4, 5])
        found = [(str(item["line"]), str(rank), f"{one['score']:.6f}", str(one["tokens"]), item["source"],
                  one["translation_text"], " ".join(f"{score:.6f}" for score in one["token_scores"]),
                  one["alignment"])
                 for item in objects for rank, one in enumerate(item["alternatives"], 1)]
        self.assertEqual(found, [tuple(row) for row in rows])

    def test_scores_of_tokens_sum_to_the_log_probability(self):
        text = "\n".join(PROGRAMS.sources()[:20]) + "\n"
        for line in self.lines_of(translate("--format", "jsonl", "--token-scores", text=text)):
            item = json.loads(line)
            self.assertEqual(len(item["token_scores"]), item["tokens"])
            self.assertEqual(len(item["pieces"]), item["tokens"])
            self.assertAlmostEqual(sum(item["token_scores"]), item["log_probability"], delta=1e-4)
            self.assertEqual(item["pieces"][-1], "</s>")
            text = "".join(item["pieces"][:-1]).replace("\u2581", " ").strip()
            self.assertEqual(text, item["translation_text"])

    def test_json_list_of_texts(self):
        some, other = PROGRAMS.sources()[:2]
        arguments = ("--beam-size", "4", "--n-best", "2")
        best = [line.split("\t")[1] for line in self.lines_of(translate(*arguments, text=f"{some}\n{other}\n"))]
        done = translate(*arguments, "--format", "json", "--text", some, "--text", other)
        self.assertEqual(json.loads(done.stdout), [[{"translation_text": text} for text in best[:2]],
                                                   [{"translation_text": text} for text in best[2:]]])
        done = translate(*arguments, "--format", "json", "--text", some)
        self.assertEqual(json.loads(done.stdout), [{"translation_text": text} for text in best[:2]])

    def test_texts_take_every_format(self):
        some, other = PROGRAMS.sources()[:2]
        for arguments in (("--scores",), ("--format", "tsv"), ("--format", "jsonl"), ("--n-best", "2"),
                          ("--alignment", "pharaoh")):
            lines = self.lines_of(translate(*arguments, text=f"{some}\n{other}\n"))
            self.assertGreaterEqual(len(lines), 2)
            self.assertEqual(self.lines_of(translate(*arguments, "--text", some, "--text", other)), lines, arguments)


class Alignments(Case):
    def links(self, *arguments, text):
        lines = self.lines_of(translate("--alignment", "pharaoh", *arguments, text=text))
        return [[tuple(map(int, pair.split("-"))) for pair in line.split("\t")[-1].split()] for line in lines]

    def test_each_target_word_has_a_source_word(self):
        sources = PROGRAMS.sources()[:30]
        targets = self.lines_of(translate(text="\n".join(sources)))
        for source, target, links in zip(sources, targets, self.links(text="\n".join(sources))):
            self.assertEqual(sorted({word for _, word in links}), list(range(len(target.split()))))
            self.assertEqual(len(set(links)), len(links))
            self.assertTrue(all(0 <= word < len(source.split()) for word, _ in links), links)

    def test_a_file_of_their_own(self):
        text = "\n".join(PROGRAMS.sources()[:5]) + "\n\n"
        expected = [line.split("\t")[1] for line in self.lines_of(translate("--alignment", "pharaoh", text=text))]
        out = self.folder / "alignments"
        done = translate("--alignment-out", out, text=text)
        self.assertEqual(done.stdout, translate(text=text).stdout)
        self.assertEqual(out.read_text().splitlines(), expected)

    def test_do_not_depend_on_the_other_lines(self):
        sources = PROGRAMS.sources()[:40]
        together = self.links(text="\n".join(sources))
        self.assertEqual(together, [links for source in sources for links in self.links(text=source)])

    def test_lines_in_parts_count_words_of_the_whole_line(self):
        sentences = PROGRAMS.sources()[:6]
        parts, offset, expected = self.links(text="\n".join(sentences)), [0, 0], []
        targets = self.lines_of(translate(text="\n".join(sentences)))
        for source, target, links in zip(sentences, targets, parts):
            expected += [(offset[0] + s, offset[1] + t) for s, t in links]
            offset[0] += len(source.split())
            offset[1] += len(target.split())
        # Each source ends its sentence, so that the splitter parts them again.
        self.assertTrue(all(source[-1] in ".?!" for source in sentences), sentences)
        self.assertEqual(self.links("--split-sentences", text=" ".join(sentences)), [expected])

    def test_pictures_and_numbers(self):
        folder = self.folder / "attention"
        sources = PROGRAMS.sources()[:3]
        translate("--attention-out", folder, "--attention-lines", "1", "3", text="\n".join(sources))
        self.assertEqual(sorted(os.listdir(folder)), ["1.json", "1.svg", "3.json", "3.svg"])
        xml.etree.ElementTree.parse(folder / "3.svg")
        layers = {layer["name"]: layer for layer in json.loads((folder / "3.json").read_text())["layers"]}
        self.assertEqual(layers["words"]["keys"], sources[2].split())
        for row in layers["words"]["weights"][0]:
            self.assertLessEqual(sum(row), 1.001)
        self.assertEqual(layers["pieces"]["queries"][-1], "</s>")


    def test_of_one_text_in_one_file(self):
        source = PROGRAMS.sources()[0]
        picture, page = self.folder / "one.svg", self.folder / "one.html"
        target, = self.lines_of(translate("--text", source, "--attention-out", picture))
        shown = [text.text for text in xml.etree.ElementTree.parse(picture).iter() if text.tag.endswith("text")]
        self.assertEqual(shown[1:], source.split() + target.split())  # after the title
        self.assertEqual(self.lines_of(translate("--text", source, "--attention-out", page)), [target])
        text = page.read_text()
        self.assertIn(target, html.unescape(text))
        data = json.loads(text.split('<script type="application/json">')[1].split("</script>")[0])
        self.assertEqual(data["queries"][-1], "</s>")
        self.assertEqual([(layer["name"], len(layer["heads"])) for layer in data["layers"]],
                         [("decoder.0.cross", 2), ("decoder.1.cross", 2)])
        self.assertEqual(sorted(os.listdir(self.folder)), ["one.html", "one.svg"])

    def test_of_a_translation_that_is_given(self):
        source, target = PROGRAMS.sources()[0], "The old dog laughs here."
        picture, folder = self.folder / "given.svg", self.folder / "given"
        score, = self.lines_of(translate("--text", source, "--target", target, "--attention-out", picture))
        (self.folder / "source").write_text(source + "\n")
        (self.folder / "target").write_text(target + "\n")
        expected, = self.lines_of(translate("-i", self.folder / "source", "--score", self.folder / "target"))
        self.assertEqual(score, expected, "it is scored as a line of --score")
        shown = [text.text for text in xml.etree.ElementTree.parse(picture).iter() if text.tag.endswith("text")]
        self.assertEqual(shown[1:], source.split() + target.split())
        self.lines_of(translate("--text", source, "--text", source, "--target", target, "--target", "The cat.",
                                "--attention-out", folder, "--attention-lines", "1", "2"))
        layers = json.loads((folder / "2.json").read_text())["layers"]
        self.assertEqual({layer["name"]: layer["queries"] for layer in layers}["words"], ["The", "cat."])


class Paragraphs(Case):
    def test_sentences_are_translated_alone_and_paragraphs_kept(self):
        a, b, c = [source for source in PROGRAMS.sources() if source.endswith(".")][:3]
        alone = self.lines_of(translate(text=f"{a}\n{b}\n{c}\n"))
        done = translate("--split-sentences", text=f"{a}  {b}\n\n{c}\n")
        self.assertEqual(done.stdout.decode(), f"{alone[0]} {alone[1]}\n\n{alone[2]}\n")
        self.assertIn("3 sentences", done.stderr.decode())
        self.assertNotIn("too long", done.stderr.decode())
        self.assertNotEqual(translate(text=f"{a} {b}\n").stdout.decode(), f"{alone[0]} {alone[1]}\n", "unless asked, lines stay whole")

    def test_a_document_has_paragraphs(self):
        a, b = [source for source in PROGRAMS.sources() if source.endswith(".")][:2]
        first, second, together = self.lines_of(translate(text=f"{a}\n{b}\n{a} {b}\n"))
        document = ("-q", "--format-in", "txt")
        self.assertEqual(self.lines_of(translate(*document, text=f"{a} {b}\n")), [f"{first} {second}"])
        self.assertEqual(self.lines_of(translate(*document, "--no-split-sentences", text=f"{a} {b}\n")), [together])
        model = self.folder / "model"
        shutil.copytree(PROGRAMS.model, model)
        description = json.loads((model / "model.json").read_text())
        description["configuration"]["data"]["lines"] = "paragraphs"
        (model / "model.json").write_text(json.dumps(description))
        done = run("nmt-translate", "-m", model, *document, text=f"{a} {b}\n")
        self.assertEqual(self.lines_of(done), [together])


class Constraints(Case):
    def test_prefix_and_phrases_of_a_tsv(self):
        source = PROGRAMS.sources()[0]
        plain = self.lines_of(translate(text=source))[0]
        first = plain.split()[0]
        text = f"{source}\n{source}\tWe see\n{source}\t\tdog\n{source}\t\t\t{first}\n"
        lines = self.lines_of(translate("--input-format", "tsv", "--beam-size", "5", text=text))
        self.assertTrue(lines[1].startswith("We see"), lines[1])
        self.assertIn("dog", lines[2])
        self.assertNotIn(first, lines[3].split())

    def test_json_lines_say_the_same(self):
        source = PROGRAMS.sources()[0]
        rows = [{"source": source}, {"source": source, "prefix": "We see"}, {"source": source, "must": ["dog"]},
                {"source": source, "must_not": "the"}]
        as_tsv = f"{source}\n{source}\tWe see\n{source}\t\tdog\n{source}\t\t\tthe\n"
        as_json = "".join(json.dumps(row) + "\n" for row in rows)
        lines = self.lines_of(translate("--input-format", "json", text=as_json))
        self.assertEqual(len(lines), 4)
        self.assertEqual(self.lines_of(translate("--input-format", "tsv", text=as_tsv)), lines)

    def test_of_all_lines(self):
        source = PROGRAMS.sources()[0]
        line = self.lines_of(translate("--prefix", "We see", "--must", "dog", "--text", source))[0]
        self.assertTrue(line.startswith("We see") and "dog" in line, line)

    def test_lines_of_another_format_are_refused(self):
        """The lines before them are answered, whether they come slowly or all at once."""
        source = PROGRAMS.sources()[0]
        answer = self.lines_of(translate(text=source + "\n"))
        for form, good, bad, part in (("tsv", source, "b\tc\td\te\tf", "5 columns"),
                                      ("json", json.dumps({"source": source}), "{bad", "not a JSON object")):
            with self.subTest(form=form):
                done = translate("-q", "--input-format", form, text=f"{good}\n{good}\n{bad}\n{good}\n")
                self.assertEqual((done.returncode, done.stdout.decode().splitlines()), (2, answer * 2))
                self.assertIn(f"standard input:3: {part}", done.stderr.decode())
                self.assert_error(translate("-q", "--input-format", form, text=bad + "\n"), f"standard input:1: {part}")
                out = self.folder / "out"
                self.assert_error(translate("-q", "--input-format", form, "-o", out, text=f"{good}\n{bad}\n"), part)
                self.assertFalse(out.exists(), "a file is there when it is complete")


class Scores(Case):
    def test_equal_those_of_the_search(self):
        sources = PROGRAMS.sources()[:40]
        (self.folder / "source").write_text("\n".join(sources) + "\n")
        found = [json.loads(line) for line in self.lines_of(
            translate("-i", self.folder / "source", "--format", "jsonl", "--token-scores"))]
        (self.folder / "target").write_text("".join(item["translation_text"] + "\n" for item in found))
        scored = [json.loads(line) for line in self.lines_of(
            translate("-i", self.folder / "source", "--score", self.folder / "target", "--format", "jsonl",
                      "--token-scores"))]
        same = 0
        for search, score in zip(found, scored, strict=True):
            self.assertEqual(score["translation_text"], search["translation_text"])
            if score["pieces"] == search["pieces"]:  # the search may spell a word in other pieces
                same += 1
                self.assertAlmostEqual(score["score"], search["score"], delta=1e-4)
        self.assertGreater(same, 30)

    def test_a_number_a_line(self):
        (self.folder / "source").write_text("Ja .\nNein .\n\n")
        (self.folder / "target").write_text("Yes .\nNo .\n\n")
        arguments = ("-i", self.folder / "source", "--score", self.folder / "target")
        lines = self.lines_of(translate(*arguments))
        self.assertEqual(len(lines), 3)
        self.assertLess(float(lines[0]), 0)
        self.assertEqual(lines[2], "0.000000")

    def test_files_of_other_lengths_are_refused(self):
        (self.folder / "two").write_text("a\nb\n")
        (self.folder / "three").write_text("a\nb\nc\n")
        for source, target in (("two", "three"), ("three", "two")):
            self.assert_error(translate("-q", "-o", self.folder / "out", "-i", self.folder / source, "--score",
                                        self.folder / target), f"{self.folder / 'two'}: ends after line 2", "three")


class Ensembles(Case):
    def test_twice_the_same_model_is_that_model(self):
        text = "\n".join(PROGRAMS.sources()[:20])
        one = self.lines_of(translate("--format", "jsonl", text=text))
        two = self.lines_of(translate("-m", PROGRAMS.model, "--format", "jsonl", text=text))
        for alone, both in zip(map(json.loads, one), map(json.loads, two), strict=True):
            self.assertEqual(alone["translation_text"], both["translation_text"])
            self.assertAlmostEqual(alone["score"], both["score"], delta=1e-4)

    def test_each_member_must_be_there(self):
        self.assert_error(translate("-m", self.folder / "missing", text="Ja .\n"), str(self.folder / "missing"))


class Terminal(Case):
    """With a terminal as standard input, or as standard error."""

    def read_until(self, master, text, shown=b"", times=1):
        """Reads on until the text was shown so many times; returns all that was shown."""
        deadline = time.monotonic() + PATIENCE
        while shown.count(text) < times:
            ready, _, _ = select.select([master], [], [], max(0, deadline - time.monotonic()))
            self.assertTrue(ready, shown)
            shown += os.read(master, 4096)
        return shown

    def test_prompt(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        some = PROGRAMS.sources()[0]
        expected = translate(text=some).stdout
        process = subprocess.Popen([PROGRAMS.path("nmt-translate"), "-m", str(PROGRAMS.model)], stdin=slave,
                                   stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        shown = self.read_until(master, b"> ")
        self.assertIn(b"Ctrl-D", shown)
        os.write(master, some.encode() + b"\n")
        self.read_until(master, b"> ", shown, times=2)
        os.write(master, b"\x04")
        output, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, output), (0, expected))

    def test_progress_bar_with_the_time_left(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        source = self.folder / "source"
        source.write_text("\n".join((PROGRAMS.sources() * 7)[:10_000]) + "\n")
        process = subprocess.Popen([PROGRAMS.path("nmt-translate"), "-m", str(PROGRAMS.model), "-i", str(source),
                                    "-o", str(self.folder / "out"), "--buffer-lines", "64", "--beam-size", "1"],
                                   stdout=subprocess.DEVNULL, stderr=slave, env={**os.environ, "TERM": "xterm"})
        os.close(slave)
        shown = self.read_until(master, b"left")
        self.assertRegex(shown.decode(errors="replace"), r"translate .*% .*/10,000 lines")
        process.terminate()
        self.assertEqual(process.wait(PATIENCE), 143)


if __name__ == "__main__":
    main(__doc__)
