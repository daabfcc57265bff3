"""BLEU, chrF and TER with the names, arguments and results of sacreBLEU, whose figures and signatures they equal to the
digit (version 2.6.0): ``from nmt.score import corpus_bleu`` in place of ``from sacrebleu import corpus_bleu``."""

from __future__ import annotations

import json
from typing import Any, Dict, Generic, List, Optional, Sequence, Tuple, TypeVar

from nmt import _arguments, _nmt

References = Sequence[Sequence[Optional[str]]]  #: [set][line]; None: this line has no such reference
Result = TypeVar("Result", bound="Score")


class Score:
    """A score. ``str()`` is the line that sacreBLEU prints."""

    def __init__(self, name: str, score: float, verbose: str = "", mean: float = -1.0, ci: float = -1.0) -> None:
        self.name = name
        self.score = score  #: in percent; TER may exceed 100
        self._verbose = verbose
        self._mean = mean  #: of bootstrap resamples; negative: there were none
        self._ci = ci  #: half width of their 95 % interval

    def format(self, width: int = 2, score_only: bool = False, signature: str = "", is_json: bool = False) -> str:
        """The score as sacreBLEU writes it.

        :param width: digits behind the point
        :param score_only: the number alone
        :param signature: that of the metric, which then stands behind the name
        :param is_json: as an object of JSON; needs the signature
        """
        signature = str(signature)
        number = f"{self.score:.{width}f}"
        fields: Dict[str, Any] = {"name": self.name, "score": float(number), "signature": signature}
        if self._mean > 0:
            mean, ci = f"{self._mean:.{width}f}", f"{self._ci:.{width}f}"
            confidence = f"\u03bc = {mean} \u00b1 {ci}"
            number += f" ({confidence})"
            fields.update(confidence_mean=float(mean), confidence_var=float(ci), confidence=confidence)
        if self._verbose:
            fields["verbose_score"] = self._verbose
        if score_only:
            return number
        if is_json:
            fields.update(dict(part.split(":", 1) for part in signature.split("|") if ":" in part))
            return json.dumps(fields, indent=1, ensure_ascii=False)
        line = f"{self.name}|{signature}" if signature else self.name
        return f"{line} = {number}" + (f" {self._verbose}" if self._verbose else "")

    def __repr__(self) -> str:
        return self.format()


class BLEUScore(Score):
    """The score of BLEU."""

    def __init__(self, score: float, counts: List[int], totals: List[int], precisions: List[float], bp: float,
                 sys_len: int, ref_len: int, mean: float = -1.0, ci: float = -1.0) -> None:
        self.counts = counts  #: n-grams that match, orders 1 to max_ngram_order
        self.totals = totals  #: n-grams that there are
        self.precisions = precisions  #: in percent
        self.bp = bp  #: the brevity penalty
        self.sys_len = sys_len  #: tokens of the system
        self.ref_len = ref_len  #: tokens of the references, the closest length of each line
        self.prec_str = "/".join(f"{precision:.1f}" for precision in precisions)
        self.ratio = sys_len / ref_len if ref_len else 0
        super().__init__("BLEU", score, f"{self.prec_str} (BP = {bp:.3f} ratio = {self.ratio:.3f} hyp_len = {sys_len:d} "
                                        f"ref_len = {ref_len:d})", mean, ci)


class CHRFScore(Score):
    """The score of chrF; with word_order 2 chrF++."""

    def __init__(self, score: float, char_order: int, word_order: int, beta: int, mean: float = -1.0,
                 ci: float = -1.0) -> None:
        self.char_order = char_order
        self.word_order = word_order
        self.beta = beta
        super().__init__(f"chrF{beta}" + "+" * word_order, score, "", mean, ci)


class TERScore(Score):
    """The score of TER."""

    def __init__(self, score: float, num_edits: float, ref_length: float, mean: float = -1.0, ci: float = -1.0) -> None:
        self.num_edits = num_edits
        self.ref_length = ref_length  #: words of the references, the mean of each line's
        super().__init__("TER", score, "", mean, ci)


class Signature:
    """Says how a score was computed, so that another can compute the same."""

    def __init__(self, long: str, short: str) -> None:
        self._long, self._short = long, short
        self.info = dict(part.split(":", 1) for part in long.split("|"))

    def format(self, short: bool = False) -> str:
        """``nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0``; short: ``#:1|c:mixed|...``."""
        return self._short if short else self._long

    def __str__(self) -> str:
        return self._long

    __repr__ = __str__


def _listed(metric: str, references: References) -> List[List[Optional[str]]]:
    """[set][line] of any iterables."""
    if isinstance(references, str):
        raise TypeError(f"{metric}: `refs` should be a sequence of sequence of strings.")
    sets = _arguments.listed("references", references, "lists of str")
    if any(isinstance(lines, str) for lines in sets):
        raise TypeError(f"{metric}: `refs` should be a sequence of sequence of strings.")
    return [[line if line is None else _arguments.text("references", line)
             for line in _arguments.listed("references", lines)] for lines in sets]


