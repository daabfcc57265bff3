#!/usr/bin/env python3
"""Manual pages and completions, of what the programs say of their command lines. Part of the build; it is not installed.

    make_manual.py VERSION DATE FOLDER DESCRIPTION...     each DESCRIPTION is what `nmt-NAME --describe-options` printed
"""

import gzip
import pathlib
import sys

import completions
import descriptions
import man_pages


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_compressed(path, text):
    """With no time and no name in it: the same bytes each time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


def main(version, date, folder, *files):
    programs = descriptions.read(files)
    edition = man_pages.Edition(version, date)
    folder = pathlib.Path(folder)
    write_compressed(folder / "man/man1/nmt.1.gz", man_pages.front_door_page(programs, edition))
    write_compressed(folder / "man/man5/nmt-config.5.gz", man_pages.configuration_page(programs, edition))
    write(folder / "bash/nmt", completions.bash(programs))
    write(folder / "zsh/_nmt", completions.zsh(programs))
    write(folder / "fish/nmt.fish", completions.fish(programs))
    for program in programs:
        name = program["name"]
        write_compressed(folder / f"man/man1/{name}.1.gz", man_pages.program_page(program, programs, edition))
        link = folder / "bash" / name  # bash-completion loads a file by the name of the command
        link.unlink(missing_ok=True)
        link.symlink_to("nmt")
        write(folder / f"fish/{name}.fish", completions.fish_program(program, programs))


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
