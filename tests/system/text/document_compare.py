"""Documents before and after a translation, seen by readers that the toolkit does not know: Python's html.parser, xml.etree
and zipfile. The translators put the words in capitals, in their order or the opposite one, so each word is found again."""

import argparse
import collections
import html.parser
import io
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree
import zipfile

TOOL = None
VOID = {"br", "img", "hr", "input", "meta", "link", "wbr"}
KEPT = {"code", "pre", "script", "style", "textarea"}
TEXTS = {"alt", "title", "placeholder"}
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def translate(kind, name, data):
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, name), pathlib.Path(folder, "out")
        source.write_bytes(data)
        run = subprocess.run([TOOL, kind, source, target], capture_output=True, text=True, check=False)
        if run.returncode:
            raise RuntimeError(run.stderr.replace(folder, ""))
        return target.read_bytes()


class Page(html.parser.HTMLParser):
    """What a page holds: tags, the elements around each word, texts that are no language."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.words, self.kept, self.open, self.is_nested = collections.Counter(), {}, [], [], True
        self.feed(text)
        self.close()
        self.is_nested = self.is_nested and not self.open

    def handle_starttag(self, tag, attrs):
        self.tags[tag, tuple((k, None if k in TEXTS else v) for k, v in attrs)] += 1
        for key, value in attrs:
            if key in TEXTS:
                self.add_words(value, f"@{key} of {tag}")
        if tag not in VOID:
            is_kept = tag in KEPT or ("translate", "no") in attrs
            self.open.append((tag, is_kept or (bool(self.open) and self.open[-1][1])))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        self.tags["/" + tag] += 1
        if self.open and self.open[-1][0] == tag:
            self.open.pop()
        else:
            self.is_nested = False

    def handle_comment(self, data):
        self.tags["!" + data] += 1

    def handle_data(self, data):
        if self.open and self.open[-1][1]:
            self.kept.append(data)
        else:
            self.add_words(data, "/".join(tag for tag, _ in self.open))

    def add_words(self, text, place):
        for word in re.findall(r"\w+", text):
            self.words[word.upper()] = place


class Generator:
    """Well-formed fragments; each word stands once."""

    def __init__(self, seed):
        self.random, self.count = random.Random(seed), 0

    def word(self):
        self.count += 1
        return f"word{self.count}x" + self.random.choice(["", "&eacute;", "\u00fc"])

    def inline(self, depth):
        parts = []
        for _ in range(self.random.randint(1, 4)):
            kind = self.random.randint(0, 9)
            if kind < 5 or depth > 3:
                parts.append(" ".join(self.word() for _ in range(self.random.randint(1, 3))))
            elif kind < 8:
                tag = self.random.choice(["b", "i", "a href='x?a=1&amp;b=2'", "span class=\"y\"", "em"])
                parts.append(f"<{tag}>{self.inline(depth + 1)}</{tag.split()[0]}>")
            else:
                parts.append(self.random.choice(["<br>", "<img src=a.png alt='" + self.word() + "'>", "<!-- c -->",
                                                 "<code>a &lt; b</code>", "<span translate=no>Kept</span>"]))
        return self.random.choice([" ", "\n  "]).join(parts)

    def block(self, depth=0):
        tag = self.random.choice(["p", "div", "h2", "blockquote"])
        inside = self.inline(0)
        if depth < 3 and self.random.random() < 0.3 and tag in ("div", "blockquote"):
            inside = "".join(self.block(depth + 1) for _ in range(self.random.randint(1, 3)))
        return f"<{tag}>{inside}</{tag}>\n"

    def page(self):
        return f"<h1 title='{self.word()}'>{self.word()}</h1>\n" + "".join(self.block() for _ in range(self.random.randint(1, 8)))


SHOP = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Garden chairs &ndash; Miller&#39;s</title>
<style>p > a { color: red }</style><script>if (a < b && c) document.write("<p>no</p>");</script></head>
<body class=shop>
<nav><ul><li><a href="/">Home</a><li><a href="/new" title="What came in">New</a></ul></nav>
<h1>Chairs <small>from beech</small></h1>
<p>Our <a href="/chairs?size=2&amp;p=1"><strong>folding</strong> chairs</a> hold <em>up to <b>ninety</b></em> pounds.<br>
Ask <span translate="no">Tom Miller</span> or call <code>555-0100</code>.
<table><tr><th>Item<th>Price<tr><td>Stool<td>&euro;&nbsp;20</table>
<form><input type="text" placeholder="Your question" name=q><textarea>stays</textarea><button>Send</button></form>
<img src="a.jpg" alt="A chair under a tree"><!-- end --></body></html>
"""


