"""nmt-translate --serve among clients that go wrong: no answer is wrong or lost, memory stays, and the others hardly wait longer.

    serve_soak_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

First 16 good clients are alone; then 64 clients with faults of their own join them (slow, cut, malformed, huge, deaf), for an hour
in all; NMT_SOAK_SECONDS changes that. Good clients ask a sentence, wait for the answer, and ask again after a moment.
"""

import http.client
import io
import itertools
import json
import os
import pathlib
import random
import socket
import statistics
import sys
import threading
import time
import zipfile

from serve_support import Server, json_body, offline
from translate_memory_test import megabytes
from translate_support import PATIENCE, PROGRAMS, Case, main

DOCUMENTS = pathlib.Path(__file__).resolve().parents[2] / "interfaces/documents/fixtures"  # written by other programs
SECONDS = float(os.environ.get("NMT_SOAK_SECONDS", 3600))
ALONE = min(120.0, SECONDS / 4)  # seconds without faults, for comparison
GOOD_CLIENTS, FAULTY_CLIENTS = 16, 64
PAUSE = 0.2  # seconds between two questions of a client, at most twice that
GROWTH = 1.02  # memory of the last third of the time with faults, beside the third before it
SLOWER = 5  # times as long as undisturbed: 99 % of the answers
LEAST_COMPARED = 0.05  # seconds: what is quicker than this is quick enough, however quick it was alone


def head(length, path="/translate", kind="application/json"):
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n").encode()


def zip_bomb():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", b"<Types/>")
        archive.writestr("word/document.xml", b"<a>" + b" " * 40_000_000 + b"</a>")
    return file.getvalue()


def form_with_file(name, content):
    parts = [b"--X\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n" % field
             for field in ((b"source", b"de"), (b"target", b"en"))]
    parts.append(b"--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\n%s\r\n--X--\r\n"
                 % (name, content))
    return b"".join(parts)


