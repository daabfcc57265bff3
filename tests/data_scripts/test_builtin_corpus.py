"""The built-in corpus: reproducible, its sets apart, held-out combinations absent from training, morphology right."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import support
from support import lines

import make_builtin_corpus
from builtin import corpus, english, german, modifiers, nouns, verbs

_PAIRS = 8000
_SETS = ("train", "valid", "test", "test_novel")


class BuiltinCorpusTest(support.FolderTest):
    """Tests on one corpus that is made once."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.out = pathlib.Path(holder.name) / "builtin"
        with contextlib.redirect_stdout(io.StringIO()):
            code = make_builtin_corpus.main(["--out", str(cls.out), "--pairs", str(_PAIRS)])
        if code != 0:
            raise AssertionError("the corpus was not made")
        cls.text = {(name, side): lines(cls.out / f"{name}.{side}") for name in _SETS for side in ("de", "en")}
        cls.manifest = json.loads((cls.out / "manifest.json").read_text(encoding="utf-8"))

    def test_counts_are_as_asked_and_as_written_in_the_manifest(self):
        counts = {"train": _PAIRS - 1000, "valid": 500, "test": 500, "test_novel": 200}
        self.assertEqual(self.manifest["pairs"], counts)
        for (name, side), text in self.text.items():
            self.assertEqual(len(text), counts[name], f"{name}.{side}")

    def test_no_sentence_stands_in_two_places_on_either_side(self):
        for side in ("de", "en"):
            all_lines = [line for name in _SETS for line in self.text[name, side]]
            self.assertEqual(len(all_lines), len(set(all_lines)), side)

    def test_same_seed_gives_the_same_bytes_and_another_seed_others(self):
        out = self.folder / "again"
        command = [sys.executable, "-B", str(support.SCRIPTS / "make_builtin_corpus.py"), "--out", str(out),
                   "--pairs", str(_PAIRS)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={"PYTHONHASHSEED": "7"})
        for path in self.out.iterdir():
            self.assertEqual(path.read_bytes(), (out / path.name).read_bytes(), path.name)
        one, other = (corpus.generate(1500, seed, held=100, novel=5) for seed in (1, 2))
        self.assertNotEqual(one.sets["train"], other.sets["train"])
        self.assertNotEqual(one.pairs, other.pairs)

    def test_second_run_changes_nothing(self):
        before = {path.name: path.stat().st_mtime_ns for path in self.out.iterdir()}
        code, out, _ = self.run_main(make_builtin_corpus.main, ["--out", str(self.out), "--pairs", str(_PAIRS)])
        self.assertEqual(code, 0)
        self.assertIn("already in place", out)
        self.assertEqual(before, {path.name: path.stat().st_mtime_ns for path in self.out.iterdir()})

    def test_held_out_verbs_and_nouns_never_meet_in_a_sentence_of_the_other_sets(self):
        """Searches the text for word forms; does not trust the generator's own bookkeeping."""
        by_lemma = {verb.lemma: verb for verb in reversed(verbs.VERBS)}
        pairs = self.manifest["held_out"]["verb_noun"]
        self.assertGreaterEqual(len(pairs), 50)
        index = self._sentences_by_word("train", "valid", "test")
        for verb, noun in pairs:
            with_verb = set().union(*(index.get(form, ()) for form in by_lemma[verb].forms()))
            with_noun = set().union(*(index.get(form, ()) for form in noun_forms(nouns.BY_LEMMA[noun])))
            self.assertGreaterEqual(len(with_verb), 10, verb)
            self.assertGreaterEqual(len(with_noun), 10, noun)
            self.assertEqual(with_verb & with_noun, set(), f"{verb} + {noun}")

    def test_held_out_conjunctions_and_verbs_never_meet_in_a_sentence_of_the_other_sets(self):
        by_lemma = {verb.lemma: verb for verb in reversed(verbs.VERBS)}
        pairs = self.manifest["held_out"]["conjunction_verb"]
        self.assertGreaterEqual(len(pairs), 10)
        index = self._sentences_by_word("train", "valid", "test")
        for conjunction, verb in pairs:
            with_verb = set().union(*(index.get(form, ()) for form in by_lemma[verb].forms()))
            with_conjunction = index[conjunction]
            self.assertGreaterEqual(len(with_conjunction), 10, conjunction)
            self.assertEqual(with_verb & with_conjunction, set(), f"{conjunction} + {verb}")

    def test_every_novel_sentence_has_a_held_out_combination(self):
        by_lemma = {verb.lemma: verb for verb in reversed(verbs.VERBS)}
        held = self.manifest["held_out"]
        for line in self.text["test_novel", "de"]:
            have = {word.lower() for word in corpus.words(line)}
            found = any(have & {f.lower() for f in by_lemma[verb].forms()} and
                        have & {f.lower() for f in noun_forms(nouns.BY_LEMMA[noun])}
                        for verb, noun in held["verb_noun"])
            found = found or any(conjunction in have and have & {f.lower() for f in by_lemma[verb].forms()}
                                 for conjunction, verb in held["conjunction_verb"])
            self.assertTrue(found, line)

    def test_training_has_every_word_of_the_novel_set(self):
        for side in ("de", "en"):
            index = self._sentences_by_word("train", side=side)
            for line in self.text["test_novel", side]:
                for word in corpus.words(line):
                    count = len(index.get(word, ())) + len(index.get(word.capitalize(), ()))
                    self.assertGreaterEqual(count, 2, f"{word} in: {line}")

    def test_sentences_are_well_formed(self):
        for (name, side), text in self.text.items():
            for line in text:
                self.assertRegex(line, r"^[A-ZÄÖÜ0-9][\wäöüÄÖÜß' ,-]*[.?!]$", f"{name}.{side}")
                self.assertNotRegex(line, r"  | ,|,,|,[^ ]|\bNone\b|\b(\w+) \1 \1\b", f"{name}.{side}")

    def test_english_article_and_do_support(self):
        for line in self.text["train", "en"]:
            self.assertNotRegex(line, r"(?i)\ba [aeio]\w+", line)
            self.assertNotRegex(line, r"(?i)\ban [^aeiouh]", line)
            self.assertNotRegex(line, r"^(He|She|This \w+) (do|have|are|were|want|buy)\b", line)
            self.assertNotRegex(line, r"^(We|They|You|I) (does|has|is|wants|buys)\b", line)
            self.assertNotRegex(line, r"\b([Dd]id|[Dd]oes) (he|she|we|you|they|I) \w+(ed|ought)\b(?<!need|feed)", line)

    def test_other_options_do_not_overwrite_without_force(self):
        out = self.folder / "kept"
        out.mkdir()
        (out / "mine.txt").write_text("mine")
        code, _, err = self.run_main(make_builtin_corpus.main, ["--out", str(out), "--pairs", str(_PAIRS)])
        self.assertEqual(code, 2)
        self.assertIn("--force", err)
        self.assertEqual([path.name for path in out.iterdir()], ["mine.txt"])
        made = corpus.Corpus({name: [("Ja.", "Yes.")] for name in _SETS}, frozenset(), frozenset())
        with mock.patch.object(corpus, "generate", return_value=made):
            code, _, _ = self.run_main(make_builtin_corpus.main, ["--out", str(out), "--pairs", str(_PAIRS), "--force"])
        self.assertEqual(code, 0)
        self.assertEqual(lines(out / "test.de"), ["Ja."])
        self.assertFalse((out / "mine.txt").exists())
        self.assertEqual(self.left_overs(), [])

    def test_too_few_pairs_are_refused(self):
        code, _, err = self.run_main(make_builtin_corpus.main, ["--out", str(self.folder / "x"), "--pairs", "10"])
        self.assertEqual(code, 2)
        self.assertIn("--pairs 10", err)
        self.assertFalse((self.folder / "x").exists())

    def _sentences_by_word(self, *names, side="de"):
        """{word: set of (name, line number)}; a sentence's first word counts as both cases."""
        index = {}
        for name in names:
            for number, line in enumerate(self.text[name, side]):
                first, *rest = corpus.words(line)
                for word in [first, first.capitalize(), *rest]:
                    index.setdefault(word, set()).add((name, number))
        return index


