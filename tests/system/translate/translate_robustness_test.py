"""nmt-translate with what nobody wants to meet: any bytes, damaged and foreign models, other batches.

    translate_robustness_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

With NMT_FUZZ_SECONDS in the environment it gets random lines for so long, instead of the tests.
"""

import json
import os
import random
import shutil
import struct
import sys
import time

from translate_support import PROGRAMS, Case, main, translate

FAST = ("-q", "--beam-size", "1", "--max-length-ratio", "0.1", "--max-length-offset", "5")


def random_line(chance):
    """A line of one of the kinds that break readers and tokenizers."""
    words = PROGRAMS.sources()[chance.randrange(1000)].split()
    kind = chance.randrange(12)
    if kind == 0:
        return chance.randbytes(chance.randrange(200)).replace(b"\n", b"")
    if kind == 1:
        return b"\0" * chance.randrange(20) + chance.choice(words).encode()
    if kind == 2:
        return b" \t\r\v\f"[:chance.randrange(6)] * chance.randrange(5)
    if kind == 3:  # of any script
        codes = [code for code in (chance.randrange(0x110000) for _ in range(40)) if not 0xD800 <= code < 0xE000]
        return "".join(map(chr, codes)).replace("\n", "").encode()
    if kind == 4:  # a long word, a long line
        return chance.choice((b"x", "ß".encode(), b"\xff", " ".join(words).encode() + b" ")) * chance.randrange(3000)
    if kind == 5:  # cut within a character
        return " ".join(words).encode()[:chance.randrange(30)] + b"\xe2\x82"
    if kind == 6:
        return "\u2581\ufeff\u202e\u0301<s></s><unk><pad>\u2028\u0085".encode() + b"\r"
    chance.shuffle(words)
    return " ".join(words).encode()


class OddLines(Case):
    def check(self, data, *arguments, search=FAST):
        done = translate(*search, *arguments, text=data)
        self.assertEqual(done.returncode, 0, done.stderr[-1000:])
        expected = data.count(b"\n") + (data != b"" and not data.endswith(b"\n"))
        self.assertEqual(done.stdout.count(b"\n"), expected)
        done.stdout.decode()  # is UTF-8

    def test_one_line_for_each(self):
        for data in (b"", b"\n", b"\n\n\n", b" ", b" \t \n\xc2\xa0\n", b"\r\n\r\n", b"\0", b"a\0b\n\0\n", b"\xfe\xfe",
                     b"\xed\xa0\x80\n\xf4\x90\x80\x80\n\xc0\x80", "\u0b95\u0bcd \u10a0 \u1681 \U0001f600\n".encode(),
                     b"Ja .\rNein .\r\n", b"Ja .\n" * 3 + b"Nein ."):
            for arguments in ((), ("--split-sentences",), ("--format", "jsonl"), ("--alignment", "pharaoh")):
                with self.subTest(data=data, arguments=arguments):
                    self.check(data, *arguments)

    def test_random_lines(self):
        chance = random.Random(5)
        data = b"\n".join(random_line(chance) for _ in range(300))
        for arguments in ((), ("--split-sentences", "--alignment", "pharaoh", "--format", "tsv"),
                          ("--format", "jsonl", "--token-scores", "--copy-unknown")):
            with self.subTest(arguments=arguments):
                self.check(data, *arguments)

    def test_a_line_of_a_megabyte(self):
        for line in (b"x" * 1_000_000, b"ja " * 333_333, "\u00df\u4e2d".encode() * 200_000):
            with self.subTest(line=line[:10]):
                self.check(b"Ja .\n" + line + b"\nJa .\n",
                           search=("-q", "--beam-size", "1", "--max-length-ratio", "0", "--max-length-offset", "2"))


