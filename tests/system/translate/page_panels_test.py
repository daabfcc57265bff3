"""What can be opened on the page of nmt-translate --serve, documents, and refusals of the server, in headless Chromium.

    page_panels_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

Skipped, with the reason, where there is no Chromium. Python's standard library only.
"""

import json

import translate_support
from browser import CTRL
from page_support import EVENTS, TRANSLATED, Case, address, stream
from serve_test import Server, offline


class Panels(Case):
    def test_details(self):
        lines = self.sources[:2]
        n_best = [line.split("\t")[-1] for line in offline(lines, "--n-best", "3")]
        page = self.open(path=address(*lines, source="de", target="en"))
        self.translated(page, *self.translations[:2])
        page.click("#details summary")
        page.wait("document.querySelectorAll('#details-lines section').length === 2")
        self.assertEqual(page.run("[...document.querySelectorAll('.best td.text')].map(one => one.textContent)"), n_best)
        page.wait("[...document.querySelectorAll('#details img')].filter(one => one.complete && one.naturalWidth > 50).length === 2")
        self.assertIn("2 lines in ", page.text("#details-note"))

    def test_glossary(self):
        page = self.open(path=address("Wie alt ist mein Vater?", source="de", target="en"))
        page.wait(TRANSLATED)
        page.click("#terms summary")
        page.click("#terms-rows input")
        page.insert("vater")
        page.press("Tab")
        page.insert("Daddy")
        page.wait("translation.textContent.includes('Daddy')")
        page.click("#add-term")
        page.insert("alt")
        self.until(lambda: self.asked(page)[-1]["glossary"] == "vater\tDaddy\nalt\t\tkeep")
        page.press("Tab")
        page.insert("2\t<b>1</b>")
        page.wait("translation.textContent.includes('2 <b>1</b>')")
        self.assertEqual(page.text("#terms-count"), "2 terms")
        self.assertEqual(self.asked(page)[-1]["glossary"], "vater\tDaddy\nalt\t2 <b>1</b>")
        page.open(page.run("location.href").replace("#", "&again#"))
        page.wait("translation.textContent.includes('Daddy')")
        page.choose("#target-language", "fr")
        page.wait(TRANSLATED)
        self.assertNotIn("Daddy", page.text("#translation"), "terms are of a target language")
        page.choose("#target-language", "en")
        page.wait("translation.textContent.includes('Daddy')")
        page.click("#terms summary")
        page.click("#terms-rows button")
        page.wait("!translation.textContent.includes('Daddy')")
        page.click("#terms-rows input + *, #terms-rows tr:last-child td:last-child button")
        page.wait("!translation.textContent.includes('<b>') && " + TRANSLATED)
        self.assertEqual(page.text("#terms-count"), "")
        self.assertNotIn("glossary", self.asked(page)[-1])

    def test_a_term_twice_is_what_the_server_says(self):
        page = self.open(path=address(self.sources[0]))
        page.wait(TRANSLATED)
        page.run("localStorage.setItem('nmt.glossary', JSON.stringify({en: [['a', 'b'], ['A', 'c']]}))")
        page.open(page.run("location.href").replace("#", "&again#"))
        page.wait("document.querySelector('#error').checkVisibility()")
        self.assertIn("'A' stands in the glossary already", page.text("#error span"))

    def test_sentences_are_split_unless_one_says_no(self):
        line = " ".join(self.sources[:2])
        page = self.open(path=address(line, source="de", target="en"))
        self.translated(page, " ".join(self.translations[:2]))
        self.assertTrue(page.run("document.querySelector('#split-sentences').checked"))
        self.assertNotIn("split_sentences", self.asked(page)[-1])
        page.click("#split-sentences")
        self.until(lambda: self.asked(page)[-1].get("split_sentences") is False)
        self.translated(page, *offline([line], split=False))
        page.open(page.run("location.href").replace("#", "&again#"))
        self.assertFalse(page.run("document.querySelector('#split-sentences').checked"), "it is kept")

    def test_placeholders_stay(self):
        page = self.open(path=address("Wie alt ist {name}?", source="de", target="en"))
        page.wait(TRANSLATED)
        page.click("#terms summary")
        page.click("#keep-placeholders")
        page.wait("translation.textContent.includes('{name}')")
        self.assertTrue(self.asked(page)[-1]["keep_placeholders"])

    def test_suggestions(self):
        page = self.open(path=address(self.sources[0]))
        self.translated(page, self.translations[0])
        page.click("#suggest")
        self.assertEqual(page.text("#suggestion-source"), self.sources[0])
        page.run("better.select()")
        page.insert("A better one.")
        page.click("#suggestion .main")
        page.wait("document.querySelector('#notice').checkVisibility()")
        self.assertIn("Thank you", page.text("#notice span"))
        kept = json.loads(self.suggestions.read_text().splitlines()[-1])
        self.assertEqual(kept | {"time": 0},
                         {"q": self.sources[0], "s": "A better one.", "source": "de", "target": "en", "time": 0})
        with Server() as server:
            self.assertFalse(self.open(server).is_shown("#suggest"), "a server that takes none")

    def test_theme(self):
        page = self.open()
        colour = "getComputedStyle(document.body).backgroundColor"
        light = page.run(colour)
        page.prefer(prefers_color_scheme="dark")
        dark = page.run(colour)
        self.assertNotEqual(light, dark, "the system's")
        page.click("#theme")
        self.assertEqual(page.run(colour), light, "chosen")
        page.open(self.server.url)
        self.assertEqual(page.run(colour), light, "kept")
        page.click("#theme")
        page.prefer(prefers_color_scheme="light")
        self.assertEqual(page.run(colour), dark)
        page.click("#theme")
        self.assertEqual(page.run(colour), light, "the system's again")

    def test_reduced_motion(self):
        page = self.open()
        duration = "getComputedStyle(document.querySelector('#copy')).transitionDuration"
        self.assertNotEqual(page.run(duration), "0s")
        page.prefer(prefers_reduced_motion="reduce")
        self.assertEqual(page.run(duration), "0s")

    def test_shortcuts_and_tabs(self):
        page = self.open()
        page.press("/", CTRL)
        self.assertTrue(page.is_shown("#shortcuts"))
        page.press("Escape")
        self.assertFalse(page.is_shown("#shortcuts"))
        page.insert(self.sources[0])
        page.press("Enter", CTRL)
        self.translated(page, self.translations[0])
        page.run("document.querySelector('#text-tab').focus()")
        reached = []
        for _ in range(40):
            page.press("Tab")
            reached.append(page.run("document.activeElement.id || document.activeElement.classList[0] || document.activeElement.tagName"))
        for wanted in ("theme", "shortcuts-button", "source-language", "target-language", "source", "clear", "word", "suggest",
                       "copy", "SUMMARY", "A"):
            self.assertIn(wanted, reached)
        page.run("document.querySelector('#text-tab').focus()")
        page.press("ArrowRight")
        self.assertTrue(page.is_shown("#documents-panel"))
        self.assertFalse(page.is_shown("#text-panel"))

    def test_fits_a_phone(self):
        page = self.open(path=address(*self.sources[:5], "x" * 300))
        page.wait(TRANSLATED)
        page.size(360, 740, phone=True)
        for panel in ("#terms summary", "#details summary"):
            page.click(panel)
        page.wait("document.querySelector('#details-lines section')")
        wide = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        self.assertEqual(page.run(wide), [360, 360], "sideways scrolling")
        page.click("#translation .word")
        page.wait("document.querySelector('#alternatives').checkVisibility()")
        self.assertEqual(page.run(wide), [360, 360])
        page.click("#documents-tab")
        self.assertEqual(page.run(wide), [360, 360])


