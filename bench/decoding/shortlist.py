"""What a vocabulary shortlist brings and costs: speed and BLEU of one model with and without it.

    shortlist.py --model DIR --source FILE --reference FILE [--candidates 10 30 50] [--frequent 100]
                 [--precisions fp32 int8] [--beams 1 4] [--batch-sizes 1 32] [--threads N] [--programs build]

The model directory holds shortlist.bin (nmt-prepro with data.shortlist). Speed is nmt-translate's own figure, pieces of
the target and </s> a second without loading, the best of --repeat runs, which take turns, so that a busy moment of the
machine does not fall on one of them alone. BLEU is nmt-score's; "same" is the share of sentences with the same text.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def run(command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{command[0]}: exit {result.returncode}: {result.stderr.strip()}")
    return result


class Comparison:
    def __init__(self, arguments, work):
        self.arguments, self.work = arguments, work

    def translate(self, settings, candidates):
        """Lines, and tokens a second, of one run; candidates 0: the whole vocabulary."""
        output = self.work / "out.txt"
        command = [self.arguments.programs / "nmt-translate", "-m", self.arguments.model, "-i", self.arguments.source,
                   "-o", output, "--threads", self.arguments.threads, "--shortlist", candidates]
        if candidates > 0:
            command += ["--shortlist-frequent", self.arguments.frequent]
        for name, value in settings.items():
            command += [f"--{name}", value]
        rate = re.search(r"([\d,]+) target tokens/s", run(command).stderr).group(1)
        return output.read_text(encoding="utf-8").splitlines(), float(rate.replace(",", ""))

    def bleu(self, lines):
        hypotheses = self.work / "scored.txt"
        hypotheses.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return float(run([self.arguments.programs / "nmt-score", self.arguments.reference, "-i", hypotheses, "-b", "-w",
                          2]).stdout)

    def row(self, settings):
        sizes = [0, *self.arguments.candidates]
        lines, best = {}, dict.fromkeys(sizes, 0.0)
        for _ in range(self.arguments.repeat):
            for candidates in sizes:
                lines[candidates], rate = self.translate(settings, candidates)
                best[candidates] = max(best[candidates], rate)
        whole = self.bleu(lines[0])
        cells = [f"{best[0]:,.0f} / {whole:.2f}"]
        for candidates in self.arguments.candidates:
            bleu = self.bleu(lines[candidates])
            same = sum(a == b for a, b in zip(lines[0], lines[candidates])) / len(lines[0])
            cells.append(f"{best[candidates]:,.0f} ({best[candidates] / best[0]:.2f} x) / {bleu:.2f} "
                         f"({bleu - whole:+.2f}), {same:.1%} same")
        return cells

    def main(self):
        heads = ["whole vocabulary"] + [f"{count} a piece" for count in self.arguments.candidates]
        print("tokens/s / BLEU; the shortlists with the "
              f"{self.arguments.frequent} most frequent pieces\n\n| | {' | '.join(heads)} |\n"
              f"| --- | {' | '.join('---' for _ in heads)} |")
        for precision in self.arguments.precisions:
            for beam in self.arguments.beams:
                for batch_size in self.arguments.batch_sizes:
                    settings = {"precision": precision, "beam-size": beam, "batch-size": batch_size}
                    print(f"| {precision}, beam {beam}, batch {batch_size} | {' | '.join(self.row(settings))} |",
                          flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--model", type=Path, required=True, help="directory with shortlist.bin")
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--reference", type=Path, required=True)
    parser.add_argument("--candidates", type=int, nargs="+", default=[10, 30, 50], help="each is tried")
    parser.add_argument("--frequent", type=int, default=100)
    parser.add_argument("--precisions", nargs="+", default=["fp32", "bf16", "int8"])
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=2, help="the best of so many runs counts")
    parser.add_argument("--programs", type=Path, default=Path(__file__).resolve().parents[2] / "build")
    return parser.parse_args()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        Comparison(parse_arguments(), Path(folder)).main()
