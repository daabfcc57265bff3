"""The rules of src/, interfaces/ and apps/, read from their text: who may include whom, how files are named, how large
they grow, and whether the guides name the libraries that there are.

A unit is a header with the .cpp of its name; a library is a folder of src/ or interfaces/, or apps/. Each exception below
says why it is one; an exception that nothing needs any more is a failure, so that the lists only hold what is true.
"""

import collections
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A library includes itself and those before it. Those of the core are in src/, the others in interfaces/.
CORE = "base config text scoring report data nn search models translation evaluation training".split()
INTERFACES = "archive compat convert documents language server library".split()
LIBRARIES = CORE + INTERFACES + ["apps"]
INTERFACE = "interfaces/library/include"  # the headers that are installed, by names that a program sees
MADE = {"nmt/version.h"}  # by CMake
MAX_FILES = 25  # in a folder
MAX_LINES = 400  # of a file

# .cpp files without a header of their name. A folder with "/*" stands for all files in it.
NO_HEADER = {
    "interfaces/library/*": "their headers are those that a program includes: interfaces/library/include",
    "apps/*": "programs: nothing includes them",
    "interfaces/documents/formats/*": "each file defines some of what formats.h lists",
    "interfaces/documents/packages/*": "each file defines some of what packaged_document.h lists",
    "interfaces/documents/program/nmt_document.cpp": "a program: nothing includes it",
    "src/nn/positions/*": "each file defines the kinds that positions.h lists, and nothing else sees them",
    "src/nn/kernels/kernel_set.cpp": "compiled once for each instruction set; kernels.cpp chooses",
    "src/nn/kernels/packed/packed_set.cpp": "compiled once for each instruction set; kernels.cpp chooses",
    "src/nn/kernels/training/training_set.cpp": "compiled once for each instruction set; kernels.cpp chooses",
}
LONG_FILES = {
    "src/config/kinds.h": "a table: one enumeration and its words a kind",
    "src/config/option_table.cpp": "a table: one row an option",
    "src/translation/lines/term_plan.cpp": "one plan for a line: what is cut out, forced and put back",
}
# Units that include each other.
UNIT_CIRCLES = {}
# No comment begins with one of these: it says its subject first.
BAD_BEGINNINGS = "Of Those By As Who".split()
# Words that are not to stand in comments and guides. Code in backticks is exempt, and names with an underscore are.
BAD_WORDS = ["wish", "wishes", "heir", "heirs", "farewell", "hang up", "hang_up", "poison", "poisoned", "anew",
             "heed", "heeds", "heeded", "mend", "mends", "mended", "room", "rooms", "house", "houses",
             "give up", "gives up", "given up", "gave up", "giving up",
             "go on", "goes on", "went on", "gone on", "going on"]
QUOTED_WORDS = {"docs/tutorial.md: house": "a translation that a model made"}


def files_of(root):
    """The C++ files of src/, interfaces/ and apps/, as paths from the root."""
    return sorted(path.relative_to(root).as_posix() for folder in ("src", "interfaces", "apps")
                  for path in (root / folder).rglob("*") if path.suffix in (".h", ".cpp"))


def library_of(file):
    parts = file.split("/")
    return parts[1] if parts[0] in ("src", "interfaces") else parts[0]


def folder_of(file):
    return file.rsplit("/", 1)[0]


def unit_of(file):
    return file.rsplit(".", 1)[0]


class Tree:
    def __init__(self, root):
        self.text = {file: (root / file).read_text(encoding="utf-8") for file in files_of(root)}
        self.includes = []  # (file, included file)
        self.missing = []
        for file, text in self.text.items():
            for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE):
                places = (f"src/{name}", f"interfaces/{name}", f"{INTERFACE}/{name}", f"{folder_of(file)}/{name}")
                found = next((path for path in places if path in self.text), None)
                if found:
                    self.includes.append((file, found))
                elif name not in MADE:
                    self.missing.append(f"{file} includes {name}, which is not there")

    def graph(self, node_of):
        graph = collections.defaultdict(set)
        for file, included in self.includes:
            if node_of(file) != node_of(included):
                graph[node_of(file)].add(node_of(included))
        return graph


