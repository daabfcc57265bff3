"""What a service of nmt-translate --serve does not let happen, with the small model of translate_support.py: limits, keys,
encryption, attacks, wrong arguments.

    serve_limits_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import warnings

import translate_support
from serve_support import Case, Server, json_body, offline
from translate_support import PATIENCE, PROGRAMS, run, translate


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
            self.assertEqual(server.post("/translate", {"q": lines + lines}).json(), {"translatedText": offline(lines + lines)})
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


    def test_characters(self):
        with Server("--max-characters", 100) as server:
            self.assertEqual(server.post("/translate", {"q": "ä" * 100}).status, 200)
            self.assert_refused(server.post("/translate", {"q": "ä" * 101}), 400, "request (101) exceeds text limit (100)")

    def test_a_file_of_keys(self):
        with tempfile.TemporaryDirectory() as folder:
            keys = os.path.join(folder, "keys")
            with open(keys, "w") as file:
                file.write("# key requests characters name\nfirst 2 - alice\nsecond\n")
            with Server("--api-keys", keys) as server:
                self.assert_refused(server.post("/translate", {"q": "Ja ."}), 403, "API key")
                for _ in range(2):
                    self.assertEqual(server.post("/translate", {"q": "Ja .", "api_key": "first"}).status, 200)
                refused = server.post("/translate", {"q": "Ja .", "api_key": "first"})
                self.assert_refused(refused, 429, "Slowdown")
                self.assertTrue(1 <= int(refused.headers["Retry-After"]) <= 30)
                for _ in range(5):
                    self.assertEqual(server.post("/translate", {"q": "Ja .", "api_key": "second"}).status, 200)

    def test_requests_of_an_address(self):
        with Server("--requests-per-minute", 2) as server:
            statuses = [server.post("/translate", {"q": "Ja ."}).status for _ in range(4)]
            self.assertEqual(statuses, [200, 200, 429, 429])
            self.assertEqual(server.get("/health").status, 200, "only what is translated counts")

    def test_names_of_a_local_address(self):
        with Server() as server:
            def ask(**headers):
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
                connection.request("POST", "/translate", json_body({"q": "Ja ."}), {"Content-Type": "application/json", **headers})
                return connection.getresponse().status
            self.assertEqual(ask(), 200)
            self.assertEqual(ask(Host="localhost"), 200)
            self.assertEqual(ask(Host="evil.example"), 421)
            self.assertEqual(ask(Origin="http://evil.example"), 403)
            self.assertEqual(ask(Origin=f"http://127.0.0.1:{server.port}"), 200)
        with Server("--allow-host", "box.lan", "--allow-origin", "https://a.example") as server:
            self.assertEqual(ask(Host="box.lan", Origin="https://a.example"), 200)


@unittest.skipUnless(shutil.which("openssl"), "no openssl to make a certificate with")
class Encryption(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.certificate, self.key = os.path.join(folder.name, "c.pem"), os.path.join(folder.name, "k.pem")
        self.make_certificate("first")

    def make_certificate(self, name):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", self.key, "-out", self.certificate], check=True, stderr=subprocess.DEVNULL)

    def connect(self, server, **options):
        context = ssl.create_default_context(cafile=self.certificate)
        for name, value in options.items():
            setattr(context, name, value)
        return http.client.HTTPSConnection("127.0.0.1", server.port, timeout=PATIENCE, context=context)

    def test_answers_over_https(self):
        lines = PROGRAMS.sources()[:3]
        expected = offline(lines)
        with Server("--tls-certificate", self.certificate, "--tls-key", self.key) as server:
            self.assertTrue(server.url.startswith("https://127.0.0.1:"))
            connection = self.connect(server)
            for line, translation in zip(lines, expected):
                connection.request("POST", "/translate", json_body({"q": line}), {"Content-Type": "application/json"})
                self.assertEqual(json.loads(connection.getresponse().read()), {"translatedText": translation})
            # A large body and answer take many records.
            connection.request("POST", "/translate", json_body({"q": ["Ja ."] * 900}), {"Content-Type": "application/json"})
            self.assertEqual(len(json.loads(connection.getresponse().read())["translatedText"]), 900)
            with self.assertRaises(ssl.SSLError), warnings.catch_warnings(action="ignore"):
                self.connect(server, maximum_version=ssl.TLSVersion.TLSv1_1).connect()
            # What is no TLS harms nobody, and nor does who stops in the middle of a handshake.
            for _ in range(20):
                with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as plain:
                    plain.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    self.assertFalse(plain.recv(100).startswith(b"HTTP"))
                socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE).close()
            connection.request("GET", "/health")
            self.assertEqual(connection.getresponse().status, 200)
            connection.close()
            self.assertEqual(server.stop()[0], 143)

    def test_files_that_do_not_fit(self):
        other = self.key + ".first"
        shutil.copy(self.key, other)
        self.make_certificate("second")
        for arguments, message in ((("--tls-certificate", self.certificate), "--tls-key"),
                                   (("--tls-certificate", self.certificate, "--tls-key", other), "key values mismatch"),
                                   (("--tls-certificate", "/nowhere", "--tls-key", self.key),
                                    "--tls-certificate /nowhere: cannot read (No such file or directory)"),
                                   (("--tls-certificate", self.certificate, "--tls-key", __file__), "private key")):
            done = translate("--serve", "0", *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr.decode())


class Attacks(Case):
    """What ended or stopped the server of version 0.1.0, each with one client, beside one that must be served."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--time-limit", 5)
        cls.addClassCleanup(cls.server.__exit__)
        cls.line = PROGRAMS.sources()[0]
        cls.translation = offline([cls.line])[0]

    def tearDown(self):
        self.assertEqual(self.server.post("/translate", {"q": self.line}).json(), {"translatedText": self.translation})

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE)
        self.addCleanup(connection.close)
        return connection

    def ask(self, *parts):
        """The status of what these bytes are answered with; 0 where the connection is closed without a word."""
        connection = self.connect()
        try:
            for part in parts:
                connection.sendall(part)
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            return int(connection.recv(4096).split(b" ")[1])
        except (IndexError, ConnectionResetError):
            return 0

    def memory(self):
        with open(f"/proc/{self.server.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024

    def test_b1_a_deep_tree(self):
        deep = b'{"q":"a","alternatives":' + b"[" * 400_000 + b"]" * 400_000 + b"}"
        self.assertEqual(self.server.request("/translate", deep, "application/json").status, 400)

    def test_b2_heads_without_end(self):
        before = self.memory()
        for part in (b"a" * 65536, b"a: b\r\n" * 10_000):
            head = b"GET /" if b":" not in part else b"GET / HTTP/1.1\r\n"
            self.assertIn(self.ask(head, *[part] * 500), (0, 431))
        self.assertLess(self.memory(), before + 20, "MB")

    def test_b3_what_regular_expressions_took_minutes_for(self):
        start = time.monotonic()
        for disposition in (b" " * 8000, b'form-data; name="' + b" " * 8000, b"; name=" * 1200):
            body = b"--X\r\n" + b"Content-Disposition: " + disposition + b"\r\n"
            body = body * 100 + b"\r\nab\r\n--X--"
            self.server.request("/translate", body, "multipart/form-data; boundary=X")
        for head in (b"Range: bytes=" + b"0-," * 2600, b"A: " + b"a" * 8000):
            self.assertEqual(self.ask(b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n"), 200)
        self.assertEqual(self.ask(b"POST /" + b"a" * 8000 + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"), 404)
        self.assertLess(time.monotonic() - start, 2)

    def test_b4_one_line_for_all(self):
        """A line that takes longer than the time limit ends with it, and so does its work."""
        with Server("--time-limit", 4, "--max-characters", 1_000_000) as server:
            self.assert_refused(server.post("/translate", {"q": "Ja . " * 190_000}), 504, "time limit")
            self.assertEqual(server.post("/translate", {"q": self.line}).status, 200)

    def test_b4_pictures(self):
        before = self.memory()
        reply = self.server.post("/explain", {"q": "Ja . " * 3000, "attention": True, "n_best": 3})
        self.assertIn(reply.status, (200, 504))
        self.assertLess(self.memory(), before + 200, "MB")

    def test_b5_half_requests(self):
        connections = [self.connect() for _ in range(400)]
        for connection in connections:
            connection.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        for _ in range(3):
            for connection in connections:
                connection.sendall(b" ")
            start = time.monotonic()
            for path in ("/health", "/metrics"):
                self.assertEqual(self.server.get(path).status, 200)
            self.assertEqual(self.server.post("/translate", {"q": self.line}).status, 200)
            self.assertLess(time.monotonic() - start, 2)

    def test_b5_stop(self):
        with Server() as server:
            connections = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(300)]
            for connection in connections:
                connection.sendall(b"POST /translate HTTP/1.1\r\nContent-Le")
            start = time.monotonic()
            self.assertEqual(server.stop()[0], 143)
            self.assertLess(time.monotonic() - start, 5)
            for connection in connections:
                connection.close()

    def test_b6_a_body_is_no_request(self):
        hidden = b"GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for method in (b"GET", b"OPTIONS", b"TRACE", b"DELETE", b"CONNECT"):
            connection = self.connect()
            connection.sendall(method + b" /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "
                               + str(len(hidden)).encode() + b"\r\n\r\n" + hidden)
            answers = b"".join(iter(lambda: connection.recv(65536), b""))
            self.assertEqual(answers.count(b"HTTP/1.1 "), 1, method)

    def test_b8_brackets(self):
        before = self.memory()
        for _ in range(20):
            self.assertEqual(self.server.request("/translate", b"[" * (1 << 20), "application/json").status, 400)
        self.assertLess(self.memory(), before + 20, "MB")

    def test_b9_an_empty_key(self):
        for arguments, environment in ((("--api-key", ""), {}), ((), {"NMT_API_KEY": ""})):
            with self.assertRaises(RuntimeError) as refused:
                Server(*arguments, environment=environment).__exit__()
            self.assertIn("empty", str(refused.exception))


class StartAndStop(Case):
    def refusal(self, *arguments):
        done = translate(*arguments)
        message = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout, message.count("\n")), (2, b"", 1), message)
        return message

    def test_wrong_arguments(self):
        self.assertIn("HOST:PORT", self.refusal("--serve", "nonsense"))
        self.assertIn("--text", self.refusal("--serve", "0", "--text", "Ja ."))
        self.assertIn("a service: --must has no effect on it", self.refusal("--serve", "0", "--must", "Ja"))
        self.assertIn("--serve", self.refusal("--queue", "3"))
        self.assertIn("--api-key: is for --serve", self.refusal("--api-key", "secret"))
        self.assertIn("--time-limit", self.refusal("--serve", "0", "--time-limit", "-1"))
        for arguments, message in (
                (("--time-limit", "0"), "--time-limit 0: give a number from 0.001"),
                (("--queue", "0"), "--queue 0: use 1 or more lines"),
                (("--connections", "0"), "--connections 0: use 1 or more"),
                (("--max-body", "0"), "--max-body 0: use 1 or more"),
                (("--max-file", "0"), "--max-file 0: use 1 or more"),
                (("--max-characters", "0"), "--max-characters 0: use 1 or more"),
                (("--requests-per-minute", "-1"), "--requests-per-minute -1: use 0"),
                (("--requests-per-minute", "9", "--api-key", "secret"), "--requests-per-minute: is of addresses"),
                (("--characters-per-minute", "9", "--api-key", "secret"), "the file of --api-keys"),
                (("--tls-certificate", "missing", "--tls-key", "missing"),
                 "--tls-certificate missing: cannot read (No such file"),
                (("--allow-origin", "foo"), "--allow-origin foo: is no origin"),
                (("--allow-origin", ""), "--allow-origin: is empty"),
                (("--allow-host", ""), "--allow-host '': is no name of a host"),
                (("--alias", "deu"), "--alias deu: a code, =,"),
                (("--alias", "xx=fr"), "--alias xx stands for fr, which no model translates"),
                (("--url-prefix", "mt"), "--url-prefix 'mt': is no path"),
                (("--alignment-layer", "9"), "decoding.alignment_layer 9"),
                (("--alignment-head", "9"), "decoding.alignment_head 9")):
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.refusal("--serve", "0", *arguments))

    def test_what_is_read_is_not_written_over(self):
        with tempfile.TemporaryDirectory() as folder:
            model, glossary = os.path.join(folder, "model"), os.path.join(folder, "glossary")
            shutil.copytree(PROGRAMS.model, model)
            config, description = os.path.join(folder, "service.yaml"), os.path.join(model, "model.json")
            for path, text in ((glossary, "Ja\tYes\n"), (config, "models: [{directory: model, glossary: glossary}]\n")):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            of_model = ("-m", model, "--serve", "0", "--glossary", glossary)
            of_config = ("--serve", "0", "--serve-config", config)
            for arguments, outputs in (
                    (of_model, ((glossary, "--glossary"), (description, "--model"))),
                    (of_config, ((glossary, "--serve-config"), (description, "--serve-config"), (config, "--serve-config")))):
                for path, option in outputs:
                    with open(path, "rb") as file:
                        before = file.read()
                    for output in ("--suggestions", "--access-log"):
                        with self.subTest(output=output, path=path, option=option):
                            done = run("nmt-translate", *arguments, output, path)
                            self.assertEqual((done.returncode, done.stdout), (2, b""))
                            self.assertIn(f"{output} {path}: is the same file as {option}", done.stderr.decode())
                            with open(path, "rb") as file:
                                self.assertEqual(file.read(), before)

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


if __name__ == "__main__":
    translate_support.main(__doc__)
