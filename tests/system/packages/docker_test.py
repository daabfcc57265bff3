"""packaging/docker: the health check against servers of its own, and hadolint where it is installed.

    docker_test.py --build BUILD_FOLDER
"""

import argparse
import http.server
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "packaging" / "docker"


class Answer(http.server.BaseHTTPRequestHandler):
    status = 200

    def do_GET(self):
        self.send_response(self.status if self.path == "/health" else 404)
        self.end_headers()
        self.wfile.write(b'{"status":"ok"}')

    def log_message(self, *_):
        pass


class Docker(unittest.TestCase):
    def health(self, port):
        return subprocess.run([str(FOLDER / "health")], env={"PATH": os.environ["PATH"], "HEALTH_PORT": str(port)},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20).returncode

    def test_the_health_check_is_what_the_service_says(self):
        for status, code in ((200, 0), (503, 1)):
            handler = type("Handler", (Answer,), {"status": status})
            with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
                threading.Thread(target=server.serve_forever, daemon=True).start()
                self.assertEqual(self.health(server.server_address[1]), code)
                server.shutdown()

    def test_a_service_that_is_not_there_or_does_not_answer_is_not_healthy(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            port = silent.getsockname()[1]
            self.assertNotEqual(self.health(port), 0)
            silent.listen()
            self.assertNotEqual(self.health(port), 0)

    def test_hadolint_finds_nothing(self):
        beside = pathlib.Path(os.environ.get("NMT_DEV_PYTHON", "/nowhere/python")).with_name("hadolint")  # scripts/dev_python.sh
        hadolint = str(beside) if beside.exists() else shutil.which("hadolint")
        if not hadolint:
            self.skipTest("no hadolint: scripts/dev_python.sh installs it")
        done = subprocess.run([hadolint, str(FOLDER / "Dockerfile")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    _, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