def circles(graph):
    """The sets of nodes that reach each other (Tarjan 1972), each as one text of sorted names."""
    sys.setrecursionlimit(10000)
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            circle = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(circle) > 1:
                found.append(" ".join(sorted(circle)))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def upward_includes(tree):
    def level(file):
        return LIBRARIES.index(library_of(file)) if library_of(file) in LIBRARIES else -1

    return ([f"{file}: the library {library_of(file)} is not in LIBRARIES" for file in tree.text if level(file) < 0] +
            [f"{file} includes {other} of a higher library" for file, other in tree.includes if level(other) > level(file)])


def core_that_looks_out(tree):
    return [f"{file} includes {other}" for file, other in tree.includes
            if file.startswith("src/") and not other.startswith("src/")]


def torch_in(tree, folders):
    """The files of `folders` that include LibTorch, themselves or through others."""
    includes = collections.defaultdict(list)
    for file, included in tree.includes:
        includes[file].append(included)

    def reaches(file, seen):
        seen.add(file)
        return (re.search(r"^\s*#\s*include\s+<(?:torch|ATen|c10)/", tree.text[file], re.MULTILINE) is not None or
                any(reaches(other, seen) for other in includes[file] if other not in seen))

    return [file for file in tree.text if folder_of(file) in folders and reaches(file, set())]


def cpp_without_header(tree):
    return [file for file in tree.text if file.endswith(".cpp") and unit_of(file) + ".h" not in tree.text]


def repeated_headers(tree):
    names = collections.defaultdict(list)
    for file in tree.text:
        if file.endswith(".h") and not file.startswith(INTERFACE):
            names[file.rsplit("/", 1)[-1]].append(file)
    return [" ".join(files) for files in names.values() if len(files) > 1]


def full_folders(tree):
    sizes = collections.Counter(map(folder_of, tree.text))
    return [f"{folder}: {size} files" for folder, size in sizes.items() if size > MAX_FILES]


def long_files(tree):
    return [file for file, text in tree.text.items() if text.count("\n") > MAX_LINES]


def libraries_of_tour(text):
    """The names in the first code block of tour.md, in order; what stands behind two spaces is a remark."""
    block = re.search(r"(?ms)^```\n(.*?)^```", text).group(1)
    return re.sub(r"  .*", "", block).split()


def libraries_of_design(text):
    """{library: its folders} of the table in design.md, in order."""
    rows = re.findall(r"(?m)^\| `(?:src|interfaces)/(\w+)` \|([^|]*)\|", text)
    return {library: sorted(re.findall(r"`(\w+)`", folders)) for library, folders in rows}


def libraries_on_disk(tree):
    """{library: the folders directly in it} of src/ and interfaces/."""
    found = {library: set() for library in map(library_of, tree.text) if library != "apps"}
    for file in tree.text:
        parts = file.split("/")
        if parts[0] in ("src", "interfaces") and len(parts) > 3:
            found[parts[1]].add(parts[2])
    return {library: sorted(folders) for library, folders in found.items()}


def inference_modes(tree):
    return [file for file, text in tree.text.items() if "InferenceMode" in text]


def lenient_json(tree):
    return [file for file, text in tree.text.items()
            if ("<nlohmann/json.hpp>" in text or "is_number_integer" in text) and file != "src/base/files/strict_json.h"]


def byte_order_marks(tree):
    return [file for file, text in tree.text.items()
            if r"\xEF\xBB\xBF" in text and file != "src/base/unicode.h"]


