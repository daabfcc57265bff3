"""Raw text to raw text."""

from __future__ import annotations

import itertools
import os
from typing import (TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Literal, Mapping, Optional, Sequence, Tuple,
                    Union, overload)

from nmt import _arguments, _configuration, _nmt
from nmt._arguments import Path
from nmt._decoding_options import DecodingOptions
from nmt._errors import Error
from nmt._lines import lines_of
from nmt._results import Alternative, FileStatistics, ModelInformation, Request, Sampling, Translation

if TYPE_CHECKING:
    from typing_extensions import Unpack

Side = Literal["source", "target"]


class TranslateOptions(DecodingOptions, total=False):
    """How texts are translated and what is told of it. What is not given, or None, is as the model and the ``settings``
    of its translator say."""

    n_best: Optional[int]  #: translations of each text, at most the beam size; samples: any number
    sampling: Optional[Sampling]  #: tokens are drawn instead of searched for
    settings: Optional[Mapping[str, Any]]  #: options of the section decoding by their names: {"shortlist": 50}
    prefix: Union[str, Sequence[str], None]  #: each translation begins so; a list: one for each text
    must: Optional[Sequence[str]]  #: phrases that each translation holds
    must_not: Optional[Sequence[str]]  #: phrases that none holds
    glossary: Union[Glossary, Mapping[str, str], Path, None]  #: terms, or the file that has them
    keep_placeholders: Optional[bool]  #: addresses, {name}, %s stay as they are
    split_sentences: Optional[bool]  #: a text is a paragraph: its sentences are translated one by one
    copy_unknown: Optional[bool]  #: puts for <unk> the source word that it looks at most
    return_tokens: Optional[bool]  #: Alternative.tokens and token_scores
    return_alignment: Optional[bool]  #: Alternative.alignment; the models need attention
    return_attention: Optional[bool]  #: Alternative.attention; the same
    first_line: Optional[int]  #: the number of the first text, for samples


class Glossary:
    """Terms and what they become in every translation.

    :param terms: ``{"Haus": "house"}``, or lines as a file of them has: SOURCE, a tab, TARGET, and perhaps a tab and
        flags divided by commas, ``case`` (the text has the source in this case only) and ``keep`` (stays as it is)

    Raises :class:`nmt.Error` ("NAME:LINE: ...").
    """

    def __init__(self, terms: Union[Mapping[str, str], str]) -> None:
        if isinstance(terms, Mapping):
            for text in itertools.chain(terms.keys(), terms.values()):
                if any(character in _arguments.word("glossary", text) for character in "\t\n\r"):
                    raise Error(f"glossary: {text!r} holds a tab or a line end")
            # Spaces around a term do not count; without the first one a line that begins with # is a comment.
            terms = "".join(f" {source}\t{target}\n" for source, target in terms.items())
        self._set(_arguments.word("terms", terms).encode("utf-8", "surrogatepass"), "glossary")

    def _set(self, lines: bytes, name: str) -> None:
        self._lines = lines
        self._terms = _nmt.Glossary.parse(lines, name)

    @classmethod
    def read(cls, file: Path) -> Glossary:
        """The terms of a file, plain UTF-8."""
        name = _arguments.path("file", file)
        try:
            with open(name, "rb") as content:
                lines = content.read()
        except OSError as error:
            raise Error(f"{name}: cannot read ({error.strerror})") from None
        return _glossary_of(lines, name)

    def __len__(self) -> int:
        return self._terms.size()

    def __reduce__(self) -> Tuple[Any, ...]:
        return _glossary_of, (self._lines, "glossary")


def _glossary_of(lines: bytes, name: str) -> Glossary:
    glossary = Glossary.__new__(Glossary)
    glossary._set(lines, name)
    return glossary


def _settings(settings: Mapping[str, Any]) -> List[str]:
    if not isinstance(settings, Mapping):
        raise _arguments.refused("settings", "a dict", settings)
    return _configuration.settings_of(settings)


