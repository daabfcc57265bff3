"""Finds LibTorch when the extension needs it: that of the installed package torch, so that both are one library in one
process, whichever of them is imported first."""

import ctypes
import importlib.util
import os
import re
import sys
from typing import Optional, Tuple

from nmt._build import TORCH_FOLDER, TORCH_VERSION


def _release(version: str) -> str:
    """"2.13" of "2.13.0+cpu": patches of LibTorch keep its binary interface, minor versions do not."""
    return ".".join(version.split("+")[0].split(".")[:2])


def _installed_torch() -> Optional[Tuple[str, str]]:
    """(folder, version) of the package torch, which is not imported for it; None where there is none."""
    torch = sys.modules.get("torch")
    if torch is not None and getattr(torch, "__file__", None):
        return os.path.dirname(str(torch.__file__)), str(torch.__version__)
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = list(spec.submodule_search_locations)[0]
    try:
        with open(os.path.join(folder, "version.py"), encoding="utf-8") as file:
            found = re.search(r"^__version__\s*(?::\s*\w+\s*)?=\s*['\"]([^'\"]+)['\"]", file.read(), re.MULTILINE)
    except OSError:
        return None
    return (folder, found.group(1)) if found else None


def _load(folder: str) -> None:
    """Loads the libraries that libnmt_torch.so needs and that are there, each behind those that it needs itself."""
    for name in ("libgomp.so.1", "libc10.so", "libtorch_cpu.so"):
        path = os.path.join(folder, name)
        if folder and os.path.exists(path):
            # Not RTLD_GLOBAL: it asks for them by name and gets these, and nobody else's symbols change.
            ctypes.CDLL(path, mode=os.RTLD_LOCAL | os.RTLD_NOW)


def _in_subinterpreter() -> bool:
    for name in ("_interpreters", "_xxsubinterpreters"):  # Python 3.13, and before
        try:
            interpreters = importlib.import_module(name)
            current, first = interpreters.get_current(), interpreters.get_main()
        except (ImportError, AttributeError):
            continue
        return bool(current != first)
    return False


def check_interpreter() -> None:
    """Raises ImportError in a subinterpreter, in which the extension would take the main one's classes away."""
    if _in_subinterpreter():
        raise ImportError("nmt: is for the main interpreter of a process, not for a subinterpreter; use a process")


def load() -> str:
    """Loads LibTorch; the extension calls it before it first needs it. Returns what to do where it cannot be used all the
    same. Raises ImportError for a version that the package was not built for.

    Where there is no package torch, a build folder knows LibTorch, and a package of Debian has it on its run path.
    """
    torch = _installed_torch()
    wanted = _release(TORCH_VERSION)
    if torch is None:
        _load(TORCH_FOLDER)
        return f'install the package torch: pip install "torch=={wanted}.*"'
    folder, version = torch
    again = "(pip install --force-reinstall --no-deps . in its source folder)"
    if _release(version) != wanted:
        raise ImportError(f"nmt was built for torch {wanted}, but torch {version} is installed in {folder}: "
                          f'install "torch=={wanted}.*", or build nmt again for this one {again}')
    _load(os.path.join(folder, "lib"))
    return f"build nmt again for torch {version} in {folder} {again}"
