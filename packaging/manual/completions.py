"""Completions for bash, zsh and fish, of nmt and its programs."""

import pathlib

import descriptions
from descriptions import short_help, value_kind

TITLE = "Made by the build, of the programs' own tables of options."


def settings(programs):
    """(key, words that its value may be, whether it may be the name of a file) of each option of the configuration."""
    return [(f"{option['section']}.{option['name']}", option["choices"], option["is_text"])
            for option in descriptions.configuration(programs)["options"]]


def quoted(text):
    """For bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def bash(programs):
    """One file for all."""
    commands = " ".join(map(descriptions.command, programs))
    option_rows, value_rows, several, files = [], [], [], []
    for program in programs:
        names = [name for option in program["options"] for name in option["names"]
                 if name.startswith("--") or len(option["names"]) == 1]
        option_rows.append(f"{program['name']}) echo {quoted(' '.join(names))} ;;")
        for option in program["options"]:
            pattern = "|".join(f"{program['name']}:{name}" for name in option["names"])
            kind = value_kind(option)
            if kind != "none":
                value_rows.append(f"{pattern}) echo {quoted(' '.join([kind, *option['choices']]))} ;;")
            if option["several_values"]:
                several.append(pattern)
        if program["arguments"]:
            files.append(program["name"])
    setting_rows = [f"{key}) echo {quoted(' '.join(['words', *words]) if words else 'file')} ;;"
                    for key, words, is_text in settings(programs) if words or is_text]

    def case(subject, rows):
        return f"  case {subject} in\n" + "".join(f"    {row}\n" for row in rows) + "  esac\n"

    def yes_for(patterns):
        return [f"{'|'.join(patterns) or '-'}) return 0 ;;", "*) return 1 ;;"]

    engine = pathlib.Path(__file__).with_name("engine.bash").read_text(encoding="utf-8")
    return (f"# bash completion of nmt and its programs. {TITLE}\n"
            f"_nmt_commands='{commands}'\n_nmt_settings='{' '.join(key for key, _, _ in settings(programs))}'\n\n"
            "# PROGRAM: its options\n_nmt_options() {\n" + case("$1", option_rows) + "}\n\n"
            "# PROGRAM OPTION: what its value is\n_nmt_value() {\n" + case("$1:$2", value_rows) + "}\n\n"
            "_nmt_takes_several() {\n" + case("$1:$2", yes_for(several)) + "}\n\n"
            "_nmt_takes_files() {\n" + case("$1", yes_for(files)) + "}\n\n"
            "# SECTION.NAME: what its value is\n_nmt_setting() {\n" + case("$1", setting_rows) + "}\n\n" +
            engine + f"\ncomplete -F _nmt nmt {' '.join(program['name'] for program in programs)}\n")


def zsh_escaped(text):
    """Inside single quotes, for _arguments and _describe, which part at colons and brackets."""
    for sign in "\\:[]":
        text = text.replace(sign, "\\" + sign)
    return text.replace("'", "'\\''")


def zsh_option(option):
    """'(-c --config)-c[help]:FILE:_files' and the same for --config; * where it may come again."""
    again = option["several_times"] or option["several_values"]
    excluded = "*" if again else f"({' '.join(option['names'])})"
    kind = value_kind(option)
    offers = {"text": " ", "file": "_files", "folder": "_files -/", "setting": "_nmt_setting",
              "words": f"({' '.join(map(zsh_escaped, option['choices']))})"}
    action = "" if kind == "none" else f":{zsh_escaped(option['value'])}:{offers[kind]}"
    return "".join(f" \\\n    '{excluded}{name}{'=' if name.startswith('--') and action else ''}"
                   f"[{zsh_escaped(short_help(option))}]{action}'" for name in option["names"])


def zsh(programs):
    """One file for all, for a folder of zsh's fpath: _nmt."""
    functions, commands, values = "", "", ""
    for program in programs:
        functions += f"\n_nmt_of_{program['name']}() {{\n  _arguments"
        functions += "".join(map(zsh_option, program["options"]))
        functions += "".join(f" \\\n    '*:{zsh_escaped(argument['name'])}:_files'" for argument in program["arguments"])
        functions += "\n}\n"
        commands += f"    '{descriptions.command(program)}:{zsh_escaped(program['summary'])}'\n"
    for key, words, is_text in settings(programs):
        if words or is_text:
            values += f"      {key}) {'compadd -- ' + ' '.join(words) if words else '_files'} ;;\n"
    return f"""#compdef nmt {' '.join(program['name'] for program in programs)}
# zsh completion of nmt and its programs. {TITLE}

_nmt_setting() {{
  local key=${{PREFIX%%=*}}
  if compset -P '*='; then
    case $key in
{values}    esac
  else
    compadd -S '=' -- {' '.join(key for key, _, _ in settings(programs))}
  fi
}}
{functions}
_nmt_command() {{
  local -a commands=(
{commands}    'help:this text, or the options of a command'
  )
  _describe command commands
}}

_nmt_front_door() {{
  local curcontext=$curcontext state line
  _arguments -C '--version[the version of the toolkit]' '--help[the commands]' '1:command:_nmt_command' '*::argument:->rest'
  [[ $state == rest ]] || return
  case $line[1] in
    help) _nmt_command ;;
    *) (( $+functions[_nmt_of_nmt-$line[1]] )) && _nmt_of_nmt-$line[1] ;;
  esac
}}

case $service in
  nmt) _nmt_front_door ;;
  *) _nmt_of_$service ;;
esac
"""


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_option(option):
    """-l config -x -a '...' -d 'help' """
    names = "".join(f" -l {name[2:]}" if name.startswith("--") else f" {'-s' if len(name) == 2 else '-o'} {name[1:]}"
                    for name in option["names"])
    offers = {"none": "", "text": " -x", "file": " -r -F", "folder": " -x -a '(__fish_complete_directories)'",
              "setting": " -x -a '(__nmt_settings)'", "words": f" -x -a {fish_quoted(' '.join(option['choices']))}"}
    return f"{names}{offers[value_kind(option)]} -d {fish_quoted(short_help(option))}"


