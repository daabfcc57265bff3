"""Configurations: a YAML file as the programs read it, or the same as a dict, or both."""

from __future__ import annotations

import json
import os
from typing import Any, Iterator, List, Mapping, Optional, Tuple, Union

from nmt import _arguments

#: A YAML file, or the options by their sections: {"data": {"vocab_size": 8000}}, or {"data.vocab_size": 8000}.
Configuration = Union[str, "os.PathLike[str]", Mapping[str, Any]]


def _value(value: Any) -> Any:
    """For JSON: paths and NumPy's numbers as what they stand for."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be the value of an option")


def _options(mapping: Mapping[str, Any]) -> Iterator[Tuple[str, Any]]:
    for name, value in mapping.items():
        if isinstance(value, Mapping):
            for inner, inner_value in value.items():
                yield f"{name}.{inner}", inner_value
        else:
            yield name, value


def settings_of(mapping: Mapping[str, Any]) -> List[str]:
    """["data.vocab_size=8000"]: JSON is YAML. None leaves an option as it is."""
    return [f"{name}={json.dumps(value, ensure_ascii=False, default=_value)}"
            for name, value in _options(mapping) if value is not None]


def read(configuration: Configuration, settings: Optional[Mapping[str, Any]]) -> Tuple[str, List[str]]:
    """(file or "", settings) for the extension."""
    file, found = "", []
    if isinstance(configuration, Mapping):
        found = settings_of(configuration)
    elif isinstance(configuration, (str, os.PathLike)):
        file = _arguments.path("config", configuration)
    else:
        raise _arguments.refused("config", "a path or a dict", configuration)
    if not isinstance(settings, (Mapping, type(None))):
        raise _arguments.refused("settings", "a dict", settings)
    return file, found + settings_of(settings or {})