def ungated_kernels(targets, dispatch, kernel_texts):
    """What is wrong with the choice of kernels: a file that is compiled for a level of x86-64 may run only where the whole
    level is there. `targets` is the text of cmake/NmtTargets.cmake, `dispatch` that of kernels.cpp."""
    levels = dict(re.findall(r"set\((avx\d+) [^)]*-march=x86-64-v(\d)", targets))
    wrong = [f"{name} is compiled for level {level} and not gated by it" for name, level in levels.items()
             if not re.search(rf'"{name}"\)\) return has_x86_64_level\({level}\)', dispatch)]
    features = {found for text in kernel_texts for found in re.findall(r'cpu_supports\("([^"]+)"\)', text)}
    return wrong + [f"{feature} is asked for alone" for feature in
                    sorted(features - {"avx512vnni", "avx512bf16"})] + ([] if levels else ["no level"])


# What is no code: texts and comments.
NO_CODE = r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*(?:.|\n)*?\*/'


def code_of(text):
    """C++ without comments, texts and preprocessor lines."""
    text = re.sub(NO_CODE, " ", text)
    return re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)


def types_of(text):
    """The full names of the types that a file defines at the level of a namespace that has a name."""
    scopes, found, head = [], [], ""
    for part in re.split(r"([{};])", code_of(text)):
        if part not in ("{", "}", ";"):
            head = part
            continue
        if part == "{":
            space = re.search(r"\bnamespace(\s+[\w:]+)?\s*$", head)
            kind = re.search(r"\b(?:struct|class|union|enum(?:\s+class)?)\s+(\w+)\s*(?:final\s*)?(?::[^:].*)?$", head, re.DOTALL)
            if space:
                scopes.append((space.group(1) or "").strip() or None)  # None: without a name
            else:
                if kind and not any(scope in (None, "") for scope in scopes):
                    found.append("::".join(scopes + [kind.group(1)]))
                scopes.append("")  # a type, a function, ...
        elif part == "}" and scopes:
            scopes.pop()
        head = ""
    return found


def repeated_types(tree):
    places = collections.defaultdict(list)
    for file, text in tree.text.items():
        for name in types_of(text):
            places[name].append(file)
    return [f"{name}: {' '.join(files)}" for name, files in places.items() if len(files) > 1]


def comments_of(text):
    """The comments of C++: [(line from 1, text without its marks)]. Lines of // in the same column, one below the other,
    are one comment."""
    found = []
    end = None  # the line and the column of the // before
    for match in re.finditer(NO_CODE, text):
        if not match.group().startswith(("//", "/*")):
            continue
        begin = text.rfind("\n", 0, match.start()) + 1
        line, column = text.count("\n", 0, begin) + 1, match.start() - begin
        words = re.sub(r"^(?:///?<?|/\*\*?<?)|\*/$", "", match.group()).strip()
        if not text[begin:match.start()].strip() and end == (line - 1, column):
            found[-1] = (found[-1][0], found[-1][1] + "\n" + words)
        else:
            found.append((line, words))
        end = (line, column) if match.group().startswith("//") else None
    return found


def bad_beginnings(tree):
    return [f"{file}:{line}: {words}" for file, text in tree.text.items() for line, words in comments_of(text)
            if re.match(rf"(?:{'|'.join(BAD_BEGINNINGS)})\b", words)]


def bad_words(text):
    """The words of BAD_WORDS in a comment or guide, in order; a phrase may be broken over two lines."""
    text = re.sub(r"(?ms)^ *```.*?^ *```", " ", text)
    text = re.sub(r"``[^`]*``|`[^`\n]*`", " ", text)
    alternatives = "|".join(word.replace(" ", r"\s+") for word in BAD_WORDS)
    return [" ".join(found.lower().split()) for found in re.findall(rf"(?i)(?<!\w)(?:{alternatives})(?!\w)", text)]


def guides(root):
    """The guides that a person writes, as paths from the root: the table of options is made from the code."""
    return [path.relative_to(root).as_posix() for path in
            [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]
            if path.name != "options.md"]


class StructureTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree = Tree(ROOT)

    def expect_only(self, exceptions, found, advice):
        self.assertEqual(sorted(set(found) - set(exceptions)), [], advice)
        self.assertEqual(sorted(set(exceptions) - set(found)), [], "exceptions that nothing needs any more: delete them")

    def test_includes_are_there(self):
        self.assertGreater(len(self.tree.includes), 1000)
        self.assertEqual(self.tree.missing, [])

    def test_the_core_knows_nothing_of_interfaces(self):
        self.assertEqual(core_that_looks_out(self.tree), [])

    def test_libraries_include_lower_ones_only(self):
        self.assertEqual(upward_includes(self.tree), [])
        self.assertEqual(circles(self.tree.graph(library_of)), [])

    def test_inference_knows_no_tensor(self):
        self.assertEqual(torch_in(self.tree, {"src/nn/inference", "src/nn/kernels", "src/search", "src/translation", "src/translation/lines",
                                              "interfaces/server/models"}), [])

    def test_folders_have_no_circle(self):
        self.assertEqual(circles(self.tree.graph(folder_of)), [])

    def test_units_have_no_circle(self):
        self.expect_only(UNIT_CIRCLES, circles(self.tree.graph(unit_of)), "units that include each other")

    def test_each_cpp_has_its_header(self):
        folders = {name[:-2] for name in NO_HEADER if name.endswith("/*")}
        found = [folder_of(file) + "/*" if folder_of(file) in folders else file for file in cpp_without_header(self.tree)]
        self.expect_only(NO_HEADER, found, "a .cpp file declares what it defines in a header of its name")

    def test_header_names_are_unique(self):
        self.assertEqual(repeated_headers(self.tree), [])

    def test_folders_are_small(self):
        self.assertEqual(full_folders(self.tree), [], f"at most {MAX_FILES} files a folder")

    def test_files_are_short(self):
        self.expect_only(LONG_FILES, long_files(self.tree), f"at most {MAX_LINES} lines a file, tables excepted")

    def test_the_tour_names_the_libraries(self):
        self.assertEqual(libraries_of_tour((ROOT / "docs/tour.md").read_text(encoding="utf-8")), LIBRARIES)

    def test_the_design_names_the_libraries_and_their_folders(self):
        libraries = libraries_of_design((ROOT / "docs/design.md").read_text(encoding="utf-8"))
        self.assertEqual(sorted(libraries.items()), sorted(libraries_on_disk(self.tree).items()))
        self.assertEqual(list(libraries), LIBRARIES[:-1])

    def test_no_inference_mode(self):
        # A tensor made in inference mode that something keeps cannot take part in a later backward pass.
        self.assertEqual(inference_modes(self.tree), [], "use torch::NoGradGuard")

    def test_numbers_of_json_are_checked(self):
        self.assertEqual(lenient_json(self.tree), [], 'include "base/files/strict_json.h"')

    def test_byte_order_marks_are_taken_in_one_way(self):
        self.assertEqual(byte_order_marks(self.tree), [], 'include "base/unicode.h"')

    def test_kernels_run_only_where_their_whole_level_is_there(self):
        texts = [text for file, text in self.tree.text.items()
                 if file.startswith("src/nn/kernels/") and not file.endswith("/x86_level.h")]
        targets = (ROOT / "cmake/NmtTargets.cmake").read_text(encoding="utf-8")
        self.assertEqual(ungated_kernels(targets, self.tree.text["src/nn/kernels/kernels.cpp"], texts), [])

    def test_types_are_defined_once(self):
        # Two types of one name in one namespace: the linker keeps the functions of one of them for both.
        self.assertEqual(repeated_types(self.tree), [])

    def test_comments_begin_with_their_subject(self):
        self.assertEqual(bad_beginnings(self.tree), [], "write a phrase with its subject first: \"The sum of a tile.\"")

    def test_comments_and_guides_are_in_plain_words(self):
        found = [f"{file}:{line}: {word}" for file, text in self.tree.text.items()
                 for line, words in comments_of(text) for word in bad_words(words)]
        self.assertEqual(found, [], "say it in a word that is not in BAD_WORDS")
        found = [f"{file}: {word}" for file in guides(ROOT)
                 for word in bad_words((ROOT / file).read_text(encoding="utf-8"))]
        self.expect_only(QUOTED_WORDS, found, "say it in a word that is not in BAD_WORDS")