def fish_settings(programs):
    """The options of the configuration, and behind = what they may be."""
    cases = "".join(f"        case '{key}=*'\n            printf '{key}=%s\\n' {' '.join(words)}\n"
                    for key, words, _ in settings(programs) if words)
    keys = " ".join(f"{key}=" for key, _, _ in settings(programs))
    return ("function __nmt_settings\n    switch (commandline -ct)\n" + cases +
            f"        case '*'\n            printf '%s\\n' {keys}\n    end\nend\n")


def fish_lines(program, before):
    """The lines for the options of a program, where `before` is "-c nmt-train" or "-c nmt -n CONDITION"."""
    text = "" if program["arguments"] else f"complete {before} -f\n"
    return text + "".join(f"complete {before}{fish_option(option)}\n" for option in program["options"])


def fish_program(program, programs):
    """For a program under its own name, by which fish looks for the file: nmt-train.fish."""
    takes_settings = any(value_kind(option) == "setting" for option in program["options"])
    return (f"# fish completion of {program['name']}. {TITLE}\n" + (fish_settings(programs) if takes_settings else "") +
            fish_lines(program, f"-c {program['name']}"))


def fish(programs):
    """For nmt itself, whose commands the programs are: nmt.fish."""
    text = f"# fish completion of nmt. {TITLE}\n" + fish_settings(programs)
    text += "complete -c nmt -n __fish_use_subcommand -f\n"
    for program in programs:
        text += (f"complete -c nmt -n __fish_use_subcommand -a {descriptions.command(program)} "
                 f"-d {fish_quoted(program['summary'])}\n")
    text += ("complete -c nmt -n __fish_use_subcommand -a help -d 'the commands, or the options of one'\n"
             "complete -c nmt -n __fish_use_subcommand -l version -d 'the version of the toolkit'\n")
    commands = " ".join(map(descriptions.command, programs))
    text += f"complete -c nmt -n '__fish_seen_subcommand_from help' -f -a {fish_quoted(commands)}\n"
    for program in programs:
        text += fish_lines(program, f"-c nmt -n '__fish_seen_subcommand_from {descriptions.command(program)}'")
    return text
