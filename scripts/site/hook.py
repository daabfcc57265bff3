"""What the site has beside docs/: a hook of MkDocs (mkdocs.yml).

- index.md is README.md; contributing.md and changelog.md are the files of the repository's root.
- guides.md is docs/README.md. Its table is the navigation: a tab for each thing that a reader wants to do.
- The reference (reference/) is what scripts/site/reference.py wrote into build-site/reference.
- A link to a file that is not a guide, ../src/..., leads to a page that shows it, or where `extra: sources` says.
"""

import pathlib
import posixpath
import re

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "build-site" / "reference"
# Pages that are made of a file that stands elsewhere, or that has another name.
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md",
         "docs/README.md": "guides.md"}
REFERENCE_PARTS = {"cpp": "C++", "c": "C", "python": "Python"}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")
LANGUAGES = {".h": "cpp", ".cpp": "cpp", ".py": "python", ".sh": "bash", ".json": "json", ".yaml": "yaml", ".cmake": "cmake"}


def page_of(path):
    """The page of a file of the repository, or None: the path of its Markdown in the site."""
    if path in PAGES:
        return PAGES[path]
    return path[len("docs/"):] if path.startswith("docs/") else None


def without_blocks(text):
    return re.sub(r"(?ms)^[ ]*```.*?^[ ]*```[^\n]*$", "", text)


def linked_path(document, target):
    """The file of the repository that a link of `document` leads to, and the heading; None for another site's."""
    if re.match(r"[a-z]+:", target) or target.startswith("#"):
        return None
    path, _, heading = target.partition("#")
    return posixpath.normpath(posixpath.join(posixpath.dirname(document), path)), heading


def source_pages(documents):
    """The files and folders that guides link and that are no guides, and all files of these folders."""
    found = set()
    for document, text in documents.items():
        for *_, target in LINK.findall(without_blocks(text)):
            path = linked_path(document, target)
            if path and not page_of(path[0]):
                found.add(path[0])
    for folder in [ROOT / path for path in found if (ROOT / path).is_dir()]:
        found.update(file.relative_to(ROOT).as_posix() for file in folder.iterdir() if file.is_file())
    return sorted(found)


def source_page(path):
    file = ROOT / path
    if file.is_dir():
        names = sorted(entry.name for entry in file.iterdir() if entry.is_file())
        return f"# {path}/\n\n" + "".join(f"- [{name}]({posixpath.basename(path)}/{name}.md)\n" for name in names)
    text = file.read_text(encoding="utf-8")
    fence = "`" * (max([2, *map(len, re.findall("`+", text))]) + 1)
    return f"# {path}\n\n{fence} {LANGUAGES.get(file.suffix, 'text')}\n{text.rstrip()}\n{fence}\n"


def rewritten_links(page, document, text, sources):
    """The links of a document of the repository as those of `page` in the site."""
    def rewrite(match):
        picture, label, target = match.groups()
        path = linked_path(document, target)
        if path is None:
            return match.group(0)
        to = page_of(path[0])
        if to and to.endswith(".md") and label.strip("`").endswith((target, path[0])):
            label = title_of(ROOT / path[0]).partition(":")[0]  # forges show files; a site has pages
        if to is None and sources:
            return f"{picture}[{label}]({sources}{path[0]})"
        to = posixpath.relpath(to or f"source/{path[0]}.md", posixpath.dirname(page) or ".")
        return f"{picture}[{label}]({to}{'#' + path[1] if path[1] else ''})"

    # A label may hold `code`, so only blocks are left out.
    parts = re.split(r"(?ms)(^[ ]*```.*?^[ ]*```[^\n]*$)", text)
    return "".join(part if i % 2 else LINK.sub(rewrite, part) for i, part in enumerate(parts))


def as_python_markdown(text):
    """Forges begin a list or a table in the line after a paragraph; Python-Markdown wants an empty line between. Forges
    indent by two what it indents by four."""
    lines, result, in_code = text.split("\n"), [], False
    for line in lines:
        before = result[-1] if result else ""
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and before.strip():
            item, table = r"^\s*([-*+]|\d+\.) ", r"^\s*\|"
            inside = re.match(item, before) or before.startswith(" ")
            if (re.match(item, line) and not inside) or (re.match(table, line) and not re.match(table, before)):
                result.append("")
        indent = len(line) - len(line.lstrip(" "))
        if not in_code and not line.lstrip().startswith("```") and 2 <= indent < 4 and line.strip():
            line = " " * 4 + line.lstrip(" ")
        result.append(line)
    return "\n".join(result)


def navigation(table):
    """The tabs of the table in docs/README.md: [{title: [pages]}, ...]."""
    tabs, seen = [], set()
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|", 1)]
        if not line.startswith("|") or len(cells) != 2 or cells[0].startswith(("---", "I want")):
            continue
        if cells[0]:
            title = cells[0].strip("*")
            tabs.append({title[0].upper() + title[1:]: []})
        for *_, target in LINK.findall(cells[1]):
            page = page_of(linked_path("docs/README.md", target)[0])
            if page and page.endswith(".md") and page not in seen and page != "index.md":
                next(iter(tabs[-1].values())).append(page)
                seen.add(page)
    return [tab for tab in tabs if next(iter(tab.values()))]


def title_of(file):
    heading = re.search(r"(?m)^# (.*)$", file.read_text(encoding="utf-8"))
    return heading.group(1).replace("`", "")


def reference_navigation():
    """The pages of build-site/reference: its folders are parts, and one of a single page is that page."""
    if not (REFERENCE / "index.md").exists():
        raise PluginError("there is no build-site/reference: build the site by scripts/site.sh")
    parts = [{"Reference": "reference/index.md"}]
    for folder, title in REFERENCE_PARTS.items():
        pages = sorted((REFERENCE / folder).glob("*.md"), key=lambda page: (page.name != "index.md", page.name))
        if pages:
            entries = [{title_of(page): f"reference/{folder}/{page.name}"} for page in pages]
            parts.append({title: entries if len(entries) > 1 else f"reference/{folder}/index.md"})
    return {"Reference": parts}


def on_config(config):
    table = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    config.nav = [{"nmt": "index.md"}, {"Guides": ["guides.md", *navigation(table)]}, reference_navigation()]
    return config


def on_files(files, config):
    files.remove(files.get_file_from_path("README.md"))
    for path, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / path).read_text(encoding="utf-8")))
    for page in sorted(REFERENCE.rglob("*.md")):
        files.append(File.generated(config, f"reference/{page.relative_to(REFERENCE).as_posix()}",
                                    content=page.read_text(encoding="utf-8")))
    documents = {f"docs/{path.name}": path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
    documents.update({path: (ROOT / path).read_text(encoding="utf-8") for path in PAGES})
    if not config.extra["sources"]:
        for path in source_pages(documents):
            if not (ROOT / path).exists():
                raise PluginError(f"{path} is linked and not there")
            files.append(File.generated(config, f"source/{path}.md", content=source_page(path)))
    files.append(File.generated(config, "site.css", abs_src_path=str(ROOT / "scripts" / "site" / "site.css")))
    return files


def on_page_markdown(markdown, page, config, files):
    path = page.file.src_uri
    if path == "index.md":
        page.meta["hide"] = ["navigation"]
    if path.startswith(("source/", "reference/")):
        return markdown
    document = next((name for name, made in PAGES.items() if made == path), f"docs/{path}")
    return as_python_markdown(rewritten_links(path, document, markdown, config.extra["sources"]))
