"""What the tests of the page of nmt-translate --serve share: a server with the small model of translate_support.py, and
headless Chromium. Python's standard library only."""

import json
import pathlib
import tempfile
import time
import unittest
import urllib.parse

import browser
from browser import Browser
from serve_support import Server, offline
from translate_support import PROGRAMS

# One model in three roles: what the page does with pairs can be seen with any.
SERVICE = """
models:
  - {{directory: {model}, source: de, target: en}}
  - {{directory: {model}, source: en, target: de}}
  - {{directory: {model}, source: de, target: fr}}
"""
TRANSLATED = "!document.querySelector('.waits') && document.querySelector('#translation').textContent.trim() !== ''"
JSON = {"Content-Type": "application/json"}
EVENTS = {"Content-Type": "text/event-stream"}


def address(*lines, **query):
    return "/?" + urllib.parse.urlencode(query) + "#" + urllib.parse.quote("\n".join(lines))


def stream(text, end=None, **fields):
    """An answer of /explain to one line, as events."""
    best = [{"text": text, "score": -1, "log_probability": -1, "tokens": 1, "finished": True}]
    line = {"line": 0, "source": "", "source_tokens": 1, "split": False, "n_best": best, "alignment": []} | fields
    return f"event: line\ndata: {json.dumps(line)}\n\nevent: end\ndata: {json.dumps({'seconds': 0} | (end or {}))}\n\n"


class Case(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        if browser.PROGRAM is None:
            raise unittest.SkipTest("no chromium: apt-get install chromium")
        if not hasattr(Case, "browser"):
            Case.start()

    @staticmethod
    def start():
        """Browser and server of all cases of a file."""
        Case.folder = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
        Case.sources = PROGRAMS.sources()[:20]
        Case.translations = offline(Case.sources)
        (Case.folder / "service.yaml").write_text(SERVICE.format(model=PROGRAMS.model))
        Case.suggestions = Case.folder / "suggestions.jsonl"
        Case.server = unittest.enterModuleContext(
            Server("--serve-config", Case.folder / "service.yaml", "--suggestions", Case.suggestions, model=None))
        Case.browser = unittest.enterModuleContext(Browser())

    def open(self, server=None, path="/", fakes=(), **settings):
        """A page that is open; at the end it has complained of nothing and asked nobody but its server."""
        server = server or self.server
        page = self.enterContext(self.browser.page())
        for fake in fakes:
            page.fake(*fake)
        page.open(server.url + path, **settings)

        def check():
            self.assertEqual(page.complaints, [])
            others = [one["url"] for one in page.requests
                      if not one["url"].startswith((server.url + "/", "data:image/svg+xml", "blob:"))]
            self.assertEqual(others, [], "requests to others")
        self.addCleanup(check)  # before the page is closed: what is added last is cleaned up first
        return page

    def translated(self, page, *lines):
        """Waits until the translation is there, and compares it."""
        page.wait(TRANSLATED)
        self.assertEqual(self.shown(page), list(lines))

    @staticmethod
    def shown(page):
        return page.run("[...document.querySelectorAll('#translation > .line')].map(line => line.textContent)")

    @staticmethod
    def asked(page, route="/explain"):
        """What was sent there, one after the other."""
        return [json.loads(one["postData"]) for one in page.requests if one["url"].endswith(route)]

    def until(self, holds):
        """Waits for what the page does later."""
        end = time.monotonic() + browser.PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), end, "it does not happen")
            time.sleep(0.02)

    @staticmethod
    def lit(page):
        """(words of the source, words of the translation) that are marked."""
        return tuple(page.run(f"[...document.querySelectorAll('{side} .lit')].map(one => one.textContent)")
                     for side in ("#mirror", "#translation"))
