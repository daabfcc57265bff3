#!/usr/bin/env python3
"""Prints the stages of scripts/test.sh that .ci/run adds: those whose folders have changed, and one more in turn.

    ci_stages.py [BASE]     changed since the commit BASE; default: the newest one that is older than five hours
"""

import datetime
import subprocess
import sys

# What a stage tests that the core and system stages do not see.
FOLDERS = {
    "sanitizers": ("src/base", "src/config", "src/text", "src/scoring", "src/report", "src/data", "src/nn/kernels",
                   "interfaces/archive", "interfaces/compat", "interfaces/convert", "interfaces/documents", "interfaces/server",
                   "tests/fuzz"),
    "threads": ("src/base", "src/data", "src/text", "interfaces/server"),
    "device": ("src/nn", "src/models", "src/search", "src/training", "tests/on_device", "tests/simulated_device",
               "kernels", "tests/kernels"),
    "site": ("docs", "mkdocs.yml", "scripts/site", "scripts/site.sh", "interfaces/library/include", "python/nmt"),
}


def git(*arguments):
    return subprocess.run(["git", *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


def stages_of(changed, day):
    """The stages whose folders hold one of the changed files, and the one whose turn it is on that day."""
    touched = [name for name, folders in FOLDERS.items()
               if any(file == folder or file.startswith(folder + "/") for file in changed for folder in folders)]
    names = list(FOLDERS)
    turn = names[day % len(names)]
    return touched if turn in touched else touched + [turn]


def main():
    base = sys.argv[1] if len(sys.argv) > 1 else git("rev-list", "-1", "--before=5 hours ago", "HEAD").strip()
    # A clone of few commits has none that is older: then everything has changed.
    changed = git("diff", "--name-only", base, "HEAD") if base else git("ls-files")
    print("\n".join(stages_of(changed.splitlines(), datetime.date.today().toordinal())))


if __name__ == "__main__":
    main()