class Faults:
    """What a client can do wrong, each a function of (connection, random numbers)."""

    def __init__(self, sources, deadline):
        self.sources, self.deadline = sources, deadline
        self.bomb = form_with_file(b"a.docx", zip_bomb())
        self.documents_of_programs = [(path.name.encode(), path.read_bytes()) for path in sorted(DOCUMENTS.glob("*/*"))]
        self.kinds = [self.slow_head, self.slow_body, self.cut_head, self.cut_body, self.gone_before_the_answer, self.noise,
                      self.wrong_json, self.wrong_utf8, self.wrong_length, self.huge_body, self.huge_head, self.huge_length,
                      self.long_text, self.many_lines, self.deep_json, self.deep_html, self.bombs, self.documents,
                      self.spoiled_documents, self.deaf, self.pipeline, self.chunks, self.idle]

    def body(self, choose, **fields):
        return json_body({"q": choose.choice(self.sources)} | fields)

    def dribble(self, connection, data, seconds):
        """Sends it in pieces, over so long a time."""
        end = min(time.monotonic() + seconds, self.deadline)
        for byte in data:
            if time.monotonic() > end:
                return
            connection.sendall(bytes([byte]))
            time.sleep(0.05)

    def slow_head(self, connection, choose):
        self.dribble(connection, head(10) * 100, 20)

    def slow_body(self, connection, choose):
        body = self.body(choose)
        connection.sendall(head(len(body)))
        self.dribble(connection, body, choose.choice((1, 20)))
        connection.settimeout(1)
        connection.recv(4096)

    def cut_head(self, connection, choose):
        connection.sendall(head(100)[:choose.randrange(1, 60)])

    def cut_body(self, connection, choose):
        body = self.body(choose)
        connection.sendall(head(len(body)) + body[:choose.randrange(len(body))])

    def gone_before_the_answer(self, connection, choose):
        body = json_body({"q": [choose.choice(self.sources) for _ in range(50)]})
        connection.sendall(head(len(body)) + body)

    def noise(self, connection, choose):
        connection.sendall(choose.randbytes(choose.randrange(1, 5000)))
        connection.recv(4096)

    def wrong_json(self, connection, choose):
        body = bytearray(self.body(choose))
        for _ in range(3):
            body[choose.randrange(len(body))] = choose.randrange(256)
        connection.sendall(head(len(body)) + body)
        connection.recv(4096)

    def wrong_utf8(self, connection, choose):
        body = b'{"q":"\xff\xc0\x80 \xed\xa0\x80\\u0000","source":"de","target":"en"}'
        connection.sendall(head(len(body)) + body)
        connection.recv(4096)

    def wrong_length(self, connection, choose):
        body = self.body(choose)
        connection.sendall(head(choose.choice(("-1", "1e3", len(body) - 5, "5, 6", "99999999999999999999"))) + body)
        connection.recv(4096)

    def huge_body(self, connection, choose):
        connection.sendall(head(5_000_000))
        for _ in range(5):
            connection.sendall(b"a" * 1_000_000)

    def huge_head(self, connection, choose):
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 20_000)
        connection.recv(4096)

    def huge_length(self, connection, choose):
        connection.sendall(head(1 << 40))
        connection.recv(4096)

    def long_text(self, connection, choose):
        body = json_body({"q": "wort " * choose.choice((2000, 30_000))})
        connection.sendall(head(len(body)) + body)
        connection.settimeout(choose.choice((0.1, 2)))
        connection.recv(4096)

    def many_lines(self, connection, choose):
        body = json_body({"q": "ja\n" * choose.choice((500, 5000))})
        connection.sendall(head(len(body)) + body)
        connection.settimeout(choose.choice((0.1, 2)))
        connection.recv(4096)

    def deep_json(self, connection, choose):
        body = b'{"q":' + b"[" * 300_000 + b"}"
        connection.sendall(head(len(body)) + body)
        connection.recv(4096)

    def deep_html(self, connection, choose):
        body = json_body({"q": "<b>" * 20_000 + "wort", "format": "html"})
        connection.sendall(head(len(body)) + body)
        connection.settimeout(2)
        connection.recv(4096)

    def bombs(self, connection, choose):
        connection.sendall(head(len(self.bomb), "/translate_file", "multipart/form-data; boundary=X") + self.bomb)
        connection.recv(4096)

    def send_document(self, connection, name, content):
        body = form_with_file(name, content)
        connection.sendall(head(len(body), "/translate_file", "multipart/form-data; boundary=X") + body)
        connection.recv(4096)

    def documents(self, connection, choose):
        self.send_document(connection, *choose.choice(self.documents_of_programs))

    def spoiled_documents(self, connection, choose):
        name, content = choose.choice(self.documents_of_programs)
        content = bytearray(content[:choose.randrange(len(content) // 2, len(content))])
        for _ in range(3):
            content[choose.randrange(len(content))] = choose.randrange(256)
        self.send_document(connection, name, bytes(content))

    def deaf(self, connection, choose):
        """Asks again and again and reads no answer."""
        connection.settimeout(2)
        for _ in range(2000):
            connection.sendall(b"GET /spec HTTP/1.1\r\nHost: localhost\r\n\r\n")

    def pipeline(self, connection, choose):
        body = self.body(choose)
        connection.sendall((head(len(body)) + body) * 5)

    def chunks(self, connection, choose):
        connection.sendall(head(5).replace(b"Content-Length: 5", b"Transfer-Encoding: chunked") + b"ffffffffffffffff1\r\naaaa")
        connection.recv(4096)

    def idle(self, connection, choose):
        time.sleep(min(20, max(0, self.deadline - time.monotonic())))


class AmongFaults(Case):
    def setUp(self):
        self.sources = sorted(set(PROGRAMS.sources()))[:200]
        self.expected = dict(zip(self.sources, offline(self.sources)))
        self.failures = []
        self.latencies = {"alone": [], "with faults": []}
        self.counts = {}

    def fill_download_store(self, port):
        """What is kept for a client to fetch is limited, to 64 MiB: once that is reached, memory comes to rest."""
        body = form_with_file(b"a.txt", b"7 7 7 7\n" * 120_000)
        for _ in range(75):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            connection.request("POST", "/translate_file", body, {"Content-Type": "multipart/form-data; boundary=X"})
            reply = connection.getresponse()
            self.assertEqual((reply.status, len(reply.read()) > 0), (200, True))
            connection.close()

    def good_client(self, number, port, faults_begin, end):
        choose = random.Random(number)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        while time.monotonic() < end:
            source = choose.choice(self.sources)
            start = time.monotonic()
            try:
                connection.request("POST", "/translate", json_body({"q": source}), {"Content-Type": "application/json"})
                reply = connection.getresponse()
                body = json.loads(reply.read())
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.failures.append(f"client {number}: {error!r}")
                connection.close()
                continue
            if reply.status != 200 or body != {"translatedText": self.expected[source]}:
                self.failures.append(f"client {number}: {reply.status} {body}")
            if start + 1 < faults_begin or start > faults_begin:
                self.latencies["alone" if start < faults_begin else "with faults"].append(time.monotonic() - start)
            time.sleep(choose.uniform(0, 2 * PAUSE))
        connection.close()

    def faulty_client(self, number, port, faults, end):
        choose = random.Random(1000 + number)
        for kind in itertools.cycle(choose.sample(faults.kinds, len(faults.kinds))):
            if time.monotonic() > end:
                return
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                    kind(connection, choose)
            except OSError:
                pass  # that is what it asked for
            self.counts[kind.__name__] = self.counts.get(kind.__name__, 0) + 1
            time.sleep(choose.uniform(0, 2 * PAUSE))

    def test_the_others_are_served(self):
        sizes = []  # resident memory, once a second
        with Server("--time-limit", 10) as server:
            self.fill_download_store(server.port)
            begin = time.monotonic()
            faults_begin, end = begin + ALONE, begin + SECONDS
            faults = Faults(self.sources, end)
            clients = [threading.Thread(target=self.good_client, args=(number, server.port, faults_begin, end))
                       for number in range(GOOD_CLIENTS)]
            faulty = [threading.Thread(target=self.faulty_client, args=(number, server.port, faults, end))
                      for number in range(FAULTY_CLIENTS)]
            for thread in clients:
                thread.start()
            time.sleep(ALONE)
            for thread in faulty:
                thread.start()
            while time.monotonic() < end:
                sizes.append(megabytes(server.process.pid, "VmRSS"))
                time.sleep(1)
            for thread in clients + faulty:
                thread.join()
            start = time.monotonic()
            code, log = server.stop()
            self.assertEqual(code, 143, log[-2000:])
            self.assertLess(time.monotonic() - start, 5)
        self.report(sizes)
        self.assertEqual(self.failures, [])
        self.assertEqual(len(self.counts), len(faults.kinds), "every kind of fault came up")
        alone, disturbed = (self.percentile(name, 0.99) for name in ("alone", "with faults"))
        self.assertLess(disturbed, SLOWER * max(alone, LEAST_COMPARED))
        third = len(sizes) // 3
        self.assertLess(statistics.median(sizes[2 * third:]), GROWTH * statistics.median(sizes[third:2 * third]))

    def percentile(self, name, share):
        ordered = sorted(self.latencies[name])
        return ordered[int(len(ordered) * share)]

    def report(self, sizes):
        tenth = max(1, len(sizes) // 10)
        print(f"\n{SECONDS:.0f} s, faults: {sum(self.counts.values())} ({dict(sorted(self.counts.items()))})", file=sys.stderr)
        for name, own in self.latencies.items():
            print(f"{name}: {len(own)} answers, median {1e3 * self.percentile(name, 0.5):.1f} ms, "
                  f"99 % {1e3 * self.percentile(name, 0.99):.1f} ms", file=sys.stderr)
        medians = [f"{statistics.median(sizes[i:i + tenth]):.1f}" for i in range(0, len(sizes) - tenth + 1, tenth)]
        print(f"resident MB, median of each tenth: {', '.join(medians)}; failures {len(self.failures)}", file=sys.stderr)


if __name__ == "__main__":
    main(__doc__)