class Metric(Generic[Result]):
    """What BLEU, CHRF and TER have in common. Objects may be used again, for any number of systems."""

    def __init__(self, scorer: _nmt.Scorer, references: Optional[References], made_of: Tuple[Any, ...]) -> None:
        self._scorer = scorer
        # Now, as sacreBLEU does: a generator gives its lines only once.
        self._references = None if references is None else _listed(type(self).__name__, references)
        self._made_of = made_of  # without the references, which are the last argument
        self._signature: Optional[Signature] = None

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (*self._made_of, self._references), {"_signature": self._signature}

    def _result(self, score: _nmt.Score, mean: float, ci: float) -> Result:
        raise NotImplementedError

    def _finished(self, score: _nmt.Score) -> Result:
        self._signature = Signature(score.signature, score.short_signature)
        confidence = score.confidence
        return self._result(score, confidence.mean if confidence else -1.0, confidence.half_width if confidence else -1.0)

    def corpus_score(self, hypotheses: Sequence[str], references: Optional[References], n_bootstrap: int = 1,
                     threads: int = 0) -> Result:
        """The score of a corpus.

        :param hypotheses: [line]
        :param references: [set][line]; None: those of the constructor
        :param n_bootstrap: resamples for a confidence interval, such as 1000; 1: none. SACREBLEU_SEED is their seed.
        :param threads: 0: all processors; figures do not depend on it
        """
        name = type(self).__name__
        sets = self._references if references is None else _listed(name, references)
        if sets is None:
            raise RuntimeError("No references provided and the cache is empty.")
        if isinstance(hypotheses, str):
            raise TypeError(f"{name}: `hyps` should be a sequence of strings.")
        resamples = _arguments.whole_number("n_bootstrap", n_bootstrap, 0)
        return self._finished(self._scorer.corpus_score(
            _arguments.texts("hypotheses", hypotheses), sets,
            _arguments.whole_number("threads", threads, 0, 2**31 - 1), resamples if resamples > 1 else 0))

    def sentence_score(self, hypothesis: str, references: Sequence[str]) -> Result:
        """The score of a sentence, by one reference or several; BLEU's with effective order."""
        if isinstance(references, str):
            raise TypeError(f"{type(self).__name__}: The argument `refs` should be a sequence of strings.")
        return self._finished(self._scorer.sentence_score(_arguments.text("hypothesis", hypothesis),
                                                          _arguments.texts("references", references)))

    def get_signature(self) -> Signature:
        """That of the last score. Raises ValueError before the first: the number of references is not known."""
        if self._signature is None:
            raise ValueError("Number of references unknown, please evaluate the metric first.")
        return self._signature


class BLEU(Metric[BLEUScore]):
    """BLEU (Papineni et al. 2002).

    :param lowercase: scores without regard to case
    :param force: takes no effect: nothing warns of text that looks tokenized
    :param tokenize: "none", "zh", "13a", "intl", "char", "ja-mecab", "ko-mecab", "spm", "flores101", "flores200",
        "spBLEU-1K"; None: that of ``trg_lang``, else "13a"
    :param smooth_method: "none", "floor", "add-k" or "exp"
    :param smooth_value: of "floor" (0.1) and "add-k" (1)
    :param max_ngram_order: n-grams of orders 1 to this one count
    :param effective_order: leaves out orders longer than the text, as sentences need it
    :param references: [set][line], for ``corpus_score(hypotheses, None)``

    Raises :class:`nmt.Error` for what there is not, or is out of range.
    """

    TOKENIZER_DEFAULT = "13a"

    def __init__(self, lowercase: bool = False, force: bool = False, tokenize: Optional[str] = None,
                 smooth_method: str = "exp", smooth_value: Optional[float] = None, max_ngram_order: int = 4,
                 effective_order: bool = False, trg_lang: str = "", references: Optional[References] = None) -> None:
        if tokenize is None:
            tokenize = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}.get(_arguments.word("trg_lang", trg_lang),
                                                                            self.TOKENIZER_DEFAULT)
        super().__init__(_nmt.Scorer.bleu(
            _arguments.word("tokenize", tokenize), "", _arguments.flag("lowercase", lowercase),
            _arguments.word("smooth_method", smooth_method),
            None if smooth_value is None else _arguments.number("smooth_value", smooth_value),
            _arguments.whole_number("max_ngram_order", max_ngram_order, 1, 2**31 - 1),
            _arguments.flag("effective_order", effective_order)),
            references, (lowercase, force, tokenize, smooth_method, smooth_value, max_ngram_order, effective_order,
                         trg_lang))

    def _result(self, score: _nmt.Score, mean: float, ci: float) -> BLEUScore:
        return BLEUScore(score.score, [round(count) for count in score.counts], [round(total) for total in score.totals],
                         score.precisions, score.brevity_penalty, score.system_length, score.reference_length, mean, ci)


