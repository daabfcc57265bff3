"""Raw text to raw text."""

from __future__ import annotations

import difflib
import itertools
import os
from typing import (TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Literal, Mapping, Optional, Sequence, Tuple,
                    Union, get_args, get_type_hints, overload)

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


#: What an option of a type is checked by; the others are read one by one.
_CHECKS: Dict[Any, Any] = {bool: _arguments.flag, int: _arguments.whole_number, float: _arguments.number,
                           str: _arguments.text, Sequence[str]: _arguments.texts}
#: The options that are fields of the extension's, by their names there.
_FIELDS = {**{name: name for name in TranslateOptions.__annotations__ if name not in DecodingOptions.__annotations__},
           "return_tokens": "token_scores", "return_alignment": "alignment", "return_attention": "attention"}
_TYPES = get_type_hints(TranslateOptions)


def _inner_options(options: Mapping[str, Any]) -> _nmt.TranslateOptions:
    """The options as the extension takes them. Raises TypeError for one that there is not, or of the wrong type."""
    inner = _nmt.TranslateOptions()
    for name, value in options.items():
        if name not in _TYPES:
            near = difflib.get_close_matches(name, _TYPES, 1)
            raise TypeError(f"there is no option {name}" + (f"; did you mean {near[0]}?" if near else ""))
        if value is None:
            continue
        if name == "glossary":
            inner.glossary = _glossary(value)
        elif name == "settings":
            inner.set(_configuration.settings_of(_arguments.mapping("settings", value)))
        elif name == "sampling":
            inner.set(_sampling(value))
        else:
            value = _CHECKS[get_args(_TYPES[name])[0]](name, value)
            if name in _FIELDS:
                setattr(inner, _FIELDS[name], value)
            else:
                inner.set(_configuration.settings_of({name: value}))
    return inner


def _glossary(given: Union[Glossary, Mapping[str, str], Path]) -> _nmt.Glossary:
    if isinstance(given, Mapping):
        given = Glossary(given)
    elif isinstance(given, (str, os.PathLike)):
        given = Glossary.read(given)
    return _arguments.instance("glossary", given, Glossary, "nmt.Glossary, a dict or a path")._terms


def _sampling(given: Sampling) -> List[str]:
    sampling = _arguments.instance("sampling", given, Sampling, "nmt.Sampling")
    return _configuration.settings_of({
        "sampling": True, "temperature": _arguments.number("temperature", sampling.temperature),
        "top_k": _arguments.whole_number("top_k", sampling.top_k), "top_p": _arguments.number("top_p", sampling.top_p),
        "seed": _arguments.whole_number("seed", sampling.seed, 0)})


