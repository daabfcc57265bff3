"""Where the torch is for which the package is built: that of the environment where it goes, or the one that the variable
Torch_DIR names. Prints the folder of its TorchConfig.cmake; nothing where there is none. CMake and wheel_dependencies.py ask it.

pip builds in an environment of its own, which hides the one around it by PYTHONPATH; `python -I` sees it again.
"""

import os
import re
import subprocess
import sys
from typing import Optional, Tuple

LOOK = """
import importlib.util
spec = importlib.util.find_spec("torch")
for folder in (spec.submodule_search_locations or []) if spec else []:
    print(folder)
"""


def of_package(folder: str) -> Optional[Tuple[str, str]]:
    """(folder of TorchConfig.cmake, version) of the package torch in a folder; None where it is no such package."""
    config = os.path.join(folder, "share", "cmake", "Torch")
    if not os.path.exists(os.path.join(config, "TorchConfig.cmake")):
        return None
    try:
        with open(os.path.join(folder, "version.py"), encoding="utf-8") as file:
            found = re.search(r"^__version__.*=\s*['\"](.+?)['\"]", file.read(), re.MULTILINE)
    except OSError:
        return None
    return (config, found.group(1)) if found else None


def find() -> Optional[Tuple[str, str]]:
    """(folder of TorchConfig.cmake, version)"""
    if named := os.environ.get("Torch_DIR"):
        return of_package(os.path.abspath(os.path.join(named, "..", "..", "..")))
    for options in ([], ["-I"]):
        done = subprocess.run([sys.executable, *options, "-c", LOOK], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, cwd="/")
        for folder in done.stdout.splitlines():
            if torch := of_package(folder):
                return torch
    return None


if __name__ == "__main__":
    torch = find()
    print(torch[0] if torch else "", end="")