class Exactness(Case):
    """A sentence's text and the scores of its tokens do not depend on batch and workers, to the last bit."""

    def translations(self, sentences, *arguments):
        done = translate("-q", "--format", "jsonl", "--token-scores", *arguments, text="\n".join(sentences))
        items = [json.loads(line) for line in self.lines_of(done)]
        return [(item["translation_text"], item["token_scores"]) for item in items]

    def test_1000_sentences(self):
        sentences = random.Random(6).sample(PROGRAMS.sources(), 1000)
        order = random.Random(7).sample(range(1000), 1000)
        shuffled = [sentences[i] for i in order]
        for precision, beam in (("fp32", "1"), ("fp32", "4"), ("bf16", "4"), ("int8", "4")):
            search = ("--precision", precision, "--beam-size", beam)
            expected = self.translations(sentences, *search, "--threads", "1")
            self.assertEqual(len(expected), 1000)
            self.assertGreater(len({text for text, _ in expected}), 500)
            for batch, threads, buffer in (("1", "1", "1000"), ("7", "2", "1000"), ("64", "1", "13"),
                                           ("64", "2", "1000")):
                with self.subTest(precision=precision, beam=beam, batch=batch, threads=threads):
                    found = self.translations(shuffled, *search, "--batch-size", batch, "--threads", threads,
                                              "--buffer-lines", buffer)
                    others = [(shuffled[at], found[at], expected[i]) for at, i in enumerate(order)
                              if found[at] != expected[i]]
                    self.assertEqual(len(others), 0, others[:3])