class HtmlTest(unittest.TestCase):
    def check(self, text, kind):
        before, after = Page(text), Page(translate(kind, "a.html", text.encode()).decode())
        self.assertEqual(before.tags, after.tags)
        self.assertEqual(sorted(before.kept), sorted(after.kept))
        self.assertLessEqual(before.is_nested, after.is_nested)
        return before, after

    def test_each_word_of_generated_pages_keeps_its_elements(self):
        for seed in range(150):
            with self.subTest(seed=seed):
                text = Generator(seed).page()
                for kind in ("shout", "reverse"):
                    before, after = self.check(text, kind)
                    self.assertTrue(before.is_nested)
                    self.assertEqual(before.words, after.words)

    def test_no_alignment_breaks_a_page(self):
        for seed in range(100):
            with self.subTest(seed=seed):
                self.check(Generator(seed).page(), "scramble")

    def test_a_page_of_a_shop(self):
        for kind in ("shout", "reverse", "scramble"):
            self.check(SHOP, kind)
        before, after = Page(SHOP), Page(translate("shout", "a.html", SHOP.encode()).decode())
        self.assertEqual(before.words, after.words)
        self.assertEqual(translate("same", "a.html", SHOP.encode()).decode(), SHOP)

    def test_time_grows_with_the_page(self):
        for text in (Generator(1).page() * 3000, "<b>" * 250 + "word " * 100000 + "</b>" * 250, "<p>" + "<b>one</b> <br> " * 50000,
                     "<a " * 200000, "<!--" * 200000, "<script>" * 200000, "</b>" * 200000, "&" * 200000, "<p><b>x" * 100):
            started = time.monotonic()
            out = translate("reverse", "a.html", text.encode()).decode()
            self.assertLess(time.monotonic() - started, 10, text[:20])
            self.assertEqual(len(re.findall("<", text)), len(re.findall("<", out)))



def relationships(name, **targets):
    """An entry of an office file that says how its parts belong together."""
    return name, "<r>" + "".join(f"<Relationship Type='x/{way}' Target='{target}'/>" for way, target in targets.items()) + "</r>"


def package(entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in entries:
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name, (2020, 2, 3, 4, 6, 8)), data, kind)
    return out.getvalue()


def packed_bytes(data, info):
    start = info.header_offset + 30 + int.from_bytes(data[info.header_offset + 26:info.header_offset + 28], "little")
    start += int.from_bytes(data[info.header_offset + 28:info.header_offset + 30], "little")
    return data[start:start + info.compress_size]