class RulesTest(unittest.TestCase):
    """Each rule on a tree that breaks it."""

    def tree(self, **files):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        root = pathlib.Path(holder.name)
        for name, text in files.items():
            path = root / name.replace("__", "/").replace("_h", ".h").replace("_cpp", ".cpp")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Tree(root)

    def test_finds_a_missing_include(self):
        tree = self.tree(src__base__a_h='#include "base/b.h"\n#include "text/gone.h"\n', src__base__b_h="#include <map>\n")
        self.assertEqual(tree.includes, [("src/base/a.h", "src/base/b.h")])
        self.assertEqual(tree.missing, ["src/base/a.h includes text/gone.h, which is not there"])

    def test_finds_a_way_up(self):
        tree = self.tree(src__base__a_h='#include "text/b.h"\n', src__text__b_h='#include "base/c.h"\n', src__base__c_h="",
                         src__attic__d_h="")
        self.assertEqual(upward_includes(tree), ["src/attic/d.h: the library attic is not in LIBRARIES",
                                                 "src/base/a.h includes src/text/b.h of a higher library"])
        self.assertEqual(circles(tree.graph(library_of)), ["base text"])

    def test_finds_a_core_that_includes_an_interface(self):
        tree = self.tree(src__text__a_h='#include "server/b.h"\n', interfaces__server__b_h='#include "text/a.h"\n')
        self.assertEqual(core_that_looks_out(tree), ["src/text/a.h includes interfaces/server/b.h"])

    def test_finds_torch_behind_other_headers(self):
        tree = self.tree(src__nn__a__x_h='#include "nn/b/y.h"\n', src__nn__a__z_h="#include <vector>\n",
                         src__nn__b__y_h='#include "nn/b/w.h"\n', src__nn__b__w_h="#include <ATen/Parallel.h>\n")
        self.assertEqual(torch_in(tree, {"src/nn/a"}), ["src/nn/a/x.h"])

    def test_finds_circles(self):
        tree = self.tree(src__base__a__x_h='#include "base/b/y.h"\n', src__base__a__z_h="",
                         src__base__b__y_h="", src__base__b__y_cpp='#include "base/b/y.h"\n#include "base/a/z.h"\n')
        self.assertEqual(circles(tree.graph(folder_of)), ["src/base/a src/base/b"])
        self.assertEqual(circles(tree.graph(unit_of)), [])
        tree = self.tree(src__base__x_h="", src__base__x_cpp='#include "base/x.h"\n#include "base/y.h"\n',
                         src__base__y_h='#include "base/w.h"\n', src__base__w_h='#include "base/x.h"\n')
        self.assertEqual(circles(tree.graph(unit_of)), ["src/base/w src/base/x src/base/y"])

    def test_finds_files_of_wrong_names_and_sizes(self):
        many = {f"src__base__f{i}_h": "" for i in range(MAX_FILES + 1)}
        tree = self.tree(src__base__a_cpp="", src__text__f0_h="x\n" * (MAX_LINES + 1), **many)
        self.assertEqual(cpp_without_header(tree), ["src/base/a.cpp"])
        self.assertEqual(repeated_headers(tree), ["src/base/f0.h src/text/f0.h"])
        self.assertEqual(full_folders(tree), [f"src/base: {MAX_FILES + 2} files"])
        self.assertEqual(long_files(tree), ["src/text/f0.h"])

    def test_reads_libraries(self):
        self.assertEqual(libraries_of_tour("x\n```\nbase text  without LibTorch\nnn\napps   a program each\n```\n```\ny\n```\n"),
                         ["base", "text", "nn", "apps"])
        table = "| library | |\n| `src/text` | `b`, `a` | the `codec` |\n| `src/data` | | |\n| `apps/` | | |\n"
        self.assertEqual(libraries_of_design(table), {"text": ["a", "b"], "data": []})
        tree = self.tree(src__text__b__x_h="", src__text__a__c__y_h="", src__data__z_h="", apps__w_h="")
        self.assertEqual(libraries_on_disk(tree), {"text": ["a", "b"], "data": []})

    def test_finds_inference_mode(self):
        self.assertEqual(inference_modes(self.tree(src__nn__a_h="c10::InferenceMode guard;\n")), ["src/nn/a.h"])

    def test_finds_json_without_checks(self):
        tree = self.tree(src__base__files__strict_json_h="#include <nlohmann/json.hpp>\n",
                         src__text__a_h="#include <nlohmann/json.hpp>\n", src__text__b_h="#include <nlohmann/json_fwd.hpp>\n")
        self.assertEqual(lenient_json(tree), ["src/text/a.h"])

    def test_finds_a_kernel_that_a_single_feature_lets_run(self):
        targets = 'nmt_kernel_set(avx2 "kernel packed" -march=x86-64-v3)\nset(avx512 -march=x86-64-v4 -mtune=generic)\n'
        whole = 'is("avx512")) return has_x86_64_level(4); is("avx2")) return has_x86_64_level(3)'
        self.assertEqual(ungated_kernels(targets, whole, [whole]), [])
        single = whole.replace("has_x86_64_level(3)", '__builtin_cpu_supports("avx2")')
        self.assertEqual(ungated_kernels(targets, single, [single]),
                         ["avx2 is compiled for level 3 and not gated by it", "avx2 is asked for alone"])

    def test_finds_comments_without_a_subject(self):
        tree = self.tree(src__base__a_h='/// Of a tile.\nint a;  ///< By hand.\nint b;\n/** As above. */\n'
                                        '/// The sum.\n/// Of a tile it is one.\n'
                                        'auto c = "// Of no comment";  // Offset\n',
                         src__base__b_h="int a;      // the sum\n            // By hand, one comment.\n// Who asks.\n")
        self.assertEqual(bad_beginnings(tree), ["src/base/a.h:1: Of a tile.", "src/base/a.h:2: By hand.",
                                                "src/base/a.h:4: As above.", "src/base/b.h:3: Who asks."])

    def test_finds_words_in_comments_and_guides(self):
        self.assertEqual(bad_words("Goes\non anew; a wish, heeded."), ["goes on", "anew", "wish", "heeded"])
        self.assertEqual(bad_words("`heir` and ``x mend``, given_up, amend, ongoing on_room\n  ```\n  room\n  ```\n"), [])
        tree = self.tree(src__base__a_h='f("goes on");  // the run goes\n               // on\nint heir;\n')
        self.assertEqual([bad_words(words) for _, words in comments_of(tree.text["src/base/a.h"])], [["goes on"]])

    def test_reads_types(self):
        text = """
            // struct Comment {};
            #define MACRO struct Macro {
            namespace nmt {
            struct Forward;
            template <typename T> struct Plain : Base<T> { struct Inner {}; std::string text = "struct Quoted {"; };
            enum class Choice : int { kOne };
            class Last final : public a::B { void f() { struct Local {}; } };
            namespace { struct Hidden {}; }
            struct Plain<int> {};
            }
            namespace nmt::scoring { union Other { int a; }; struct Made f(struct Made made) { return made; } }"""
        self.assertEqual(types_of(text), ["nmt::Plain", "nmt::Choice", "nmt::Last", "nmt::scoring::Other"])

    def test_finds_a_type_defined_twice(self):
        tree = self.tree(src__base__a_h="namespace nmt { struct Pair { int a; }; }",
                         src__base__b_cpp="namespace nmt { class Pair { int b; }; }",
                         src__base__c_cpp="namespace nmt::scoring { class Pair { int c; }; }")
        self.assertEqual(repeated_types(tree), ["nmt::Pair: src/base/a.h src/base/b.cpp"])


if __name__ == "__main__":
    unittest.main()