def read_header(path):
    """The header of a safetensors file and the data behind it."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8:8 + size]), data[8 + size:]


def write_header(path, header, data):
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class DamagedModels(Case):
    """Each is refused in one line that names the file and what is wrong in it."""

    def copy(self):
        copy = self.folder / "model"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(PROGRAMS.model, copy)
        return copy

    def refuse(self, what, damage, *parts):
        with self.subTest(what=what):
            copy = self.copy()
            damage(copy)
            self.assert_error(translate(text="Ja .\n", model=copy), *parts)

    def test_fields_of_model_json(self):
        def change(*path, value=None):
            def damage(folder):
                description = json.loads((folder / "model.json").read_text())
                place = description
                for key in path[:-1]:
                    place = place[key]
                if value is None:
                    del place[path[-1]]
                else:
                    place[path[-1]] = value
                (folder / "model.json").write_text(json.dumps(description))
            return damage

        model = ("configuration", "model")
        for path, value, part in (
                (("format_version",), None, "format_version"),
                (("format_version",), 99, "99"),
                (("architecture",), "recurrent", "architecture"),
                (("parameters",), "many", "parameters"),
                (("source_vocabulary",), 7, "source_vocabulary"),
                (("target_vocabulary",), None, "target_vocabulary"),
                (("summary",), [1], "summary"),
                (("configuration",), None, "configuration"),
                ((*model, "num_heads"), 3, "num_heads"),
                ((*model, "num_heads"), 0, "num_heads"),
                ((*model, "activation"), "none at all", "activation"),
                ((*model, "d_modell"), 64, "d_modell"),
                ((*model, "d_model"), "wide", "d_model"),
                (("configuration", "decoding", "beam_size"), 0, "beam_size"),
                (("configuration", "decoding"), 5, "decoding"),
                (("tokenizer",), None, "tokenizer")):
            self.refuse((path, value), change(*path, value=value), "model.json", part)
        for path, value, part in ((("tokenizer", "type"), "bytes", "bytes"),
                                  (("tokenizer", "lowercase"), "yes", "lowercase"),
                                  (("tokenizer", "joint"), None, "joint"),
                                  (("tokenizer", "source_markers"), "start", "start"),
                                  (("tokenizer", "files"), {}, "spm.model")):
            self.refuse((path, value), change(*path, value=value), str(self.folder / "model"), part)
        for path, value, part in (((*model, "d_model"), 32, "tensor"), ((*model, "num_blocks"), 3, "tensor"),
                                  ((*model, "num_blocks"), 1, "tensor")):
            self.refuse((path, value), change(*path, value=value), "model.safetensors", part)

    def test_tensors(self):
        def change(edit):
            def damage(folder):
                header, data = read_header(folder / "model.safetensors")
                names = sorted(name for name in header if name != "__metadata__")
                edit(header, names[3])
                write_header(folder / "model.safetensors", header, data)
            return damage

        header, _ = read_header(PROGRAMS.model / "model.safetensors")
        name = sorted(name for name in header if name != "__metadata__")[3]

        def rename(header, name):
            header["other"] = header.pop(name)

        def shape(header, name):
            header[name]["shape"] = [1, *header[name]["shape"]]

        def offsets(header, name):
            header[name]["data_offsets"][1] += 1 << 40

        def kind(header, name):
            header[name]["dtype"] = "F17"

        for what, edit in (("renamed", rename), ("other shape", shape), ("outside the file", offsets),
                           ("unknown type", kind)):
            self.refuse(what, change(edit), "model.safetensors", name)

        def huge(folder):
            data = (folder / "model.safetensors").read_bytes()
            (folder / "model.safetensors").write_bytes(struct.pack("<Q", 1 << 60) + data[8:])

        self.refuse("header too long", huge, "model.safetensors")

    def test_other_files(self):
        def replace(name, data):
            return lambda folder: (folder / name).write_bytes(data)

        def flip(folder):
            data = bytearray((folder / "spm.model").read_bytes())
            data[len(data) // 2] ^= 1
            (folder / "spm.model").write_bytes(data)

        self.refuse("vocabulary changed", flip, "spm.model", "damaged")
        self.refuse("no vocabulary", lambda folder: (folder / "spm.model").unlink(), "spm.model")
        for name in ("model.json", "model.safetensors", "spm.model"):
            self.refuse(f"{name} empty", replace(name, b""), name)
            self.refuse(f"{name} is noise", replace(name, random.Random(8).randbytes(1000)), name)

    def test_random_damage_never_crashes(self):
        """Bytes of model.json changed at random: refused by name, or as good as before."""
        chance = random.Random(9)
        text = (PROGRAMS.model / "model.json").read_bytes()
        copy = self.copy()
        for _ in range(30):
            data = bytearray(text)
            for _ in range(chance.randrange(1, 4)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            (copy / "model.json").write_bytes(data)
            done = translate("-q", text="Ja .\n", model=copy)
            self.assertIn(done.returncode, (0, 2), done.stderr)
            if done.returncode == 2:
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(str(copy), done.stderr.decode(errors="replace"))


class Fuzz(Case):
    def test_random_lines_for_a_while(self):
        seconds = float(os.environ["NMT_FUZZ_SECONDS"])
        seed = random.randrange(1 << 32)
        print(f"seed {seed}", file=sys.stderr)
        chance, end, lines = random.Random(seed), time.monotonic() + seconds, 0
        while time.monotonic() < end:
            data = b"\n".join(random_line(chance) for _ in range(chance.randrange(1, 1000)))
            data += chance.choice((b"", b"\n"))
            arguments = [option for option in (("--split-sentences",), ("--alignment", "pharaoh"), ("--copy-unknown",),
                                               ("--token-scores",), ("--format", chance.choice(("tsv", "jsonl"))))
                         if chance.random() < 0.3]
            done = translate(*FAST, *[word for option in arguments for word in option], text=data)
            self.assertEqual(done.returncode, 0, (seed, done.stderr[-1000:]))
            expected = data.count(b"\n") + (data != b"" and not data.endswith(b"\n"))
            self.assertEqual(done.stdout.count(b"\n"), expected, seed)
            done.stdout.decode()
            lines += expected
        print(f"{lines} lines", file=sys.stderr)


def load_tests(loader, tests, pattern):
    """The fuzz test alone where NMT_FUZZ_SECONDS is set, the others elsewhere."""
    fuzzing = "NMT_FUZZ_SECONDS" in os.environ
    cases = [Fuzz] if fuzzing else [OddLines, Exactness, DamagedModels]
    tests = [loader.loadTestsFromTestCase(case) for case in cases]
    return loader.suiteClass(tests)


if __name__ == "__main__":
    main(__doc__)