class Translator:
    """Translates raw text with a model or an ensemble, as nmt-translate does: the same options give the same texts.

    ::

        translator = nmt.Translator("runs/mine/best")
        translator.translate("Ein Hund rennt.").text
        for result in translator.translate(["Ein Hund rennt.", "Zwei Frauen tanzen."], beam_size=4, n_best=2):
            print(result.text, result.score)

    :param model: a model directory; several translate together, as an ensemble
    :param threads: of one call; 0: all processors
    :param precision: "auto", "fp32", "bf16" or "int8" ("float32" and "bfloat16" are understood, too); None: what the
        model says
    :param device: "auto" (a GPU where there is one), "cpu", "cuda", "cuda:N"
    :param weights: of an ensemble's votes, one a model
    :param max_source_length: pieces; a longer text is translated in parts
    :param settings: further options of the section ``decoding`` (docs/options.md): ``{"beam_size": 8}``

    Any number of Python threads may use a translator at the same time; each call works without the interpreter's lock.
    Ctrl-C ends a call. A pickle holds the names of the models, not their weights: it loads them where it arrives. After
    ``os.fork()`` the child may continue with it where no call was under way and it is on a CPU.

    Raises :class:`nmt.Error` for a folder that is no model or a damaged one, models that write with other target pieces,
    a device that is not there, an option out of range; :class:`nmt.MachineError` where the machine fails.
    """

    def __init__(self, model: Union[Path, Sequence[Path]], *, threads: int = 0, precision: Optional[str] = None,
                 device: str = "auto", weights: Sequence[float] = (), max_source_length: Optional[int] = None,
                 settings: Optional[Mapping[str, Any]] = None) -> None:
        models = [model] if isinstance(model, (str, os.PathLike)) else _arguments.listed("model", model, "paths")
        paths = [_arguments.path("model", path) for path in models]
        precision = "" if precision is None else _arguments.word("precision", precision)
        precision = {"float32": "fp32", "float": "fp32", "bfloat16": "bf16"}.get(precision, precision)
        self._arguments: Dict[str, Any] = {
            "models": [os.path.abspath(path) if path else "" for path in paths],
            "weights": [_arguments.number("weights", weight)
                        for weight in _arguments.listed("weights", weights, "numbers")],
            "device": _arguments.word("device", device), "precision": precision,
            "threads": _arguments.whole_number("threads", threads, 0, 2**31 - 1),
            "max_source_length": None if max_source_length is None
            else _arguments.whole_number("max_source_length", max_source_length),
            "settings": _settings({} if settings is None else settings)}
        self._translator = _nmt.Translator.load(**self._arguments)

    def __getstate__(self) -> Dict[str, Any]:
        return self._arguments

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self._arguments = state
        self._translator = _nmt.Translator.load(**state)

    def __repr__(self) -> str:
        models = self._arguments["models"]
        return f"nmt.Translator({models[0] if len(models) == 1 else models!r})"

    @overload
    def translate(  # type: ignore[overload-overlap]  # a str is an iterable of str, too
            self, texts: Union[str, Request], **options: Unpack[TranslateOptions]) -> Translation: ...

    @overload
    def translate(self, texts: Iterable[Union[str, Request]],
                  **options: Unpack[TranslateOptions]) -> List[Translation]: ...

    def translate(self, texts: Union[str, Request, Iterable[Union[str, Request]]],
                  **options: Unpack[TranslateOptions]) -> Union[Translation, List[Translation]]:
        """Translates a text, or many: one :class:`Translation` for each, in order. Many at once are faster: inside they
        are sorted by length. (On a CPU) a text's translation does not depend on the others.

        Texts are one unit each: a sentence, or a paragraph with ``split_sentences``. Line ends are white space. Options:
        :class:`TranslateOptions`; constraints of single texts: :class:`Request`.

        Raises :class:`nmt.Error` for an option out of range, or models without attention where it is wanted.
        """
        if isinstance(texts, (str, Request)):
            return self._translate([texts], dict(options))[0]
        if isinstance(texts, (bytes, bytearray)):
            raise TypeError("texts: str is expected, not bytes: decode them")
        return self._translate(_arguments.listed("texts", texts), dict(options))

    def _translate(self, texts: List[Union[str, Request]], options: Dict[str, Any], first: int = 0) -> List[Translation]:
        prefix = options.get("prefix")
        if prefix is not None and not isinstance(prefix, str):
            if isinstance(prefix, bytes) or not isinstance(prefix, Iterable):
                raise _arguments.refused("prefix", "a str, or a list of str,", prefix)
            prefixes = _arguments.texts("prefix", prefix)
            if len(prefixes) != len(texts):
                raise Error(f"prefix: {len(prefixes)} for {len(texts)} texts: give one for each, or one str for all")
            texts = [Request(text.source, own, text.must, text.must_not) if isinstance(text, Request)
                     else Request(text, own) for text, own in zip(texts, prefixes)]
            del options["prefix"]
        return self._translator.translate(texts, _inner_options(options), first)

    def translate_iter(self, lines: Union[Iterable[Union[str, Request]], "os.PathLike[str]"], *,
                       block_lines: int = 2048, **options: Unpack[TranslateOptions]) -> Iterator[Translation]:
        """Translates lines as they come: an iterator over their translations, in order.

        It reads a block, translates it, and hands it over before it reads the next: memory is bounded by the block. What
        ``lines`` raises, or is raised for one of them, is raised when those before it are translated and handed over. A
        glossary is read once.

        :param lines: any iterable of str, or the path of a file (``pathlib.Path``), plain or gzip
        :param block_lines: lines that are read before they are translated: more are faster, 1 translates each at once
        """
        if isinstance(lines, (str, bytes)):
            raise TypeError("lines: an iterable of str is expected, not one text; a file is named by pathlib.Path")
        size = _arguments.whole_number("block_lines", block_lines, 1)
        if not isinstance(options.get("prefix"), (str, type(None))):
            raise TypeError("prefix: one str is expected here; nmt.Request has one for each text")
        kept: Dict[str, Any] = dict(options)
        for name in ("must", "must_not"):  # a generator has its phrases once
            if kept.get(name) is not None:
                kept[name] = _arguments.listed(name, kept[name])
        kept = _inner_options(kept)
        self._translator.translate([], kept, 0)  # wrong options are refused now, not with the first line
        return self._blocks(lines_of(lines), size, kept)

    def _blocks(self, lines: Iterator[Union[str, Request]], block_lines: int,
                options: Dict[str, Any]) -> Iterator[Translation]:
        done = 0
        while True:
            block: List[Union[str, Request]] = []
            failure = None
            try:
                for line in itertools.islice(lines, block_lines):
                    block.append(line)
            except Exception as error:
                failure = error
            yield from self._to_the_first_error(block, done, options)
            if failure is not None:
                try:
                    raise failure
                finally:
                    failure = None  # it holds this frame
            if not block:
                return
            done += len(block)

    def _to_the_first_error(self, block: List[Union[str, Request]], done: int,
                            options: Dict[str, Any]) -> Iterator[Translation]:
        """The translations of a block that begins with line ``done``, until the one that is refused."""
        if not block:
            return
        try:
            first_line = int(options.get("first_line") or 0) + done
            results = self._translator.translate(block, {**options, "first_line": first_line}, done)
        except (Error, TypeError):  # what is wrong is found before anything is translated, so halving costs little
            if len(block) == 1:
                raise
        else:
            yield from results
            return
        half = len(block) // 2
        yield from self._to_the_first_error(block[:half], done, options)
        yield from self._to_the_first_error(block[half:], done + half, options)

    def translate_file(self, input: Path, output: Path, **options: Unpack[TranslateOptions]) -> FileStatistics:
        """Translates the lines of a file, plain or gzip, to a file with a line each, which appears when it is complete.

        What is not UTF-8 is read as U+FFFD; of that, and of lines in parts, the logger ``nmt`` hears. Raises
        :class:`nmt.Error` where the input cannot be read, or more is asked for than one translation of each line
        (``n_best``, ``return_tokens``, ...).
        """
        glossary, name = options.get("glossary"), _arguments.path("output", output)
        if (isinstance(glossary, (str, os.PathLike)) and os.path.exists(glossary) and os.path.exists(name)
                and os.path.samefile(glossary, name)):
            raise Error(f"output {name}: is the same file as glossary {os.fspath(glossary)}; name another one")
        return self._translator.translate_file(_arguments.path("input", input), name, _inner_options(dict(options)))

    def translate_document(self, document: Union[str, bytes], format: str,
                           **options: Unpack[TranslateOptions]) -> bytes:
        """Translates the text of a document; all else stays as it was.

        :param format: html, xml, srt, vtt, po, xliff, docx, pptx, odt, odp, epub or txt

        Raises :class:`nmt.Error` for a damaged one, and for what concerns single texts: ``n_best``, ``prefix``, ``must``,
        ``must_not``, ``return_tokens``, ``return_alignment``, ``return_attention``.
        """
        content = document
        if isinstance(document, str):
            try:
                content = document.encode(errors="surrogateescape")
            except UnicodeEncodeError:  # half a pair of surrogates: the extension says where
                content = document.encode(errors="surrogatepass")
        if not isinstance(content, bytes):
            raise _arguments.refused("document", "a str or bytes", document)
        return self._translator.translate_document(content, _arguments.word("format", format), _inner_options(dict(options)))

    def score(self, sources: Sequence[str], targets: Sequence[str],
              **options: Unpack[TranslateOptions]) -> List[Alternative]:
        """Scores given translations as the search would score them: an :class:`Alternative` for each pair.

        Raises :class:`nmt.Error` where the numbers of sources and targets differ, and for options that have no effect on
        given translations.
        """
        return self._translator.score(_arguments.texts("sources", sources), _arguments.texts("targets", targets),
                                      _inner_options(dict(options)))

    @property
    def models(self) -> List[ModelInformation]:
        """The models, in their order."""
        return self._translator.models()

    @property
    def has_attention(self) -> bool:
        """Whether alignment and attention can be had."""
        return self._translator.has_attention()


