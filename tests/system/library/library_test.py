"""Installs the library into a fresh folder, builds programs against it as a user would, and compares what they do with
what nmt-translate, nmt-score, nmt-prepro and nmt-train do.

    library_test.py --build BUILD_FOLDER --work FOLDER_OF_TRANSLATE_SUPPORT --cmake CMAKE --cc CC --cxx CXX
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
OPTIONS = None  # set by main

TRAINING = """
data: {{dir: {folder}/prepared, train1: {corpus}/train.de, train2: {corpus}/train.en, eval1: {corpus}/valid.de,
       eval2: {corpus}/valid.en, vocab_size: 300, character_coverage: 1}}
model: {{d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2}}
training: {{batch_type: tokens, batch_size: 256, num_epochs: 0, max_updates: 20}}
validation: {{every: 10, max_sentences: 10}}
run: {{dir: {folder}/run, threads: 1}}
"""


def clean_environment(**more):
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("LD_LIBRARY_PATH", "CPATH", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH")}
    environment.update(more)
    return environment


def run(*command, text="", fails=False, cwd=None, **environment):
    done = subprocess.run([str(part) for part in command], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=cwd, env=clean_environment(**environment), timeout=300)
    if (done.returncode != 0) != fails:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


class Library(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        first, cls.prefix = cls.folder / "first place", cls.folder / "installed here"
        run(OPTIONS.cmake, "--install", OPTIONS.build, "--prefix", first)
        first.rename(cls.prefix)  # it may be moved
        cls.lib = next(path.parent for path in cls.prefix.rglob("libnmt.so"))
        cls.build_folder = cls.folder / "build examples"
        run(OPTIONS.cmake, "-S", SOURCE / "examples", "-B", cls.build_folder, f"-DCMAKE_PREFIX_PATH={cls.prefix}",
            f"-DCMAKE_CXX_COMPILER={OPTIONS.cxx}", f"-DCMAKE_C_COMPILER={OPTIONS.cc}", "-DCMAKE_CXX_STANDARD=20",
            "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror", "-DCMAKE_C_FLAGS=-std=c99 -Wall -Wextra -Wpedantic -Werror")
        run(OPTIONS.cmake, "--build", cls.build_folder, "-j", "2")
        work = pathlib.Path(OPTIONS.work)
        cls.model, cls.corpus = work / "run" / "best", work / "corpus"
        cls.sources = (cls.corpus / "valid.de").read_text().splitlines()[:19] + [""]
        cls.expected = cls.program("nmt-translate", "-q", "-m", cls.model, "--threads", "1",
                                   text="".join(line + "\n" for line in cls.sources)).stdout

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def program(cls, name, *arguments, text="", **more):
        return run(pathlib.Path(OPTIONS.build) / name, *arguments, text=text, **more)

    def example(self, name, *arguments, text="", **more):
        return run(self.build_folder / name, *arguments, text=text, **more)

    def text(self):
        return "".join(line + "\n" for line in self.sources)

    def test_it_exports_its_interface_and_nothing_else(self):
        lines = run("nm", "-D", "--defined-only", "-C", self.lib / "libnmt.so").stdout.splitlines()
        names = [re.sub(r"@@?NMT_\d+\.\d+$", "", line.split(" ", 2)[2]) for line in lines]
        self.assertGreater(len(names), 50)
        allowed = re.compile(r"nmt_\w+|NMT_\d+\.\d+|nmt::api::[\w:~]+(\[abi:cxx11\])?\(.*\)( const)?|nmt::api::Server::operator=\(.*\)"
                             r"|(typeinfo|typeinfo name|vtable) for nmt::api::(Error|UserError|MachineError|Stopped)")
        self.assertEqual([name for name in names if not allowed.fullmatch(name) or "::State" in name], [])

    def test_every_function_of_the_c_header_is_there(self):
        header = (self.prefix / "include" / "nmt.h").read_text()
        declared = set(re.findall(r"^NMT_C_EXPORT [^(]*?\b(nmt_\w+)\(", header, re.M))
        exported = set(re.findall(r"\b(nmt_\w+)@@", run("nm", "-D", "--defined-only", self.lib / "libnmt.so").stdout))
        self.assertGreater(len(declared), 12)
        self.assertEqual(declared, exported)

    def test_it_needs_no_more_than_the_programs(self):
        needed = run("readelf", "-d", self.lib / "libnmt.so").stdout
        for library in ("libmpi", "libtorch", "libc10", "libgomp"):
            self.assertNotIn(library, needed)
        self.assertIn("Library soname: [libnmt.so.", needed)
        self.assertNotIn("sentencepiece", needed)

    def test_headers_stand_alone_in_c_and_in_cxx17(self):
        for header in sorted((self.prefix / "include").rglob("*.h")):
            name = header.relative_to(self.prefix / "include")
            with self.subTest(name):
                unit = self.folder / "unit.cpp"
                unit.write_text(f'#include <{name}>\n#include <{name}>\nint main() {{ return 0; }}\n')
                run(OPTIONS.cxx, "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fvisibility=hidden",
                    f"-I{self.prefix / 'include'}", "-fsyntax-only", unit)
                self.assertNotRegex(header.read_text(), r"#include [<\"](torch|ATen|c10|fmt|spdlog|nlohmann)")

    def test_translate(self):
        done = self.example("translate", self.model, text=self.text())
        by_program = self.program("nmt-translate", "-q", "-m", self.model, "--beam-size", "4", "--alignment", "pharaoh",
                                  "--n-best", "2", text=self.text()).stdout
        self.assertEqual(done.stdout, self.program("nmt-translate", "-q", "-m", self.model, "--beam-size", "4",
                                                   text=self.text()).stdout)
        alignments = [line.split("\t")[-1] for line in by_program.splitlines()[:2]]
        self.assertEqual([line.strip() for line in done.stderr.splitlines()[1::2]], alignments)
        self.assertIn("none: no such model directory", self.example("translate", "none", fails=True).stderr)

    def test_translate_from_c(self):
        options = {"models": [str(self.model)], "threads": 1}
        self.assertEqual(self.example("translate_c", json.dumps(options), text=self.text()).stdout, self.expected)
        done = self.example("translate_c", json.dumps({**options, "beam_size": 0}), text="a\n", fails=True)
        self.assertIn("translate_c: beam_size 0: decoding.beam_size: 0 is out of range", done.stderr)

    def test_score(self):
        hypotheses, references = self.folder / "hypotheses", self.folder / "references"
        hypotheses.write_text(self.expected)
        references.write_text("".join((self.corpus / "valid.en").read_text().splitlines(keepends=True)[:19]) + "x\n")
        found = self.example("score", hypotheses, references).stdout.splitlines()
        for index, arguments in enumerate((["-ci", "-m", "bleu"], ["-m", "chrf"], ["-m", "ter"])):
            expected = self.program("nmt-score", references, "-i", hypotheses, *arguments, "-f", "text", "-w", "2").stdout
            self.assertEqual(found[index], expected.strip())
        expected = self.program("nmt-score", references, "-i", hypotheses, "-sl", "-w", "2").stdout.splitlines()[0]
        self.assertEqual(found[3].split(" = ")[1], expected.split(" = ")[1])

    def trained(self, name):
        folder = self.folder / name
        folder.mkdir()
        (folder / "config.yaml").write_text(TRAINING.format(folder=folder, corpus=self.corpus))
        return folder

    def test_train(self):
        theirs, cxx, c = self.trained("by programs"), self.trained("by C++"), self.trained("by C")
        for program in ("nmt-prepro", "nmt-train"):
            self.program(program, "-c", theirs / "config.yaml")
        done = self.example("train", cxx / "config.yaml", "run.tensorboard=false")
        self.assertIn("validation at update 10: BLEU|", done.stdout)
        self.assertIn(f"done after 20 updates; best model: {cxx}/run/best\n", done.stdout)
        by_c = [json.loads(line) for line in
                self.example("train_c", json.dumps({"configuration": str(c / "config.yaml")})).stdout.splitlines()]
        self.assertEqual([line.get("update") for line in by_c[:2]], [10, 20])
        self.assertEqual(by_c[-1]["best_model"], f"{c}/run/best")
        for own in (cxx, c):
            for file in ("prepared/train.bin", "prepared/spm.model", "run/best/model.safetensors"):
                self.assertEqual(digest(own / file), digest(theirs / file), f"{own.name}: {file}")
            self.assertTrue((own / "run" / "report.html").exists())
        self.assertFalse((cxx / "run" / "tensorboard").exists())
        again = self.example("train", cxx / "config.yaml", "run.tensorboard=false")
        self.assertIn("done after 20 updates", again.stdout)
        wrong = self.example("train", cxx / "config.yaml", "training.lrr=1", fails=True)
        self.assertIn("did you mean training.lr?", wrong.stderr)

    def test_without_libtorch_it_translates_and_says_what_it_cannot_do(self):
        library, hidden = self.prefix / "lib/nmt/libnmt_torch.so", self.folder / "hidden"
        library.rename(hidden)
        try:
            done = self.example("translate_c", json.dumps({"models": [str(self.model)], "threads": 1}), text=self.text())
            self.assertEqual(done.stdout, self.expected)
            refused = self.example("train", self.trained("without LibTorch") / "config.yaml", "run.tensorboard=false", fails=True)
        finally:
            hidden.rename(library)
        self.assertRegex(refused.stderr, r"^(.*: )?libnmt_torch\.so: this needs LibTorch, by a library that cannot be loaded "
                                         r"\(.*\); install the whole package\n$")

    def test_serve(self):
        server = subprocess.Popen([str(self.build_folder / "serve"), str(self.model)], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True, env=clean_environment())
        try:
            url = server.stdout.readline().strip()
            request = urllib.request.Request(url + "/translate", method="POST", headers={"Content-Type": "application/json"},
                                             data=json.dumps({"q": self.sources, "source": "auto", "target": "en"}).encode())
            with urllib.request.urlopen(request, timeout=60) as answer:
                translated = json.load(answer)["translatedText"]
            self.assertEqual(translated, self.expected.splitlines())
            server.stdin.close()
            self.assertEqual(server.wait(timeout=30), 0)
        finally:
            server.kill()
            server.wait()
            server.stdout.close()

    def test_pkg_config(self):
        """And a program in C that links nothing else."""
        flags = run("pkg-config", "--cflags", "--libs", "nmt", PKG_CONFIG_PATH=str(self.lib / "pkgconfig")).stdout
        flags = re.findall(r"(?:\\.|[^\s\\])+", flags)
        flags = [flag.replace("\\", "") for flag in flags]
        self.assertEqual(run("pkg-config", "--modversion", "nmt", PKG_CONFIG_PATH=str(self.lib / "pkgconfig")).stdout.strip(),
                         re.search(r'NMT_VERSION_STRING "(.*)"', (self.prefix / "include/nmt/version.h").read_text()).group(1))
        program = self.folder / "c test"
        run(OPTIONS.cc, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", HERE / "nmt_h_test.c", "-o", program, *flags,
            f"-Wl,-rpath,{self.lib}")
        self.assertEqual(run(program, self.model, text=self.text()).stdout, self.expected)

    def test_a_project_in_c_alone_finds_it(self):
        folder = self.folder / "c alone"
        folder.mkdir()
        (folder / "main.c").write_text('#include <nmt.h>\n#include <stdio.h>\nint main(void) { puts(nmt_version()); return 0; }\n')
        (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.16)\nproject(alone LANGUAGES C)\n"
                                               "find_package(nmt 0.3 REQUIRED)\nadd_executable(alone main.c)\n"
                                               "target_link_libraries(alone PRIVATE nmt::nmt)\n")
        run(OPTIONS.cmake, "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_C_COMPILER={OPTIONS.cc}")
        run(OPTIONS.cmake, "--build", folder / "build")
        self.assertRegex(run(folder / "build" / "alone").stdout, r"^\d+\.\d+\.\d+\n$")
        lists = folder / "CMakeLists.txt"
        lists.write_text(lists.read_text().replace("nmt 0.3", "nmt 0.2"))
        refused = run(OPTIONS.cmake, "-S", folder, "-B", folder / "older", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                      f"-DCMAKE_C_COMPILER={OPTIONS.cc}", fails=True)
        self.assertIn("compatible with requested version \"0.2\"", refused.stderr.replace("\n  ", " "))

    def test_ctypes(self):
        done = run(sys.executable, HERE / "ctypes_nmt.py", self.lib / "libnmt.so", self.model, text=self.text())
        self.assertEqual(done.stdout, self.expected)

    def test_the_programs_of_the_guide(self):
        """Each block of docs/library.md that is a whole program: compiled; those with output below it run."""
        guide = (SOURCE / "docs" / "library.md").read_text()
        programs = re.findall(r"```(cpp|c)\n(.*?)```\n(?:\nprints\n```\n(.*?)```)?", guide, re.S)
        whole = [(language, code, output) for language, code, output in programs if "int main(" in code]
        self.assertGreaterEqual(len(whole), 2)
        shutil.copytree(self.model, self.folder / "guide" / "model")
        for number, (language, code, output) in enumerate(whole):
            with self.subTest(number=number):
                unit = self.folder / f"guide{number}.{language}"
                unit.write_text(code)
                compiler = [OPTIONS.cc, "-std=c99"] if language == "c" else [OPTIONS.cxx, "-std=c++17"]
                program = self.folder / f"guide{number}"
                run(*compiler, "-Wall", "-Wextra", "-Werror", unit, "-o", program, f"-I{self.prefix / 'include'}",
                    f"-L{self.lib}", "-lnmt", f"-Wl,-rpath,{self.lib}")
                done = run(program, cwd=self.folder / "guide")
                if output:
                    self.assertEqual(done.stdout, output)

    def test_another_sentencepiece_or_torch_is_left_alone(self):
        """A program that has names of its own for what the library hides."""
        unit = self.folder / "names.cpp"
        unit.write_text("""
            #include <nmt/tokenizer.h>
            #include <cstdio>
            namespace nmt { struct Config { int x = 7; }; class Logger { public: virtual ~Logger() {} }; }
            namespace sentencepiece { class SentencePieceProcessor { public: virtual ~SentencePieceProcessor(); int x = 1; };
            SentencePieceProcessor::~SentencePieceProcessor() { std::puts("its own"); } }
            int main(int, char** argv) {
              { sentencepiece::SentencePieceProcessor own; }
              nmt::Tokenizer tokenizer(argv[1]);
              std::printf("%d %d\\n", nmt::Config().x, static_cast<int>(tokenizer.encode("der").size() > 0));
            }""")
        run(OPTIONS.cxx, "-std=c++17", "-rdynamic", unit, "-o", self.folder / "names", f"-I{self.prefix / 'include'}",
            f"-L{self.lib}", "-lnmt", f"-Wl,-rpath,{self.lib}")
        self.assertEqual(run(self.folder / "names", self.model).stdout, "its own\n7 1\n")


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("build", "work", "cmake", "cc", "cxx"):
        parser.add_argument(f"--{name}", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
