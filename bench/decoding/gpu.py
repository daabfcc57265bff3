"""Decoding speed on a GPU, beside CTranslate2 on the same card: target tokens a second, greedy and beam 4.

    gpu.py --model DIR --source FILE [--programs build] [--device cuda] [--python PYTHON] [--batch-sizes 32 128 512]
           [--lines 16000]

PYTHON is an interpreter that imports ctranslate2 and sentencepiece; without one the columns of CTranslate2 stay empty, and a
line says why. The model leaves through nmt-export. Both translate the same lines with the same beam and limit, and are
timed without loading; CTranslate2 has had 64 lines before, and what CUDA does at the first use of a kernel is in the time of
nmt-translate. So the source is repeated to --lines lines: a run of a second measures little else. Tokens are pieces of the
target and </s>.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT = 100  # tokens of a translation
PRECISIONS = ("fp32", "bf16", "fp16")


def last_line(text):
    return (text.strip().splitlines() or ["no message"])[-1]


class Bench:
    def __init__(self, options, work):
        self.options, self.work = options, work
        lines = options.source.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        if lines == [""]:
            sys.exit(f"gpu.py: {options.source}: no line")
        lines *= -(-options.lines // len(lines))
        self.source = work / "source.txt"
        self.source.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        self.exported = work / "ctranslate2"

    def ours(self, precision, beam, batch):
        """(texts, tokens a second)"""
        output = self.work / "ours.txt"
        done = subprocess.run(
            [self.options.programs / "nmt-translate", "-m", self.options.model, "-i", self.source, "-o", output,
             "--device", self.options.device, "--precision", precision, "--beam-size", str(beam), "--batch-size", str(batch),
             "--length-penalty", "0", "--max-length-ratio", "0", "--max-length-offset", str(LIMIT)],
            capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"gpu.py: nothing measured: {last_line(done.stderr)}")
        rate = re.search(r"([\d,]+) target tokens/s", done.stderr).group(1)
        return output.read_text(encoding="utf-8").removesuffix("\n").split("\n"), float(rate.replace(",", ""))

    def theirs(self, beam, batch):
        """(texts, tokens a second), or why there are none."""
        if not self.options.python:
            return "no --python"
        if not self.exported.exists():
            done = subprocess.run([self.options.programs / "nmt-export", "-q", "-m", self.options.model, "--to", "ctranslate2",
                                   "-o", self.exported], capture_output=True, text=True)
            if done.returncode != 0:
                return last_line(done.stderr)
        task = {"model": str(self.exported), "source": str(self.source), "precision": "float16", "device": "cuda",
                "beam": beam, "batch_size": batch, "one_by_one": False, "workers": 1, "threads": 1, "limit": LIMIT,
                "cpu_seconds": False}
        done = subprocess.run([self.options.python, HERE / "run_ctranslate2.py", json.dumps(task)], capture_output=True,
                              text=True)
        if done.returncode != 0:
            return last_line(done.stderr)
        answer = json.loads(done.stdout)
        return answer["lines"], answer["tokens_per_second"]

    def row(self, beam, batch):
        texts, rates = {}, {}
        for precision in PRECISIONS:
            texts[precision], rates[precision] = self.ours(precision, beam, batch)
        cells = [f"{rates[precision]:,.0f}" for precision in PRECISIONS]
        found = self.theirs(beam, batch)
        if isinstance(found, str):
            return [*cells, "", "", ""], found
        lines, rate = found
        equal = sum(a == b for a, b in zip(lines, texts["fp16"])) / max(1, len(lines))
        return [*cells, f"{rate:,.0f}", f"{rates['fp16'] / rate:.2f}", f"{equal:.1%}"], None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--programs", type=Path, default=HERE.parents[1] / "build")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--python")
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[32, 128, 512])
    parser.add_argument("--lines", type=int, default=16000, help="the source is repeated to so many or more (default: 16000)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, Path(folder))
        print("| search | batch | fp32 | bf16 | fp16 | CTranslate2 float16 | fp16 / float16 | equal texts |\n"
              "| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
        problem = None
        for beam in (1, 4):
            for batch in options.batch_sizes:
                cells, missing = bench.row(beam, batch)
                problem = problem or missing
                print(f"| {'greedy' if beam == 1 else f'beam {beam}'} | {batch} | " + " | ".join(cells) + " |", flush=True)
        if problem:
            print(f"\nCTranslate2 was not measured: {problem}")


if __name__ == "__main__":
    main()
