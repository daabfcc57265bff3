#!/usr/bin/env python3
"""Size, loading time and memory of a model of base size, from a float32 directory and from quantized ones.

    bench/decoding/loading.py --model SMALL_MODEL_DIRECTORY --source FILE [--programs build] [--rounds 3]

The model is widened (widen_model.py). "start" is the whole of `nmt-translate` for one word, loading included, of which
`nmt-translate --version` is the part without a model. Memory is the maximum resident size (getrusage) at one word and over
the whole text in batches of 32.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measuring import conditions, spread  # noqa: E402


def run(command, text=""):
    """(seconds, maximum resident MB)."""
    start = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    process.stdin.write(text.encode())
    process.stdin.close()
    errors = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command[0]}: status {status}: {errors.strip()}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--programs", type=Path, default=HERE.parents[1] / "build")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    translate = arguments.programs / "nmt-translate"
    text = arguments.source.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        wide = Path(folder) / "float32"
        subprocess.run([sys.executable, HERE / "widen_model.py", arguments.model, wide], check=True)
        kinds = {"float32 directory, int8": (wide, "int8"), "float32 directory, fp32": (wide, "fp32")}
        for quantization in ("int8", "bf16"):
            quantized = Path(folder) / quantization
            subprocess.run([arguments.programs / "nmt-export", "-q", "-m", wide, "--to", "nmt", "--quantization", quantization,
                            "-o", quantized], check=True)
            kinds[f"{quantization} directory, {quantization}"] = (quantized, quantization)
        print(f"{conditions('1 and 2', arguments.rounds)}\n")
        bare = [run([translate, "--version"]) for _ in range(arguments.rounds)]
        print(f"`nmt-translate --version`: {spread([one[0] for one in bare], '{:.2f}')} s, {bare[0][1]:.0f} MB\n")
        print("| | bytes of the weights | start, s | MB, one word | MB, batches of 32, 1 thread | 2 threads |")
        print("| --- | --- | --- | --- | --- | --- |")
        for name, (directory, precision) in kinds.items():
            own = [translate, "-q", "-m", directory, "--precision", precision, "--beam-size", 1, "--batch-size", 32]
            starts = [run([*own, "--threads", 1], "Hallo\n") for _ in range(arguments.rounds)]
            whole = [run([*own, "--threads", threads], text)[1] for threads in (1, 2)]
            print(f"| {name} | {(directory / 'model.safetensors').stat().st_size:,} | {spread([s for s, _ in starts], '{:.2f}')} "
                  f"| {starts[0][1]:.0f} | {whole[0]:.0f} | {whole[1]:.0f} |", flush=True)


if __name__ == "__main__":
    main()
