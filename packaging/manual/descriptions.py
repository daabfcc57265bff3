"""What the programs say of their command lines (--describe-options): JSON, read by man_pages.py and completions.py.

A description is a dict with name ("nmt-train"), summary, position (its place in `nmt help`), description, usage, examples,
exit_status, arguments, options, environment and, where the program takes --set, configuration: {sections, options}.
"""

import json
import pathlib


def read(files):
    """The descriptions, in the order of `nmt help`."""
    return sorted((json.loads(pathlib.Path(file).read_text(encoding="utf-8")) for file in files),
                  key=lambda program: program["position"])


def command(program):
    """"train" of nmt-train."""
    return program["name"].removeprefix("nmt-")


def configuration(programs):
    """Sections and options of the configuration, as the first program with --set says them."""
    return next(program["configuration"] for program in programs if "configuration" in program)


def value_kind(option):
    """What a shell offers for the value of an option: none, text, words (its choices), file, folder, or setting
    (section.name=value)."""
    value = option["value"]
    if not value:
        return "none"
    if option["choices"]:
        return "words"
    if value.endswith("KEY=VALUE"):
        return "setting"
    if "FILE" in value or value == "CONFIG":
        return "file"
    return "folder" if value == "DIR" else "text"


def short_help(option, longest=80):
    """The help up to its first pause."""
    text = option["help"].split(";")[0]
    return text if len(text) <= longest else text[:text.rindex(" ", 0, longest - 3)] + " ..."
