"""nmt.score beside sacreBLEU: the same calls, the same figures, lines and signatures."""

import pickle
import random
import unittest

import numpy
import python_support as support
import sacrebleu

import nmt
from nmt import score

LINES = 60


def corpus(seed):
    """Hypotheses and three references of words that often agree."""
    draw = random.Random(seed)
    words = "the a cat dog sat on mat , . \u00fcber Stra\u00dfe 'quoted' 3.5 % $ \u6771\u4eac end - of".split()
    references = [[" ".join(draw.choice(words) for _ in range(draw.randint(1, 15))) for _ in range(LINES)]
                  for _ in range(3)]
    hypotheses = [" ".join(word for word in references[draw.randrange(3)][i].split() if draw.random() < 0.8) or "a"
                  for i in range(LINES)]
    return hypotheses, references


class Score(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.hypotheses, cls.references = corpus(1)

    def same(self, ours, theirs):
        self.assertEqual(str(ours), str(theirs))
        self.assertEqual(repr(ours), repr(theirs))
        for name, value in vars(theirs).items():
            if name.startswith("_"):
                continue
            found = getattr(ours, name)
            if isinstance(found, str):
                self.assertEqual(found, value, name)
            else:  # of floating-point numbers, but for the order of sums
                for one, other in zip(*((x if isinstance(x, list) else [x]) for x in (found, value)), strict=True):
                    self.assertAlmostEqual(one, other, delta=1e-9, msg=name)

    def test_functions_of_corpora(self):
        calls = [("corpus_bleu", {}), ("corpus_bleu", {"lowercase": True, "tokenize": "intl"}),
                 ("corpus_bleu", {"smooth_method": "floor", "smooth_value": 0.2, "force": True}),
                 ("corpus_bleu", {"smooth_method": "add-k", "use_effective_order": True, "tokenize": "char"}),
                 ("raw_corpus_bleu", {}), ("raw_corpus_bleu", {"smooth_value": 0.01}),
                 ("corpus_chrf", {}), ("corpus_chrf", {"word_order": 2}),
                 ("corpus_chrf", {"char_order": 4, "beta": 1, "remove_whitespace": False, "eps_smoothing": True}),
                 ("corpus_ter", {}), ("corpus_ter", {"normalized": True, "no_punct": True, "case_sensitive": True}),
                 ("corpus_ter", {"asian_support": True, "normalized": True})]
        for name, arguments in calls:
            for sets in (self.references[:1], self.references):
                with self.subTest(name, **arguments, sets=len(sets)):
                    self.same(getattr(score, name)(self.hypotheses, sets, **arguments),
                              getattr(sacrebleu, name)(self.hypotheses, sets, **arguments))

    def test_effective_order(self):
        for effective in (False, True):
            arguments = (["a b"], [["a b c"]])
            self.same(score.corpus_bleu(*arguments, use_effective_order=effective),
                      sacrebleu.corpus_bleu(*arguments, use_effective_order=effective))

    def test_functions_of_sentences(self):
        for name, arguments in (("sentence_bleu", {}), ("sentence_bleu", {"lowercase": True}), ("sentence_chrf", {}),
                                ("sentence_chrf", {"word_order": 2}), ("sentence_ter", {})):
            for i in range(20):
                references = [lines[i] for lines in self.references]
                with self.subTest(name, **arguments, line=i):
                    self.same(getattr(score, name)(self.hypotheses[i], references, **arguments),
                              getattr(sacrebleu, name)(self.hypotheses[i], references, **arguments))

    def test_metrics_and_signatures(self):
        for name, arguments in (("BLEU", {}), ("BLEU", {"max_ngram_order": 2, "smooth_method": "none"}),
                                ("BLEU", {"trg_lang": "zh"}), ("CHRF", {"word_order": 2, "lowercase": True}),
                                ("TER", {"no_punct": True})):
            with self.subTest(name, **arguments):
                ours, theirs = getattr(score, name)(**arguments), getattr(sacrebleu, name)(**arguments)
                found = ours.corpus_score(self.hypotheses, self.references)
                wanted = theirs.corpus_score(self.hypotheses, self.references)
                self.same(found, wanted)
                self.assertEqual(str(ours.get_signature()), str(theirs.get_signature()))
                signature = theirs.get_signature().format(short=True)
                self.assertEqual(ours.get_signature().format(short=True), signature)
                for form in ({"width": 4}, {"score_only": True}, {"signature": signature},
                             {"signature": str(theirs.get_signature()), "is_json": True}):
                    self.assertEqual(found.format(**form), wanted.format(**form))

    def test_references_given_once(self):
        ours = score.BLEU(references=self.references)
        self.same(ours.corpus_score(self.hypotheses, None),
                  sacrebleu.BLEU().corpus_score(self.hypotheses, self.references))
        with self.assertRaises(RuntimeError):
            score.BLEU().corpus_score(self.hypotheses, None)
        with self.assertRaises(ValueError):
            score.BLEU().get_signature()

    def test_references_of_a_generator_are_kept(self):
        for name in ("BLEU", "CHRF", "TER"):
            ours = getattr(score, name)(references=(iter(lines) for lines in self.references))
            theirs = getattr(sacrebleu, name)(references=(iter(lines) for lines in self.references))
            for _ in range(2):
                self.same(ours.corpus_score(self.hypotheses, None), theirs.corpus_score(self.hypotheses, None))
            copy = pickle.loads(pickle.dumps(ours))
            self.assertEqual(str(copy.corpus_score(self.hypotheses, None)), str(theirs.corpus_score(self.hypotheses, None)))
        with self.assertRaisesRegex(TypeError, "^CHRF: `refs` should be a sequence of sequence of strings"):
            score.CHRF(references=["a"])

    def test_lines_without_a_reference(self):
        references = [self.references[0], [None if i % 2 else line for i, line in enumerate(self.references[1])]]
        for name in ("BLEU", "CHRF", "TER"):
            ours, theirs = getattr(score, name)(), getattr(sacrebleu, name)()
            self.same(ours.corpus_score(self.hypotheses, references), theirs.corpus_score(self.hypotheses, references))
            self.assertEqual(str(ours.get_signature()), str(theirs.get_signature()))

    def test_bootstrap(self):
        ours, theirs = score.BLEU(), sacrebleu.BLEU()
        self.same(ours.corpus_score(self.hypotheses, self.references, n_bootstrap=100),
                  theirs.corpus_score(self.hypotheses, self.references, n_bootstrap=100))
        self.assertEqual(str(ours.get_signature()), str(theirs.get_signature()))

    def test_metrics_are_pickled(self):
        for metric in (score.BLEU(lowercase=True, max_ngram_order=3, references=self.references), score.CHRF(word_order=2),
                       score.TER(case_sensitive=True)):
            references = None if isinstance(metric, score.BLEU) else self.references
            expected = metric.corpus_score(self.hypotheses, references)
            copy = pickle.loads(pickle.dumps(metric))
            self.assertEqual(str(copy.get_signature()), str(metric.get_signature()))
            self.assertEqual(str(copy.corpus_score(self.hypotheses, references)), str(expected))

    def test_another_thread_runs_while_long_texts_are_scored(self):
        """Whichever of the two is long."""
        short, long = "a b c", "the cat sat on the mat . " * 60000
        for hypothesis, references in ((long, [short]), (short, [long]), (short, [short, long])):
            for metric in (score.BLEU(), score.CHRF(word_order=2)):
                moments = support.moments_of_another_thread(lambda: metric.sentence_score(hypothesis, references))
                with self.subTest(hypothesis=len(hypothesis), references=len(references), metric=type(metric).__name__):
                    self.assertLess(support.longest_pause(moments), (moments[-1] - moments[0]) / 2)

    def test_truth_values_of_numpy(self):
        self.assertEqual(score.BLEU(lowercase=numpy.True_).corpus_score(["A b c d"], [["a b c d"]]).score,
                         score.BLEU(lowercase=True).corpus_score(["A b c d"], [["a b c d"]]).score)

    def test_errors(self):
        with self.assertRaisesRegex(nmt.Error, "tokenize|bleu"):
            score.corpus_bleu(["a"], [["a"]], tokenize="14a")
        with self.assertRaises(nmt.Error):
            score.corpus_bleu(["a", "b"], [["a"]])
        with self.assertRaises(TypeError):
            score.corpus_bleu("a", [["a"]])
        with self.assertRaises(TypeError):
            score.corpus_bleu(["a"], ["a"])
        with self.assertRaises(TypeError):
            score.sentence_bleu("a", "a")
        with self.assertRaisesRegex(TypeError, "^lowercase: True or False is expected, not str$"):
            score.BLEU(lowercase="no")
        with self.assertRaisesRegex(TypeError, "^beta: a whole number is expected, not float$"):
            score.CHRF(beta=float("nan"))
        with self.assertRaisesRegex(nmt.Error, "^smooth_value nan: use a finite number$"):
            score.BLEU(smooth_method="floor", smooth_value=float("nan"))
        with self.assertRaisesRegex(nmt.Error, "^beta -1: use 0 or more$"):
            score.CHRF(beta=-1)
        with self.assertRaisesRegex(nmt.Error, "^n_bootstrap -5: use 0 or more$"):
            score.BLEU().corpus_score(["a"], [["a"]], n_bootstrap=-5)


if __name__ == "__main__":
    support.main(__doc__)
