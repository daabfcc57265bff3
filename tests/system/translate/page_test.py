"""The page of nmt-translate --serve in headless Chromium, used as a person uses it: text, languages, words.

    page_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

Skipped, with the reason, where there is no Chromium. Python's standard library only.
"""

import json
import urllib.parse

import translate_support
from browser import CTRL, SHIFT
from page_support import EVENTS, JSON, TRANSLATED, Case, address, stream
from serve_support import Server, offline


class Text(Case):
    def test_translates_while_one_types(self):
        page = self.open()
        page.type(self.sources[0])
        self.translated(page, self.translations[0])
        self.assertLessEqual(len(self.asked(page)), 3, "not one request a key")
        self.assertEqual(page.text("#source-language option"), "German – detected")
        self.assertEqual(page.run("document.querySelector('#translation').lang"), "en")
        self.assertEqual(page.text("#announcer"), self.translations[0], "screen readers hear it")
        page.click("#clear")
        page.wait("document.querySelector('#translation').textContent === ''")
        self.assertEqual(page.run("document.activeElement.id"), "source")

    def test_only_lines_that_changed_are_asked_for(self):
        page = self.open(path=address(*self.sources[:3], "", "12.5 %"))
        self.translated(page, *self.translations[:3], "", "12.5 %")
        page.run("source.focus(); source.setSelectionRange(0, 0)")
        page.insert(self.sources[3] + "\n")
        self.translated(page, self.translations[3], *self.translations[:3], "", "12.5 %")
        self.assertEqual([one["q"] for one in self.asked(page)], ["\n".join(self.sources[:3]), self.sources[3]])

    def test_first_lines_are_there_before_the_last(self):
        lines = (self.sources * 20)[:300]
        page = self.open(ready="")
        page.wait("document.body?.dataset.ready !== undefined")
        page.run("""new MutationObserver((_, observer) => {
          const waiting = document.querySelectorAll(".waits").length, done = document.querySelectorAll(".word").length;
          if (waiting === 0 || done === 0) return;
          document.body.dataset.early = waiting;
          observer.disconnect();
        }).observe(translation, {subtree: true, childList: true}), null""")
        page.insert("\n".join(lines))
        page.wait("document.body.dataset.early > 0")
        self.translated(page, *(self.translations * 20)[:300])
        self.assertGreater(int(page.run("document.body.dataset.early")), 250, "waited when the first was there")
        self.assertEqual(len(self.asked(page)), 2, "a request has less lines than the server's queue")

    def test_an_old_question_is_dropped(self):
        """The first never gets an answer; the second has the right one."""
        answers = [False]
        page = self.open(fakes=[("/explain", lambda _: answers.pop() if answers else None)])
        page.insert(self.sources[0])
        page.wait("translation.getAttribute('aria-busy') === 'true'")
        while not page.requests or not page.requests[-1]["url"].endswith("/explain"):
            page.run("0")
        page.insert(" " + self.sources[1])
        self.translated(page, *offline([self.sources[0] + " " + self.sources[1]]))
        self.assertEqual([one["q"] for one in self.asked(page)],
                         [self.sources[0], self.sources[0] + " " + self.sources[1]], "it asks once for each text")
        # Chromium now and then also calls a stream cancelled that the page has read to its end: the second.
        self.assertIn(self.server.url + "/explain", page.cancelled, "the first is given up")

    def test_text_behind_the_hash(self):
        page = self.open(path=address(self.sources[0]))
        self.translated(page, self.translations[0])
        page.run(f"location.hash = {json.dumps(urllib.parse.quote(self.sources[1]))}, null")
        page.wait(f"source.value === {json.dumps(self.sources[1])}")
        self.translated(page, self.translations[1])
        self.assertEqual(self.open(path="/#100%").run("source.value"), "100%", "no text of an address is an error")

    def test_copies_and_counts(self):
        with Server("--max-characters", "80") as server:
            page = self.open(server, path=address(self.sources[0]))
            self.translated(page, self.translations[0])
            self.assertEqual(page.text("#count"), f"{len(self.sources[0])} / 80")
            self.browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite"], browserContextId=page.context)
            page.click("#copy")
            page.wait("announcer.textContent === 'The translation is copied'")
            self.assertEqual(page.run("navigator.clipboard.readText()"), self.translations[0])
            asked = len(self.asked(page))
            page.run("source.focus()")
            page.insert("x" * 90)
            page.wait("document.querySelector('#error').checkVisibility()")
            self.assertRegex(page.text("#error span"), r"^The text is \d+ characters too long")
            self.assertEqual(len(self.asked(page)), asked)

    def test_a_model_without_names(self):
        """Nobody said which languages it has: no menus, and it translates."""
        languages = json.dumps([{"code": "und", "name": "und", "targets": ["und"]}])
        settings = json.loads(self.server.get("/frontend/settings").body)
        settings["language"] = {side: {"code": "und", "name": "und"} for side in ("source", "target")}
        page = self.open(fakes=[("/languages", lambda _: (200, JSON, languages)),
                                ("/frontend/settings", lambda _: (200, JSON, json.dumps(settings))),
                                ("/explain", lambda _: (200, EVENTS, stream("fine")))])
        page.insert("Ja .")
        self.translated(page, "fine")
        self.assertFalse(page.is_shown("#languages"))
        self.assertEqual([(one["source"], one["target"]) for one in self.asked(page)], [("und", "und")])


