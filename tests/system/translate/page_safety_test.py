"""The page of nmt-translate --serve is safe, whatever a text holds, and has no barriers: in headless Chromium, with axe-core.

    page_safety_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

Skipped, with the reason, where there is no Chromium. The tests of barriers also where
scripts/axe_core.sh could not get axe-core ($NMT_AXE_CORE names its axe.min.js). Python's standard library only.
"""

import json
import os
import pathlib
import unittest

import browser
import translate_support
from page_support import JSON, Case, address, stream
from serve_test import Server
from translate_support import SOURCE

MARKUP = '<img src=x onerror="alert(1)"><script>alert(2)</script>'


def axe_core():
    """The text of axe-core; None where it is not there."""
    path = pathlib.Path(os.environ.get("NMT_AXE_CORE") or SOURCE / ".deps" / "axe-core" / "axe.min.js")
    return path.read_text() if path.exists() else None


class Markup(Case):
    """Whatever comes from elsewhere is text."""

    def assert_is_text(self, page):
        self.assertEqual(page.run("document.querySelectorAll('img[src=x], script:not([src])').length"), 0)

    def test_translations(self):
        svg = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90" onload="alert(3)"><script>alert(4)</script></svg>'
        answer = stream(MARKUP, attention_svg=svg)
        whole = json.dumps({"text": MARKUP, "seconds": 0, "lines": [json.loads(answer.split("data: ")[1].split("\n")[0])]})

        def explain(request):
            streamed = "stream" in json.loads(request["postData"])
            return 200, {"Content-Type": "text/event-stream" if streamed else "application/json"}, answer if streamed else whole
        page = self.open(path=address(MARKUP), fakes=[("/explain", explain)])
        self.translated(page, MARKUP)
        page.click("#details summary")
        page.wait("document.querySelector('#details img')?.naturalWidth > 0")
        page.click("#translation .word")
        page.wait("document.querySelector('#alternatives').checkVisibility()")
        page.press("Escape")
        page.click("#suggest")
        self.assert_is_text(page)

    def test_names_of_languages_and_errors(self):
        languages = [{"code": "de", "name": "German " + MARKUP, "targets": ["en"]}, {"code": "en", "name": MARKUP, "targets": []}]
        page = self.open(path=address("Ja ."), fakes=[("/languages", lambda _: (200, JSON, json.dumps(languages))),
                                                      ("/explain", lambda _: (400, JSON, json.dumps({"error": MARKUP})))])
        page.wait("document.querySelector('#error').checkVisibility()")
        self.assertIn(MARKUP, page.text("#error span"))
        self.assertIn(MARKUP, page.text("#target-language"))
        self.assertIn(MARKUP, page.text("#terms-help"))
        self.assert_is_text(page)

    def test_names_of_files(self):
        path = self.folder / '<img src=x onerror=alert(1)>.txt'
        path.write_text(self.sources[0])
        page = self.open()
        page.drop("#source", path)
        page.wait("document.querySelector('#jobs a')")
        self.assertIn(path.name, page.text("#jobs"))
        self.assert_is_text(page)

    def test_the_browser_refuses_what_the_page_would_never_do(self):
        page = self.open()
        with self.assertRaisesRegex(browser.BrowserError, "TrustedHTML"):
            page.run("document.body.innerHTML = '<b>bold</b>'")
        for script in ("document.body.setAttribute('onclick', 'alert(1)')",
                       "document.body.append(Object.assign(document.createElement('script'), {text: 'alert(1)'}))"):
            with self.assertRaisesRegex(browser.BrowserError, "TrustedScript"):
                page.run(script)
        page.complaints.clear()


class Accessibility(Case):
    """axe-core finds nothing, in any state of the page."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.axe = axe_core()
        if cls.axe is None:
            raise unittest.SkipTest("no axe-core: scripts/axe_core.sh")

    def assert_accessible(self, page, state):
        page.run(self.axe + "; null")
        found = page.run("""axe.run(document, {resultTypes: ["violations"]}).then(result => result.violations.flatMap(
          rule => rule.nodes.map(node => `${rule.id}: ${node.html} ${node.failureSummary}`)))""")
        self.assertEqual(found, [], state)

    def walk(self, page, name):
        """Through all that can be opened."""
        self.assert_accessible(page, name)
        page.insert("\n".join(self.sources[:3]))
        self.translated(page, *self.translations[:3])
        for panel in ("#terms summary", "#details summary"):
            page.click(panel)
        page.wait("document.querySelectorAll('#details-lines section').length === 3")
        page.hover("#translation .word")
        self.assert_accessible(page, f"{name}, translated, with glossary and details")
        page.click("#translation .word")
        page.wait("document.querySelector('#alternatives b')")
        self.assert_accessible(page, f"{name}, other words")
        page.press("Escape")
        for button, close in (("#shortcuts-button", "Escape"), ("#suggest", "Escape")):
            page.click(button)
            self.assert_accessible(page, f"{name}, dialog of {button}")
            page.press(close)
        path, refused = self.folder / "a.txt", self.folder / "a.pdf"
        path.write_text(self.sources[0])
        refused.write_text("%PDF")
        page.drop("#source", path, refused)
        page.wait("document.querySelector('#jobs a') && document.querySelector('#jobs .failed')")
        self.assert_accessible(page, f"{name}, documents")

    def test_light(self):
        self.walk(self.open(path="/?source=de&target=en"), "light")

    def test_dark(self):
        page = self.open(path="/?source=de&target=en")
        page.prefer(prefers_color_scheme="dark", prefers_reduced_motion="reduce")
        self.walk(page, "dark")

    def test_phone(self):
        page = self.open(path="/?source=de&target=en")
        page.size(360, 740, phone=True)
        self.walk(page, "phone")

    def test_errors_notices_and_key(self):
        with Server("--api-key", "secret") as server:
            for scheme in ("light", "dark"):
                page = self.open(server, path=address(self.sources[0]))
                page.prefer(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
                page.wait("document.querySelector('#error').checkVisibility()")
                self.assert_accessible(page, f"{scheme}, key and error")
        page = self.open(path=address(" ".join(self.translations[:4]), target="en"))
        for scheme in ("light", "dark"):
            page.prefer(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
            page.wait("document.querySelector('#notice').checkVisibility()")
            self.assert_accessible(page, f"{scheme}, notice")


if __name__ == "__main__":
    translate_support.main(__doc__)
