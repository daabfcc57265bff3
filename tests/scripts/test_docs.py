"""All Markdown of the repository: links, paths of files, names of functions, tables."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = "src|apps|tests|scripts|bench|cmake|configs|docs|data_scripts"
PAST = {"CHANGELOG.md"}  # it may name what is gone
# What a guide tells its reader to make, and what it says is gone.
NOT_THERE = {"src/nn/positions/kerple.cpp", "src/decoding"}
PLACEHOLDER = re.compile(r"NAME|\bX\b|[*{]")


def documents():
    folders = [ROOT / folder for folder in FOLDERS.split("|")]
    return sorted(ROOT.glob("*.md")) + sorted(path for folder in folders for path in folder.rglob("*.md"))


def without_code(text):
    return re.sub(r"(?ms)^\s*```.*?^\s*```", "", text)


def anchor(heading):
    """The name that GitHub gives a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(path):
    return {anchor(heading) for heading in re.findall(r"(?m)^#+ (.*)$", without_code(path.read_text(encoding="utf-8")))}


class Docs(unittest.TestCase):
    maxDiff = None

    def test_every_relative_link_leads_to_a_file_and_a_heading(self):
        wrong, links = [], 0
        for document in documents():
            for target in re.findall(r"\]\(([^)\s]+)\)", without_code(document.read_text(encoding="utf-8"))):
                if re.match(r"[a-z]+:", target):
                    continue
                links += 1
                path, _, heading = target.partition("#")
                file = (document.parent / path).resolve() if path else document
                if not file.exists() or (heading and file.suffix == ".md" and heading not in anchors(file)):
                    wrong.append(f"{document.relative_to(ROOT)}: {target}")
        self.assertEqual(wrong, [])
        self.assertGreater(links, 50)

    def test_every_path_that_a_guide_names_is_there(self):
        wrong, paths = [], 0
        for document in documents():
            if document.name in PAST:
                continue
            text = document.read_text(encoding="utf-8")
            for path in set(re.findall(rf"(?<![\w/.-])((?:{FOLDERS})/[\w./*{{}},-]+)", text)):
                path = path.rstrip(".,:/")
                if PLACEHOLDER.search(path) or path in NOT_THERE:
                    continue
                paths += 1
                if not (ROOT / path).exists():
                    wrong.append(f"{document.relative_to(ROOT)}: {path}")
        self.assertEqual(wrong, [])
        self.assertGreater(paths, 100)

    def test_every_preset_stands_among_the_systems(self):
        text = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")
        presets = sorted(path.stem for path in (ROOT / "configs").glob("*.yaml"))
        self.assertGreater(len(presets), 20)
        self.assertEqual([name for name in presets if f"`{name}`" not in text], [])

    def test_every_header_of_the_glossary_is_there(self):
        wrong, paths = [], 0
        text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").split("## Old names")[0]
        for path in re.findall(r"`([\w/]+/(?:[\w.]+\.(?:h|cpp|py))?)`", text):
            paths += 1
            if not (ROOT / "src" / path).exists() and not (ROOT / path).exists():
                wrong.append(path)
        self.assertEqual(wrong, [])
        self.assertGreater(paths, 50)

    def test_every_function_of_the_tour_and_the_glossary_is_there(self):
        code = "\n".join(path.read_text(encoding="utf-8") for folder in ("src", "apps")
                         for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".h", ".cpp"))
        words = set(re.findall(r"\w+", code))
        wrong, names = [], 0
        for name in ("tour.md", "glossary.md"):
            text = (ROOT / "docs" / name).read_text(encoding="utf-8").split("## Old names")[0]
            for qualified in re.findall(r"`([A-Za-z_]\w*(?:::\w+)+)`", text):
                names += 1
                wrong += [f"{name}: {qualified}" for part in qualified.split("::") if part not in words]
        self.assertEqual(wrong, [])
        self.assertGreater(names, 50)

    def test_the_rows_of_a_table_have_as_many_cells_as_its_heading(self):
        wrong = []
        for document in documents():
            cells = None
            for line in without_code(document.read_text(encoding="utf-8")).splitlines():
                if not line.startswith("|"):
                    cells = None
                    continue
                here = re.sub(r"`[^`]*`", "", line.replace("\\|", "")).count("|")
                cells = cells or here
                if here != cells:
                    wrong.append(f"{document.relative_to(ROOT)}: {line[:60]}")
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
