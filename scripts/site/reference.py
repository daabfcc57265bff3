#!/usr/bin/env python3
"""Writes the pages of the reference: of the installed headers (Doxygen's XML) and of the Python package.

    reference.py INCLUDE PYTHON VERSION OUT    folders of the headers and of the package, where there is one; the version;
                                               a folder for the pages

Exit code 1, with a line for each, where a public name has no comment or Doxygen warns.
"""

import pathlib
import shutil
import sys

import doxygen_pages
import python_pages

INDEX = """# Reference
What a program may use: everything else may change at any time ([rules](../library.md#rules)).

| | |
| --- | --- |
| [C++](cpp/index.md) | the headers `nmt/*.h`, namespace `nmt` |
| [C](c/index.md) | the header `nmt.h`, for C and whatever calls C |
"""
CPP = """# C++
The headers of the library, in namespace `nmt`. [The guide](../../library.md) begins with examples.

| header | declares |
| --- | --- |
"""


def copied_headers(include, version, folder):
    """A copy with version.h as CMake makes it."""
    shutil.copytree(include, folder)
    template = folder / "nmt" / "version.h.in"
    if template.exists():
        text = template.read_text(encoding="utf-8").replace("@PROJECT_VERSION@", version)
        for name, value in zip(("MAJOR", "MINOR", "PATCH"), version.split(".")):
            text = text.replace(f"@PROJECT_VERSION_{name}@", value)
        (folder / "nmt" / "version.h").write_text(text, encoding="utf-8")
        template.unlink()


def main():
    include, package, version, out = (pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3],
                                      pathlib.Path(sys.argv[4]).resolve())
    shutil.rmtree(out, ignore_errors=True)
    work = out.parent / "doxygen"
    shutil.rmtree(work, ignore_errors=True)
    copied_headers(include, version, work / "include")

    headers = doxygen_pages.Headers(work / "include", work)
    pages = headers.pages()
    problems = headers.problems + [f"{include}/{line}" for line in headers.undocumented()]
    pages["index.md"], pages["cpp/index.md"] = INDEX, CPP
    for header in sorted(name for name in headers.classes | headers.members if name.startswith("nmt/")):
        page = header.removeprefix("nmt/").removesuffix(".h")
        names = [declaration.name for declaration in headers.classes[header] + headers.members[header]]
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(names))
        pages["cpp/index.md"] += f"| [{header}]({page}.md) | {names} |\n" if f"cpp/{page}.md" in pages else ""
    if (package / "__init__.py").exists():
        python = python_pages.Package(package)
        pages.update(python.pages())
        problems += [f"{package}/{line}" for line in python.problems]
        pages["index.md"] += "| [Python](python/index.md) | the package `nmt` |\n"

    for name, text in pages.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, encoding="utf-8")
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
