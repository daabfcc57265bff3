"""The result files of scripts that print tables: what is finished is not run again, if the --set are the same."""

import json
import sys


def settings_of(changes):
    """{key: value} of KEY=VALUE: the last of a key counts."""
    return {key: value for key, _, value in (change.partition("=") for change in changes)}


def read(path, changes):
    """The row, or None where there is none yet. Ends the program where it was made with other --set."""
    if not path.exists():
        return None
    row = json.loads(path.read_text())
    before = row.get("settings", {})  # older files do not tell: made without
    if before != settings_of(changes):
        told = " ".join(f"--set {key}={value}" for key, value in before.items()) or "none"
        sys.exit(f"{path}: begun with other --set ({told}); name another --work")
    return row


def write(path, row, changes):
    path.write_text(json.dumps(row | {"settings": settings_of(changes)}))
