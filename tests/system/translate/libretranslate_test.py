"""The API tests that LibreTranslate ships, asked of nmt-translate --serve over HTTP, and its Python client.

    libretranslate_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

NMT_LIBRETRANSLATE names a folder with LibreTranslate's package (libretranslate/tests/test_api/...) and libretranslatepy,
unpacked (`pip download --no-deps libretranslate libretranslatepy`); without it all is skipped. Their calls stay as they
are, but for the languages: the model here translates from de into en, theirs from en into es.
"""

import importlib.util
import json
import os
import pathlib
import sys
import unittest
import urllib.parse

from serve_support import Case, Server, offline
from translate_support import PROGRAMS, main

FOLDER = os.environ.get("NMT_LIBRETRANSLATE")
LANGUAGES = {"en": "de", "es": "en"}


class Response:
    """The interface of Flask's test client."""

    def __init__(self, reply):
        self.status_code, self.data = reply.status, reply.body.encode()

    @property
    def json(self):
        return json.loads(self.data)


class Client:
    def __init__(self, server):
        self.server = server

    def get(self, path):
        return Response(self.server.get(path))

    def post(self, path, data=None, json=None):
        fields = {name: LANGUAGES.get(value, value) if name in ("source", "target") else value
                  for name, value in (data or json or {}).items()}
        if json is not None:
            return Response(self.server.request(path, globals()["json"].dumps(fields).encode(), "application/json"))
        form = urllib.parse.urlencode(fields).encode()
        return Response(self.server.request(path, form, "application/x-www-form-urlencoded" if data else None))


@unittest.skipUnless(FOLDER, "NMT_LIBRETRANSLATE is not set")
class LibreTranslate(Case):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.__exit__)

    def test_its_own_api_tests(self):
        count = 0
        for path in sorted(pathlib.Path(FOLDER, "libretranslate/tests/test_api").glob("test_*.py")):
            spec = importlib.util.spec_from_file_location(path.stem, path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            for name, test in vars(module).items():
                if name.startswith("test_"):
                    with self.subTest(name):
                        test(Client(self.server))
                        count += 1
        self.assertGreaterEqual(count, 12)

    def test_its_client(self):
        sys.path.insert(0, FOLDER)
        from libretranslatepy import LibreTranslateAPI

        api = LibreTranslateAPI(self.server.url)
        line = PROGRAMS.sources()[0]
        self.assertEqual(api.translate(line, "de", "en"), offline([line])[0])
        self.assertEqual(api.detect(" ".join(PROGRAMS.sources()[:5]))[0]["language"], "de")
        self.assertEqual([language["code"] for language in api.languages()], ["de", "en"])


if __name__ == "__main__":
    main(__doc__)
