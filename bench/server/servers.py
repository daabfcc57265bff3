"""The servers of compare.py: each on a free port of this machine, with its log in a file, ended whatever happens."""

import ctypes
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOST = "127.0.0.1"
START_LIMIT = 180  # seconds until a server is ready
ANSWER_LIMIT = 300  # seconds of a single request: LibreTranslate takes long for a page on a slow machine
SETTLE_LIMIT = 300  # seconds in which a server works off what the last load has left behind
PR_SET_PDEATHSIG = 1
LOG_TAIL = 20  # lines


class Failure(Exception):
    """What ends the comparison, in words for its user."""


def free_port():
    with socket.socket() as found:
        found.bind((HOST, 0))
        return found.getsockname()[1]


def die_with_parent():
    """In the new process, before it is the server: so that it ends even where compare.py is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Server:
    def __init__(self, name, command, ready_path, work, environment=None):
        """command: without the port; {port} in it is replaced."""
        self.name, self.ready_path = name, ready_path
        self.port = free_port()
        self.url = f"http://{HOST}:{self.port}/translate"
        self.source = self.target = None
        folder = work / name.replace(" ", "_").replace("/", "_")
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "log.txt"
        with self.log.open("wb") as log:
            # A session of its own: Ctrl-C reaches compare.py alone, which then ends the servers.
            self.process = subprocess.Popen([str(part).replace("{port}", str(self.port)) for part in command],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=folder,
                                            env=environment, start_new_session=True, preexec_fn=die_with_parent)

    def __enter__(self):
        try:
            self.wait_until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                pass
            finally:
                self.process.kill()
                self.process.wait()

    def failure(self, what):
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_TAIL:]
        return Failure("\n".join([f"{self.name}: {what}; the end of its log:", *(f"    {line}" for line in lines)]))

    def check_alive(self):
        code = self.process.poll()
        if code is not None:
            raise self.failure(f"it ended with exit code {code}")

    def request(self, method, path, fields=None):
        """The JSON of the answer."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=ANSWER_LIMIT)
        try:
            body = None if fields is None else json.dumps(fields)
            connection.request(method, path, body, {} if body is None else {"Content-Type": "application/json"})
            reply = connection.getresponse()
            text = reply.read().decode()
        finally:
            connection.close()
        if reply.status != 200:
            raise self.failure(f"{method} {path}: status {reply.status}: {text[:200]}")
        return json.loads(text)

    def wait_until_ready(self):
        end = time.monotonic() + START_LIMIT
        while True:
            self.check_alive()
            try:
                self.request("GET", self.ready_path)
                return
            except (OSError, http.client.HTTPException):
                if time.monotonic() > end:
                    raise self.failure(f"not ready after {START_LIMIT} s") from None
                time.sleep(0.1)

    def translate(self, text, text_format="text"):
        try:
            return self.request("POST", "/translate", self.body(text, text_format))["translatedText"]
        except (OSError, http.client.HTTPException) as error:
            self.check_alive()
            raise self.failure(f"no answer: {error}") from None

    def body(self, text, text_format):
        return {"q": text, "source": self.source, "target": self.target, "format": text_format}

    def processor_seconds(self):
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            self.check_alive()
            raise
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def settle(self):
        """Waits until the server is idle: it may continue with requests whose clients have left, at the next one's cost."""
        end = time.monotonic() + SETTLE_LIMIT
        while time.monotonic() < end:
            self.check_alive()
            before = self.processor_seconds()
            time.sleep(0.5)
            if self.processor_seconds() - before <= 0.03:
                return
        raise self.failure(f"still busy {SETTLE_LIMIT} s after the load")


def our_server(name, programs, options, work):
    server = Server(name, [programs / "nmt-translate", *options, "--serve", f"{HOST}:{{port}}"], "/health", work)
    return server


def languages_of(server):
    """(source, target) of a server of ours with one model."""
    pairs = [(language["code"], target) for language in server.request("GET", "/languages")
             for target in language["targets"]]
    if len(pairs) != 1:
        raise Failure(f"the model has to say its one pair of languages; it has {pairs}")
    return pairs[0]


def make_packages(folder, exported, source, target):
    """LibreTranslate's packages of one model. With fewer than two it asks the network for more: so the other direction
    gets the same model, which is not loaded, since nobody asks for it."""
    for one, other in ((source, target), (target, source)):
        package = folder / f"translate-{one}_{other}-1_0"
        package.mkdir(parents=True)
        (package / "model").symlink_to(exported.resolve(), target_is_directory=True)
        shutil.copy(exported / "source.spm", package / "sentencepiece.model")
        description = {"package_version": "1.0", "argos_version": "1.9", "from_code": one, "from_name": one,
                       "to_code": other, "to_name": other}
        (package / "metadata.json").write_text(json.dumps(description))


def libretranslate(name, python, packages, languages, workers, threads, beam_size, work):
    """Without its limits, its pages and its cache of answers (--translation-cache, which is off by default)."""
    data = work / "libretranslate_data"
    # Settings of the user would change what is measured.
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("LT_", "ARGOS_"))}
    environment |= {"ARGOS_PACKAGES_DIR": str(packages), "ARGOS_INTER_THREADS": str(workers),
                    "ARGOS_INTRA_THREADS": str(threads), "ARGOS_BEAM_SIZE": str(beam_size),
                    "XDG_DATA_HOME": str(data), "XDG_CACHE_HOME": str(data), "XDG_CONFIG_HOME": str(data),
                    "PYTHONUNBUFFERED": "1"}
    command = [python, HERE / "run_libretranslate.py", "--host", HOST, "--port", "{port}",
               "--load-only", ",".join(languages), "--threads", 8, "--batch-limit", -1, "--req-limit", -1,
               "--char-limit", -1, "--disable-web-ui", "--disable-files-translation"]
    return Server(name, command, "/languages", work, environment)
