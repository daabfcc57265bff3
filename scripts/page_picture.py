#!/usr/bin/env python3
"""Makes the pictures of README.md and the guides: of the page of a running server, the report of a run, the page of a cleaning.

    scripts/page_picture.py http://127.0.0.1:8080 [--text TEXT] [--word N] [--dark] [--phone] [--out docs/pictures/page.png]
    scripts/page_picture.py runs/NAME/report.html [--dark] [--phone] [--out docs/pictures/report.png]
    scripts/page_picture.py clean.html --size 900 800 --out docs/pictures/cleaning.png     # of nmt-prepro --clean

On the page it types TEXT, waits for the translation and opens the menu of word N of its first line. Of a file it shows the
beginning. Needs Chromium. (docs/pictures/attention.svg is what nmt-translate --attention-out writes.)
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
    parser.add_argument("page", help="the address of a server, or a report.html")
    parser.add_argument("--text", default=TEXT)
    parser.add_argument("--word", type=int, default=3, help="whose menu is open; 0: none")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--phone", action="store_true")
    parser.add_argument("--size", type=int, nargs=2, metavar=("WIDTH", "HEIGHT"))
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    is_report = "://" not in arguments.page
    if is_report and not pathlib.Path(arguments.page).is_file():
        return f"page_picture.py: {arguments.page}: no such file, and no address of a server"
    arguments.out = arguments.out or SOURCE / "docs" / "pictures" / ("report.png" if is_report else "page.png")

    # The part of a report that shows the first curves; in README.md both stand side by side.
    sizes = [(390, 760)] * 2 if arguments.phone else [(1080, 560), (1390, 655)]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with Browser() as browser, browser.page() as page:
        page.size(*(arguments.size or sizes[is_report]), phone=arguments.phone)
        page.prefer(prefers_color_scheme="dark" if arguments.dark else "light", prefers_reduced_motion="reduce")
        if is_report:
            page.open(pathlib.Path(arguments.page).resolve().as_uri(), ready="document.querySelector('svg, table')")
        else:
            page.open(arguments.page)
            page.insert(arguments.text)
            page.wait("document.querySelector('.word') && !document.querySelector('.waits')")
            if arguments.word:
                page.click(f"#translation .word:nth-of-type({arguments.word})")
                page.wait("document.querySelector('#alternatives b')")
        page.run("scrollTo(0, 0)")
        page.screenshot(arguments.out)
    size = arguments.out.stat().st_size
    print(f"{arguments.out}: {size} bytes")
    return 0 if size < LARGEST else f"page_picture.py: {arguments.out} has more than {LARGEST} bytes; show less"


if __name__ == "__main__":
    sys.exit(main())
