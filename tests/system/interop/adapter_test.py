"""Adapters: a run with training.lora_rank changes the matrices of attention and feed-forward layers alone, by what its
adapter.safetensors says; resumed it ends in the same bits; nmt-export adds the file to its base, and to no other.

    adapter_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import array
import hashlib
import json
import shutil
import struct

import interop_support as support

CONFIG = """
data: {{dir: {work}/prepared, train1: {work}/train.de, train2: {work}/train.en,
       eval1: {work}/valid.de, eval2: {work}/valid.en, shortlist: 20}}
training: {{batch_size: 16, num_epochs: 0, max_updates: 15, lr: 0.01, schedule: constant, warmup_steps: 0,
           checkpoint_every: 0, lora_rank: 4, lora_alpha: 8}}
validation: {{every: 15, max_sentences: 20, samples: 0}}
run: {{dir: {work}/run, threads: 1, precision: fp32}}
"""
RANK, SCALE = 4, 2


def read(path):
    """Metadata; shapes and numbers by name."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", None)
    return metadata, {name: (entry["shape"], array.array("f", data[8 + size:][slice(*entry["data_offsets"])]))
                      for name, entry in header.items()}


def added(weight, a, b):
    (rows, columns), values = weight
    return [values[i * columns + j] + SCALE * sum(b[1][i * RANK + k] * a[1][k * columns + j] for k in range(RANK))
            for i in range(rows) for j in range(columns)]


