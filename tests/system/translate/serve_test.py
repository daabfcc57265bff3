"""Runs nmt-translate --serve as users do, with the small model of translate_support.py.

    serve_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

The case Load (64 clients for a minute) runs only when it is named; NMT_LOAD_SECONDS changes how long. Python's standard
library only. serve_limits_test.py attacks the service, page_test.py looks at the page.
"""

import http.client
import io
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request
import xml.etree.ElementTree
import zipfile

import translate_support
from serve_support import Case, Clients, Server, json_body, offline
from translate_support import PATIENCE, PROGRAMS, SOURCE, translate


SOURCE = pathlib.Path(__file__).resolve().parents[3]
ROUTES = ("/translate", "/translate_file", "/suggest", "/detect", "/explain", "/languages", "/frontend/settings", "/health", "/metrics",
          "/spec")


class Routes(Case):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.__exit__)
        cls.sources = PROGRAMS.sources()[:20]
        cls.translations = offline(cls.sources)

    def test_texts_and_lists(self):
        source, translation = self.sources[0], self.translations[0]
        self.assertEqual(self.server.post("/translate", {"q": source, "source": "de", "target": "en"}).json(),
                         {"translatedText": translation})
        self.assertEqual(self.server.post("/translate", {"q": self.sources}).json(),
                         {"translatedText": self.translations})

    def test_forms(self):
        form = urllib.parse.urlencode({"q": self.sources[1], "source": "auto", "target": "en", "format": "text"})
        reply = self.server.request("/translate", form.encode(), "application/x-www-form-urlencoded")
        detected = reply.json().pop("detectedLanguage")
        self.assertEqual(detected["language"], "de")
        self.assertEqual(reply.json()["translatedText"], self.translations[1])

    def test_lines_stay_lines(self):
        text = f"\n{self.sources[0]}\r\n\n  \n{self.sources[1]}\n"
        expected = f"\n{self.translations[0]}\r\n\n  \n{self.translations[1]}\n"
        self.assertEqual(self.server.post("/translate", {"q": text}).json(), {"translatedText": expected})
        for same in ("", "   ", [], "12.5 %", "😀", ["\n", "?!"]):
            self.assertEqual(self.server.post("/translate", {"q": same}).json(), {"translatedText": same})

    def test_several_sentences_in_a_line(self):
        line = " ".join(self.sources[:3])
        reply = self.server.post("/translate", {"q": line}).json()
        self.assertEqual(reply, {"translatedText": " ".join(self.translations[:3])})
        whole, = offline([line], split=False)
        for fields in ({}, {"format": "html"}):
            reply = self.server.post("/translate", {"q": line, "split_sentences": False} | fields).json()
            self.assertEqual(reply["translatedText"], whole)
        html = f"<p><b>{self.sources[0]}</b> {self.sources[1]}</p>"
        reply = self.server.post("/translate", {"q": html, "format": "html"}).json()["translatedText"]
        self.assertEqual(re.sub("</?b>", "", reply), f"<p>{self.translations[0]} {self.translations[1]}</p>")
        bold = re.search("<b>(.*)</b>", reply)[1]
        self.assertIn(bold.rstrip(".?!"), self.translations[0], "the first sentence, and nothing of the second")
        self.assertIn(self.translations[0].rstrip(".?!"), bold)
        picture = self.server.post("/explain", {"q": line, "attention": True}).json()["lines"][0]["attention_svg"]
        words = [one.text for one in xml.etree.ElementTree.fromstring(picture).iter() if one.tag.endswith("text")]
        self.assertEqual(words[1:], line.split() + " ".join(self.translations[:3]).split())
        with Server("--no-split-sentences") as server:
            self.assertEqual(server.post("/translate", {"q": line}).json(), {"translatedText": whole})
            reply = server.post("/translate", {"q": line, "split_sentences": True}).json()
            self.assertEqual(reply, {"translatedText": " ".join(self.translations[:3])})

    def test_detection(self):
        german, english = " ".join(self.sources[:5]), " ".join(self.translations[:5])
        for text, language in ((german, "de"), (english, "en")):
            found = self.server.post("/detect", {"q": text}).json()
            self.assertEqual(found[0]["language"], language)
            self.assertGreater(found[0]["confidence"], 50)
        self.assertEqual(self.server.post("/detect", {"q": "12 + 30"}).json(), [{"confidence": 0.0, "language": "de"}])
        reply = self.server.post("/translate", {"q": [german, english], "source": "auto"}).json()
        self.assertEqual([one["language"] for one in reply["detectedLanguage"]], ["de", "en"])
        self.assertEqual(reply["translatedText"], [*offline([german]), english], "English is English already")

    def test_description(self):
        """What GET /spec names is there, and it names all that docs/serving.md does."""
        spec = self.server.get("/spec").json()
        guide = (SOURCE / "docs" / "serving.md").read_text(encoding="utf-8")
        self.assertEqual({path for path in ROUTES if path in guide}, set(ROUTES))
        self.assertEqual(set(ROUTES) - set(spec["paths"]), set())
        self.assertTrue(spec["openapi"].startswith("3."))
        for path, methods in spec["paths"].items():
            if "{" in path:
                continue
            for method in methods:
                self.assertNotIn(self.server.request(path, method=method.upper()).status, (404, 405), path)

    def test_markup(self):
        line, translation = self.sources[0], self.translations[0]
        page = f'<p class="a">{line}</p>\n<pre>{line}</pre><p>12</p>'
        self.assertEqual(self.server.post("/translate", {"q": page, "format": "html"}).json()["translatedText"],
                         f'<p class="a">{translation}</p>\n<pre>{line}</pre><p>12</p>')
        words = line.split()
        marked = " ".join(f"<i id={i}>{word}</i>" for i, word in enumerate(words))
        reply = self.server.post("/translate", {"q": marked, "format": "html"}).json()["translatedText"]
        self.assertEqual(sorted(re.findall("<i id=[0-9]+>", reply)), sorted(re.findall("<i id=[0-9]+>", marked)))
        self.assertEqual(re.sub("<[^>]*>", "", reply), translation, "the words are those of the text without tags")

    def send_file(self, name, content, **fields):
        parts = [f'Content-Disposition: form-data; name="{field}"\r\n\r\n{value}'.encode()
                 for field, value in ({"source": "de", "target": "en"} | fields).items()]
        parts.append(f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n'
                     "Content-Type: application/octet-stream\r\n\r\n".encode() + content)
        body = b"".join(b"--XX\r\n" + part + b"\r\n" for part in parts) + b"--XX--\r\n"
        return self.server.request("/translate_file", body, "multipart/form-data; boundary=XX")

    def test_documents(self):
        text = "".join(line + "\n" for line in self.sources[:5]).encode()
        reply = self.send_file("Ein Brief ä.txt", text)
        url = reply.json()["translatedFileUrl"]
        self.assertTrue(url.startswith(self.server.url + "/download_file/"), url)
        download = self.server.get(url.removeprefix(self.server.url))
        self.assertEqual(download.body, "".join(line + "\n" for line in self.translations[:5]))
        self.assertEqual(download.headers["Content-Disposition"], "attachment; filename*=UTF-8''Ein%20Brief%20%C3%A4.txt")
        self.assert_refused(self.server.get("/download_file/" + "0" * 32 + ".txt"), 404, "no such document")
        self.assert_refused(self.server.get("/download_file/../../etc/passwd"), 404, "no such document")
        self.assert_refused(self.send_file("a.pdf", b"%PDF-1.7"), 400, "file format not supported")
        self.assert_refused(self.send_file("a.docx", b"PK\3\4 broken"), 400)
        self.assert_refused(self.send_file("a.txt", b"Ja .", target="zz"), 400, "zz is not supported")
        self.assert_refused(self.server.post("/translate_file", {}), 400, "missing file parameter")
        self.assertIn(".docx", self.server.get("/frontend/settings").json()["supportedFilesFormat"])

    def test_a_document_of_word(self):
        """Only the text of a file changes; offline it becomes the same."""
        document = ('<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
                    f"<w:body><w:p><w:r><w:t>{self.sources[0]}</w:t></w:r></w:p></w:body></w:document>")
        types = ('<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
                 '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
                 'wordprocessingml.document.main+xml"/></Types>')
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.docx")
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
                package.writestr("[Content_Types].xml", types)
                package.writestr("_rels/.rels", "<r><Relationship Type='x/officeDocument' Target='word/document.xml'/></r>")
                package.writestr("word/document.xml", document)
                package.writestr("word/media/image1.png", os.urandom(1000))
            with open(path, "rb") as file:
                sent = file.read()
            url = self.send_file("a.docx", sent).json()["translatedFileUrl"]
            with urllib.request.urlopen(url, timeout=PATIENCE) as reply:
                got = reply.read()
            offline_path = os.path.join(folder, "b.docx")
            done = translate("-q", "--format-in", "auto", "-i", path, "-o", offline_path, text="")
            self.assertEqual(done.returncode, 0, done.stderr)
            with zipfile.ZipFile(io.BytesIO(got)) as ours, zipfile.ZipFile(path) as theirs, zipfile.ZipFile(offline_path) as other:
                self.assertEqual(ours.namelist(), theirs.namelist())
                for name in theirs.namelist():
                    expected = theirs.read(name).decode("latin-1").replace(self.sources[0], self.translations[0])
                    got_text = ours.read(name).decode("latin-1").replace(' xml:space="preserve"', "")
                    self.assertEqual(got_text, expected, name)
                    self.assertEqual(ours.read(name), other.read(name), name)

    def test_suggestions(self):
        better = {"q": self.sources[0], "s": "A better one."}
        self.assert_refused(self.server.post("/suggest", better), 403, "Suggestions are disabled")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "suggestions.jsonl")
            with Server("--suggestions", path) as server:
                self.assertEqual(server.post("/suggest", better).json(), {"success": True})
                self.assert_refused(server.post("/suggest", {"q": self.sources[0]}), 400, "missing s parameter")
                self.assert_refused(server.post("/suggest", better | {"target": "zz"}), 400, "zz is not supported")
            with open(path, encoding="utf-8") as file:
                kept = [json.loads(line) for line in file]
            self.assertEqual(len(kept), 1)
            self.assertEqual(kept[0] | {"time": 0}, better | {"source": "de", "target": "en", "time": 0})

    def test_alternatives_are_the_n_best(self):
        expected = [line.split("\t")[-1] for line in offline(self.sources[:1], "--n-best", "3")]
        reply = self.server.post("/translate", {"q": self.sources[0], "alternatives": 2}).json()
        self.assertEqual([reply["translatedText"], *reply["alternatives"]], expected)
        many = self.server.post("/translate", {"q": self.sources[0], "alternatives": 100}).json()
        self.assertEqual(many, reply, "the beam holds three")

    def test_explain(self):
        reply = self.server.post("/explain", {"q": "\n".join(self.sources[:2]), "n_best": 3, "attention": True}).json()
        self.assertEqual(reply["text"], "\n".join(self.translations[:2]))
        self.assertEqual([line["source"] for line in reply["lines"]], self.sources[:2])
        for line in reply["lines"]:
            scores = [one["score"] for one in line["n_best"]]
            self.assertEqual(len(scores), 3)
            self.assertEqual(scores, sorted(scores, reverse=True))
            self.assertLess(scores[0], 0)
            self.assertTrue(line["attention_svg"].startswith("<svg "))
            for word in line["source"].split()[:2]:
                self.assertIn(f">{word}</text>", line["attention_svg"])

    def test_what_the_model_is(self):
        self.assertEqual(self.server.get("/health").json(), {"status": "ok"})
        self.assertEqual(self.server.get("/languages").json(), [{"code": "de", "name": "German", "targets": ["en"]},
                                                                {"code": "en", "name": "English", "targets": []}])
        self.assertEqual(self.server.get("/frontend/settings").json()["maxNBest"], 3)

    def test_metrics(self):
        before = self.server.metrics()
        self.server.post("/translate", {"q": "\n".join(self.sources[:3])})
        self.server.post("/translate", {})
        after = self.server.metrics()
        for _ in range(100):  # a batch is counted after its answers
            if after["nmt_batch_seconds_total"] > before.get("nmt_batch_seconds_total", 0):
                break
            time.sleep(0.05)
            after = self.server.metrics()
        grown = {name: value - before.get(name, 0) for name, value in after.items()}
        self.assertEqual(grown['nmt_requests_total{route="/translate",status="200"}'], 1)
        self.assertEqual(grown['nmt_requests_total{route="/translate",status="400"}'], 1)
        self.assertEqual(grown['nmt_request_seconds_count{pair="de-en"}'], 1)
        self.assertEqual(grown['nmt_request_seconds_bucket{pair="none",le="+Inf"}'], 1)
        self.assertEqual(grown["nmt_sentences_total"], 3)
        self.assertGreaterEqual(grown["nmt_target_tokens_total"], 6)
        self.assertGreater(grown["nmt_batch_seconds_total"], 0)
        self.assertEqual(after["nmt_queue_lines"], 0)

    def test_refusals(self):
        post, some = self.server.post, self.sources[0]
        self.assert_refused(post("/translate", {}), 400, "missing q parameter")
        self.assert_refused(post("/translate", {"q": some, "source": "fr"}), 400, "fr is not supported")
        self.assert_refused(post("/translate", {"q": some, "format": "pdf"}), 400, "pdf format is not supported")
        self.assert_refused(post("/translate", {"q": "a\0b"}), 400, "NUL")
        self.assert_refused(post("/translate", {"q": some, "source": ""}), 400, "missing source parameter")
        self.assert_refused(post("/translate", {"q": some, "target": None}), 400, "missing target parameter")
        self.assert_refused(self.server.request("/detect", b""), 400, "missing q parameter")
        self.assert_refused(self.server.get("/detect"), 405, "POST")
        self.assert_refused(self.server.request("/translate", b'{"q": "M\xfcnchen"}', "application/json"), 400, "UTF-8")
        self.assert_refused(self.server.request("/translate", b"q=%ff", "application/x-www-form-urlencoded"), 400, "UTF-8")
        self.assert_refused(self.server.request("/translate", b"Hallo", "text/plain"), 415, "JSON")
        self.assert_refused(self.server.request("/translate", b"{", "application/json"), 400, "not valid JSON")
        self.assert_refused(self.server.get("/translate"), 405, "POST")
        self.assert_refused(self.server.get("/nowhere"), 404, "/nowhere")

    def test_odd_texts_are_answered(self):
        for text in ("\u202eabc", "\x01\x02\x7f", "😀" * 50, "a\tb", "\ufeff", "\u2028x\u0085y", "字" * 300, "a\rb", "=" * 500):
            with self.subTest(text=text[:10]):
                reply = self.server.post("/translate", {"q": text})
                self.assertEqual(reply.status, 200, reply.body)
                self.assertEqual(reply.json()["translatedText"].count("\n"), 0)

    def test_what_libretranslate_says(self):
        """Its own error texts, and where it takes fields from."""
        post = self.server.post
        self.assertEqual(post("/translate", {"source": "de", "target": "en"}).json(),
                         {"error": "Invalid request: missing q parameter"})
        self.assertEqual(post("/translate", {"q": "Ja .", "source": "de", "target": "zz"}).json(),
                         {"error": "zz is not supported"})
        query = urllib.parse.urlencode({"q": self.sources[0], "source": "de", "target": "en"})
        self.assertEqual(self.server.request("/translate?" + query, b"").json(), {"translatedText": self.translations[0]})
        form = urllib.parse.urlencode({"q": f"{self.sources[0]}\r\n{self.sources[1]}", "source": "de", "target": "en"})
        self.assertEqual(self.server.request("/translate", form.encode(), "application/x-www-form-urlencoded").json(),
                         {"translatedText": "\n".join(self.translations[:2])}, "line ends of forms become \\n")

    def test_no_http(self):
        for nonsense in (b"\0\xff\r\n\r\n", b"GET\r\n\r\n", b"POST /translate HTTP/1.1\r\nContent-Length: x\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) as connection:
                connection.sendall(nonsense)
                self.assertTrue(connection.recv(100).startswith(b"HTTP/1.1 4"), nonsense)
        self.assertEqual(self.server.get("/health").status, 200)


class SeveralModels(Case):
    """The one model under several names: what is asked is which one answers."""

    def write(self, folder, text):
        path = os.path.join(folder, "service.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("MODEL", str(PROGRAMS.model.resolve())))
        return path

    TWO = "models:\n- directory: MODEL\n- {directory: MODEL, source: en, target: fr, decoding: {beam_size: 1}}\n"

    def test_pairs_and_pivots(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.write(folder, self.TWO + "pivots: [en]\nmemory: 1 GB\naliases: {ger: de}\n")
            with Server("--serve-config", path, model=None) as server:
                self.assertEqual({one["code"]: one["targets"] for one in server.get("/languages").json()},
                                 {"de": ["en", "fr"], "en": ["fr"], "fr": []})
                line = PROGRAMS.sources()[0]
                english, = offline([line])
                french, = offline([english], "--beam-size", "1")
                self.assertEqual(server.post("/translate", {"q": line}).json()["translatedText"], english)
                for source in ("de", "ger"):
                    fields = {"q": line, "source": source, "target": "fr"}
                    self.assertEqual(server.post("/translate", fields).json()["translatedText"], french)
                self.assert_refused(server.post("/translate", {"q": line, "source": "fr"}), 400, "not supported")

    def test_the_example_of_the_guide(self):
        guide = (SOURCE / "docs" / "serving.md").read_text(encoding="utf-8")
        example = guide.split("## Several models")[1].split("```yaml\n")[1].split("```")[0]
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "models"))
            for name in ("de-en", "en-fr-1", "en-fr-2"):
                os.symlink(PROGRAMS.model.resolve(), os.path.join(folder, "models", name))
            with open(os.path.join(folder, "terms.tsv"), "w", encoding="utf-8") as file:
                file.write("Ja\tYes\n")
            with Server("--serve-config", self.write(folder, example), model=None) as server:
                self.assertEqual({one["code"]: one["targets"] for one in server.get("/languages").json()},
                                 {"de": ["en", "fr"], "en": ["fr"], "fr": []})
                self.assertEqual(server.post("/translate", {"q": "Ja .", "source": "gsw", "target": "fra"}).status, 200)

    def test_an_alias_of_one_model(self):
        line = PROGRAMS.sources()[0]
        with Server("--alias", "gsw=de") as server:
            self.assertEqual(server.post("/translate", {"q": line, "source": "GSW"}).json()["translatedText"], *offline([line]))
            self.assert_refused(server.post("/translate", {"q": line, "source": "bar"}), 400, "bar is not supported")

    def test_a_hangup_reads_the_models_again(self):
        """No request is lost meanwhile, and a file that is wrong changes nothing."""
        with tempfile.TemporaryDirectory() as folder:
            path = self.write(folder, self.TWO)
            with Server("--serve-config", path, model=None) as server:
                lines = PROGRAMS.sources()[:20]
                expected = offline(lines)
                replies, ended = [], threading.Event()

                def ask(_):
                    while not ended.is_set():
                        replies.append(server.post("/translate", {"q": lines}))

                clients = Clients(ask, range(4))
                for text, languages, said in ((self.TWO + "pivots: [en]\n", 3, "read again"),
                                              ("models: [", 3, "stays as it was"),
                                              ("models: [{directory: MODEL}]\n", 2, "read again")):
                    self.write(folder, text)
                    before = server.said().count(said)
                    server.process.send_signal(signal.SIGHUP)
                    server.wait_until_said(said, before + 1)
                    self.assertEqual(len(server.get("/languages").json()), languages, text)
                ended.set()
                clients.join()
                self.assertEqual(len(server.get("/languages").json()), 2)
                code, errors = server.stop()
                self.assertEqual(code, 143)
                self.assertIn("not YAML", errors)
                self.assertIn("stays as it was", errors)
                self.assertGreater(len(replies), 4)
                for reply in replies:
                    self.assertEqual(reply.json(), {"translatedText": expected})

    def test_one_model_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, "model")
            shutil.copytree(PROGRAMS.model, model)
            with Server(model=model) as server:
                line = PROGRAMS.sources()[0]
                expected = server.post("/translate", {"q": line}).json()
                os.rename(model, model + ".old")
                server.process.send_signal(signal.SIGHUP)  # it is gone: the old one stays
                server.wait_until_said("no such model directory; all stays as it was")
                self.assertEqual(server.post("/translate", {"q": line}).json(), expected)
                os.rename(model + ".old", model)
                server.process.send_signal(signal.SIGHUP)
                server.wait_until_said("were read again")
                self.assertEqual(server.post("/translate", {"q": line}).json(), expected)


