"""Runs nmt-translate --serve as users do, with the small model of translate_support.py.

    serve_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

The case Load (64 clients for a minute) runs only when it is named; NMT_LOAD_SECONDS changes how long. Python's standard
library only; the page is looked at in Chromium where there is one.
"""

import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import translate_support
from translate_support import PATIENCE, PROGRAMS, translate

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class Server:
    """A service of the model on a free port."""

    def __init__(self, *arguments, address="0", environment=None):
        command = [PROGRAMS.path("nmt-translate"), "-m", str(PROGRAMS.model), "--serve", address, *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(environment or {})})
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(self.process.communicate()[1])
        self.port = urllib.parse.urlparse(self.url).port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def stop(self, number=signal.SIGTERM):
        """Its exit code and what it said on standard error."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors

    def request(self, path, body=None, content_type=None, method=None):
        headers = {"Content-Type": content_type} if content_type else {}
        request = urllib.request.Request(self.url + path, data=body, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
                return Reply(reply.status, reply.headers, reply.read().decode())
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, error.headers, error.read().decode())

    def get(self, path):
        return self.request(path)

    def post(self, path, fields):
        return self.request(path, json.dumps(fields).encode(), "application/json")

    def metrics(self):
        lines = self.get("/metrics").body.splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


def offline(lines, *arguments):
    """What nmt-translate makes of the lines."""
    done = translate("-q", *arguments, text="".join(line + "\n" for line in lines))
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return done.stdout.decode().splitlines()


class Case(unittest.TestCase):
    maxDiff = 2000

    def assert_refused(self, reply, status, *parts):
        self.assertEqual(reply.status, status, reply.body)
        for part in parts:
            self.assertIn(part, reply.json()["error"])


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
        self.assertEqual(reply.json(), {"translatedText": self.translations[1]})

    def test_lines_stay_lines(self):
        text = f"\n{self.sources[0]}\r\n\n  \n{self.sources[1]}\n"
        expected = f"\n{self.translations[0]}\r\n\n\n{self.translations[1]}\n"
        self.assertEqual(self.server.post("/translate", {"q": text}).json(), {"translatedText": expected})
        for empty in ("", "   ", []):
            self.assertEqual(self.server.post("/translate", {"q": empty}).json(),
                             {"translatedText": empty if isinstance(empty, list) else ""})

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
        grown = {name: value - before.get(name, 0) for name, value in after.items()}
        self.assertEqual(grown['nmt_requests_total{route="/translate",status="200"}'], 1)
        self.assertEqual(grown['nmt_requests_total{route="/translate",status="400"}'], 1)
        self.assertEqual(grown["nmt_request_seconds_count"], 2)
        self.assertEqual(grown['nmt_request_seconds_bucket{le="+Inf"}'], 2)
        self.assertEqual(grown["nmt_sentences_total"], 3)
        self.assertGreaterEqual(grown["nmt_target_tokens_total"], 6)
        self.assertGreater(grown["nmt_batch_seconds_total"], 0)
        self.assertEqual(after["nmt_queue_lines"], 0)

    def test_refusals(self):
        post, some = self.server.post, self.sources[0]
        self.assert_refused(post("/translate", {}), 400, "q is missing")
        self.assert_refused(post("/translate", {"q": some, "source": "fr"}), 400, "'fr' is not supported", "de")
        self.assert_refused(post("/translate", {"q": some, "format": "html"}), 400, "html")
        self.assert_refused(post("/translate", {"q": "a\0b"}), 400, "NUL")
        self.assert_refused(post("/detect", {"q": some}), 404, "not detected")
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

    def test_no_http(self):
        for nonsense in (b"\0\xff\r\n\r\n", b"GET\r\n\r\n", b"POST /translate HTTP/1.1\r\nContent-Length: x\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) as connection:
                connection.sendall(nonsense)
                self.assertTrue(connection.recv(100).startswith(b"HTTP/1.1 4"), nonsense)
        self.assertEqual(self.server.get("/health").status, 200)


class Limits(Case):
    def test_bodies(self):
        with Server("--max-body", 1000) as server:
            self.assertEqual(server.post("/translate", {"q": "Ja . " * 100}).status, 200)
            self.assert_refused(server.post("/translate", {"q": "Ja . " * 300}), 413, "1000 bytes")

    def test_time(self):
        with Server("--time-limit", 0.001) as server:
            self.assert_refused(server.post("/translate", {"q": PROGRAMS.sources()[:50]}), 504, "time limit")
            self.assertEqual(server.get("/health").status, 200)

    def test_a_full_queue(self):
        lines = PROGRAMS.sources()[:4]
        expected = {"translatedText": offline(lines)}
        with Server("--queue", 4) as server:
            self.assert_refused(server.post("/translate", {"q": lines + lines}), 413, "at most 4")
            replies = []

            def client():
                for _ in range(10):
                    replies.append(server.post("/translate", {"q": lines}))

            clients = [threading.Thread(target=client) for _ in range(16)]
            for thread in clients:
                thread.start()
            for thread in clients:
                thread.join()
            statuses = {reply.status for reply in replies}
            self.assertEqual((len(replies), statuses), (160, {200, 503}))
            for reply in replies:
                if reply.status == 200:
                    self.assertEqual(reply.json(), expected)
                else:
                    self.assertEqual(reply.headers["Retry-After"], "1")
            self.assertEqual(server.post("/translate", {"q": lines}).json(), expected)

    def test_the_key(self):
        for arguments, environment in ((("--api-key", "secret"), {}), ((), {"NMT_API_KEY": "secret"})):
            with Server(*arguments, environment=environment) as server:
                self.assert_refused(server.post("/translate", {"q": "Ja ."}), 403, "API key")
                self.assert_refused(server.post("/explain", {"q": "Ja .", "api_key": "wrong"}), 403, "not valid")
                self.assertEqual(server.post("/translate", {"q": "Ja .", "api_key": "secret"}).status, 200)
                self.assertEqual(server.get("/health").status, 200)


class StartAndStop(Case):
    def refusal(self, *arguments):
        done = translate(*arguments)
        message = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout, message.count("\n")), (2, b"", 1), message)
        return message

    def test_wrong_arguments(self):
        self.assertIn("HOST:PORT", self.refusal("--serve", "nonsense"))
        self.assertIn("--text", self.refusal("--serve", "0", "--text", "Ja ."))
        self.assertIn("--serve", self.refusal("--queue", "3"))
        self.assertIn("--time-limit", self.refusal("--serve", "0", "--time-limit", "-1"))
        self.assertIn("0 lines", self.refusal("--serve", "0", "--queue", "0"))

    def test_a_port_in_use(self):
        with Server() as server:
            self.assertIn("Address already in use", self.refusal("--serve", str(server.port)))
            self.assertEqual(server.get("/health").status, 200)

    def test_from_this_machine_only(self):
        with Server() as server:
            self.assertTrue(server.url.startswith("http://127.0.0.1:"))
            self.assertNotIn("everybody", server.stop()[1])
        with Server(address="0.0.0.0:0") as server:
            self.assertEqual(server.get("/health").status, 200)
            self.assertIn("everybody", server.stop()[1])

    def test_exit_codes(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            with Server() as server:
                self.assertEqual(server.stop(number)[0], code)

    def test_requests_in_flight_are_answered(self):
        lines = (PROGRAMS.sources() * 4)[:1000]
        with Server("--time-limit", PATIENCE) as server:
            replies = []
            client = threading.Thread(target=lambda: replies.append(server.post("/translate", {"q": lines})))
            client.start()
            while server.metrics()["nmt_queue_lines"] == 0 and client.is_alive():
                time.sleep(0.001)
            code, _ = server.stop()
            client.join()
        self.assertEqual(code, 143)
        self.assertEqual([reply.status for reply in replies], [200])
        self.assertEqual(len(replies[0].json()["translatedText"]), len(lines))


class Page(Case):
    def browse(self, *arguments):
        browser = next(filter(shutil.which, BROWSERS), None)
        if browser is None:
            self.skipTest(f"no browser: none of {', '.join(BROWSERS)} is installed")
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                                   f"--user-data-dir={profile}", "--virtual-time-budget=20000", *arguments],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0)
        return done.stdout.decode()

    def test_translates_in_a_browser(self):
        lines = PROGRAMS.sources()[:2]
        n_best = [line.split("\t")[-1] for line in offline(lines, "--n-best", "3")]
        with Server() as server:
            dom = self.browse("--dump-dom", server.url + "/#" + urllib.parse.quote("\n".join(lines)))
            self.assertIn("German → English", dom)
            translation = re.search(r'<div id="translation"[^>]*>(.*?)</div>', dom, re.DOTALL).group(1)
            self.assertEqual(translation, f"{n_best[0]}\n{n_best[3]}")
            self.assertEqual(re.findall(r'<td class="text">(.*?)</td>', dom), n_best)
            self.assertEqual(dom.count('<img alt="attention'), 2)
            self.assertIn("2 lines in ", dom)

    def test_text_is_never_markup(self):
        with Server() as server:
            dom = self.browse("--dump-dom", server.url + "/#" + urllib.parse.quote("<img src=x onerror=alert(1)> Ja ."))
            self.assertNotIn("<img src=x", dom)
            self.assertIn("&lt;img src=x", dom)

    def test_says_what_is_wrong(self):
        with Server("--api-key", "secret") as server:
            dom = self.browse("--dump-dom", server.url + "/#Ja%20.")
            self.assertIn('class="error">this server wants an API key', dom)

    def test_screenshots(self):
        """Pictures to look at stay in the work folder: page.png and page-phone.png."""
        with Server() as server:
            for name, size in (("page", "1200,1500"), ("page-phone", "500,1800")):
                picture = PROGRAMS.work / f"{name}.png"
                picture.unlink(missing_ok=True)
                address = server.url + "/#" + urllib.parse.quote("\n".join(PROGRAMS.sources()[:2]))
                self.browse(f"--window-size={size}", f"--screenshot={picture}", address)
                self.assertGreater(picture.stat().st_size, 20_000, "not an empty page")


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
                    connection.request("POST", "/translate", json.dumps({"q": "\n".join(lines)}),
                                       {"Content-Type": "application/json"})
                    reply = connection.getresponse()
                    body = json.loads(reply.read())
                    right = reply.status == 200 and body == {"translatedText": "\n".join(map(expected.get, lines))}
                    results[number].append((time.monotonic() - start, len(lines), right))
                connection.close()

            clients = [threading.Thread(target=client, args=(number,)) for number in range(self.CLIENTS)]
            for thread in clients:
                thread.start()
            for thread in clients:
                thread.join()
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
    """What runs when nothing is named."""
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (Routes, Limits, StartAndStop, Page))


if __name__ == "__main__":
    translate_support.main(__doc__)
