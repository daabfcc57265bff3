"""What one client can cost the others of nmt-translate --serve, with the small model of translate_support.py: time that
grows faster than what it sends, the threads and queues, the end of the service.

    serve_cost_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import http.client
import os
import subprocess
import tempfile
import threading
import time
import unittest

import translate_support
from serve_support import Case, Clients, Server, json_body
from translate_support import PATIENCE, PROGRAMS

MOST = 90_000  # characters, below --max-characters
GROWTH = 6  # the time of four times the text
LEAST = 0.1  # seconds of a processor that count as nothing
LATEST = 5  # seconds until a stranger is answered

NUMBERED = [f"w{i}" for i in range(MOST)]


def repeated(text, characters):
    return (text * (characters // len(text) + 1))[:characters]


def glossary(characters, line):
    """Terms of so many characters together, no two alike."""
    lines, size = [], 0
    for number in NUMBERED:
        lines.append(line.format(number))
        size += len(lines[-1]) + 1
        if size >= characters:
            return "\n".join(lines[:-1])


def translated(fields):
    return "/translate", fields


def explained(fields):
    return "/explain", fields


# Each field of each route, and what is likely to be compared with each other, for n characters.
REQUESTS = {
    "words": lambda n: translated({"q": repeated("Ja . ", n)}),
    "one word": lambda n: translated({"q": "a" * n}),
    "signs": lambda n: translated({"q": repeated("a!?", n)}),
    "lines": lambda n: translated({"q": "\n".join([repeated("Ja . ", n // 900)] * 900)}),
    "blank lines": lambda n: translated({"q": "Ja .\n" * 500 + "\n" * (n - 2500), "stream": True}),
    "a list": lambda n: translated({"q": [repeated("Ja . ", n // 900)] * 900}),
    "empty texts": lambda n: translated({"q": [""] * n}),
    "a language to find": lambda n: translated({"q": repeated("Ja . ", n), "source": "auto"}),
    "a source": lambda n: translated({"q": "Ja .", "source": "d" * n}),
    "a target": lambda n: translated({"q": "Ja .", "target": "e" * n}),
    "a format": lambda n: translated({"q": "Ja .", "format": "h" * n}),
    "a key": lambda n: translated({"q": "Ja .", "api_key": "k" * n}),
    "alternatives": lambda n: translated({"q": repeated("Ja . ", n), "alternatives": 2}),
    "a wrong number": lambda n: translated({"q": "Ja .", "alternatives": "1" * n}),
    "no field": lambda n: translated({"q": "Ja .", "other": "a" * n}),
    "many fields": lambda n: translated({"q": "Ja ."} | dict.fromkeys(NUMBERED[: n // 6], "1")),
    "markup": lambda n: translated({"q": repeated("<p>Ja .</p>", n), "format": "html"}),
    "placeholders": lambda n: translated({"q": repeated("Ja {a} . ", n), "keep_placeholders": True}),
    "brackets": lambda n: translated({"q": "Ja " + "(" * (n // 2) + "{a}" + ")" * (n // 2), "keep_placeholders": True}),
    "terms": lambda n: translated({"q": "Ja .", "glossary": glossary(n, "{0}\t{0}x")}),
    "terms of the text": lambda n: translated({"q": " ".join(NUMBERED[: n // 60]), "glossary": glossary(n // 3, "{0}\t{0}x")}),
    "a term that is found often": lambda n: translated({"q": repeated("a ", n // 2), "glossary": "a\tbb"}),
    "a long term": lambda n: translated({"q": "Ja .", "glossary": "a\t" + "b" * n}),
    "texts times terms": lambda n: translated({"q": repeated("a ", n), "glossary": "a\t" + "b" * 900}),
    "terms in markup": lambda n: translated({"q": repeated("<p>a</p>", n), "glossary": "a\t" + "b" * 900, "format": "html"}),
    "an explanation": lambda n: explained({"q": repeated("Ja . ", n), "alignment": True, "n_best": 3}),
    "pictures": lambda n: explained({"q": "\n".join([repeated("Ja . ", 900)] * (n // 900)), "attention": True}),
    "a prefix": lambda n: explained({"q": "Ja .", "prefix": repeated("a b c d ", n)}),
    "a prefix of one word": lambda n: explained({"q": "Ja .", "prefix": "a" * n}),
    "a prefix of many parts": lambda n: explained({"q": repeated("Ja . ", n // 2), "prefix": repeated("Yes . ", n // 2)}),
    "a prefix with placeholders": lambda n: explained(
        {"q": repeated("Ja {a} . ", n // 2), "prefix": repeated("{a} ", n // 2), "keep_placeholders": True}),
    "a prefix with other placeholders": lambda n: explained(
        {"q": " ".join("{" + number + "}" for number in NUMBERED[: n // 14]), "prefix": repeated("{w} ", n // 2),
         "keep_placeholders": True}),
    "detection": lambda n: ("/detect", {"q": repeated("Ja . ", n)}),
    "a suggestion": lambda n: ("/suggest", {"q": "Ja .", "s": "a" * n}),
}


class Client:
    """The client of an address of its own (127.0.0.N), on a connection that it keeps."""

    def __init__(self, server, number):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE,
                                                     source_address=(f"127.0.0.{number}", 0))

    def ask(self, path, fields):
        self.connection.request("POST", path, json_body(fields), {"Content-Type": "application/json"})
        reply = self.connection.getresponse()
        reply.read()
        return reply.status

    def send(self, path, fields):
        """Without waiting for the answer."""
        self.connection.request("POST", path, json_body(fields), {"Content-Type": "application/json"})

    def close(self):
        self.connection.close()


class Stranger:
    """Asks for a short text again and again; the longest time until an answer."""

    def __init__(self, server):
        self.client, self.longest, self.statuses = Client(server, 2), 0, set()
        self.is_over = threading.Event()
        self.clients = Clients(self.run, [1])

    def run(self, _):
        while not self.is_over.is_set():
            start = time.monotonic()
            self.statuses.add(self.client.ask("/translate", {"q": "Ja ."}))
            self.longest = max(self.longest, time.monotonic() - start)
            self.is_over.wait(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.clients.join()
        self.client.close()


def processor_seconds(server):
    with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Cost(Case):
    def seconds(self, server, path, fields):
        """The seconds of a processor: other programs use the machine, too."""
        before = processor_seconds(server)
        status = Client(server, 1).ask(path, fields)
        self.assertIn(status, (200, 400, 413), (path, status))
        return processor_seconds(server) - before

    def check_growth(self, server):
        for name, request in REQUESTS.items():
            with self.subTest(name):
                short = max(LEAST, self.seconds(server, *request(MOST // 4)))
                self.assertLessEqual(self.seconds(server, *request(MOST)), GROWTH * short, f"seconds; of a quarter {short}")

    def test_time_grows_with_the_text(self):
        with tempfile.TemporaryDirectory() as folder:
            with Server("--time-limit", PATIENCE, "--suggestions", os.path.join(folder, "suggestions")) as server:
                self.check_growth(server)
                with Stranger(server) as stranger:
                    for name, request in REQUESTS.items():
                        stranger.longest = 0
                        Client(server, 1).ask(*request(MOST))
                        self.assertLess(stranger.longest, LATEST, f"seconds of a short text beside {name}")
                self.assertEqual(stranger.statuses, {200})
                start = time.monotonic()
                Client(server, 1).send(*REQUESTS["words"](MOST))
                time.sleep(0.3)
                self.assertEqual(server.stop()[0], 143)
                self.assertLess(time.monotonic() - start, 6)

    def test_time_grows_with_the_text_of_sentences(self):
        with tempfile.TemporaryDirectory() as folder:
            with Server("--time-limit", PATIENCE, "--split-sentences", "--suggestions", os.path.join(folder, "s")) as server:
                self.check_growth(server)

    def test_who_has_left_costs_nothing(self):
        with Server("--time-limit", PATIENCE) as server:
            for name, request in REQUESTS.items():
                with self.subTest(name):
                    client = Client(server, 1)
                    client.send(*request(MOST))
                    time.sleep(0.1)
                    client.close()
                    time.sleep(2)
                    before = processor_seconds(server)
                    time.sleep(0.5)
                    self.assertLess(processor_seconds(server) - before, 0.1)

    def test_many_connections_of_one_client(self):
        """A stranger is answered while one client fills the threads and the queue."""
        for name in ("terms", "lines", "empty texts", "markup"):
            with self.subTest(name), Server() as server:
                is_over = threading.Event()
                body = REQUESTS[name](MOST)

                def attack(_):
                    client = Client(server, 1)
                    while not is_over.is_set():
                        client.ask(*body)
                    client.close()

                attackers = Clients(attack, range(24))
                with Stranger(server) as stranger:
                    time.sleep(4)
                is_over.set()
                attackers.join()
                self.assertEqual(stranger.statuses, {200})
                self.assertLess(stranger.longest, LATEST)


class Files(Case):
    def test_pipes_and_devices(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            of_glossary = os.path.join(folder, "service.yaml")
            with open(of_glossary, "w", encoding="utf-8") as file:
                file.write(f"models: [{{directory: {PROGRAMS.model}, glossary: pipe}}]\n")
            for arguments in (["-m", PROGRAMS.model, "--glossary", pipe], ["-m", PROGRAMS.model, "--access-log", pipe],
                              ["-m", PROGRAMS.model, "--suggestions", pipe], ["-m", PROGRAMS.model, "--api-keys", pipe],
                              ["-m", PROGRAMS.model, "--tls-certificate", pipe, "--tls-key", pipe],
                              ["-m", PROGRAMS.model, "--access-log", "/dev/full"],
                              ["--serve-config", pipe], ["--serve-config", of_glossary]):
                with self.subTest(arguments=arguments[-2:]):
                    done = subprocess.run([PROGRAMS.path("nmt-translate"), "--serve", "0", *map(str, arguments)],
                                          capture_output=True, text=True, timeout=PATIENCE, check=False)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn("is a pipe or device; put a regular file there", done.stderr)
                    self.assertEqual(done.stderr.count("\n"), 1)


@unittest.skipUnless(os.environ.get("NMT_TEST_FEW_THREADS"), "no library that limits the threads")
class FewThreads(Case):
    def test_a_start_that_gets_no_thread_ends_in_one_line(self):
        enough = 0
        for threads in range(40):
            environment = {**os.environ, "LD_PRELOAD": os.environ["NMT_TEST_FEW_THREADS"], "NMT_TEST_THREADS": str(threads)}
            command = [PROGRAMS.path("nmt-translate"), "-m", str(PROGRAMS.model), "--serve", "0", "--threads", "1"]
            with self.subTest(threads=threads), subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
                if process.stdout.readline():
                    enough += 1
                    process.terminate()
                    process.communicate(timeout=PATIENCE)
                    self.assertEqual(process.returncode, 143)
                    continue
                message = process.communicate(timeout=PATIENCE)[1]
                self.assertEqual((process.returncode, message.count("\n")), (1, 1), message)
                self.assertIn("no further thread", message)
            self.assertEqual(enough, 0, "fewer were enough")
        self.assertGreater(enough, 0)


if __name__ == "__main__":
    translate_support.main(__doc__)
