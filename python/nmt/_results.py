"""What translating gives back, and what can be asked of it. Objects are made by the extension; arrays cannot be written
to and own their memory, so they live as long as they are used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Iterable, List, Optional, Sequence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Request:
    """A text and what is wanted of its translation, beside the options of the call."""

    source: str
    prefix: str = ""  #: the translation begins so
    must: Sequence[str] = ()  #: phrases that it holds
    must_not: Sequence[str] = ()  #: phrases that it does not hold

    def __post_init__(self) -> None:
        for name in ("must", "must_not"):  # as tuples: they can be hashed, and a generator has its phrases once
            phrases = getattr(self, name)
            if not isinstance(phrases, (str, bytes)) and isinstance(phrases, Iterable):
                object.__setattr__(self, name, tuple(phrases))


@dataclass(frozen=True)
class Sampling:
    """Tokens are drawn instead of searched for.

    ``top_k``: the most probable tokens among which one is drawn, 0 for all; ``top_p``: and of these the fewest with this
    share of the probability. A text's samples are a function of the seed and of the text's number.
    """

    temperature: float = 1
    top_k: int = 0
    top_p: float = 1
    seed: int = 1


@dataclass(frozen=True, eq=False)
class Attention:
    """How much each piece of the translation looks at each piece of the text.

    Of a text that was translated in parts (``Translation.split``), no part looks at another: those weights are 0.
    """

    weights: NDArray[np.float32]  #: [target pieces, source pieces]; a row sums to at most 1
    target_tokens: List[str]  #: the rows, with "</s>" where the translation is finished
    source_tokens: List[str]  #: the columns

    def __array__(self, dtype: object = None, copy: Optional[bool] = None) -> NDArray[np.float32]:
        """The weights: ``numpy.asarray(attention)`` copies nothing."""
        import numpy
        if dtype is not None and numpy.dtype(dtype) != self.weights.dtype:  # type: ignore[call-overload]
            return self.weights.astype(dtype)  # type: ignore[call-overload,no-any-return]
        return self.weights.copy() if copy else self.weights


@dataclass(frozen=True)
class Alternative:
    """One of the n best translations of a text."""

    text: str
    score: float  #: log_probability / length penalty + coverage penalty: what the search ranks by
    log_probability: float  #: natural logarithm, the end symbol included
    token_count: int  #: pieces, the end symbol included
    finished: bool = True  #: False: cut at the length limit
    meets_constraints: bool = True  #: it begins with the prefix, and every phrase that must appear stands in it
    shortened: bool = False  #: of Translator.score: a side was longer than the model takes and was cut
    #: return_tokens: the pieces, "</s>" where it is finished
    tokens: Optional[List[str]] = field(default=None, hash=False)
    #: return_tokens: [tokens], log-probabilities
    token_scores: Optional[NDArray[np.float32]] = field(default=None, compare=False)
    #: return_alignment: [pairs, 2], (source word, target word) counted from 0 between white space; None: none found
    alignment: Optional[NDArray[np.int32]] = field(default=None, compare=False)
    attention: Optional[Attention] = field(default=None, compare=False)  #: return_attention
    expected_utility: Optional[float] = None  #: mbr: its mean chrF or BLEU beside the others, 0 to 100

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Translation:
    """What became of a text. The figures of its best translation stand here, too."""

    text: str  #: the best translation; "" where the text is empty or white space
    #: n best, best first; fewer where the search found fewer; none for no text
    alternatives: List[Alternative] = field(hash=False)
    source_token_count: int  #: pieces
    target_token_count: int  #: pieces, with end symbols
    split: bool = False  #: the text was longer than the model takes and was translated in parts
    repaired: bool = False  #: it was not UTF-8

    def __str__(self) -> str:
        return self.text

    @property
    def score(self) -> float:
        """The score of the best translation; 0 for an empty text."""
        return self.alternatives[0].score if self.alternatives else 0.0

    @property
    def log_probability(self) -> float:
        """The log-probability of the best translation; 0 for an empty text."""
        return self.alternatives[0].log_probability if self.alternatives else 0.0

    @property
    def tokens(self) -> Optional[List[str]]:
        """The tokens of the best translation; see :attr:`Alternative.tokens`."""
        return self.alternatives[0].tokens if self.alternatives else None

    @property
    def token_scores(self) -> Optional[NDArray[np.float32]]:
        """The token scores of the best translation; see :attr:`Alternative.token_scores`."""
        return self.alternatives[0].token_scores if self.alternatives else None

    @property
    def alignment(self) -> Optional[NDArray[np.int32]]:
        """The alignment of the best translation; see :attr:`Alternative.alignment`."""
        return self.alternatives[0].alignment if self.alternatives else None

    @property
    def attention(self) -> Optional[Attention]:
        """The attention of the best translation; see :class:`Attention`."""
        return self.alternatives[0].attention if self.alternatives else None


@dataclass(frozen=True)
class FileStatistics:
    """What :meth:`nmt.Translator.translate_file` did."""

    lines: int
    source_token_count: int
    target_token_count: int
    repaired: int  #: lines that were not UTF-8
    split: int  #: lines in parts
    cut: int  #: translations at the length limit
    seconds: float  #: of translating


@dataclass(frozen=True)
class ModelInformation:
    """One of the models of a translator."""

    directory: str
    source_language: str  #: as the model says; may be empty
    target_language: str
    parameters: int
    source_vocabulary: int  #: pieces
    target_vocabulary: int
    precision: str  #: of decoding: "fp32", "bf16" or "int8"
    configuration: str  #: of the model and its training, YAML


for _class in (Request, Sampling, Attention, Alternative, Translation, FileStatistics, ModelInformation):
    _class.__module__ = "nmt"
