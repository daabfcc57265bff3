"""The scripts of public corpora on tiny archives of the same form, and everything that can go wrong with one."""

import functools
import gzip
import hashlib
import io
import json
import pathlib
import socket
import subprocess
import sys
import tarfile
import unittest
import zipfile
from unittest import mock

import support
from support import layout_one, lines, tar_bytes

import fetch
import iwslt14
import iwslt16
import multi30k
import text
import unpack
import wmt14
import wmt14_en_fr
import wmt17
import wrap_iwslt


def sgm(segments):
    body = "".join(f'<seg id="{i}">{text}</seg>\n' for i, text in enumerate(segments, 1))
    return f'<srcset setid="x" srclang="any">\n<doc docid="d">\n<p>\n{body}</p>\n</doc>\n</srcset>\n'


def numbered(word, count):
    return "".join(f"{word} {i} .\n" for i in range(1, count + 1))


def iwslt_files(prefix, sets, train=50):
    tags = "<url>http://example.org</url>\n<keywords>talks</keywords>\n<talkid>1</talkid>\n<title>{} Titel</title>\n"
    files = {f"de-en/train.tags.de-en.{side}": tags.format(side) + numbered(word, train)
             for side, word in (("de", "Satz"), ("en", "sentence"))}
    for name in sets:
        for side in ("de", "en"):
            files[f"de-en/{prefix}.{name}.de-en.{side}.xml"] = sgm(
                [f"{name} {side} &amp; eins", f"{name} {side}  zwei "])
    return files