class LanguageMenus(Case):
    def options(self, page, menu):
        return page.run(f"[...document.querySelectorAll('#{menu}-language option')].map(one => one.textContent)")

    def test_targets_are_those_of_the_source(self):
        page = self.open(path="/?source=de&target=fr")
        self.assertEqual(self.options(page, "source"), ["Detect language", "English", "German"])
        self.assertEqual(self.options(page, "target"), ["English", "French"])
        self.assertEqual(page.run("document.querySelector('#target-language').value"), "fr")
        page.choose("#source-language", "en")
        self.assertEqual(self.options(page, "target"), ["German"])
        page.choose("#source-language", "auto")
        self.assertEqual(self.options(page, "target"), ["English", "French", "German"])
        page.choose("#target-language", "fr")
        page.insert(self.sources[0])
        self.translated(page, self.translations[0])
        again = page.run("localStorage.getItem('nmt.languages')")
        self.assertEqual(json.loads(again), {"source": "auto", "target": "fr"}, "kept for the next visit")
        self.assertTrue(page.run("swap.disabled"), "nothing translates from French")

    def test_swap(self):
        page = self.open(path=address(self.sources[0], source="de", target="en"))
        self.translated(page, self.translations[0])
        page.press("S", CTRL | SHIFT)
        page.wait(f"source.value === {json.dumps(self.translations[0])}")
        page.wait(TRANSLATED)
        self.assertEqual(page.run("[document.querySelector('#source-language').value, "
                                  "document.querySelector('#target-language').value]"), ["en", "de"])
        self.assertEqual(self.asked(page)[-1]["q"], self.translations[0])

    def test_a_text_in_the_target_language(self):
        english = " ".join(self.translations[:4])
        page = self.open(path=address(english, target="en"))
        page.wait("document.querySelector('#notice').checkVisibility()")
        self.assertEqual(page.text("#notice span"), "The text is in English already.")
        self.assertEqual(self.shown(page), [english])
        page.click("#notice button")
        page.wait("document.querySelector('#target-language').value === 'de' && " + TRANSLATED)
        self.assertNotEqual(self.shown(page), [english])

    def test_a_text_in_no_language(self):
        end = {"detectedLanguage": {"language": "de", "confidence": 0}}
        page = self.open(path=address("Hm"), fakes=[("/explain", lambda _: (200, EVENTS, stream("Hm", end)))])
        page.wait("document.querySelector('#notice').checkVisibility()")
        self.assertEqual(page.text("#notice span"), "The language was not recognised; the text is taken for German.")


