#!/usr/bin/env python3
"""Checks the pages of a built site: check_site.py FOLDER.

Each internal link leads to a file and, where it names one, to an anchor; each page can be reached from index.html; no
page and no style sheet loads anything from another host. Exit code 1, with a line for each that is not so.
"""

import html.parser
import pathlib
import re
import sys
import urllib.parse

# What a browser loads by itself: by element the attribute that names it.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src", "embed": "src",
          "object": "data", "use": "href"}
LOADING_LINKS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload", "manifest"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.update(attributes[key] for key in ("id", "name") if attributes.get(key))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if attributes.get(LOADED.get(tag, "-")):
            self.loads.append(attributes[LOADED[tag]])
        if tag == "link" and LOADING_LINKS & set(attributes.get("rel", "").split()):
            self.loads.append(attributes.get("href", ""))


def is_foreign(address):
    return bool(re.match(r"(?:[a-z][a-z0-9+.-]*:)?//", address))


def check(folder):
    """The faults of a site, a line each."""
    folder = folder.resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    faults, reached, waiting = [], set(), [folder / "index.html"]
    for path, page in pages.items():
        name = path.relative_to(folder).as_posix()
        if path.name == "404.html":
            continue  # its links begin at the root of the host
        for address in page.links + page.loads:
            if is_foreign(address) or re.match(r"[a-z]+:", address):
                continue
            target, _, anchor = urllib.parse.unquote(address).partition("#")
            file = (path.parent / target).resolve() if target else path
            if file.is_dir():
                file /= "index.html"
            if not file.is_file():
                faults.append(f"{name}: {address}: there is no such file")
            elif anchor and file in pages and anchor not in pages[file].anchors and anchor != "__top":
                faults.append(f"{name}: {address}: there is no such heading")
    for path, page in pages.items():
        faults += [f"{path.relative_to(folder).as_posix()}: loads {address}" for address in page.loads if is_foreign(address)]
    for path in sorted(folder.rglob("*.css")):
        addresses = re.findall(r"(?:url\(|@import\s+(?!url\())\s*[\"']?([^\"')\s;]+)", path.read_text(encoding="utf-8"))
        faults += [f"{path.relative_to(folder).as_posix()}: loads {address}" for address in addresses if is_foreign(address)]
    while waiting:
        path = waiting.pop()
        if path in reached or path not in pages:
            continue
        reached.add(path)
        for address in pages[path].links:
            if not is_foreign(address) and not re.match(r"[a-z]+:", address):
                target = urllib.parse.unquote(address).partition("#")[0]
                waiting.append((path.parent / target).resolve())
    faults += [f"{path.relative_to(folder).as_posix()}: no page leads here" for path in pages
               if path not in reached and path.name != "404.html"]
    return faults, len(pages)


def main():
    faults, pages = check(pathlib.Path(sys.argv[1]))
    print("\n".join(faults) if faults else f"{pages} pages, each reached, each link resolved, nothing from another host")
    return 1 if faults or pages < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