def _inner_options(options: Dict[str, Any]) -> Dict[str, Any]:
    """The options as the extension takes them."""
    glossary = options.get("glossary")
    if glossary is not None:
        if isinstance(glossary, Mapping):
            glossary = Glossary(glossary)
        elif isinstance(glossary, (str, os.PathLike)):
            glossary = Glossary.read(glossary)
        elif not isinstance(glossary, Glossary):
            raise _arguments.refused("glossary", "nmt.Glossary, a dict or a path", glossary)
        options["glossary"] = glossary._terms
    if options.get("settings") is not None:
        options["settings"] = _settings(options["settings"])
    return options


class Tokenizer:
    """A model's way from text to pieces and ids and back.

    :param directory: a model directory or a folder of prepared data. Raises :class:`nmt.Error` where it is neither.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = os.path.abspath(_arguments.path("directory", directory))
        self._tokenizer = _nmt.Tokenizer(self._directory)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Tokenizer, (self._directory,)

    def encode(self, text: str, side: Side = "source") -> List[int]:
        """The ids of a text, normalised as the model's input is, without <s> and </s>."""
        return self._tokenizer.encode(_arguments.text("text", text), _side(side))

    def tokenize(self, text: str, side: Side = "source") -> List[str]:
        """The pieces of a text."""
        return self._tokenizer.encode_pieces(_arguments.text("text", text), _side(side))

    def decode(self, ids: Sequence[int], side: Side = "target") -> str:
        """The text of ids. Raises :class:`nmt.Error` for one that the vocabulary has not."""
        numbers = [_arguments.whole_number("ids", id, 0, 2**31 - 1) for id in _arguments.listed("ids", ids, "int")]
        return self._tokenizer.decode(numbers, _side(side))

    def detokenize(self, tokens: Sequence[str], side: Side = "target") -> str:
        """The text of pieces."""
        return self._tokenizer.decode_pieces(_arguments.texts("tokens", tokens), _side(side))

    def vocabulary_size(self, side: Side = "source") -> int:
        """Pieces."""
        return self._tokenizer.size(_side(side))

    @property
    def is_joint(self) -> bool:
        """Whether both sides are one vocabulary."""
        return self._tokenizer.is_joint()

    def language(self, side: Side = "source") -> str:
        """The language as the model says; may be empty."""
        return self._tokenizer.language(_side(side))


def _side(side: str) -> str:
    if _arguments.text("side", side) not in ("source", "target"):
        raise Error(f"side {side!r}: use \"source\" or \"target\"")
    return side


for _class in (Glossary, Translator, Tokenizer):
    _class.__module__ = "nmt"
