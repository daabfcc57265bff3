"""Arguments are looked at where they come in: a wrong one is named in one line."""

from __future__ import annotations

import math
import operator
import os
from typing import Any, Iterable, List, Mapping, Type, TypeVar, Union

from nmt._errors import Error

Path = Union[str, "os.PathLike[str]"]
Wanted = TypeVar("Wanted")


def refused(name: str, wanted: str, value: object) -> TypeError:
    """What to raise for a value of the wrong type."""
    return TypeError(f"{name}: {wanted} is expected, not {type(value).__name__}")


def instance(name: str, value: object, of: Type[Wanted], wanted: str) -> Wanted:
    if not isinstance(value, of):
        raise refused(name, wanted, value)
    return value


def mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise refused(name, "a dict", value)
    return value


def text(name: str, value: object) -> str:
    return instance(name, value, str, "a str")


def word(name: str, value: object) -> str:
    """A str that is UTF-8 and no text of the user's: the name of something."""
    found = text(name, value)
    try:
        found.encode()
    except UnicodeEncodeError:
        raise Error(f"{name} {found!a}: holds bytes that are no UTF-8") from None
    return found


def path(name: str, value: object) -> str:
    """The path as a str."""
    found = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(found, str):
        raise refused(name, "a path (str or pathlib.Path)", value)
    if "\0" in found:
        raise Error(f"{name} {found!a}: a zero byte stands in the name")
    return word(name, found)


def is_truth(value: object) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")  # NumPy's


def whole_number(name: str, value: Any, least: int = -2**63, most: int = 2**63 - 1) -> int:
    """A whole number of any type that counts as one, NumPy's too. Raises :class:`nmt.Error` where it is out of range."""
    if is_truth(value) or not hasattr(value, "__index__"):
        raise refused(name, "a whole number", value)
    try:
        number = operator.index(value)
    except TypeError:  # an array of NumPy's
        raise refused(name, "a whole number", value) from None
    if not -2**63 <= number < 2**63:
        raise Error(f"{name}: the number is out of range")
    if not least <= number <= most:
        raise Error(f"{name} {number}: " + (f"use {least} or more" if number < least else f"use at most {most}"))
    return number


def number(name: str, value: Any) -> float:
    """A finite one."""
    if is_truth(value) or isinstance(value, (str, bytes)) or not (
            hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise refused(name, "a number", value)
    try:
        found = float(value)
    except OverflowError:
        raise Error(f"{name}: the number is out of range") from None
    if not math.isfinite(found):
        raise Error(f"{name} {found}: use a finite number")
    return found


def flag(name: str, value: object) -> bool:
    if not is_truth(value):
        raise refused(name, "True or False", value)
    return bool(value)


def listed(name: str, value: Any, of: str = "str") -> List[Any]:
    """The elements of an iterable that is not one text."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise refused(name, f"a list of {of}", value)
    return list(value)


def callback(name: str, value: object) -> None:
    if value is not None and not callable(value):
        raise refused(name, "a function", value)


def texts(name: str, value: Any) -> List[str]:
    return [text(f"{name}[{i}]", each) for i, each in enumerate(listed(name, value))]
