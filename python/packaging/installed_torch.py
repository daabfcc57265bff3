"""Where the torch is for which the package is built: that of the environment where it goes. Prints the folder of its
TorchConfig.cmake; nothing where there is none. CMake and wheel_dependencies.py ask it.

pip builds in an environment of its own, which hides the one around it by PYTHONPATH; `python -I` sees it again.
"""

import subprocess
import sys
from typing import Optional, Tuple

LOOK = """
import importlib.util, os, re
spec = importlib.util.find_spec("torch")
for folder in (spec.submodule_search_locations or []) if spec else []:
    config = os.path.join(folder, "share", "cmake", "Torch")
    version = os.path.join(folder, "version.py")
    if os.path.exists(os.path.join(config, "TorchConfig.cmake")) and os.path.exists(version):
        found = re.search(r"^__version__.*=\\s*['\\"](.+?)['\\"]", open(version, encoding="utf-8").read(), re.MULTILINE)
        if found:
            print(config)
            print(found.group(1))
            break
"""


def find() -> Optional[Tuple[str, str]]:
    """(folder of TorchConfig.cmake, version)"""
    for options in ([], ["-I"]):
        done = subprocess.run([sys.executable, *options, "-c", LOOK], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, cwd="/")
        lines = done.stdout.splitlines()
        if len(lines) == 2:
            return lines[0], lines[1]
    return None


if __name__ == "__main__":
    torch = find()
    print(torch[0] if torch else "", end="")
