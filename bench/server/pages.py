"""Pages of HTML for compare.py, made of lines of text: the same lines always give the same pages."""

import html
import html.parser
import random

BLOCKS = {"title", "h1", "h2", "p", "li", "td", "th"}  # the elements that make() puts text into


class Maker:
    """Takes its text from lines, in turn, so that no line stands in a page twice while there are enough."""

    def __init__(self, lines, seed):
        self.lines = lines
        self.random = random.Random(seed)
        self.at = self.random.randrange(len(lines))

    def line(self):
        self.at = (self.at + 1) % len(self.lines)
        return self.lines[self.at]

    def marked(self, line):
        """The line with an element around some of its words, or none."""
        words = line.split(" ")
        first = self.random.randrange(len(words))
        last = min(len(words), first + self.random.randint(1, 3))
        opening, closing = self.random.choice([("<b>", "</b>"), ("<em>", "</em>"), ("", ""),
                                               (f'<a href="/page/{self.at}">', "</a>")])
        before, inside, after = (html.escape(" ".join(part), quote=False)
                                 for part in (words[:first], words[first:last], words[last:]))
        return f"{before} {opening}{inside}{closing} {after}".strip()

    def paragraph(self):
        return f"<p>{' '.join(self.marked(self.line()) for _ in range(self.random.randint(1, 4)))}</p>"

    def list(self):
        items = "\n".join(f"<li>{self.marked(self.line())}</li>" for _ in range(self.random.randint(3, 6)))
        return f"<ul>\n{items}\n</ul>"

    def heading(self):
        return f"<h2>{html.escape(self.line(), quote=False)}</h2>"

    def page(self, size):
        title = html.escape(self.line(), quote=False)
        parts = [f'<!DOCTYPE html>\n<html lang="de">\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
                 f"<body>\n<h1>{html.escape(self.line(), quote=False)}</h1>"]
        length = len(parts[0])
        while length < size:
            section = [self.heading(), self.paragraph(), self.paragraph(), self.list(), self.paragraph()]
            for part in section:
                if length < size:
                    parts.append(part)
                    length += len(part.encode())
        return "\n".join([*parts, "</body>", "</html>", ""])


def make(lines, count, size):
    """Pages of some `size` bytes each, of headings, paragraphs and lists, with bold words and links."""
    return [Maker(lines, seed).page(size) for seed in range(count)]


class Reader(html.parser.HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.open = [], [], False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag in BLOCKS:
            self.texts.append("")
            self.open = True

    def handle_endtag(self, tag):
        self.open = self.open and tag not in BLOCKS

    def handle_data(self, data):
        if self.open:
            self.texts[-1] += data


def compare(page, answer):
    """(whether the answer has all elements of the page, the share of its blocks whose text is not translated)."""
    before, after = Reader(page), Reader(answer)
    texts = {" ".join(text.split()) for text in after.texts}
    same = sum(" ".join(text.split()) in texts for text in before.texts)
    return sorted(before.tags) == sorted(after.tags), same / len(before.texts)
