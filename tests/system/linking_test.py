"""Reads how the programs and tests of a build folder are linked.

    linking_test.py --build BUILD_FOLDER

1. No run path has an element that is empty, relative or of another machine: an empty element is the current folder, from
   which anybody's libc.so.6 would then be loaded.
2. No variable is defined by two of the libraries that a program loads, with another size or as a symbol of full strength:
   the dynamic linker makes one of two such variables, and each library writes its own into it.
3. The C++ library is asked before LibTorch, which exports parts of another one.
4. Programs of the core load nothing that only interfaces/ needs: no TLS, no zip archives, no language detector. The reader
   of documents, nmt-translate, libnmt and the Python module load no LibTorch; the library that they open for it exports what
   they ask for.
5. Programs of a release are hardened: position-independent, read-only relocations, no stack that can be executed, stack
   protector, checked library calls and containers.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

OPTIONS = None  # set by main

# Linker-made names, and what the C library and the dynamic linker share on purpose.
SHARED_ON_PURPOSE = re.compile(r"^(_IO_stdin_used|__bss_start|_edata|_end|__data_start|data_start|_rtld_global.*"
                               r"|__libc_enable_secure|__stack_chk_guard|_nl_.*|__dso_handle|_r_debug|__libc_stack_end)$")


def output_of(*command, **settings):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, **settings).stdout


def is_program(path):
    with open(path, "rb") as file:
        return path.is_file() and os.access(path, os.X_OK) and file.read(4) == b"\x7fELF"


def programs():
    folder = pathlib.Path(OPTIONS.build)
    found = [path for pattern in ("*", "tests/*", "tests/*/*", "bench/*") for path in folder.glob(pattern) if path.is_file()]
    return sorted(path for path in found if path.suffix != ".so" and is_program(path))


def libraries():
    folder = pathlib.Path(OPTIONS.build)
    return [path for pattern in ("libnmt.so", "libnmt_torch.so", "python/nmt/*.so") for path in folder.glob(pattern)]


def run_path(program):
    found = re.search(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", output_of("readelf", "-d", "-W", str(program)))
    return found.group(1).split(":") if found else []


def needed_by(program):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", "-W", str(program)))


def is_own(element):
    """$ORIGIN, or a folder that this build chose: one with a library that the program loads by its name alone."""
    return element.startswith("$ORIGIN") or (os.path.isabs(element) and os.path.isdir(element) and
                                             any(name.startswith("lib") for name in os.listdir(element)))


def loaded_objects(program):
    """The program and the libraries that the dynamic linker takes, in its order."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LD_")}
    lines = output_of("ldd", str(program), env=environment, cwd=tempfile.gettempdir()).splitlines()
    missing = [line.strip() for line in lines if "not found" in line]
    if missing:
        raise AssertionError(f"{program.name}: {missing}")
    return [str(program)] + [match.group(1) for line in lines if (match := re.search(r"=> (/\S+)", line))]


Variable = collections.namedtuple("Variable", "object size strong")


def variables(path, cache={}):
    """Name to Variable: the data that an object defines for others. Not those that a program copies out of a library."""
    if path not in cache:
        copied = {line.split()[4].split("@")[0] for line in output_of("readelf", "-r", "-W", path).splitlines()
                  if "_COPY" in line and len(line.split()) > 4}
        found = {}
        for line in output_of("readelf", "--dyn-syms", "-W", path).splitlines():
            parts = line.split()
            if len(parts) < 8 or parts[3] not in ("OBJECT", "TLS") or parts[6] in ("UND", "Ndx", "ABS"):
                continue
            name, strength, visibility = parts[7].split("@")[0], parts[4], parts[5]
            if strength != "LOCAL" and visibility in ("DEFAULT", "PROTECTED") and name not in copied:
                found[name] = Variable(path, int(parts[2], 0), strength == "GLOBAL")
        cache[path] = found
    return cache[path]


def clashes(objects):
    """A line for each variable that two of the objects define differently."""
    seen, found = {}, []
    for path in objects:
        for name, variable in variables(path).items():
            before = seen.setdefault(name, variable)
            if before is variable or SHARED_ON_PURPOSE.match(name):
                continue
            if before.size != variable.size or (before.strong and variable.strong):
                found.append(f"{name}: {before.size} bytes in {before.object}, {variable.size} in {variable.object}")
    return found


