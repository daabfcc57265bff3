"""Configurations: a YAML file as the programs read it, or the same as a dict, or both."""

from __future__ import annotations

import json
import os
from typing import Any, Iterator, List, Mapping, Optional, Tuple, Union

from nmt import _arguments
from nmt._errors import Error

#: A YAML file, or the options by their sections: {"data": {"vocab_size": 8000}}, or {"data.vocab_size": 8000}.
Configuration = Union[str, "os.PathLike[str]", Mapping[str, Any]]


def _json(name: str, value: Any) -> str:
    """Paths and NumPy's numbers as what they stand for."""

    def plain(inner: Any) -> Any:
        if isinstance(inner, os.PathLike):
            return os.fspath(inner)
        if hasattr(inner, "item"):
            try:
                return inner.item()
            except (ValueError, TypeError, RuntimeError):  # an array of several: NumPy's and PyTorch's differ
                raise _arguments.refused(name, "a value of an option", inner) from None
        raise _arguments.refused(name, "a value of an option", inner)

    return json.dumps(value, ensure_ascii=False, default=plain)


def _options(mapping: Mapping[str, Any]) -> Iterator[Tuple[str, Any]]:
    for name, value in mapping.items():
        if isinstance(value, Mapping):
            for inner, inner_value in value.items():
                yield f"{name}.{inner}", inner_value
        else:
            yield name, value


def settings_of(mapping: Mapping[str, Any]) -> List[str]:
    """["data.vocab_size=8000"]: JSON is YAML. None leaves an option as it is."""
    found = []
    for name, value in _options(mapping):
        if "=" in _arguments.word("the name of an option", name):
            raise Error(f"option {name!r}: a name without '=' is expected")
        if value is not None:
            found.append(f"{name}={_arguments.word(name, _json(name, value))}")
    return found


def read(configuration: Configuration, settings: Optional[Mapping[str, Any]]) -> Tuple[str, List[str]]:
    """(file or "", settings) for the extension."""
    file, found = "", []
    if isinstance(configuration, Mapping):
        found = settings_of(configuration)
    elif isinstance(configuration, (str, os.PathLike)):
        file = _arguments.path("config", configuration)
    else:
        raise _arguments.refused("config", "a path or a dict", configuration)
    return file, found + settings_of(_arguments.mapping("settings", {} if settings is None else settings))
