"""Folders that are to come in but are damaged, lie, or carry code: refused in one line, nothing written, no memory
taken.

    marian_damage_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

Runs itself under the Python of scripts/interop_python.sh; exit code 77 where there is none.
"""

import io
import json
import shutil
import struct
import zipfile

import interop_support as support

support.rerun_in_environment()

import marian_npz  # noqa: E402
import torch  # noqa: E402
from marian_models import SHAPES, ImportCase  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402


class Damage(ImportCase):
    def test_damaged_directories(self):
        folder = self.marian().folder
        weights, config = folder / "model.safetensors", folder / "config.json"
        good = weights.read_bytes()
        size = struct.unpack("<Q", good[:8])[0]
        header = json.loads(good[8:8 + size])

        def with_header(change):
            changed = json.loads(json.dumps(header))
            change(changed)
            text = json.dumps(changed).encode()
            return struct.pack("<Q", len(text)) + text + good[8 + size:]

        name = "model.encoder.layers.0.fc1.weight"
        for bytes_, part in (
                (good[:-1], "damaged"), (good[:100], "damaged"), (good[:4], "damaged"), (b"", "damaged"),
                (struct.pack("<Q", 1 << 62) + good[8:], "damaged"),
                (with_header(lambda h: h.pop(name)), f"{name} is missing"),
                (with_header(lambda h: h[name].update(dtype="I32")), "I32"),
                (with_header(lambda h: h[name].update(shape=[1 << 40, 1 << 40])), "shape"),
                (with_header(lambda h: h[name].update(shape=h[name]["shape"][::-1])), name)):
            weights.write_bytes(bytes_)
            self.refused(folder, "model.safetensors", part)
        weights.write_bytes(good)
        whole = config.read_text()
        for changes, part in (({"model_type": "bart"}, "bart"), ({"d_model": 1 << 40}, "d_model"),
                              ({"encoder_attention_heads": 2}, "decoder_attention_heads"),
                              ({"normalize_before": True}, "normalize_before"),
                              ({"normalize_before": 1}, "normalize_before is neither true nor false"),
                              ({"scale_embedding": 1}, "scale_embedding is neither true nor false"),
                              ({"share_encoder_decoder_embeddings": "true"}, "share_encoder_decoder_embeddings"),
                              ({"tie_word_embeddings": 0}, "tie_word_embeddings"),
                              ({"activation_function": 1}, "activation_function"),
                              ({"encoder_layers": 1}, "tensor model.encoder.layers.1.fc1.bias belongs to no part"),
                              ({"decoder_layers": 1}, "tensor model.decoder.layers.1."),
                              ({"activation_function": "gelu_new"}, "gelu_new"),
                              ({"vocab_size": 3, "decoder_vocab_size": 3}, "vocab.json")):
            config.write_text(json.dumps({**json.loads(whole), **changes}))
            self.refused(folder, part)
        config.write_text(json.dumps({**json.loads(whole), "normalize_before": None}))  # null: not said
        shutil.rmtree(self.import_it(folder))
        config.write_text("{")
        self.refused(folder, "config.json")
        config.write_text(whole)
        for file in ("source.spm", "vocab.json"):
            kept = (folder / file).read_bytes()
            (folder / file).write_bytes(kept[:len(kept) // 2])
            self.refused(folder, file)
            (folder / file).unlink()
            self.refused(folder, file)
            (folder / file).write_bytes(kept)

    def test_added_tokens_are_read_or_refused(self):
        """As MarianTokenizer.add_tokens() and resize_token_embeddings() leave them."""
        made = self.marian()
        folder, rows = made.folder, len(made.ids)
        for size in ("vocab_size", "decoder_vocab_size"):
            made.model.config.update({size: rows + 2})
        made.model.resize_token_embeddings(rows + 2)
        made.save()
        (folder / "added_tokens.json").write_text(json.dumps({">>xx<<": rows, "{name}": rows + 1}))
        self.refused(folder, "added token '{name}'")
        (folder / "added_tokens.json").write_text(json.dumps({">>xx<<": rows}))
        model = self.import_it(folder)
        pieces = self.programs.must("nmt-prepro", "--encode", model, text=">>xx<< Ich kenne Laura.\n").split()
        self.assertEqual(pieces[0], "▁>>xx<<")
        (folder / "added_tokens.json").write_text(json.dumps({">>xx<<": rows + 2}))
        self.refused(folder, "added token '>>xx<<'")

    def test_tensors_and_numbers_that_do_not_belong(self):
        folder = self.marian().folder
        weights = folder / "model.safetensors"
        good = load_file(weights)
        table = "model.encoder.layers.0.fc1.weight"
        for changed, *parts in (
                ({"model.encoder.layers.0.lora.weight": torch.ones(3)}, "model.encoder.layers.0.lora.weight belongs"),
                ({"": torch.ones(3)}, "tensor  belongs to no part"),
                ({table: good[table] / 0}, "not finite")):
            save_file({**good, **changed}, weights)
            self.refused(folder, *parts)
        # What transformers does not read either: copies of the table, positions.
        positions = {f"model.{side}.embed_positions.weight" for side in ("encoder", "decoder")}
        copies = {name: good["model.shared.weight"].clone() for name in ("lm_head.weight", *(
            f"model.{side}.embed_tokens.weight" for side in ("encoder", "decoder")))}
        plain = {name: weight for name, weight in good.items() if name not in positions}
        for number, side in enumerate(("encoder", "decoder")):
            save_file({**plain, **copies, f"model.{side}.embed_positions.weight": torch.ones(4, 48)}, weights)
            self.import_it(folder, f"imported{number}")

    def test_a_search_that_ours_cannot_be(self):
        folder = self.marian().folder
        settings = folder / "generation_config.json"
        whole = json.loads(settings.read_text()) if settings.exists() else {}
        for key, value in (("length_penalty", -1), ("num_beams", 1001), ("num_beams", 2.7), ("no_repeat_ngram_size", -1),
                           ("repetition_penalty", "x"), ("early_stopping", 1), ("bad_words_ids", 7)):
            with self.subTest(key=key, value=value):
                settings.write_text(json.dumps({**whole, key: value}))
                self.refused(folder, f"generation_config.json: {key} is no" if key != "early_stopping" else
                             "generation_config.json: early_stopping is neither")
        settings.write_text(json.dumps({**whole, "length_penalty": None, "num_beams": 1000}))
        found = json.loads((self.import_it(folder) / "model.json").read_text())["configuration"]["decoding"]
        self.assertEqual((found["length_penalty"], found["beam_size"]), (1, 1000))

    def test_pickles_with_code_and_archives_that_lie(self):
        folder = self.marian(pickled="zip").folder
        weights = folder / "pytorch_model.bin"
        good = weights.read_bytes()
        sign = self.folder / "sign"

        class Evil:
            def __reduce__(self):
                return open, (str(sign), "w")

        for kind in (True, False):
            torch.save({"model.shared.weight": Evil()}, weights, _use_new_zipfile_serialization=kind)
            self.refused(folder, "code")
        for end in (10, len(good) // 2, len(good) - 1):
            weights.write_bytes(good[:end])
            self.refused(folder, "pytorch_model.bin")
        with zipfile.ZipFile(weights, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("m/data.pkl", b"\0" * (1 << 24))
        self.refused(folder, "is larger than")
        with zipfile.ZipFile(weights, "w") as archive:
            archive.writestr("../data.pkl", b"N.")
        self.refused(folder, "leaves its folder")
        self.assertFalse(sign.exists())


class Memory(ImportCase):
    """What is refused costs no memory: no more than an import of a few kilobytes, and twice the file."""

    NOISE = 4 << 20  # bytes, of the allocator

    def setUp(self):
        super().setUp()
        SHAPES["large"] = {"encoder_ffn_dim": 20000, "decoder_ffn_dim": 20000}  # 30 MB
        SHAPES["small"] = {"encoder_layers": 1, "decoder_layers": 1}

    def measured_import(self, folder):
        out = self.folder / "measured"
        done, peak = self.programs.call_measured("nmt-export", "-q", "--from", "marian", "-i", folder, "-o", out)
        return done, peak, out

    def base(self):
        folder = self.marian("small").folder
        done, peak, out = self.measured_import(folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in (folder, out):
            shutil.rmtree(path)
        return peak

    def assert_refused_without_memory(self, base, file, *parts):
        done, peak, out = self.measured_import(file.parent)
        self.assert_refused(done, *parts, output=out)
        self.assertLess(peak - base, 2 * file.stat().st_size + self.NOISE, (peak, base, file.stat().st_size))

    def test_safetensors(self):
        base = self.base()
        file = self.marian("large").folder / "model.safetensors"
        good = file.read_bytes()
        size = struct.unpack("<Q", good[:8])[0]
        header = json.loads(good[8:8 + size])

        def changed(**tensors):
            text = json.dumps({key: value for key, value in {**header, **tensors}.items() if value}).encode()
            return struct.pack("<Q", len(text)) + text + good[8 + size:]

        last = "model.decoder.layers.1.fc2.weight"
        # Two hundred layers of one matrix.
        shared = {f"model.encoder.layers.{i}.fc1.weight": header["model.encoder.layers.0.fc1.weight"]
                  for i in range(200)}
        for bytes_, part in ((good[:-1], "damaged"), (changed(**{last: None}), f"{last} is missing"),
                             (changed(**{last: {**header[last], "dtype": "I32"}}), "I32"),
                             (changed(**shared), "overlap"), (struct.pack("<Q", 1 << 40) + good[8:], "damaged"),
                             (struct.pack("<Q", 1 << 21) + b"[" * (1 << 21), "damaged"),
                             (struct.pack("<Q", len(good)) + b"[" * len(good), "damaged")):
            with self.subTest(part=part):
                file.write_bytes(bytes_)
                self.assert_refused_without_memory(base, file, "model.safetensors", part)
        file.write_bytes(good)
        config = file.parent / "config.json"
        settings = json.loads(config.read_text())
        for changes, part in (({"vocab_size": 1 << 24, "decoder_vocab_size": 1 << 24}, "model.shared.weight"),
                              ({"encoder_layers": 1000}, "is missing"), ({"d_model": 1 << 20}, "model.")):
            with self.subTest(part=part):
                config.write_text(json.dumps({**settings, **changes}))
                self.assert_refused_without_memory(base, file, part)
        for text in ("[" * (1 << 20), "{" + '"a":[' * 100000, json.dumps({"a": "x" * (1 << 21)})):
            config.write_text(text)
            self.assert_refused_without_memory(base, config, "config.json")

    def test_pickles(self):
        base = self.base()
        file = self.marian("large", pickled="zip").folder / "pytorch_model.bin"
        good = file.read_bytes()
        tensor = (b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"
                  b"0X\x03\0\0\0cpuM\0\x04tQK\0M\0\x04\x85K\x01\x85\x89}tR")
        long = b"X" + struct.pack("<I", 1 << 19) + b"x" * (1 << 19) + b"q\x01" + b"0"
        many = b"(" + b"N" * 20000 + b"lq\x020"

        def pickled(program):
            with zipfile.ZipFile(file, "w") as archive:
                archive.writestr("m/data.pkl", program + b".")
                archive.writestr("m/data/0", b"\0" * 4096)

        for program, part in ((b"]" * (1 << 20), "too many steps"),
                              (b"}" + long + tensor + b"q\x030" + b"h\x01h\x03s" * 15000, "damaged"),
                              (many + b"ctorch._utils\n_rebuild_tensor_v2\nq\x030" + b"h\x03h\x02R0" * 10000,
                               "damaged"),
                              (many + b"h\x02Q0" * 15000, "damaged"),
                              (b"X\x05\0\0\0torchq\x030" + long + b"h\x03h\x01\x930" * 15000, "damaged")):
            with self.subTest(program=program[-30:]):
                pickled(program)
                self.assert_refused_without_memory(base, file, "pytorch_model.bin", part)
        file.write_bytes(good[:-1])
        self.assert_refused_without_memory(base, file, "pytorch_model.bin")

        # Every tensor is the one that there is, and a thousand layers ask for it.
        state = {name: weight for name, weight in torch.load(io.BytesIO(good)).items()}
        same = torch.zeros(48, 48)
        matrices = {name for name, weight in state.items() if weight.shape == (48, 48)}
        torch.save({name: same if name in matrices else weight for name, weight in state.items()}, file)
        done, _, out = self.measured_import(file.parent)  # twenty of one small matrix are no harm
        self.assertEqual(done.returncode, 0, done.stderr)
        shutil.rmtree(out)
        inner = torch.zeros(20000, 48)
        names = {name for name, weight in state.items() if weight.shape == inner.shape}
        torch.save({name: inner if name in names else weight.clone() if weight.numel() < 100000 else inner.T
                    for name, weight in state.items()}, file)
        self.assert_refused_without_memory(base, file, "pytorch_model.bin", "one and the same")

    def test_npz(self):
        base = self.base()
        marian = self.marian("large")
        folder = self.folder / "opus"
        marian_npz.write(marian, folder)
        file = folder / "opus.npz"
        arrays, options = marian_npz.arrays_of(marian.model), marian_npz.options_of(marian.model)
        good = file.read_bytes()
        last = "encoder_l2_ffn_W2"
        marian_npz.save(file, {name: array for name, array in arrays.items() if name != last}, options)
        self.assert_refused_without_memory(base, file, f"{last} is missing")
        file.write_bytes(good[:-1])
        self.assert_refused_without_memory(base, file, "opus.npz", "no sound zip archive")
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:  # a megabyte that says it is a gigabyte
            with archive.open("Wemb.npy", "w") as member:
                for _ in range(1024):
                    member.write(b"\0" * (1 << 20))
        self.assert_refused_without_memory(base, file, "opus.npz", "is larger than")
        # One of many sizes in the directory is a lie.
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("Wemb.npy", b"\0" * (1 << 28))
        bomb = bytearray(file.read_bytes())
        place = bomb.rindex(b"PK\x01\x02") + 24
        bomb[place:place + 4] = struct.pack("<I", 1000)
        file.write_bytes(bomb)
        self.assert_refused_without_memory(base, file, "opus.npz", "has another size than its directory says")
        shutil.rmtree(folder)
        shutil.rmtree(marian.folder)
        marian_npz.write(self.marian("small"), folder)
        for text in ("[" * (1 << 20), "a: &x [1]\nb: *x\n" + "c: 1\n" * 300000):
            (folder / "opus.vocab.yml").write_text(text)
            self.assert_refused_without_memory(base, folder / "opus.vocab.yml", "opus.vocab.yml")
        (folder / "decoder.yml").write_text("a: b\n" * (1 << 18))
        self.assert_refused_without_memory(base, folder / "decoder.yml", "decoder.yml")


if __name__ == "__main__":
    support.main(__doc__)
