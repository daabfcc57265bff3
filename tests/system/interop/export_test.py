"""nmt-export by itself: what is no model goes nowhere, options that nothing reads are refused, a signal leaves nothing.

    export_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]
"""

import json
import math
import os
import shutil
import signal
import struct
import subprocess

import interop_support as support

WAYS = [("nmt", "int8"), ("nmt", "bf16"), *(("ctranslate2", q) for q in ("float32", "int8", "float16", "bfloat16")),
        ("marian", None), ("safetensors", None)]


def read_weights(path):
    """Shapes and float32 bytes by name."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return {name: (entry["shape"], data[8 + size:][slice(*entry["data_offsets"])]) for name, entry in header.items()}


def write_weights(path, weights):
    header, end = {}, 0
    for name, (shape, data) in weights.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + len(data)]}
        end += len(data)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data for _, data in weights.values()))


class Export(support.Case):
    def setUp(self):
        super().setUp()
        self.model, self.out = self.folder / "model", self.folder / "out"
        shutil.copytree(self.programs.model("post"), self.model)
        (self.model / "checksums.json").unlink(missing_ok=True)
        self.weights = read_weights(self.model / "model.safetensors")

    def export(self, way, quantization=None):
        options = ("--quantization", quantization) if quantization else ()
        return self.programs.call("nmt-export", "-m", self.model, "--to", way, "-o", self.out, *options)

    def assert_goes_nowhere(self, weights, *parts, ways=WAYS):
        write_weights(self.model / "model.safetensors", weights)
        for way in ways:
            with self.subTest(way=way, parts=parts):
                self.assert_refused(self.export(*way), *parts, output=self.out)

    def with_number(self, name, value):
        shape, data = self.weights[name]
        return {**self.weights, name: (shape, struct.pack("<f", value) + data[4:])}

    def test_weights_of_another_model(self):
        name = "decoder_1.feed_forward.outer.bias"
        shape, data = self.weights["embedding"]
        self.assert_goes_nowhere({key: value for key, value in self.weights.items() if key != name}, name, "is missing")
        self.assert_goes_nowhere({**self.weights, "zzz": ([3], bytes(12))}, "zzz belongs to no part")
        self.assert_goes_nowhere({**self.weights, "embedding": ([shape[0] - 1, shape[1]], data[:-4 * shape[1]])},
                                 "embedding is [", "the configuration needs")
        write_weights(self.model / "model.safetensors", self.weights)
        for way in WAYS:
            self.assertEqual(self.export(*way).returncode, 0, way)
            shutil.rmtree(self.out)

    def test_numbers_that_cannot_be(self):
        name = "encoder_0.self_attention.query.weight"
        for value in (math.nan, -math.inf):
            self.assert_goes_nowhere(self.with_number(name, value), name, "not finite", "use another checkpoint")
        self.assert_goes_nowhere(self.with_number(name, 1e6), "--quantization float16", name, "bfloat16",
                                 ways=[("ctranslate2", "float16")])
        self.assertEqual(self.export("ctranslate2", "bfloat16").returncode, 0)

    def test_options_that_nothing_reads(self):
        leaves, comes = ("-m", self.model, "--to", "ctranslate2"), ("-i", self.model, "--from", "marian")
        for arguments, part in (((*leaves, "-i", self.model), "-i: is for --from"),
                                ((*comes, "-m", self.model), "-m: is for --to"),
                                ((*comes, "--quantization", "int8"), "--quantization: is for --to nmt"),
                                ((*leaves, "--task", ""), "--task: is for --from t5"),
                                ((*leaves, "--source-prefix", "x"), "--source-prefix: is for --from t5")):
            self.assert_refused(self.programs.call("nmt-export", *arguments, "-o", self.out), part, output=self.out)
        for arguments, part in ((("--force",), "--force: is for --to and --from"), (("-o", self.out), "-o: is for"),
                                (("-m", self.model), "-m: is for --to"), (("-i", self.model), "-i: is for --from"),
                                (("--quantization", "int8"), "--quantization: is for"),
                                (("--task", "x"), "--task: is for"), (("--source-prefix", ""), "--source-prefix: is")):
            self.assert_refused(self.programs.call("nmt-export", "--inspect", self.model, *arguments), part)
        self.programs.must("nmt-export", "-q", "--inspect", self.model)

    def test_folders_that_cannot_be(self):
        (self.folder / "dangling").symlink_to("gone")
        for name, part in ((300 * "n", "File name too long"), ("dangling", "dangling: is a symbolic link to nothing"),
                           ("dangling/sub", "cannot make the folder")):
            done = self.programs.call("nmt-export", "-m", self.model, "--to", "safetensors", "-o", self.folder / name)
            self.assert_refused(done, part, output=self.folder / "gone")
        self.assert_refused(self.programs.call("nmt-export", "-m", self.model, "--to", "safetensors", "-o", "/proc/zz"),
                            "cannot make the folder")

    def held_import(self):
        """A program that reads a folder of MarianMT, held (SIGSTOP) while it writes, before its output is in place."""
        folder = self.folder / "marian"
        if not folder.exists():
            self.programs.must("nmt-export", "-q", "-m", self.model, "--to", "marian", "-o", folder)
        for _ in range(200):  # the writing takes milliseconds: until it is caught in them
            process = subprocess.Popen([self.programs.path("nmt-export"), "--from", "marian", "-i", folder, "-o", self.out],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            while process.poll() is None and not any(".partial" in name for name in os.listdir(self.folder)):
                pass
            if process.returncode is None:
                process.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                if not self.out.exists():
                    return process
                process.send_signal(signal.SIGCONT)
            process.communicate()
            shutil.rmtree(self.out)
        self.fail("nmt-export was never caught while it wrote")

    def test_pipes_in_a_model_are_not_waited_for(self):
        for name in ("model.json", "spm.model", "model.safetensors"):
            kept = (self.model / name).read_bytes()
            (self.model / name).unlink()
            os.mkfifo(self.model / name)
            self.assert_refused(self.export("safetensors"), f"{name}: is a pipe or device; put a regular file there",
                                output=self.out)
            (self.model / name).unlink()
            (self.model / name).write_bytes(kept)

    def test_a_model_that_came_meanwhile_is_kept(self):
        process = self.held_import()
        self.out.mkdir()
        (self.out / "model.safetensors").write_text("mine")
        process.send_signal(signal.SIGCONT)
        _, message = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, message)
        self.assertIn(b"out.kept-1: the folder that was replaced; it is kept", message)
        self.assertEqual((self.folder / "out.kept-1" / "model.safetensors").read_text(), "mine")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["marian", "model", "out", "out.kept-1"])

    def test_inspect_knows_a_folder_of_ctranslate2(self):
        self.programs.must("nmt-export", "-m", self.model, "--to", "ctranslate2", "-o", self.out)
        self.assert_refused(self.programs.call("nmt-export", "--inspect", self.out), "a model of CTranslate2")

    def test_signals_leave_nothing(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            for _ in range(50):
                process = self.held_import()
                process.send_signal(number)
                process.send_signal(signal.SIGCONT)
                output, message = process.communicate(timeout=60)
                if process.returncode != 0:
                    break
                shutil.rmtree(self.out)  # all was written when the signal came
            self.assertEqual((process.returncode, output), (code, b""), message)
            self.assertIn(b"stopped; nothing was written", message)
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["marian", "model"])


if __name__ == "__main__":
    support.main(__doc__)
