"""Manual pages in man(7): of each program, of nmt itself, and of the configuration."""

from dataclasses import dataclass

import descriptions

WIDTH = 78  # bytes of a line
ESCAPES = str.maketrans({"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"})


@dataclass
class Edition:
    """What stands in the head and the foot of every page."""
    version: str  # "0.1.0"
    date: str  # "2026-11-24"


def roff(text):
    """Text with what roff would take for its own escaped: backslashes, hyphens that are minus signs, quotes."""
    return text.translate(ESCAPES)


def bold(text):
    return rf"\fB{roff(text)}\fR"


def italic(text):
    return rf"\fI{roff(text)}\fR"


def lines(text):
    """The text as lines of at most WIDTH bytes; none of them begins with a point, which would be a request."""
    made, line = [], ""
    for word in map(roff, text.split()):
        if line and len((line + " " + word).encode()) <= WIDTH:
            line += " " + word
            continue
        if line:
            made.append(line)
        line = (r"\&" if word.startswith(".") else "") + word
    return "".join(part + "\n" for part in [*made, line] if part)


def head(name, section, edition):
    return f'.TH {roff(name.upper())} {section} {edition.date} "nmt {edition.version}" "Neural machine translation"\n'


def heading(title):
    return f".SH {title}\n"


def named(name, summary):
    return heading("NAME") + lines(f"{name} - {summary}")


def item(tag, text):
    return f".TP\n{tag}\n" + (lines(text) or ".br\n")


def sentence(text):
    return text if not text or text.endswith(".") else text + "."


def option_item(option):
    tag = ", ".join(map(bold, option["names"])) + (" " + italic(option["value"]) if option["value"] else "")
    texts = [sentence(option["help"])]
    if option["choices"] and "|" not in option["value"]:  # a value that lists its words has said them
        texts.append(f"One of {', '.join(option['choices'])}.")
    if option["default"]:
        texts.append(f"Default: {option['default']}.")
    return item(tag, " ".join(filter(None, texts)))


def see_also(own, programs):
    pages = [("nmt", 1), *((program["name"], 1) for program in programs), ("nmt-config", 5)]
    pages = [page for page in pages if page[0] != own]
    return heading("SEE ALSO") + "".join(
        f".BR {roff(name)} ({section}){'' if (name, section) == pages[-1] else ' ,'}\n" for name, section in pages)


def exit_status(program):
    if program["exit_status"]:
        return heading("EXIT STATUS") + lines(program["exit_status"])
    return (heading("EXIT STATUS") + item("0", "Done.") + item("1", "The machine failed: a full disk, no memory.") +
            item("2", "Something has to be changed: an option, a file. The message says what, and where.") +
            item("130, 143", "Stopped by SIGINT or SIGTERM."))


def examples(text):
    shown = [line.strip() for line in text.split("\n")]
    return (heading("EXAMPLES") + ".nf\n" +
            "".join(roff(line) + "\n" for line in shown if line and not line.endswith(":")) + ".fi\n")


def program_page(program, programs, edition):
    """Section 1."""
    text = head(program["name"], 1, edition) + named(program["name"], program["summary"])
    text += heading("SYNOPSIS") + bold(program["name"]) + " " + roff(program["usage"]) + "\n"
    text += heading("DESCRIPTION") + lines(program["description"])
    if program["arguments"]:
        text += heading("ARGUMENTS") + "".join(
            item(italic(argument["name"]), sentence(argument["help"])) for argument in program["arguments"])
    text += heading("OPTIONS")
    groups = list(dict.fromkeys(option["group"] for option in program["options"]))
    for group in groups:
        if len(groups) > 1:
            text += f".SS {roff(group)}\n"
        text += "".join(option_item(option) for option in program["options"] if option["group"] == group)
    variables = [item(bold(variable["name"]), sentence(variable["help"])) for variable in program["environment"]]
    variables += [item(bold(option["environment"]), f"As {option['names'][-1]}.")
                  for option in program["options"] if option["environment"]]
    if variables:
        text += heading("ENVIRONMENT") + "".join(variables)
    text += exit_status(program)
    if program["examples"]:
        text += examples(program["examples"])
    return text + see_also(program["name"], programs)


def front_door_page(programs, edition):
    """nmt(1), which becomes the others."""
    text = head("nmt", 1, edition) + named("nmt", "one front door for the programs of a translation toolkit")
    text += heading("SYNOPSIS") + f"{bold('nmt')} {italic('COMMAND')} {roff('[OPTIONS]')}\n"
    text += heading("DESCRIPTION") + lines(
        "nmt COMMAND runs the program nmt-COMMAND that stands in the same folder as nmt itself, with the options that "
        "follow. It becomes that program: signals, exit status and standard streams are the program's own. PATH is not "
        "searched.")
    text += heading("COMMANDS")
    for program in programs:
        name = descriptions.command(program)
        text += item(bold(name), f"{program['summary']}; see nmt-{name}(1).")
    text += item(f"{bold('help')} {roff('[')}{italic('COMMAND')}{roff(']')}", "The commands, or the options of one.")
    text += heading("OPTIONS") + item(bold("--version"), "The version of the toolkit.")
    text += heading("EXIT STATUS") + lines(
        "That of the program; 2 where the command is unknown, 1 where the program cannot be started.")
    text += examples("nmt prepro -c mine.yaml\nnmt train -c mine.yaml\n"
                     "nmt translate -m runs/mine/best < new.de > new.en\n")
    return text + see_also("nmt", programs)


def configuration_page(programs, edition):
    """nmt-config(5): every option of the configuration."""
    configuration = descriptions.configuration(programs)
    text = head("nmt-config", 5, edition) + named("nmt-config", "configuration of nmt, in YAML")
    text += heading("DESCRIPTION") + lines(
        "nmt-prepro, nmt-train and nmt-eval read one file of sections. An option stands below its section; on the "
        "command line it is written --set section.name=value, a list is [a, b]. What is left out has its default. "
        "--print-config prints every option with its value. A name that is not known is an error. An option that is "
        "marked so may have another value when a run is resumed.")
    for section in configuration["sections"]:
        text += heading(section["name"].upper()) + lines(sentence(section["help"]))
        for option in configuration["options"]:
            if option["section"] != section["name"]:
                continue
            facts = [option["type"], f"default {option['default']}".strip(), option["limits"],
                     "may change when a run is resumed" if option["may_change"] else ""]
            text += item(bold(f"{option['section']}.{option['name']}"),
                         f"{sentence(option['help'])} ({'; '.join(filter(None, facts))})")
    return text + see_also("nmt-config", programs)