class CorpusScriptTest(support.FolderTest):
    """Each script lays out the folder that its preset expects."""

    def archive(self, name, files):
        path = self.folder / name
        path.write_bytes(tar_bytes(files))
        return str(path)

    def make(self, module, *sources):
        out = self.folder / "out"
        arguments = ["--out", str(out), "--cache", str(self.folder / "cache")]
        for source in sources:
            arguments += ["--from", str(source)]
        code, text, err = self.run_main(functools.partial(fetch.main, module.CORPUS), arguments)
        self.assertEqual(code, 0, err)
        self.assertEqual(self.left_overs(), [])
        return out, text, err

    def test_iwslt14_split(self):
        files = iwslt_files("IWSLT14", iwslt14._TEST_SETS)
        files["de-en/train.tags.de-en.de"] += "zu\u2028kurz\n" + "lang " * 176 + "\n\nende\n"
        files["de-en/train.tags.de-en.en"] += "much too long for it\n" + "long " * 176 + "\nempty\nend\n"
        out, _, err = self.make(iwslt14, self.archive("de-en.tgz", files))
        # 1 title + 50 sentences + "ende" are clean; every 23rd of these 52 is for validation
        clean = ["de Titel"] + [f"Satz {i} ." for i in range(1, 51)] + ["ende"]
        self.assertEqual(lines(out / "valid.de"), [clean[22], clean[45]])
        self.assertEqual(lines(out / "train.de"), [line for i, line in enumerate(clean, 1) if i % 23])
        self.assertEqual(lines(out / "valid.en"), ["sentence 22 .", "sentence 45 ."])
        self.assertIn("55 pairs, 3 dropped", err)
        expected = [f"{name} en {text}" for name in ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011",
                                                     "TED.tst2012") for text in ("& eins", "zwei")]
        self.assertEqual(lines(out / "test.en"), expected)

    def test_a_line_of_markup_begins_with_it_as_for_nmt_prepro(self):
        for module, prefix, sets in ((iwslt14, "IWSLT14", iwslt14._TEST_SETS),
                                     (iwslt16, "IWSLT16", ("TED.tst2013", "TED.tst2014"))):
            files = iwslt_files(prefix, sets)
            for side in ("de", "en"):
                body = f"\ufeff<url>x</url>\n  <b text\neins\n<b>no text\n{side} <c>\n"
                files[f"de-en/train.tags.de-en.{side}"] = body
            archive = self.archive(f"{prefix}.tgz", files)
            found, text, err = self.make(module, archive)
            self.assertIn("train 3", text, err)
            if module is iwslt14:
                self.assertEqual(lines(found / "train.de"), ["<b text", "eins", "de <c>"])
            for path in found.iterdir():
                path.unlink()

    def test_iwslt16_keeps_the_files_as_they_are(self):
        files = iwslt_files("IWSLT16", ("TED.tst2013", "TED.tst2014", "TED.tst2012"))
        out, text, _ = self.make(iwslt16, self.archive("de-en.tgz", files))
        names = sorted(path.name for path in out.iterdir())
        self.assertEqual(names, sorted([*iwslt16.CORPUS.files, "manifest.json"]))
        for name in iwslt16.CORPUS.files:
            self.assertEqual((out / name).read_text(encoding="utf-8"), files[f"de-en/{name}"])
        self.assertIn("train 50, tst2013 2, tst2014 2", text)

    def test_iwslt16_inside_the_whole_release(self):
        inner = tar_bytes(iwslt_files("IWSLT16", ("TED.tst2013", "TED.tst2014")))
        other = tar_bytes(iwslt_files("IWSLT16", ("TED.tst2013", "TED.tst2014"), train=3))
        for decoy in ("aa", "xx", "zz"):
            release = {f"2016-01/texts/{decoy}/en/de-en.tgz": other, "2016-01/texts/de/en/de-en.tgz": inner,
                       f"2016-01/{decoy}/de-en.tgz": other}
            out, text, _ = self.make(iwslt16, self.archive(f"{decoy}.tgz", release))
            self.assertIn("train 50,", text)
            for path in out.iterdir():
                path.unlink()

    def test_multi30k_from_a_folder_of_gz_files_and_from_a_zip(self):
        folder = self.folder / "given"
        folder.mkdir()
        with zipfile.ZipFile(self.folder / "all.zip", "w") as pack:
            for name in multi30k.CORPUS.files:
                body = numbered(name, 4)
                (folder / f"{name}.gz").write_bytes(gzip.compress(body.encode()))
                pack.writestr(f"task1/raw/{name}", body)
        for source in (folder, self.folder / "all.zip"):
            out, _, err = self.make(multi30k, source)
            for name in multi30k.CORPUS.files:
                self.assertEqual((out / name).read_text(), numbered(name, 4))
            self.assertIn("notice: train has 4 pairs, the original release 29000", err)
            for path in out.iterdir():
                path.unlink()

    def wmt_archives(self, commentary, tests, rapid=()):
        tests = {f"dev/{name}": sgm([f"{name} eins", "&quot;zwei&quot;"]) for name in tests}
        given = {"europarl.tgz": {f"training/europarl-v7.de-en.{s}": numbered(f"ep {s}", 3) for s in ("de", "en")},
                 "crawl.tgz": {f"commoncrawl.de-en.{s}": f"cc {s}\u2028x\r\nletzte" for s in ("de", "en")},
                 "news.tgz": {f"training/{commentary}.de-en.{s}": numbered(f"nc {s}", 2) for s in ("de", "en")},
                 "tests.tgz": tests}
        if rapid:
            given["rapid.tgz"] = {f"{rapid}.de-en.{s}": numbered(f"rapid {s}", 1) for s in ("de", "en")}
        return [self.archive(name, files) for name, files in given.items()]

    def test_wmt14(self):
        sets = ["newstest2013-src.de.sgm", "newstest2013-ref.en.sgm", "newstest2014-deen-src.de.sgm",
                "newstest2014-deen-ref.en.sgm"]
        out, text, _ = self.make(wmt14, *self.wmt_archives("news-commentary-v9", sets))
        self.assertIn("train 7, valid 2, test 2", text)
        self.assertEqual(lines(out / "train.de"), ["ep de 1 .", "ep de 2 .", "ep de 3 .", "cc de\u2028x", "letzte",
                                                   "nc de 1 .", "nc de 2 ."])
        self.assertEqual(lines(out / "valid.en"), ["newstest2013-ref.en.sgm eins", '"zwei"'])
        self.assertEqual(lines(out / "test.de")[0], "newstest2014-deen-src.de.sgm eins")

    def test_wmt14_en_fr(self):
        def sides(prefix, count, ending=""):
            bodies = {f"{prefix}.{s}{ending}": numbered(f"{prefix} {s}", count).encode() for s in ("fr", "en")}
            return {name: gzip.compress(body) for name, body in bodies.items()} if ending else bodies

        tests = {f"test-full/{name}": sgm([f"{name} un", "deux &lt;"]) for name in wmt14_en_fr.CORPUS.files[-4:]}
        german = {f"training/europarl-v7.de-en.{s}": numbered(f"de {s}", 9) for s in ("de", "en")}
        archives = {"europarl.tgz": sides("europarl-v7.fr-en", 2) | german, "crawl.tgz": sides("commoncrawl.fr-en", 1),
                    "un.tgz": sides("undoc.2000.fr-en", 3), "news.tgz": sides("news-commentary-v9.fr-en", 1),
                    "giga.tgz": sides("giga-fren.release2.fixed", 2, ".gz"), "tests.tgz": tests}
        out, text, _ = self.make(wmt14_en_fr, *(self.archive(name, files) for name, files in archives.items()))
        self.assertIn("train 9, valid 2, test 2", text)
        self.assertEqual(lines(out / "train.fr")[-3:], ["news-commentary-v9.fr-en fr 1 .",
                                                        "giga-fren.release2.fixed fr 1 .",
                                                        "giga-fren.release2.fixed fr 2 ."])
        self.assertEqual(lines(out / "train.en")[2], "commoncrawl.fr-en en 1 .")
        self.assertEqual(lines(out / "valid.fr"), ["newstest2013-src.fr.sgm un", "deux <"])
        self.assertEqual(lines(out / "test.en")[0], "newstest2014-fren-ref.en.sgm un")
        self.assertEqual(sorted(path.name for path in out.iterdir()),
                         sorted([f"{name}.{s}" for name in ("train", "valid", "test") for s in ("fr", "en")]
                                + ["manifest.json"]))

    def test_sides_of_different_length_are_named_by_their_languages(self):
        (self.folder / "a.fr").write_text("un\ndeux\n")
        (self.folder / "a.en").write_text("one\n")
        with self.assertRaisesRegex(text.LayoutError, "a: 2 French and 1 English lines"):
            text.join_corpora(self.folder, "train", [(self.folder / "a.fr", self.folder / "a.en")], ("fr", "en"))

    def test_wmt17(self):
        sets = [f"newstest{year}-deen-{side}.sgm" for year in (2016, 2017) for side in ("src.de", "ref.en")]
        out, text, _ = self.make(wmt17, *self.wmt_archives("news-commentary-v12", sets, rapid="rapid2016"))
        self.assertIn("train 8, valid 2, test 2", text)
        self.assertEqual(lines(out / "train.en")[-1], "rapid en 1 .")
        self.assertEqual(lines(out / "valid.de")[0], "newstest2016-deen-src.de.sgm eins")
        self.assertEqual(lines(out / "test.en")[0], "newstest2017-deen-ref.en.sgm eins")