class Linking(unittest.TestCase):
    maxDiff = 4000

    def test_there_are_programs_and_tests(self):
        names = {path.name for path in programs()}
        self.assertTrue({"nmt-score", "test_base"} <= names, names)

    def test_no_run_path_leads_to_the_current_or_a_foreign_folder(self):
        for file in [*programs(), *libraries()]:
            for element in run_path(file):
                self.assertTrue(is_own(element), f"{file.name}: run path element '{element}'")

    def test_no_variable_is_two_libraries_at_once(self):
        for program in programs():
            self.assertEqual(clashes(loaded_objects(program)), [], program.name)

    def test_the_cpp_library_is_asked_first(self):
        """LibTorch's std::filesystem::remove_all crashed in builds for CUDA."""
        for file in [*programs(), *libraries()]:
            needed = needed_by(file)
            if any(name.startswith("libtorch") for name in needed):
                self.assertEqual(needed[0], "libstdc++.so.6", f"{file.name}: {needed}")

    def test_programs_of_the_core_load_no_library_of_an_interface(self):
        core = [path for path in programs() if path.name in ("nmt-prepro", "nmt-train", "nmt-eval", "nmt-score")]
        self.assertTrue(core)
        for program in core:
            needed = needed_by(program)
            self.assertIn("libc.so.6", needed)
            foreign = "ssl|zip" if program.name == "nmt-prepro" else "ssl|zip|cld2"  # its rule on languages asks CLD2
            self.assertEqual([name for name in needed if re.match(rf"lib({foreign})\b", name)], [], program.name)

    def assert_loads_none(self, program, libraries):
        loaded = needed_by(program) + [pathlib.Path(path).name for path in loaded_objects(program)]
        self.assertTrue(any(name.startswith("libstdc++.") for name in loaded), loaded)
        self.assertEqual([name for name in loaded if re.match(rf"lib({libraries})", name)], [], program.name)

    def test_the_reader_of_documents_loads_no_libtorch(self):
        reader = pathlib.Path(OPTIONS.build) / "nmt-document"
        if not reader.exists():
            self.skipTest("a build without documents")
        self.assertTrue(any(name.startswith("libzip.") for name in needed_by(reader)))
        self.assert_loads_none(reader, "torch|c10|gomp|ssl")

    def test_translating_opens_libtorch_when_it_is_needed(self):
        folder = pathlib.Path(OPTIONS.build)
        files = [folder / "nmt-translate", *(path for path in libraries() if path.name != "libnmt_torch.so")]
        if not files[0].exists():
            self.skipTest("a build without LibTorch")
        for file in files:
            self.assert_loads_none(file, "torch|c10|gomp|mpi|nmt_torch")
            self.assertIn("$ORIGIN", run_path(file))

    def test_the_library_with_libtorch_exports_what_is_asked_of_it(self):
        opened = [path for path in libraries() if path.name == "libnmt_torch.so"]
        if not opened:
            self.skipTest("a build without LibTorch")
        expected = ["nmt_load_with_torch", "nmt_reuse_freed_tensors", "nmt_torch_version"]
        if re.search(r"^NMT_WITH_LIBRARY:BOOL=ON$", (pathlib.Path(OPTIONS.build) / "CMakeCache.txt").read_text(), re.M):
            expected.append("nmt_train_with_torch")
        for library in opened:
            self.assertTrue(any(name.startswith("libtorch") for name in needed_by(library)), library)
            self.assertEqual(sorted(output_of("nm", "-D", "--defined-only", str(library)).split()[2::3]), expected, library)

    def test_programs_are_hardened(self):
        settings = dict(re.findall(r"^(\w+):\w+=(.*)$", (pathlib.Path(OPTIONS.build) / "CMakeCache.txt").read_text(), re.M))
        if settings["NMT_HARDENING"] != "ON" or settings["NMT_SANITIZE"] or settings["CMAKE_BUILD_TYPE"] == "Debug":
            self.skipTest("a build without hardening, with sanitizers or for a debugger")
        compiled = json.loads((pathlib.Path(OPTIONS.build) / "compile_commands.json").read_text())
        for command in compiled:
            for flag in ("-fstack-protector-strong", "-fstack-clash-protection", "-D_FORTIFY_SOURCE=2", "-D_GLIBCXX_ASSERTIONS"):
                self.assertIn(flag, command["command"], command["file"])
        for program in (path for path in programs() if path.name.startswith("nmt-")):
            sections, dynamic = output_of("readelf", "-h", "-l", "-W", str(program)), output_of("readelf", "-d", "-W", str(program))
            self.assertRegex(sections, r"Type:\s+DYN", program.name)
            self.assertIn("GNU_RELRO", sections, program.name)
            self.assertRegex(sections, r"GNU_STACK .* RW ", program.name)
            self.assertRegex(dynamic, r"BIND_NOW|Flags:.* NOW", program.name)
            symbols = output_of("readelf", "--dyn-syms", "-W", str(program))
            self.assertIn("__stack_chk_fail", symbols, program.name)
            self.assertRegex(symbols, r"__\w+_chk@", program.name)

    def test_a_clash_is_seen(self):
        """Two libraries with one name for an int and for a struct."""
        with tempfile.TemporaryDirectory() as folder:
            for name, code in {"a": "int shared_name = 1;", "b": "struct { long x[4]; } shared_name = {{1}};"}.items():
                source = pathlib.Path(folder) / f"{name}.c"
                source.write_text(code)
                subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", f"{folder}/lib{name}.so", source],
                               check=True)
            found = clashes([f"{folder}/liba.so", f"{folder}/libb.so"])
            self.assertEqual(len(found), 1, found)
            self.assertIn("shared_name: 4 bytes", found[0])


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