class DocumentsOnThePage(Case):
    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_a_chosen_document_comes_back_translated(self):
        page = self.open(path="/?source=de&target=en")
        page.click("#documents-tab")
        self.assertIn(".docx", page.text("#formats"))
        page.run("""new MutationObserver(() => {
          const bar = document.querySelector("#jobs progress");
          if (bar?.value > 0) document.body.dataset.progress = `${bar.value} of ${bar.max}`;
        }).observe(jobs, {subtree: true, attributes: true, childList: true}), null""")
        text = "".join(line + "\n" for line in self.sources[:5])
        page.set_files("#files", self.file("Ein Brief ä.txt", text), self.file("page.html", f"<p>{self.sources[5]}</p>"))
        page.wait("document.querySelectorAll('#jobs a').length === 2")
        self.assertRegex(page.run("document.body.dataset.progress"), r"^\d+ of \d+$")
        expected = ["".join(line + "\n" for line in self.translations[:5]), f"<p>{self.translations[5]}</p>"]
        for link, text in zip(page.run("[...document.querySelectorAll('#jobs a')].map(one => one.href)"), expected):
            self.assertEqual(self.server.get(link.removeprefix(self.server.url)).body, text)
        names = page.run("[...document.querySelectorAll('#jobs a')].map(one => one.download)")
        self.assertEqual(names, ["Ein Brief ä.txt", "page.html"])

    def test_what_is_dropped_is_taken_and_refused_in_the_server_s_words(self):
        page = self.open()
        page.drop("#source", self.file("a.pdf", "%PDF-1.7"), self.file("empty.txt", ""), self.file("b.txt", self.sources[0]))
        page.wait("document.querySelectorAll('#jobs .failed').length === 2 && document.querySelector('#jobs a')")
        self.assertTrue(page.is_shown("#documents-panel"))
        first, second = page.run("[...document.querySelectorAll('.failed .state')].map(one => one.textContent)")
        self.assertIn("file format not supported", first)
        self.assertIn("empty file", second)
        page.click("#jobs li button")
        self.assertEqual(page.run("document.querySelectorAll('#jobs li').length"), 2)

    def test_goes_with_the_glossary(self):
        page = self.open()
        page.run("localStorage.setItem('nmt.glossary', JSON.stringify({en: [['Vater', 'Daddy']]}))")
        page.open(self.server.url + "/?target=en")
        page.drop("#source", self.file("c.txt", "Wie alt ist mein Vater?\n"))
        page.wait("document.querySelector('#jobs a')")
        link = page.run("document.querySelector('#jobs a').href")
        self.assertIn("Daddy", self.server.get(link.removeprefix(self.server.url)).body)


