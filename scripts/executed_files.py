#!/usr/bin/env python3
"""How many source files, and how many of their lines, one update of a training or one translated sentence executes.

    scripts/executed_files.py BUILD update CONFIG [--set KEY=VALUE ...]
    scripts/executed_files.py BUILD sentence MODEL LINE

BUILD is a folder built by g++:
    cmake -S . -B BUILD -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O0 --coverage" \
        "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-u,__gcov_reset -Wl,-u,__gcov_dump"
gdb stops the program where its third update, or its second line, begins, sets all counters to zero, and writes them
where the next one begins; gcov says which lines were executed. Prints each file of src/, interfaces/ and apps/ with its
executed lines, and the sums. Needs gdb and gcov.
"""

import argparse
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile


def run_between(program, arguments, function, first, text=None):
    """Runs the program; its counters are those between entry number `first` of the function and the next one."""
    commands = ["set breakpoint pending on", "set confirm off", "set print thread-events off",
                f"break {function}", f"ignore 1 {first - 1}", "run", "call (void)__gcov_reset()", "continue",
                "call (void)__gcov_dump()", "kill", "quit"]
    command = ["gdb", "-nx", "-batch"] + [part for line in commands for part in ("-ex", line)]
    command += ["--args", program, *arguments]
    done = subprocess.run([str(part) for part in command], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.stdout.count("hit Breakpoint 1") + done.stdout.count("Breakpoint 1, ") < 2:
        sys.exit(f"executed_files: {program.name} did not come to {function} twice:\n{done.stdout[-2000:]}")


def executed_lines(build, source):
    """{file: executed lines}, by gcov, from all counters of a build folder."""
    files = collections.defaultdict(set)
    for counters in build.rglob("*.gcda"):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["gcov", "--json-format", str(counters)], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            for made in pathlib.Path(folder).glob("*.gcov.json.gz"):
                for entry in json.loads(gzip.decompress(made.read_bytes()))["files"]:
                    path = pathlib.Path(source, entry["file"]).resolve()  # the build's paths begin there
                    if not path.is_relative_to(source):
                        continue
                    name = path.relative_to(source)
                    if name.parts[0] in ("src", "interfaces", "apps"):
                        files[str(name)] |= {line["line_number"] for line in entry["lines"] if line["count"]}
    return {name: lines for name, lines in files.items() if lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("what", choices=["update", "sentence"])
    parser.add_argument("input", help="a configuration, or a model directory")
    parser.add_argument("line", nargs="?", default="")
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()
    build = options.build.resolve()
    cache = (build / "CMakeCache.txt").read_text()
    source = pathlib.Path(next(line.split("=", 1)[1] for line in cache.splitlines()
                               if line.startswith("CMAKE_HOME_DIRECTORY"))).resolve()
    for counters in build.rglob("*.gcda"):
        counters.unlink()
    if options.what == "update":
        arguments = ["-c", options.input] + [part for value in options.set for part in ("--set", value)]
        run_between(build / "nmt-train", arguments, "nmt::UpdateLoop::update", 3)
    else:
        with tempfile.TemporaryDirectory() as folder:
            lines = pathlib.Path(folder, "lines")
            lines.write_text((options.line + "\n") * 4)
            arguments = ["-m", options.input, "-i", lines, "--buffer-lines", 1, "--batch-size", 1, "--threads", 1]
            run_between(build / "nmt-translate", arguments, "nmt::Translator::begin", 2)
    files = executed_lines(build, source)
    for name, lines in sorted(files.items()):
        print(f"{len(lines):6} {name}")
    print(f"{len(files)} files, {sum(map(len, files.values()))} lines executed")


if __name__ == "__main__":
    main()