def _request(name: str, text: Union[str, Request], prefix: Optional[str] = None) -> _nmt.Request:
    """The text as the extension takes it. Raises TypeError, with its name."""
    if isinstance(text, str):
        return _nmt.Request(text, prefix or "", [], [])
    request = _arguments.instance(name, text, Request, "a str or nmt.Request")
    return _nmt.Request(_arguments.text(f"{name}.source", request.source),
                        _arguments.text(f"{name}.prefix", request.prefix if prefix is None else prefix),
                        _arguments.texts(f"{name}.must", request.must),
                        _arguments.texts(f"{name}.must_not", request.must_not))


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
    :param adapter: adapter.safetensors of a training with ``training.lora_rank``, added to the weights of the one model
    :param settings: further options of the section ``decoding`` (docs/options.md): ``{"beam_size": 8}``

    Any number of Python threads may use a translator at the same time; each call works without the interpreter's lock.
    Ctrl-C ends a call. A pickle holds the names of the models, not their weights: it loads them where it arrives.

    Raises :class:`nmt.Error` for a folder that is no model or a damaged one, models that write with other target pieces,
    a device that is not there, an option out of range; :class:`nmt.MachineError` where the machine fails.
    """

    def __init__(self, model: Union[Path, Sequence[Path]], *, threads: int = 0, precision: Optional[str] = None,
                 device: str = "auto", weights: Sequence[float] = (), max_source_length: Optional[int] = None,
                 adapter: Optional[Path] = None, settings: Optional[Mapping[str, Any]] = None) -> None:
        models = [model] if isinstance(model, (str, os.PathLike)) else _arguments.listed("model", model, "paths")
        paths = [_arguments.path("model", path) for path in models]
        chosen = {} if settings is None else _arguments.mapping("settings", settings)
        if precision is not None:
            names = {"float32": "fp32", "float": "fp32", "bfloat16": "bf16"}
            precision = names.get(_arguments.word("precision", precision), precision)
            chosen = {**chosen, "precision": precision}
        self._arguments: Dict[str, Any] = {
            "models": [os.path.abspath(path) if path else "" for path in paths],
            "weights": [_arguments.number("weights", weight)
                        for weight in _arguments.listed("weights", weights, "numbers")],
            "device": _arguments.word("device", device),
            "threads": _arguments.whole_number("threads", threads, 0, 2**31 - 1),
            "max_source_length": None if max_source_length is None
            else _arguments.whole_number("max_source_length", max_source_length),
            "adapter": "" if adapter is None else os.path.abspath(_arguments.path("adapter", adapter)),
            "settings": _configuration.settings_of(chosen)}
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

    def _translate(self, texts: List[Union[str, Request]], options: Dict[str, Any]) -> List[Translation]:
        prefixes: Sequence[Optional[str]] = [None] * len(texts)
        prefix = options.get("prefix")
        if prefix is not None and not isinstance(prefix, str):
            if isinstance(prefix, bytes) or not isinstance(prefix, Iterable):
                raise _arguments.refused("prefix", "a str, or a list of str,", prefix)
            prefixes = _arguments.texts("prefix", prefix)
            if len(prefixes) != len(texts):
                raise Error(f"prefix: {len(prefixes)} for {len(texts)} texts: give one for each, or one str for all")
            del options["prefix"]
        requests = [_request(f"texts[{i}]", text, own) for i, (text, own) in enumerate(zip(texts, prefixes))]
        return self._translator.translate(requests, _inner_options(options))

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
        inner = _inner_options(options)
        self._translator.translate([], inner)  # wrong options are refused now, not with the first line
        return self._blocks(lines_of(lines), size, inner)

    def _blocks(self, lines: Iterator[Union[str, Request]], block_lines: int,
                options: _nmt.TranslateOptions) -> Iterator[Translation]:
        done = 0
        failure: Optional[Exception] = None
        while failure is None:
            block: List[_nmt.Request] = []
            try:
                for line in itertools.islice(lines, block_lines):
                    block.append(_request(f"texts[{done + len(block)}]", line))
            except Exception as error:
                failure = error
            if not block:
                break
            try:
                results: Iterable[Translation] = self._translator.translate(block, options)
            except Error:  # those before the line that is refused come first
                if len(block) == 1:
                    raise
                results = self._one_by_one(block, options)
            yield from results
            done += len(block)
            options.first_line += len(block)
        if failure is not None:
            try:
                raise failure
            finally:
                failure = None  # it holds this frame

    def _one_by_one(self, block: List[_nmt.Request], options: _nmt.TranslateOptions) -> Iterator[Translation]:
        first = options.first_line
        for i, request in enumerate(block):
            options.first_line = first + i
            yield from self._translator.translate([request], options)
        options.first_line = first

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
        return self._translator.translate_file(_arguments.path("input", input), name, _inner_options(options))

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
        return self._translator.translate_document(content, _arguments.word("format", format), _inner_options(options))

    def score(self, sources: Sequence[str], targets: Sequence[str],
              **options: Unpack[TranslateOptions]) -> List[Alternative]:
        """Scores given translations as the search would score them: an :class:`Alternative` for each pair.

        Raises :class:`nmt.Error` where the numbers of sources and targets differ, and for options that have no effect on
        given translations.
        """
        return self._translator.score(_arguments.texts("sources", sources), _arguments.texts("targets", targets),
                                      _inner_options(options))

    @property
    def models(self) -> List[ModelInformation]:
        """The models, in their order."""
        return self._translator.models()

    @property
    def has_attention(self) -> bool:
        """Whether alignment and attention can be had."""
        return self._translator.has_attention()


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


def _side(side: str) -> _nmt.Side:
    if _arguments.text("side", side) not in ("source", "target"):
        raise Error(f"side {side!r}: use \"source\" or \"target\"")
    return _nmt.Side.source if side == "source" else _nmt.Side.target


for _class in (Glossary, Translator, Tokenizer):
    _class.__module__ = "nmt"