class Refusals(Case):
    def test_a_key(self):
        with Server("--api-key", "secret") as server:
            page = self.open(server, path=address(self.sources[0]))
            page.wait("document.querySelector('#error').checkVisibility()")
            self.assertEqual(page.text("#error span"), "This server wants an API key.")
            self.assertEqual(self.asked(page), [], "nothing is sent without one")
            for key in ("wrong", "secret"):
                page.run("document.querySelector('#key').select()")
                page.insert(key)
                page.press("Enter")
                if key == "wrong":
                    page.wait("document.querySelector('#error span').textContent.includes('key')"
                              " && !document.querySelector('#error span').textContent.includes('wants an')")
            self.translated(page, self.translations[0])
            self.assertFalse(page.is_shown("#error"))
            self.assertEqual(page.run("localStorage.getItem('nmt.key')"), '""', "kept only where the user says so")

    def test_a_busy_server_is_asked_again(self):
        error = json.dumps({"error": "slow down"})
        for status in (429, 503):
            answers = [(status, {"Content-Type": "application/json", "Retry-After": "1"}, error)]
            page = self.open(path=address(self.sources[0]),
                             fakes=[("/explain", lambda _, answers=answers: answers.pop() if answers else None)])
            page.wait("document.querySelector('#notice').checkVisibility()")
            self.assertEqual(page.text("#notice span"), "Slow down. Trying again in 1 second.")
            self.translated(page, self.translations[0])
            self.assertFalse(page.is_shown("#notice"))

    def test_an_answer_that_breaks_off(self):
        cut = stream("Half", source=self.sources[0]).split("event: end")[0]
        answers = [(200, EVENTS, cut)]
        page = self.open(path=address(self.sources[0], self.sources[1]),
                         fakes=[("/explain", lambda _: answers.pop() if answers else None)])
        page.wait("document.querySelector('#error').checkVisibility()")
        self.assertEqual(page.text("#error span"), "The answer broke off.")
        page.click("#error button")
        self.translated(page, "Half", self.translations[1])
        self.assertEqual(self.asked(page)[-1]["q"], self.sources[1], "what was there stays")

    def test_a_server_that_is_gone(self):
        with Server() as server:
            page = self.open(server)
            server.stop()
            page.insert(self.sources[0])
            page.wait("document.querySelector('#error').checkVisibility()")
            self.assertEqual(page.text("#error span"), "The server cannot be reached.")
            self.assertTrue(page.is_shown("#error button"))


if __name__ == "__main__":
    translate_support.main(__doc__)