class Load(Case):
    CLIENTS = 64

    def test_nothing_is_lost_or_mixed_up(self):
        sources = sorted(set(PROGRAMS.sources()))
        expected = dict(zip(sources, offline(sources)))
        seconds = float(os.environ.get("NMT_LOAD_SECONDS", "60"))
        results = [[] for _ in range(self.CLIENTS)]  # of each client: (seconds, lines, right)
        with Server() as server:
            end = time.monotonic() + seconds

            def client(number):
                choose = random.Random(number)
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
                while time.monotonic() < end:
                    lines = choose.sample(sources, choose.choice((1, 1, 1, 2, 3)))
                    start = time.monotonic()
                    connection.request("POST", "/translate", json_body({"q": "\n".join(lines)}),
                                       {"Content-Type": "application/json"})
                    reply = connection.getresponse()
                    body = json.loads(reply.read())
                    right = reply.status == 200 and body == {"translatedText": "\n".join(map(expected.get, lines))}
                    results[number].append((time.monotonic() - start, len(lines), right))
                connection.close()

            Clients(client, range(self.CLIENTS)).join()
            metrics = server.metrics()
            self.assertEqual(server.stop()[0], 143)
        everything = [result for own in results for result in own]
        latencies = sorted(latency for latency, _, _ in everything)
        lines = sum(count for _, count, _ in everything)
        p50, p95, p99 = (latencies[int(len(latencies) * share)] * 1000 for share in (0.5, 0.95, 0.99))
        print(f"\n{self.CLIENTS} clients, {seconds:.0f} s: {len(latencies)} requests, {lines} lines, "
              f"{lines / seconds:.0f} lines/s; latency p50 {p50:.1f} ms, p95 {p95:.1f} ms, p99 {p99:.1f} ms; "
              f"{metrics['nmt_batch_lines_total'] / metrics['nmt_batches_total']:.1f} lines a batch", flush=True)
        self.assertTrue(all(results), "every client was served")
        self.assertEqual(sum(not right for _, _, right in everything), 0, "answers that are lost or another's")
        self.assertEqual(metrics["nmt_sentences_total"], lines)
        self.assertEqual(metrics["nmt_queue_lines"], 0)


def load_tests(loader, tests, pattern):
    """What runs when nothing is named: all but Load."""
    return unittest.TestSuite(case for case in tests if not any(isinstance(test, Load) for test in case))


if __name__ == "__main__":
    translate_support.main(__doc__)
