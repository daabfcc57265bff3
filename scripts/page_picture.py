#!/usr/bin/env python3
"""Makes the picture of the page of a running server that docs/serving.md shows.

    scripts/page_picture.py http://127.0.0.1:8080 [--text TEXT] [--word N] [--dark] [--phone] [--out docs/pictures/page.png]

It types TEXT, waits for the translation and opens the menu of word N of its first line. Needs Chromium.
"""

import argparse
import pathlib
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / "tests" / "system" / "translate"))
from browser import Browser  # noqa: E402

LARGEST = 150_000  # bytes, of what is committed
TEXT = "Ein Hund läuft mit einem Ball im Maul über die grüne Wiese.\nZwei Kinder spielen am Strand."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--text", default=TEXT)
    parser.add_argument("--word", type=int, default=3, help="whose menu is open; 0: none")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--phone", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=SOURCE / "docs" / "pictures" / "page.png")
    arguments = parser.parse_args()

    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with Browser() as browser, browser.page() as page:
        page.size(*((390, 760) if arguments.phone else (1080, 560)), phone=arguments.phone)
        page.prefer(prefers_color_scheme="dark" if arguments.dark else "light", prefers_reduced_motion="reduce")
        page.open(arguments.url)
        page.insert(arguments.text)
        page.wait("document.querySelector('.word') && !document.querySelector('.waits')")
        if arguments.word:
            page.click(f"#translation .word:nth-of-type({arguments.word})")
            page.wait("document.querySelector('#alternatives b')")
        page.run("scrollTo(0, 0)")
        page.screenshot(arguments.out)
    size = arguments.out.stat().st_size
    print(f"{arguments.out}: {size} bytes")
    return 0 if size < LARGEST else f"page_picture.py: {arguments.out} has more than {LARGEST} bytes; translate a shorter text"


if __name__ == "__main__":
    sys.exit(main())
