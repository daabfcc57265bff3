"""Reading and writing of parallel text in the layouts of the public corpora."""

import html
import re

_SEGMENT = re.compile(r"<seg\b[^>]*>(.*?)</seg>", re.DOTALL | re.IGNORECASE)


class LayoutError(Exception):
    """One line that says which file of a corpus is missing or wrong."""


def read_text(path):
    """The file as text; bad UTF-8 is a LayoutError with the line."""
    data = path.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LayoutError(f"{path}:{line}: not UTF-8; the archive may be damaged") from error


def read_lines(path):
    """Lines, split at \\n alone (U+2028 and the like stay inside a line), each without outer white space."""
    lines = read_text(path).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.strip() for line in lines]


def read_segments(path):
    """The segments of an sgm or xml test set, as text: entities decoded, white space collapsed."""
    segments = [" ".join(html.unescape(text).split()) for text in _SEGMENT.findall(read_text(path))]
    if not segments:
        raise LayoutError(f"{path}: no <seg> found; is this the test set in sgm or xml form?")
    return segments


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.writelines(line + "\n" for line in lines)


def check_equal(name, source, target):
    if source != target:
        raise LayoutError(f"{name}: {source} German and {target} English lines; they must be as many")


def write_pair(folder, name, source, target):
    """NAME.de and NAME.en from two lists of lines; returns the number of pairs."""
    check_equal(name, len(source), len(target))
    write_lines(folder / f"{name}.de", source)
    write_lines(folder / f"{name}.en", target)
    return len(source)


def append_lines(path, out):
    """Copies a file of any size to an open binary file, with \\n ends; returns the number of lines."""
    count = 0
    with open(path, "rb") as lines:
        for line in lines:
            out.write(line.rstrip(b"\r\n") + b"\n")
            count += 1
    return count


def join_corpora(folder, name, found):
    """NAME.de and NAME.en from (German path, English path) pairs, one corpus after the other; streams."""
    total = 0
    with open(folder / f"{name}.de", "wb") as german, open(folder / f"{name}.en", "wb") as english:
        for source, target in found:
            count = append_lines(source, german)
            check_equal(source.name.removesuffix(".de"), count, append_lines(target, english))
            total += count
    return total


def read_pair(source, target):
    """Two equally long lists of lines or segments, by the kind of each file."""
    sides = [read_segments(p) if p.suffix in (".sgm", ".xml") else read_lines(p) for p in (source, target)]
    check_equal(source.name, len(sides[0]), len(sides[1]))
    return sides