class WordsOfTheTranslation(Case):
    def explained(self, **fields):
        return self.server.post("/explain", {"q": self.sources[0], "target": "en"} | fields).json()["lines"][0]

    def test_alternatives(self):
        words = self.translations[0].split()
        prefix = " ".join(words[:2])
        candidates = [one["text"] for one in self.explained(prefix=prefix, n_best=3)["n_best"]]
        others = [text for text in candidates if text != self.translations[0]]
        self.assertTrue(others)
        page = self.open(path=address(self.sources[0], source="de", target="en"))
        self.translated(page, self.translations[0])
        page.click("#translation .word:nth-of-type(3)")
        page.wait("document.querySelector('#alternatives b')")
        offered = page.run("[...document.querySelectorAll('#alternatives b')].map(one => one.textContent)")
        self.assertEqual(offered, [text[len(prefix):].split()[0] for text in others])
        self.assertEqual(page.run("document.activeElement.getAttribute('role')"), "menuitem")
        page.press("Enter")
        page.wait(f"translation.textContent === {json.dumps(others[0])}")
        self.assertFalse(page.is_shown("#alternatives"))
        page.wait("document.querySelector('#mirror span')")
        self.assertEqual(page.run("document.activeElement.textContent"), offered[0].rstrip(".,!?"), "the focus stays there")
        self.assertEqual(page.run("document.activeElement.classList.contains('word')"), True)

        page.run("source.focus(); source.setSelectionRange(999, 999)")
        page.insert("\n" + self.sources[1])
        self.translated(page, others[0], self.translations[1])
        page.click("#translation .word:nth-of-type(3)")
        page.wait("document.querySelector('#alternatives i')")
        page.press("End")
        page.press("Enter")
        self.translated(page, self.translations[0], self.translations[1])

    def test_the_first_word_has_alternatives(self):
        page = self.open(path=address(self.sources[0], source="de", target="en"))
        self.translated(page, self.translations[0])
        page.click("#translation .word")
        page.wait("document.querySelector('#alternatives b')")
        offered = page.run("[...document.querySelectorAll('#alternatives b')].map(one => one.textContent)")
        self.assertNotIn(self.translations[0].split()[0], offered)
        self.assertEqual(len(offered), len(set(offered)))
        page.press("Escape")
        self.assertFalse(page.is_shown("#alternatives"))
        self.assertEqual(page.run("document.activeElement.textContent"), self.translations[0].split()[0])

    def test_no_word_is_offered_in_its_own_place(self):
        first, rest = self.translations[0].split(maxsplit=1)

        def answer(request):  # other words for what stands behind the same word, too
            if "n_best" not in json.loads(request["postData"]):
                return None
            texts = [f"{first} else.", f"Other {rest}"]
            return 200, JSON, json.dumps({"lines": [{"n_best": [{"text": text} for text in texts]}]})

        page = self.open(path=address(self.sources[0], source="de", target="en"))
        self.translated(page, self.translations[0])
        page.fake("/explain", answer)
        page.click("#translation .word")
        page.wait("document.querySelector('#alternatives b')")
        self.assertEqual(page.run("[...document.querySelectorAll('#alternatives b')].map(one => one.textContent)"), ["Other"])

    def test_words_that_belong_together(self):
        alignment = self.explained(alignment=True)["alignment"]
        link = alignment[0]
        source, target = (text[slice(*link[side])] for side, text in
                          (("source", self.sources[0]), ("target", self.translations[0])))
        page = self.open(path=address("😀 " + self.sources[0], self.sources[0], source="de", target="en"))
        page.wait(TRANSLATED)
        place = [one["target"] for one in alignment].index(link["target"]) + 1
        page.hover(f"#translation .line:nth-child(2) .word:nth-of-type({place})")
        lit_source, lit_target = self.lit(page)
        self.assertIn(source, lit_source)
        self.assertEqual(lit_target, [target.strip(".,!?")])
        page.hover("#copy")
        self.assertEqual(self.lit(page), ([], []))
        # The caret in the source.
        behind_emoji = len("😀 " + self.sources[0]) + 2  # UTF-16: the emoji counts twice, and the line end
        page.run(f"source.focus(); source.setSelectionRange({behind_emoji + link['source'][0]}, {behind_emoji + link['source'][0]})")
        page.wait("document.querySelector('#translation .lit')")
        self.assertEqual(self.lit(page)[0], [source])
        self.assertIn(target.strip(".,!?"), self.lit(page)[1])
        # The pointer over the source, whose words stand in the mirror below it.
        page.run("source.blur()")
        page.hover("#copy")
        self.assertEqual(self.lit(page), ([], []))
        x, y = page.middle("#mirror > div:nth-child(2) span")
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        page.wait("document.querySelector('#translation .lit')")
        self.assertEqual(len(self.lit(page)[0]), 1)

    def test_words_behind_an_emoji(self):
        """The server counts characters, JavaScript halves of them."""
        line = "😀 " + self.sources[0]
        explained = self.explained(q=line, alignment=True)
        page = self.open(path=address(line, source="de", target="en"))
        self.translated(page, explained["n_best"][0]["text"])
        page.run("source.focus(); source.setSelectionRange(source.value.length - 3, source.value.length - 3)")
        page.wait("document.querySelector('#mirror .lit')")
        last = max(link["source"] for link in explained["alignment"])
        self.assertEqual(self.lit(page)[0], [line[slice(*last)]])

    def test_the_mirror_stands_below_the_text(self):
        """Else other words than those below the pointer would be lit."""
        page = self.open(path=address(*(" ".join(self.sources[:7]), "", "x" * 200, "a  b\tc")))
        for width in (1200, 500):
            page.size(width, 900)
            same = page.run("[source.scrollHeight, source.clientHeight, mirror.offsetHeight]")
            self.assertEqual(len(set(same)), 1, same)
            other = page.run("""["width", "paddingTop", "paddingLeft", "paddingRight", "fontFamily", "fontSize", "fontWeight", "lineHeight",
              "letterSpacing", "wordSpacing", "whiteSpace", "overflowWrap", "tabSize"].filter(
                name => getComputedStyle(source)[name] !== getComputedStyle(mirror)[name])""")
            self.assertEqual(other, [])

    def test_keys_lead_from_word_to_word(self):
        page = self.open(path=address(self.sources[0], self.sources[1]))
        self.translated(page, *self.translations[:2])
        page.run("document.querySelector('#translation .word').focus()")
        seen = []
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowDown", "ArrowUp"):
            page.press(key)
            seen.append(page.run("document.activeElement.textContent"))
            self.assertEqual(self.lit(page)[1], [seen[-1]])
        first, second = ([word.strip(".,!?") for word in line.split() if word.strip(".,!?")] for line in self.translations[:2])
        self.assertEqual(seen, [first[1], first[2], first[1], first[-1], second[0], first[0]])
        self.assertEqual(page.run("document.querySelectorAll('#translation [tabindex=\"0\"]').length"), 1,
                         "Tab goes through the translation in one step")


if __name__ == "__main__":
    translate_support.main(__doc__)