class Adapter(support.Case):
    def setUp(self):
        super().setUp()
        corpus = self.programs.corpus()
        for side in ("de", "en"):
            for name, source, count in (("train", "train", 200), ("valid", "valid", 20)):
                lines = (corpus / f"{source}.{side}").read_text().splitlines()[:count]
                (self.folder / f"{name}.{side}").write_text("".join(
                    line + (".\n" if side == "en" else "\n") for line in lines))
        self.base = self.folder / "base"
        shutil.copytree(self.programs.model("post"), self.base)
        (self.folder / "mine.yaml").write_text(CONFIG.format(work=self.folder))
        self.programs.must("nmt-prepro", "-c", self.folder / "mine.yaml", "--from-model", self.base)

    def command(self, updates, run="run", *options):
        return ("nmt-train", "-c", self.folder / "mine.yaml", "--from-model", self.base, "--run-dir", self.folder / run,
                "--set", f"training.max_updates={updates}", *options)

    def train(self, updates, run="run", *options):
        self.programs.must(*self.command(updates, run, *options))
        return self.folder / run

    def export(self, adapter, *options, base=None, out="out"):
        return self.programs.call("nmt-export", "-m", base or self.base, "--adapter", adapter, "--to", "nmt", "-o",
                                  self.folder / out, *options)

    def test_the_base_and_a_small_file(self):
        last = self.train(30) / "checkpoints" / "00000030"
        metadata, factors = read(last / "adapter.safetensors")
        self.assertEqual(metadata, {
            "base_sha256": hashlib.sha256((self.base / "model.safetensors").read_bytes()).hexdigest(),
            "lora_rank": "4", "lora_alpha": "8"})
        before, after = read(self.base / "model.safetensors")[1], read(last / "model.safetensors")[1]
        matrices = [name for name in before if name.endswith(".weight") and "norm" not in name]
        # Two blocks of d_model 48, d_ff 96: 4 matrices of attention in an encoder's, 8 in a decoder's, 2 of a network.
        self.assertEqual(len(matrices), 2 * (4 + 2) + 2 * (8 + 2))
        self.assertEqual(sum(len(values) for _, values in factors.values()),
                         RANK * (2 * (4 + 8) * (48 + 48) + 2 * 2 * 2 * (48 + 96)))
        for name, weight in before.items():
            if name not in matrices:
                self.assertEqual(after[name], weight, name)
                continue
            stem = name.removesuffix(".weight")
            expected = added(weight, factors.pop(f"{stem}.lora_A.weight"), factors.pop(f"{stem}.lora_B.weight"))
            self.assertNotEqual(after[name], weight, name)
            self.assertLess(max(abs(x - y) for x, y in zip(after[name][1], expected)), 1e-5, name)
        self.assertEqual(factors, {})
        self.assertLess((last / "adapter.safetensors").stat().st_size, (last / "model.safetensors").stat().st_size / 2)

        done = self.export(last / "adapter.safetensors", "-q")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(read(self.folder / "out" / "model.safetensors")[1], after)
        done = self.export(last / "adapter.safetensors", "--quantization", "int8", out="int8")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = (self.folder / "valid.de").read_text().splitlines()
        adapted = self.programs.translate(last, lines, 4)
        self.assertEqual(self.programs.translate(self.folder / "out", lines, 4), adapted)
        self.assertNotEqual(self.programs.translate(self.base, lines, 4), adapted)
        self.assertEqual((self.folder / "run" / "best" / "adapter.safetensors").exists(), True)

    def test_loaded_beside_its_base_it_is_the_exported_model(self):
        adapter = self.train(30) / "best" / "adapter.safetensors"
        self.assertEqual(self.export(adapter, "-q").returncode, 0)
        exported, test = self.folder / "out", self.programs.corpus()
        lines = (test / "test.de").read_text().splitlines()[:60]
        text = "".join(line + "\n" for line in lines)

        def translated(*model):
            return self.programs.must("nmt-translate", "-m", *model, "--n-best", 2, "--scores", "--token-scores", "-q",
                                      text=text)

        for precision in ("fp32", "bf16", "int8"):
            found = translated(self.base, "--adapter", adapter, "--precision", precision)
            self.assertEqual(found, translated(exported, "--precision", precision), precision)
            self.assertNotEqual(found, translated(self.base, "--precision", precision), precision)
        aligned = ("--alignment", "pharaoh", "--precision", "fp32")  # by LibTorch
        self.assertEqual(translated(self.base, "--adapter", adapter, *aligned), translated(exported, *aligned))

        def evaluated(*model):
            set_of = ("--source", self.folder / "valid.de", "--reference", self.folder / "valid.en")
            return self.programs.must("nmt-eval", "-m", *model, *set_of, "-q").split("\n")[1:]

        self.assertEqual(evaluated(self.base, "--adapter", adapter), evaluated(exported))
        other = self.folder / "run" / "checkpoints" / "00000030"
        for program in (("nmt-translate", "-m", other, "-t", "a"),
                        ("nmt-eval", "-m", other, "--source", self.folder / "valid.de", "--reference",
                         self.folder / "valid.en")):
            self.assert_refused(self.programs.call(*program, "--adapter", adapter),
                                "adapter.safetensors: is for a model whose weights have")
        several = ("-m", self.base, "-m", exported, "--adapter", adapter)
        self.assert_refused(self.programs.call("nmt-translate", *several, "-t", "a"), "is of one model, not of an ensemble")
        self.assert_refused(self.programs.call("nmt-eval", *several, "--source", self.folder / "valid.de", "--reference",
                                               self.folder / "valid.en"), "is of one model; name that alone")

    def test_resumed_it_ends_in_the_same_bits(self):
        whole = self.train(30, "whole") / "checkpoints" / "00000030"
        self.train(15)
        parts = self.train(30) / "checkpoints" / "00000030"
        for name in ("adapter.safetensors", "model.safetensors", "trainer.safetensors"):
            self.assertEqual((parts / name).read_bytes(), (whole / name).read_bytes(), name)

    def test_another_base_is_refused(self):
        adapter = self.train(15) / "best" / "adapter.safetensors"
        other = self.folder / "run" / "checkpoints" / "00000015"
        self.assert_refused(self.export(adapter, base=other), "adapter.safetensors: is for a model whose weights have",
                            output=self.folder / "out")
        self.assert_refused(self.programs.call("nmt-export", "--inspect", self.base, "--adapter", adapter),
                            "--adapter: is for --to")
        self.assert_refused(self.export(self.base / "model.safetensors"), "is no adapter", output=self.folder / "out")
        done = self.programs.call("nmt-export", "-m", self.base, "--adapter", adapter, "--to", "nmt", "-o",
                                  adapter.parent, "--force")
        self.assert_refused(done, "holds what --adapter reads")
        shutil.copy(other / "model.safetensors", self.base / "model.safetensors")
        (self.base / "checksums.json").unlink(missing_ok=True)
        done = self.programs.call(*self.command(30))
        self.assertEqual(done.returncode, 2)
        self.assertIn("is for a model whose weights have", done.stderr.decode().splitlines()[-1])


if __name__ == "__main__":
    support.main(__doc__)
