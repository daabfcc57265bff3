"""Downloads of the scripts of public corpora, from a server of the test: addresses that fail, checksums, what is kept."""

import functools
import hashlib
import http.client
import http.server
import os
import ssl
import subprocess
import sys
import threading
import time
import unittest
from unittest import mock

import support
from support import layout_one, lines, tar_bytes

import fetch


class Answers(http.server.BaseHTTPRequestHandler):
    """Serves `body`; /short breaks off in the middle, /other is `other`, /hops leads to /hop and that to /a.tgz; other paths
    are not found."""

    body = b""
    other = b""
    asked = []
    hold = threading.Event()  # /held ends with it
    holds = False

    def do_GET(self):
        self.asked.append(self.path)
        if self.path == "/held":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            type(self).holds = True
            self.hold.wait(60)
            return
        if self.path in ("/hops", "/hop"):
            self.send_response(302)
            self.send_header("Location", "/hop" if self.path == "/hops" else "/a.tgz")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        found = self.path in ("/a.tgz", "/short", "/other")
        body = self.other if self.path == "/other" else self.body
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(body) if found else 0))
        self.end_headers()
        if found:
            self.wfile.write(body[: 20 if self.path == "/short" else None])

    def log_message(self, *arguments):
        pass


class DownloadTest(support.FolderTest):
    """Downloads from a server of this test."""

    def setUp(self):
        super().setUp()
        Answers.body, Answers.asked = tar_bytes({"x/a.de": "eins\n"}), []
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        no_proxy = mock.patch.dict(os.environ, {"no_proxy": "127.0.0.1"})
        no_proxy.start()
        self.addCleanup(no_proxy.stop)
        self.address = f"http://127.0.0.1:{server.server_address[1]}"

    def run_fetch(self, *paths, md5="", sha256="", out="out", text=None, source=None):
        urls = tuple(self.address + path for path in paths)
        corpus = fetch.Corpus("tiny", "about", (fetch.Archive(urls, "a.tgz", md5=md5, sha256=sha256),), ("a.de",),
                              layout_one, sha256=text or {})
        given = ["--from", str(source)] if source else []
        return self.run_main(functools.partial(fetch.main, corpus),
                             ["--out", str(self.folder / out), "--cache", str(self.folder / "cache"), *given])

    @property
    def cached(self):
        return self.folder / "cache" / "tiny" / "a.tgz"

    def test_download_is_kept_recorded_and_used_again(self):
        code, _, err = self.run_fetch("/missing", "/a.tgz")
        self.assertEqual(code, 0, err)
        self.assertEqual(lines(self.folder / "out" / "a.de"), ["eins"])
        sha256 = hashlib.sha256(Answers.body).hexdigest()
        self.assertIn(sha256, err)
        self.assertIn(sha256, self.cached.with_name("a.tgz.sha256").read_text())
        code, out, _ = self.run_fetch("/a.tgz")
        self.assertEqual(code, 0)
        self.assertIn("already in place, nothing to do", out)
        code, _, _ = self.run_fetch("/a.tgz", out="second")
        self.assertEqual(code, 0)
        self.assertEqual(Answers.asked, ["/missing", "/a.tgz"])

    def test_a_download_that_is_not_the_corpus_is_not_kept(self):
        good = Answers.body
        for body, text, why in ((b"<html>Please log in</html>\n" * 50, None, "not a sound archive"),
                                (tar_bytes({"x/b.de": "eins\n"}), None, "no file 'a.de' in it"),
                                (tar_bytes({"x/a.de": "zwei\n"}), {"a.de": hashlib.sha256(b"eins\n").hexdigest()},
                                 "not the text of the release")):
            Answers.body = body
            code, _, err = self.run_fetch("/a.tgz", text=text)
            self.assertEqual(code, 2, err)
            _, _, message = err.splitlines()  # after what is fetched, and its SHA-256
            self.assertIn(why, message)
            self.assertIn(f"no checksum vouches for {self.cached}: deleted, to be fetched again", message)
            self.assertEqual(list(self.cached.parent.iterdir()), [])
        Answers.body = good
        self.assertEqual(self.run_fetch("/a.tgz")[0], 0)

    def test_a_file_that_was_in_the_cache_before_is_not_deleted(self):
        self.cached.parent.mkdir(parents=True)
        self.cached.write_bytes(b"x" * 99)
        code, _, err = self.run_fetch("/a.tgz")
        self.assertEqual(code, 2)
        self.assertIn(f"delete {self.cached} and the .sha256 beside it to fetch it again", err)
        self.assertTrue(self.cached.exists())

    def test_a_download_with_a_published_checksum_is_kept(self):
        Answers.body = tar_bytes({"x/b.de": "eins\n"})
        code, _, err = self.run_fetch("/a.tgz", md5=hashlib.md5(Answers.body).hexdigest())
        self.assertEqual((code, self.cached.exists()), (2, True))
        self.assertNotIn("vouches", err)

    def test_another_address_is_tried_where_the_way_fails_in_the_middle(self):
        receive = http.client.HTTPResponse.read
        for error in (ssl.SSLError("bad record mac"), OSError(113, "No route to host")):
            failing = [error]

            def read(answer, *arguments):
                if failing:
                    raise failing.pop()
                return receive(answer, *arguments)

            with mock.patch.object(http.client.HTTPResponse, "read", read):
                code, _, err = self.run_fetch("/other", "/a.tgz", out=f"out-{type(error).__name__}")
            self.assertEqual(code, 0, err)
            self.assertEqual(Answers.asked[-2:], ["/other", "/a.tgz"])
            self.cached.unlink()
            self.cached.with_name("a.tgz.sha256").unlink()

    def test_sigterm_leaves_nothing(self):
        Answers.hold = threading.Event()
        self.addCleanup(Answers.hold.set)
        program = self.folder / "program.py"
        program.write_text(f"""import sys
sys.path.insert(0, {str(support.SCRIPTS)!r})
import fetch
archive = fetch.Archive(({self.address + "/held"!r},), "a.tgz")
sys.exit(fetch.main(fetch.Corpus("tiny", "about", (archive,), ("a.de",), None)))
""")
        work = self.folder / "work"
        with subprocess.Popen([sys.executable, "-B", str(program), "--out", str(work / "out"), "--cache",
                               str(work / "cache")], stderr=subprocess.PIPE) as running:
            for _ in range(600):
                if any(path.suffix == ".part" and path.stat().st_size for path in work.rglob("*")) or Answers.holds:
                    break
                time.sleep(0.05)
            self.assertTrue(self.left_overs(work))
            running.terminate()
            self.assertEqual(running.wait(60), 143)
        self.assertEqual(self.left_overs(work), [])

    def test_changed_file_in_the_cache_is_refused(self):
        self.run_fetch("/a.tgz")
        self.cached.write_bytes(tar_bytes({"x/a.de": "zwei\n"}))
        code, _, err = self.run_fetch("/a.tgz", out="second")
        self.assertEqual(code, 2)
        self.assertIn("changed since it was first fetched", err)
        self.assertFalse((self.folder / "second").exists())

    def test_published_checksum_is_checked(self):
        for md5, expected in ((hashlib.md5(Answers.body).hexdigest(), 0), ("0" * 32, 2)):
            self.cached.unlink(missing_ok=True)
            code, _, err = self.run_fetch("/a.tgz", md5=md5, out=md5)
            self.assertEqual(code, expected, err)
        self.assertIn("its MD5 is not the published", err)
        self.assertFalse(self.cached.exists(), "what is wrong never gets its name in the cache")
        self.assertEqual(self.left_overs(), [])
        code, _, err = self.run_fetch("/a.tgz", sha256="0" * 64, out="third")
        self.assertEqual(code, 2)
        self.assertIn("its SHA-256 is not the published", err)

    def test_another_address_is_tried_where_a_checksum_differs(self):
        md5 = hashlib.md5(Answers.body).hexdigest()
        Answers.other = b"something else"
        code, _, err = self.run_fetch("/other", "/a.tgz", md5=md5)
        self.assertEqual(code, 0, err)
        self.assertEqual(self.cached.read_bytes(), Answers.body)

    def test_text_that_is_not_that_of_the_release(self):
        right = {"a.de": hashlib.sha256(b"eins\n").hexdigest()}
        code, _, err = self.run_fetch("/a.tgz", text=right)
        self.assertEqual(code, 0, err)
        wrong = {"a.de": "0" * 64}
        code, _, err = self.run_fetch("/a.tgz", text=wrong, out="second")
        self.assertEqual(code, 2)
        self.assertIn("a.de: not the text of the release", err)
        self.assertFalse((self.folder / "second").exists())
        code, _, err = self.run_fetch("/a.tgz", text=wrong, out="third", source=self.cached)
        self.assertEqual(code, 0, err)
        self.assertIn("notice: a.de is not the text of the release", err)

    def test_broken_off_download_leaves_nothing(self):
        code, _, err = self.run_fetch("/short")
        self.assertEqual(code, 2)
        self.assertIn(f"20 of {len(Answers.body)} bytes", err)
        self.assertFalse(self.cached.exists())
        self.assertEqual(self.left_overs(), [])

    def test_a_redirection_without_https_is_refused_at_each_step(self):
        open_to_others = mock.patch.object(fetch, "_is_open_to_others", lambda url: url.endswith("/hop"))
        open_to_others.start()
        self.addCleanup(open_to_others.stop)
        code, _, err = self.run_fetch("/hops")
        self.assertEqual(code, 2)
        self.assertIn("leads to an address without https, and no checksum is known", err)
        self.assertEqual(Answers.asked, ["/hops"])
        code, _, err = self.run_fetch("/hops", md5=hashlib.md5(Answers.body).hexdigest())
        self.assertEqual(code, 0, err)

    def test_http_error_is_named(self):
        code, _, err = self.run_fetch("/missing")
        self.assertEqual(code, 2)
        self.assertIn("HTTP 404", err)

    def test_damaged_output_is_not_taken_for_finished(self):
        self.run_fetch("/a.tgz")
        (self.folder / "out" / "a.de").write_text("changed")
        code, _, err = self.run_fetch("/a.tgz")
        self.assertEqual(code, 2)
        self.assertIn("holds something else already", err)


if __name__ == "__main__":
    unittest.main()