class PackageTest(unittest.TestCase):
    def translated(self, kind, name, entries, changed):
        """The archive after the translation; all entries but `changed` are as they were."""
        before = package(entries)
        after = translate(kind, name, before)
        old, new = zipfile.ZipFile(io.BytesIO(before)), zipfile.ZipFile(io.BytesIO(after))
        self.assertIsNone(new.testzip())
        self.assertEqual(old.namelist(), new.namelist())
        for a, b in zip(old.infolist(), new.infolist()):
            self.assertEqual((a.compress_type, a.date_time), (b.compress_type, b.date_time))
            if a.filename not in changed:
                self.assertEqual(packed_bytes(before, a), packed_bytes(after, b))
        return new

    def runs(self, xml_bytes):
        """The words of a .docx with the properties of their runs."""
        words = {}
        for paragraph in xml.etree.ElementTree.fromstring(xml_bytes).iter(W + "p"):
            text, marks = "", []
            for run in paragraph.iter(W + "r"):
                properties = run.find(W + "rPr")
                names = tuple(p.tag for p in properties) if properties is not None else ()
                for child in run:
                    piece = child.text or "" if child.tag == W + "t" else " " if child.tag == W + "tab" else ""
                    text += piece
                    marks += [names] * len(piece)
            for match in re.finditer(r"\w+", text):
                words[match.group().upper()] = marks[match.start()]
        return words

    def test_docx(self):
        generator = random.Random(3)
        count = 0
        body = ""
        for _ in range(40):
            body += "<w:p><w:pPr><w:jc w:val='left'/></w:pPr>"
            for _ in range(generator.randint(1, 6)):
                words = " ".join(f"w{count + i}x" for i in range(generator.randint(1, 4)))
                count += 4
                form = generator.choice(["", "<w:rPr><w:b/></w:rPr>", "<w:rPr><w:i/></w:rPr>"])
                body += (f"<w:r w:rsidR='{count:08x}'>{form}<w:t xml:space='preserve'>{words} </w:t></w:r>" +
                         generator.choice(["", "", "<w:r><w:tab/></w:r>", "<w:bookmarkStart w:id='1'/>"]))
            body += "</w:p>"
        document = f"<?xml version='1.0' encoding='UTF-8'?><w:document xmlns:w='{W[1:-1]}'><w:body>{body}</w:body></w:document>"
        entries = [("[Content_Types].xml", "<Types/>"), relationships("_rels/.rels", officeDocument="word/document.xml"), ("word/media/image1.png", bytes(range(256)) * 40), ("word/document.xml", document)]
        for kind in ("shout", "reverse"):
            new = self.translated(kind, "a.docx", entries, {"word/document.xml"})
            self.assertEqual(self.runs(document), self.runs(new.read("word/document.xml")))
        self.translated("same", "a.docx", entries, {})

    def test_pptx(self):
        slide = ("<p:sld xmlns:p='p' xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main'><a:p><a:r><a:rPr b='1'/><a:t>one {} two</a:t>"
                 "</a:r><a:endParaRPr/></a:p></p:sld>")
        noise = random.Random(1)
        entries = [("ppt/presentation.xml", "<p/>"), relationships("_rels/.rels", officeDocument="ppt/presentation.xml"),
                   ("ppt/_rels/presentation.xml.rels",
                    "<r>" + "".join(f"<Relationship Type='x/slide' Target='slides/slide{i}.xml'/>" for i in range(30)) + "</r>")]
        # What is not changed stands before what is: libzip writes on behind it then.
        entries += [(f"ppt/media/image{i}.png", noise.randbytes(2000)) for i in range(30)]
        entries += [(f"ppt/slides/slide{i}.xml", slide.format(f"word{i}")) for i in range(30)]
        slides = {name for name, _ in entries if "slides/" in name}
        new = self.translated("reverse", "a.pptx", entries, slides)
        for i, name in enumerate(n for n in new.namelist() if n in slides):
            self.assertEqual("".join(xml.etree.ElementTree.fromstring(new.read(name)).itertext()), f"TWO WORD{i} ONE")

    def test_odt(self):
        content = ("<office:document-content xmlns:office='o' xmlns:text='t'><text:p>one <text:span>two <text:a>three</text:a></text:span> four"
                   "</text:p><text:h>five &amp; six</text:h></office:document-content>")
        entries = [("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", content), ("Pictures/a.png", b"\0\1" * 999)]
        for kind in ("shout", "reverse", "scramble"):
            new = self.translated(kind, "a.odt", entries, {"content.xml"})
            before, after = (xml.etree.ElementTree.fromstring(x) for x in (content, new.read("content.xml")))
            self.assertEqual(sorted(e.tag for e in before.iter()), sorted(e.tag for e in after.iter()))
        self.assertEqual(new.infolist()[0].header_offset, 0)

    def test_epub(self):
        chapter = "<!DOCTYPE html><html xmlns='h'><body><p>one <i>two</i> &amp; three</p></body></html>"
        entries = [("mimetype", "application/epub+zip"),
                   ("META-INF/container.xml", "<container><rootfiles><rootfile full-path='a/b.opf'/></rootfiles></container>"),
                   ("a/b.opf", "<package><manifest><item href='c.xhtml' media-type='application/xhtml+xml'/></manifest></package>"),
                   ("a/c.xhtml", chapter)]
        new = self.translated("reverse", "a.epub", entries, {"a/c.xhtml"})
        root = xml.etree.ElementTree.fromstring(new.read("a/c.xhtml"))
        self.assertEqual(re.sub(r"\s+", " ", "".join(root.itertext())), "THREE & TWO ONE")
        self.assertEqual(root.find(".//{h}i").text, "TWO")

    def test_bombs_and_strangers_are_refused(self):
        for name, data, message in [("a.docx", package([("word/document.xml", b" " * (70 << 20))]), "larger than"),
                                    ("a.odt", package([("content.xml", b" " * (9 << 20))]), "200 times"),
                                    ("a.odt", package([("../content.xml", b"<a/>")]), "leaves its folder"),
                                    ("a.docx", b"PK\3\4 broken", "no sound zip"), ("a.pdf", b"%PDF", "a PDF holds places"),
                                    ("a.exe", b"", "files of this kind")]:
            with self.assertRaises(RuntimeError) as caught:
                translate("shout", name, data)
            self.assertIn(message, str(caught.exception))
            self.assertEqual(str(caught.exception).count("\n"), 1)


class XmlTest(unittest.TestCase):
    def test_xliff_is_filled(self):
        text = ("<xliff version='1.2' xmlns='urn:oasis:names:tc:xliff:document:1.2'><file><body><trans-unit id='1'><source>one <g id='1'>two</g>"
                "</source></trans-unit><trans-unit id='2'><source>three</source><target>drei</target></trans-unit></body></file></xliff>")
        root = xml.etree.ElementTree.fromstring(translate("reverse", "a.xlf", text.encode()))
        targets = ["".join(t.itertext()) for t in root.iter("{urn:oasis:names:tc:xliff:document:1.2}target")]
        self.assertEqual(targets, ["TWO ONE", "drei"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    options, rest = parser.parse_known_args()
    TOOL = options.tool
    unittest.main(argv=sys.argv[:1] + rest)