class CHRF(Metric[CHRFScore]):
    """chrF (Popovic 2015); with ``word_order=2`` chrF++. Arguments are those of sacreBLEU's CHRF."""

    def __init__(self, char_order: int = 6, word_order: int = 0, beta: int = 2, lowercase: bool = False,
                 whitespace: bool = False, eps_smoothing: bool = False, references: Optional[References] = None) -> None:
        self.char_order = _arguments.whole_number("char_order", char_order, 0, 2**31 - 1)
        self.word_order = _arguments.whole_number("word_order", word_order, 0, 2**31 - 1)
        self.beta = _arguments.whole_number("beta", beta, 0)
        super().__init__(_nmt.Scorer.chrf(
            self.char_order, self.word_order, self.beta, _arguments.flag("lowercase", lowercase),
            _arguments.flag("whitespace", whitespace), _arguments.flag("eps_smoothing", eps_smoothing)), references,
            (char_order, word_order, beta, lowercase, whitespace, eps_smoothing))

    def _result(self, score: _nmt.Score, mean: float, ci: float) -> CHRFScore:
        return CHRFScore(score.score, self.char_order, self.word_order, self.beta, mean, ci)


class TER(Metric[TERScore]):
    """Translation edit rate (Snover et al. 2006), as Tercom counts. Arguments are those of sacreBLEU's TER."""

    def __init__(self, normalized: bool = False, no_punct: bool = False, asian_support: bool = False,
                 case_sensitive: bool = False, references: Optional[References] = None) -> None:
        super().__init__(_nmt.Scorer.ter(
            _arguments.flag("normalized", normalized), _arguments.flag("no_punct", no_punct),
            _arguments.flag("asian_support", asian_support), _arguments.flag("case_sensitive", case_sensitive)), references,
            (normalized, no_punct, asian_support, case_sensitive))

    def _result(self, score: _nmt.Score, mean: float, ci: float) -> TERScore:
        return TERScore(score.score, score.edits, score.reference_words, mean, ci)


def corpus_bleu(hypotheses: Sequence[str], references: References, smooth_method: str = "exp",
                smooth_value: Optional[float] = None, force: bool = False, lowercase: bool = False,
                tokenize: Optional[str] = BLEU.TOKENIZER_DEFAULT, use_effective_order: bool = False) -> BLEUScore:
    """BLEU of a corpus. ``hypotheses``: [line]; ``references``: [set][line]."""
    return BLEU(lowercase, force, tokenize, smooth_method, smooth_value,
                effective_order=use_effective_order).corpus_score(hypotheses, references)


def raw_corpus_bleu(hypotheses: Sequence[str], references: References,
                    smooth_value: Optional[float] = 0.1) -> BLEUScore:
    """BLEU of text that is tokenized already, smoothed by "floor", with effective order."""
    return corpus_bleu(hypotheses, references, smooth_method="floor", smooth_value=smooth_value, force=True,
                       tokenize="none", use_effective_order=True)


def sentence_bleu(hypothesis: str, references: Sequence[str], smooth_method: str = "exp",
                  smooth_value: Optional[float] = None, lowercase: bool = False,
                  tokenize: Optional[str] = BLEU.TOKENIZER_DEFAULT, use_effective_order: bool = True) -> BLEUScore:
    """BLEU of a sentence, by one reference or several."""
    return BLEU(lowercase, False, tokenize, smooth_method, smooth_value,
                effective_order=use_effective_order).sentence_score(hypothesis, references)


def corpus_chrf(hypotheses: Sequence[str], references: References, char_order: int = 6, word_order: int = 0,
                beta: int = 2, remove_whitespace: bool = True, eps_smoothing: bool = False) -> CHRFScore:
    """chrF of a corpus; with ``word_order=2`` chrF++."""
    return CHRF(char_order, word_order, beta, whitespace=not _arguments.flag("remove_whitespace", remove_whitespace),
                eps_smoothing=eps_smoothing).corpus_score(hypotheses, references)


def sentence_chrf(hypothesis: str, references: Sequence[str], char_order: int = 6, word_order: int = 0, beta: int = 2,
                  remove_whitespace: bool = True, eps_smoothing: bool = False) -> CHRFScore:
    """chrF of a sentence, by one reference or several."""
    return CHRF(char_order, word_order, beta, whitespace=not _arguments.flag("remove_whitespace", remove_whitespace),
                eps_smoothing=eps_smoothing).sentence_score(hypothesis, references)


def corpus_ter(hypotheses: Sequence[str], references: References, normalized: bool = False, no_punct: bool = False,
               asian_support: bool = False, case_sensitive: bool = False) -> TERScore:
    """TER of a corpus."""
    return TER(normalized, no_punct, asian_support, case_sensitive).corpus_score(hypotheses, references)


def sentence_ter(hypothesis: str, references: Sequence[str], normalized: bool = False, no_punct: bool = False,
                 asian_support: bool = False, case_sensitive: bool = False) -> TERScore:
    """TER of a sentence, by one reference or several."""
    return TER(normalized, no_punct, asian_support, case_sensitive).sentence_score(hypothesis, references)


__all__ = ["BLEU", "BLEUScore", "CHRF", "CHRFScore", "Metric", "Score", "Signature", "TER", "TERScore", "corpus_bleu",
           "corpus_chrf", "corpus_ter", "raw_corpus_bleu", "sentence_bleu", "sentence_chrf", "sentence_ter"]
