"""Lines of files and of other iterables, as the programs read them."""

from __future__ import annotations

import gzip
import logging
import os
import re
import zlib
from io import BufferedReader
from typing import IO, Iterable, Iterator, Union, cast

from nmt import _arguments
from nmt._errors import Error
from nmt._results import Request

#: What the programs refuse, too: how such a file begins.
_FOREIGN = {b"\xfd7zXZ": "packed with xz; unpack it (xz -d)", b"BZh.1AY": "packed with bzip2; unpack it (bzip2 -d)",
            b"\\x28\xb5\x2f\xfd": "packed with zstd; unpack it (zstd -d)", b"PK\x03\x04": "a zip archive; unpack it",
            b"\xff\xfe": "UTF-16; convert it (iconv -f UTF-16 -t UTF-8)",
            b"\xfe\xff": "UTF-16; convert it (iconv -f UTF-16 -t UTF-8)"}

_LONGEST = 8 << 20  # bytes of a line, as of translate_file


def lines_of(lines: Union[Iterable[Union[str, Request]], "os.PathLike[str]"]) -> Iterator[Union[str, Request]]:
    """The lines without their ends; those of a file where it is a path, plain or gzip."""
    if isinstance(lines, os.PathLike):
        name = _arguments.path("lines", lines)
        try:
            raw = open(name, "rb")
        except OSError as error:
            raise Error(f"{name}: cannot read ({error.strerror})") from None
        return _lines_of_file(raw, name)
    if not isinstance(lines, Iterable):
        raise _arguments.refused("lines", "an iterable of str, or a pathlib.Path,", lines)
    return (line.rstrip("\r\n") if isinstance(line, str) else line for line in lines)


def _lines_of_file(raw: BufferedReader, name: str) -> Iterator[str]:
    number = 0
    with raw:
        first = raw.peek(8)
        for magic, what in _FOREIGN.items():
            if re.match(magic, first, re.DOTALL):
                raise Error(f"{name}: is {what} first (plain UTF-8 text and gzip are read)")
        packed = first[:2] == b"\x1f\x8b"
        with cast("IO[bytes]", gzip.open(raw) if packed else raw) as content:
            try:
                while line := content.readline(_LONGEST + 1):
                    number += 1
                    if len(line) > _LONGEST and not line.endswith(b"\n"):
                        line = _beginning(line[:_LONGEST], content, f"{name}:{number}")
                    # What is not UTF-8 comes through: the translator reads it as U+FFFD and says so.
                    yield line.decode("utf-8", "surrogateescape").rstrip("\r\n")
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise Error(f"{name}: damaged gzip after line {number} ({error}); get the file anew") from None


def _beginning(line: bytes, content: IO[bytes], where: str) -> bytes:
    """The characters of a line that is too long, of which the rest is read past."""
    logging.getLogger("nmt").warning("%s: more than %d MiB: only its beginning is translated", where, _LONGEST >> 20)
    while (rest := content.readline(_LONGEST)) and not rest.endswith(b"\n"):
        pass
    if line[-1] >= 0x80:  # the cut may have halved a character
        line = line.rstrip(bytes(range(0x80, 0xC0)))[:-1]
    return line
