"""Reading and writing of parallel text in the layouts of the public corpora."""

import html
import re

LANGUAGES = {"de": "German", "en": "English", "fr": "French"}
_GERMAN_ENGLISH = ("de", "en")
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


def _split_lines(path):
    """Lines, split at \\n alone: U+2028 and the like stay inside a line."""
    lines = read_text(path).split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def read_lines(path):
    """Lines, split at \\n alone, each without outer white space."""
    return [line.strip() for line in _split_lines(path)]


def read_tags(path, prepare=lambda line: line):
    """The text of train.tags: lines that do not begin with '<' as they stand there, as nmt-prepro reads them; then
    without outer white space. `prepare` may take markup off a line before."""
    lines = _split_lines(path)
    lines[:1] = [line.removeprefix("\ufeff") for line in lines[:1]]
    return [line.strip() for line in map(prepare, lines) if not line.startswith("<")]


def read_segments(path):
    """The segments of an sgm or xml test set, as text: entities decoded, white space collapsed."""
    segments = [" ".join(html.unescape(text).split()) for text in _SEGMENT.findall(read_text(path))]
    if not segments:
        raise LayoutError(f"{path}: no <seg> found; is this the test set in sgm or xml form?")
    return segments


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.writelines(line + "\n" for line in lines)


def check_equal(name, source, target, languages=_GERMAN_ENGLISH):
    if source != target:
        first, second = (LANGUAGES[code] for code in languages)
        raise LayoutError(f"{name}: {source} {first} and {target} {second} lines; they must be as many")


def write_pair(folder, name, source, target, languages=_GERMAN_ENGLISH):
    """NAME.de and NAME.en (or of other languages) from two lists of lines; returns the number of pairs."""
    check_equal(name, len(source), len(target), languages)
    for code, side in zip(languages, (source, target)):
        write_lines(folder / f"{name}.{code}", side)
    return len(source)


def append_lines(path, out):
    """Copies a file of any size to an open binary file, with \\n ends; returns the number of lines."""
    count = 0
    with open(path, "rb") as lines:
        for line in lines:
            out.write(line.rstrip(b"\r\n") + b"\n")
            count += 1
    return count


def join_corpora(folder, name, found, languages=_GERMAN_ENGLISH):
    """NAME.de and NAME.en (or of other languages) from pairs of paths, one corpus after the other; streams."""
    total = 0
    first, second = (folder / f"{name}.{code}" for code in languages)
    with open(first, "wb") as source_lines, open(second, "wb") as target_lines:
        for source, target in found:
            count = append_lines(source, source_lines)
            corpus = source.name.removesuffix(f".{languages[0]}")
            check_equal(corpus, count, append_lines(target, target_lines), languages)
            total += count
    return total


def read_pair(source, target, languages=_GERMAN_ENGLISH):
    """Two equally long lists of lines or segments, by the kind of each file."""
    sides = [read_segments(p) if p.suffix in (".sgm", ".xml") else read_lines(p) for p in (source, target)]
    check_equal(source.name, len(sides[0]), len(sides[1]), languages)
    return sides