def noun_forms(noun):
    numbers = (False,) if noun.mass else (False, True)
    return {german.noun(noun, plural, case) for plural in numbers for case in german.CASES}


class MorphologyTest(unittest.TestCase):
    def test_conjugation(self):
        by_lemma = {verb.lemma: verb for verb in reversed(verbs.VERBS)}
        table = [("lesen", "lese liest liest lesen lest lesen", "las", "gelesen"),
                 ("nehmen", "nehme nimmst nimmt nehmen nehmt nehmen", "nahm", "genommen"),
                 ("arbeiten", "arbeite arbeitest arbeitet arbeiten arbeitet arbeiten", "arbeitete", "gearbeitet"),
                 ("öffnen", "öffne öffnest öffnet öffnen öffnet öffnen", "öffnete", "geöffnet"),
                 ("streicheln", "streichle streichelst streichelt streicheln streichelt streicheln", "streichelte",
                  "gestreichelt"),
                 ("einladen", "lade lädst lädt laden ladet laden", "lud", "eingeladen"),
                 ("reparieren", "repariere reparierst repariert reparieren repariert reparieren", "reparierte",
                  "repariert"),
                 ("tanzen", "tanze tanzt tanzt tanzen tanzt tanzen", "tanzte", "getanzt"),
                 ("mögen", "mag magst mag mögen mögt mögen", "mochte", "gemocht")]
        for lemma, present, preterite, participle in table:
            verb = by_lemma[lemma]
            forms = [verb.present(person, plural) for plural in (False, True) for person in (1, 2, 3)]
            self.assertEqual(" ".join(forms), present)
            self.assertEqual(verb.preterite(3, False), preterite)
            self.assertEqual(verb.full_participle, participle)
        self.assertEqual(by_lemma["aufräumen"].zu_infinitive, "aufzuräumen")

    def test_declension(self):
        table = [("Mann", False, "der", "der Mann, den Mann, dem Mann, des Mannes"),
                 ("Student", False, "der", "der Student, den Studenten, dem Studenten, des Studenten"),
                 ("Nachbar", False, "ein", "ein Nachbar, einen Nachbarn, einem Nachbarn, eines Nachbarn"),
                 ("Frau", True, "dies", "diese Frauen, diese Frauen, diesen Frauen, dieser Frauen"),
                 ("Auto", True, "kein", "keine Autos, keine Autos, keinen Autos, keiner Autos"),
                 ("Kind", True, "unser", "unsere Kinder, unsere Kinder, unseren Kindern, unserer Kinder"),
                 ("Tasche", False, "euer", "eure Tasche, eure Tasche, eurer Tasche, eurer Tasche")]
        for lemma, plural, det, expected in table:
            noun = nouns.BY_LEMMA[lemma]
            gender = "pl" if plural else noun.gender
            forms = [f"{german.determiner(det, gender, case)} {german.noun(noun, plural, case)}"
                     for case in german.CASES]
            self.assertEqual(", ".join(forms), expected)

    def test_adjective_endings(self):
        table = [("der", "m", "acc", "en"), ("ein", "m", "nom", "er"), ("ein", "n", "acc", "es"),
                 ("", "f", "dat", "er"), ("viel", "pl", "nom", "e"), ("all", "pl", "nom", "en"),
                 ("mein", "f", "nom", "e"), ("", "n", "nom", "es")]
        for det, gender, case, ending in table:
            self.assertEqual(german.adjective_ending(det, gender, case), ending, (det, gender, case))

    def test_numbers_and_english_forms(self):
        table = {2: ("zwei", "two"), 21: ("einundzwanzig", "twenty-one"), 17: ("siebzehn", "seventeen"),
                 70: ("siebzig", "seventy"), 130: ("hundertdreißig", "one hundred and thirty"),
                 999: ("neunhundertneunundneunzig", "nine hundred and ninety-nine")}
        for number, expected in table.items():
            self.assertEqual(modifiers.number_words(number), expected)
        self.assertEqual([english.pluralize(w) for w in ("box", "city", "boy", "bus", "dish")],
                         ["boxes", "cities", "boys", "buses", "dishes"])
        self.assertEqual([english.with_article(w) for w in ("apple", "university", "old car", "hat")],
                         ["an apple", "a university", "an old car", "a hat"])
        self.assertEqual([english.make_verb(v).ing for v in ("shop", "lie", "write", "forget forgot", "open")],
                         ["shopping", "lying", "writing", "forgetting", "opening"])


if __name__ == "__main__":
    unittest.main()