class FailureTest(support.FolderTest):
    """One line, exit code 2, and nothing half-written."""

    def fails(self, corpus, *arguments):
        out = self.folder / "out"
        code, text, err = self.run_main(functools.partial(fetch.main, corpus),
                                        ["--out", str(out), "--cache", str(self.folder / "cache"), *arguments])
        self.assertEqual((code, text), (2, ""))
        self.assertFalse(out.exists())
        self.assertEqual(self.left_overs(), [])
        return [line for line in err.splitlines() if not line.startswith("fetching ")]

    def test_failed_download_says_what_to_fetch_and_where_to_put_it(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{unused.getsockname()[1]}/a.tgz"  # bound, not listening: refused
            corpus = fetch.Corpus("tiny", "about", (fetch.Archive((url,), "a.tgz"),), ("a.de",), layout_one)
            message, = self.fails(corpus)
        self.assertIn(url, message)
        self.assertIn(str(self.folder / "cache" / "tiny" / "a.tgz"), message)
        self.assertIn("--from", message)

    def test_http_without_a_checksum_is_not_asked(self):
        archive = fetch.Archive(("http://host.invalid/a.tgz",), "a.tgz")
        message, = self.fails(fetch.Corpus("tiny", "about", (archive,), ("a.de",), layout_one))
        self.assertIn("not over https, and no checksum is known", message)

    def test_an_archive_that_becomes_too_much_is_refused(self):
        body = b"x" * (80 << 20)
        (self.folder / "bomb.tgz").write_bytes(tar_bytes({"train.de": body}))
        (self.folder / "bomb.gz").write_bytes(gzip.compress(body))
        with zipfile.ZipFile(self.folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as pack:
            pack.writestr("train.de", body)
        for name in ("bomb.tgz", "bomb.gz", "bomb.zip"):
            with self.assertRaisesRegex(unpack.UnpackError, "unpacks to more than 67108864 bytes"):
                unpack.unpack(self.folder / name, self.folder / f"target-{name}")

    def test_an_archive_of_too_many_files_is_refused(self):
        (self.folder / "many.tgz").write_bytes(tar_bytes({f"{i}": b"" for i in range(20)}))
        with zipfile.ZipFile(self.folder / "many.zip", "w") as pack:
            for i in range(20):
                pack.writestr(f"{i}", b"")
        for name in ("many.tgz", "many.zip"):
            with mock.patch.object(unpack, "_MOST_MEMBERS", 19):
                with self.assertRaisesRegex(unpack.UnpackError, "holds more than 19 files"):
                    unpack.unpack(self.folder / name, self.folder / "target")
            unpack.unpack(self.folder / name, self.folder / "target")

    def test_bad_from_paths(self):
        plain = self.folder / "plain.txt"
        plain.write_text("x")
        broken = self.folder / "broken.tgz"
        broken.write_bytes(tar_bytes({"train.de": "x" * 5000})[:60])
        empty = self.folder / "empty.tar"
        empty.write_bytes(tar_bytes({"readme": "x"}, mode="w"))
        table = [("missing.tgz", "no such file or folder"), (plain, "not an archive"), (broken, "not a sound archive"),
                 (empty, "no file 'train.de' in it")]
        for path, expected in table:
            message, = self.fails(multi30k.CORPUS, "--from", str(path))
            self.assertIn(expected, message)

    def test_damaged_archives_are_named_whatever_their_kind(self):
        body = "".join(f"{hashlib.sha256(str(i).encode()).hexdigest()}\n" for i in range(9000))
        for ending, mode in (("tar.xz", "w:xz"), ("tar.bz2", "w:bz2"), ("tar.gz", "w:gz"), ("tar", "w")):
            whole = tar_bytes({"train.de": body}, mode=mode)
            middle = len(whole) // 2
            for damaged in (whole[:middle], whole[:middle] + bytes(200) + whole[middle + 200:],
                            b"<html>a page</html>" * 99):
                if ending == "tar" and len(damaged) == len(whole):
                    continue  # nothing in it could tell
                path = self.folder / f"broken.{ending}"
                path.write_bytes(damaged)
                message, = self.fails(multi30k.CORPUS, "--from", str(path))
                self.assertRegex(message, rf"^multi30k: {path}: not a sound archive \(.+\)$")

    def test_member_outside_the_archive_is_refused(self):
        names = ["../evil.de", "/evil.de", "a/../../evil.de", "..\\evil.de", "C:\\evil.de"]
        for number, name in enumerate(names):
            for kind in ("tgz", "zip"):
                path = self.folder / f"{number}.{kind}"
                if kind == "tgz":
                    path.write_bytes(tar_bytes({"train.de": "gut\n", name: "evil"}))
                else:
                    with zipfile.ZipFile(path, "w") as pack:
                        pack.writestr("train.de", "gut\n")
                        pack.writestr(name, "evil")
                target = self.folder / "target"
                with self.assertRaisesRegex(unpack.UnpackError, "points outside the archive"):
                    unpack.unpack(path, target)
                self.assertFalse(target.exists(), name)
        message, = self.fails(multi30k.CORPUS, "--from", str(self.folder / "0.tgz"))
        self.assertIn("'../evil.de' points outside the archive", message)

    def test_link_is_never_made(self):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
            link = tarfile.TarInfo("train.de")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
            tar.addfile(link)
        path = self.folder / "link.tgz"
        path.write_bytes(buffer.getvalue())
        unpack.unpack(path, self.folder / "target")
        self.assertFalse((self.folder / "target" / "train.de").is_symlink())
        self.assertFalse((self.folder / "target" / "train.de").exists())

    def test_sides_of_unequal_length(self):
        folder = self.folder / "given"
        folder.mkdir()
        for name in multi30k.CORPUS.files:
            (folder / name).write_text(numbered("x", 3 if name == "val.en" else 2))
        message, = self.fails(multi30k.CORPUS, "--from", str(folder))
        self.assertEqual(message, "multi30k: val: 2 German and 3 English lines; they must be as many")

    def test_bad_utf8_names_file_and_line(self):
        files = iwslt_files("IWSLT16", ("TED.tst2013", "TED.tst2014"))
        files["de-en/train.tags.de-en.en"] = b"good\nbad \xff\n"
        (self.folder / "a.tgz").write_bytes(tar_bytes(files))
        message, = self.fails(iwslt16.CORPUS, "--from", str(self.folder / "a.tgz"))
        self.assertIn("train.tags.de-en.en:2: not UTF-8", message)

    def test_folder_with_something_else_is_left_alone(self):
        out = self.folder / "out"
        out.mkdir()
        (out / "mine").write_text("mine")
        (self.folder / "given").mkdir()
        code, _, err = self.run_main(functools.partial(fetch.main, multi30k.CORPUS),
                                     ["--out", str(out), "--from", str(self.folder / "given")])
        self.assertEqual(code, 2)
        self.assertIn("--force", err)
        self.assertEqual((out / "mine").read_text(), "mine")


class WrapTest(support.FolderTest):
    """wrap_iwslt.py and back."""

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def wrap(self, train_de, train_en, *more):
        test = [self.write(f"test.{s}", f"A & B <{s}>\n  zwei  \n") for s in ("de", "en")]
        train = [self.write("a.de", train_de), self.write("a.en", train_en)]
        return self.run_main(wrap_iwslt.main, ["--train", *train, "--valid", *test, "--test", *test,
                                               "--out", str(self.folder / "out"), *more])

    def test_round_trip_through_iwslt16(self):
        german, english = numbered("Satz", 7) + "\nletzte ohne Punkt", numbered("line", 7) + "\nlast"
        code, text, err = self.wrap(german, english, "--talk", "3")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("train 9, valid 2, test 2", text)
        laid = self.folder / "laid"
        code, text, err = self.run_main(functools.partial(fetch.main, iwslt16.CORPUS),
                                        ["--from", str(self.folder / "out"), "--out", str(laid)])
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads((laid / "manifest.json").read_text())["pairs"],
                         {"train": 9, "tst2013": 2, "tst2014": 2})
        tags = lines(laid / "train.tags.de-en.de")
        self.assertEqual([line for line in tags if not line.startswith("<")], german.split("\n"))
        for kind in ("url", "keywords", "speaker", "talkid", "title", "description", "reviewer", "translator"):
            self.assertEqual(sum(line.startswith(f"<{kind}") for line in tags), 3, kind)
        xml = laid / "IWSLT16.TED.tst2014.de-en.en.xml"
        self.assertIn('<seg id="2"> zwei </seg>', lines(xml))
        self.assertIn('<seg id="1"> A &amp; B &lt;en&gt; </seg>', lines(xml))
        self.assertEqual(fetch.text.read_segments(xml), ["A & B <en>", "zwei"])

    def test_a_damaged_gz_is_named(self):
        good = self.write("good.de", "eins\n")
        whole = gzip.compress(b"".join(b"%d\n" % (i * i) for i in range(2000)))
        path = self.folder / "a.de.gz"
        for data in (whole[:-300], whole[:40] + bytes(50) + whole[90:], b"plain text\n", b""):
            path.write_bytes(data)
            code, _, err = self.run_main(wrap_iwslt.main, ["--train", str(path), good, "--valid", good, good, "--test",
                                                           good, good, "--out", str(self.folder / "out")])
            self.assertEqual(code, 2, err)
            self.assertRegex(err, rf"^wrap_iwslt: {path}: (not a sound .gz file \(.+\)|0 lines, .+)\n$")

    def test_bad_input_is_named(self):
        table = [("a\nb\n", "a\n", "they must be as many"),
                 ("a\n<b\n", "a\nb\n", "a.de:2: a training line that begins")]
        for german, english, expected in table:
            code, _, err = self.wrap(german, english)
            self.assertEqual(code, 2)
            self.assertIn(expected, err)
            self.assertEqual(list((self.folder / "out").iterdir()), [])


class CommittedScriptsTest(unittest.TestCase):
    def test_https_comes_first_and_http_only_with_a_checksum(self):
        for module in (iwslt14, iwslt16, multi30k, wmt14, wmt14_en_fr, wmt17):
            for archive in module.CORPUS.archives:
                self.assertTrue(archive.urls[0].startswith("https://"), archive)
                for url in archive.urls:
                    self.assertTrue(url.startswith("https://") or archive.md5 or archive.sha256, archive)

    def test_every_script_shows_its_help(self):
        for module in (iwslt14, iwslt16, multi30k, wmt14, wmt14_en_fr, wmt17):
            self.assertTrue(module.CORPUS.about.strip())
            path = pathlib.Path(module.__file__)
            self.assertTrue(path.stat().st_mode & 0o111, path.name)
            done = subprocess.run([sys.executable, "-B", str(path), "--help"], stdout=subprocess.PIPE, text=True, check=True)
            self.assertIn("--out", done.stdout, path.name)


if __name__ == "__main__":
    unittest.main()
