"""The service of nmt-translate --serve, as the tests start and ask it."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from translate_support import PATIENCE, PROGRAMS, translate


def json_body(fields):
    """A request's, from German into English where the fields say nothing else."""
    return json.dumps({"source": "de", "target": "en"} | fields).encode()


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class Server:
    """A service of the model on a free port."""

    def __init__(self, *arguments, address="0", environment=None, model=PROGRAMS):
        models = [] if model is None else ["-m", str(PROGRAMS.model if model is PROGRAMS else model)]
        command = [PROGRAMS.path("nmt-translate"), *models, "--serve", address, *map(str, arguments)]
        self.log = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env={**os.environ, **(environment or {})})
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            self.process.communicate()
            raise RuntimeError(self.said())
        self.port = urllib.parse.urlparse(self.url).port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        self.log.close()

    def said(self):
        """What stands on standard error so far."""
        return os.pread(self.log.fileno(), 1 << 24, 0).decode()

    def wait_until_said(self, text, times=1):
        deadline = time.monotonic() + PATIENCE
        while self.said().count(text) < times:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the service did not say {text!r}: {self.said()}")
            time.sleep(0.02)

    def stop(self, number=signal.SIGTERM):
        """Its exit code and what it said on standard error."""
        self.process.send_signal(number)
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, self.said()

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
        return self.request(path, json_body(fields), "application/json")

    def metrics(self):
        lines = self.get("/metrics").body.splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


class Clients:
    """Threads that ask at the same time; what one of them raises is raised when all have ended."""

    def __init__(self, work, numbers):
        self.errors = []
        self.threads = [threading.Thread(target=self.run, args=(work, number)) for number in numbers]
        for thread in self.threads:
            thread.start()

    def run(self, work, number):
        try:
            work(number)
        except Exception as error:  # whatever it is, the test has to fail
            self.errors.append(error)

    def join(self):
        for thread in self.threads:
            thread.join()
        if self.errors:
            raise self.errors[0]


def offline(lines, *arguments, split=True):
    """What nmt-translate makes of the lines, sentence by sentence as the service does."""
    done = translate("-q", *(["--split-sentences"] if split else []), *arguments, text="".join(line + "\n" for line in lines))
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return done.stdout.decode().splitlines()


class Case(unittest.TestCase):
    maxDiff = 2000

    def assert_refused(self, reply, status, *parts):
        self.assertEqual(reply.status, status, reply.body)
        for part in parts:
            self.assertIn(part, reply.json()["error"])
