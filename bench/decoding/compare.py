"""Decoding speed beside CTranslate2: one trained model, the same sentences, beam and length limit, one after the other.

    compare.py --model DIR --source FILE --reference FILE --python PYTHON [--widen] [--programs build] [--work FOLDER]

PYTHON is an interpreter that imports ctranslate2 and sentencepiece (scripts/interop_python.sh makes one). The model
leaves through nmt-export. CTranslate2 gets its best thread layout: each is tried, the faster one counts. It is given
the lines of the text, as nmt-translate is: both cut and join them themselves, and are timed without loading. Rounds are in
turns; ratios are of the medians. --widen: the same function in a model of base size (widen_model.py). Tokens are pieces
of the target and </s>.
--kernel-set avx2: all programs and libraries keep to AVX2, CTranslate2's too, as on a processor that has no more.
--cpu-seconds: tokens a second of processor time, for a machine that is busy with other work; then use --threads 1.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measuring import conditions, median, spread  # noqa: E402

MIN_EQUAL = 0.99  # share of sentences with the same text in float32
MAX_LOSS = 0.2  # BLEU


# What each library reads: ours, LibTorch's, those that multiply matrices for either side, CTranslate2's.
KERNEL_SETS = {"avx2": {"NMT_KERNEL_SET": "avx2", "ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2",
                        "DNNL_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "CT2_FORCE_CPU_ISA": "AVX2"}}


def run(command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"{command[0]}: exit {result.returncode}: {result.stderr.strip()}")
    return result


def processor_seconds():
    """The processor time of all programs run so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Comparison:
    def __init__(self, arguments):
        self.arguments = arguments
        self.programs = arguments.programs.resolve()
        self.work = arguments.work
        self.failures = []
        self.model = arguments.model
        if arguments.widen:
            self.model = self.work / "wide"
            run([sys.executable, HERE / "widen_model.py", arguments.model, self.model])
        self.exported = self.work / "ctranslate2"
        run([self.programs / "nmt-export", "-q", "--force", "-m", self.model, "--to", "ctranslate2", "-o",
             self.exported])

    def ours(self, precision, beam, batch_size, one_by_one):
        """nmt-translate: (text lines, tokens a second)."""
        output = self.work / f"ours.{precision}.{beam}.txt"
        command = [self.programs / "nmt-translate", "-m", self.model, "-i", self.arguments.source, "-o", output,
                   "--precision", precision, "--beam-size", beam, "--length-penalty", 0, "--max-length-ratio", 0,
                   "--max-length-offset", self.arguments.limit, "--batch-size", batch_size,
                   "--threads", self.arguments.threads]
        if one_by_one:
            command += ["--buffer-lines", 1]
        before = processor_seconds()
        shown = run(command).stderr
        used = processor_seconds() - before
        lines, wall, rate = (float(number.replace(",", "")) for number in re.search(
            r"([\d,]+) lines in ([\d.]+) s: .*?([\d,]+) target tokens/s", shown).groups())
        if self.arguments.cpu_seconds:
            rate *= wall / (used - self.start_seconds(command, output))
        return output.read_text(encoding="utf-8").splitlines(), rate

    def start_seconds(self, command, output):
        """Processor time of starting and loading: what the same command takes for an empty file."""
        empty = self.work / "empty.txt"
        empty.write_text("")
        instead = {self.arguments.source: empty, output: self.work / "nothing.txt"}
        before = processor_seconds()
        run([instead.get(part, part) for part in command])
        return processor_seconds() - before

    def layouts(self, one_by_one):
        """(workers, threads of each) that CTranslate2 is tried with: the better one counts."""
        threads = self.arguments.threads
        return sorted({(1, threads), (1, 1)} if one_by_one else {(threads, 1), (1, threads)})

    def theirs(self, precision, beam, batch_size, one_by_one, layout):
        """(text lines, tokens a second)."""
        task = {"model": str(self.exported), "source": str(self.arguments.source), "precision": precision, "beam": beam,
                "batch_size": batch_size, "one_by_one": one_by_one, "workers": layout[0], "threads": layout[1],
                "limit": self.arguments.limit, "cpu_seconds": self.arguments.cpu_seconds}
        answer = json.loads(run([self.arguments.python, HERE / "run_ctranslate2.py", json.dumps(task)]).stdout)
        return answer["lines"], answer["tokens_per_second"]

    def backend(self):
        """What CTranslate2 says of the instructions and libraries that it chose."""
        said = run([self.arguments.python, "-c", f"import ctranslate2; ctranslate2.Translator({str(self.exported)!r})"],
                   env={**os.environ, "CT2_VERBOSE": "1"}).stderr
        chosen = re.findall(r"- (Selected ISA: .*|.*GEMM.* backend.*)", said)
        return "CTranslate2: " + ", ".join(line.strip() for line in chosen)

    def bleu(self, lines):
        hypotheses = self.work / "scored.txt"
        hypotheses.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return float(run([self.programs / "nmt-score", self.arguments.reference, "-i", hypotheses, "-b", "-w",
                          2]).stdout)

    def check(self, beam, texts, their_text):
        equal = sum(a == b for a, b in zip(texts["fp32"], their_text)) / len(their_text)
        if equal < MIN_EQUAL:
            self.failures.append(f"beam {beam}: {equal:.1%} of the float32 texts are CTranslate2's, "
                                 f"{MIN_EQUAL:.0%} wanted")
        scores = {precision: self.bleu(lines) for precision, lines in texts.items()}
        for precision, score in scores.items():
            if score < scores["fp32"] - MAX_LOSS:
                self.failures.append(f"beam {beam}: {precision} has {score} BLEU, fp32 {scores['fp32']}")
        shown = ", ".join(f"{precision} {score:.2f}" for precision, score in scores.items())
        print(f"\nBeam {beam}: {equal:.1%} of the texts equal in float32; BLEU {shown}.", flush=True)

    def measure(self, beam, batch_size, one_by_one):
        """For each program the texts and the tokens a second of each round, CTranslate2 in its better layout of threads."""
        runs = {f"ours {precision}": (self.ours, (precision, beam, batch_size, one_by_one))
                for precision in ("fp32", "bf16", "int8")}
        for precision in ("float32", "int8"):
            for layout in self.layouts(one_by_one):
                runs[f"theirs {precision} {layout}"] = (self.theirs, (precision, beam, batch_size, one_by_one, layout))
        texts, speeds = {}, {name: [] for name in runs}
        # In turns: a machine that is slow for a minute is so for both.
        for _ in range(self.arguments.rounds):
            for name, (function, parts) in runs.items():
                texts[name], speed = function(*parts)
                speeds[name].append(speed)
        for precision in ("float32", "int8"):
            names = [name for name in runs if name.startswith(f"theirs {precision} ")]
            best = max(names, key=lambda name: median(speeds[name]))
            texts[f"theirs {precision}"], speeds[f"theirs {precision}"] = texts[best], speeds[best]
        return texts, speeds

    def table(self, title, batch_size, one_by_one):
        unit = "tokens/processor second" if self.arguments.cpu_seconds else "tokens/s"
        kept = f", kept to {self.arguments.kernel_set}" if self.arguments.kernel_set else ""
        print(f"\n{conditions(self.arguments.threads, self.arguments.rounds)}{kept}; {self.backend()}\n\n"
              f"| {unit}, {title} | ours fp32 | ours bf16 | CTranslate2 float32 | fp32 / float32 | bf16 / float32 | ours int8 | "
              "CTranslate2 int8 | int8 / int8 |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
        found = {}
        for beam in self.arguments.beams:
            texts, speeds = self.measure(beam, batch_size, one_by_one)

            def ratio(ours, theirs):
                return f"{median(speeds[ours]) / median(speeds[theirs]):.2f}"

            cells = ["greedy" if beam == 1 else f"beam {beam}", spread(speeds["ours fp32"]), spread(speeds["ours bf16"]),
                     spread(speeds["theirs float32"]), ratio("ours fp32", "theirs float32"),
                     ratio("ours bf16", "theirs float32"), spread(speeds["ours int8"]), spread(speeds["theirs int8"]),
                     ratio("ours int8", "theirs int8")]
            print("| " + " | ".join(cells) + " |", flush=True)
            found[beam] = ({name.removeprefix("ours "): lines for name, lines in texts.items() if name.startswith("ours ")},
                           texts["theirs float32"])
        return found

    def main(self):
        for batch_size in self.arguments.batch_sizes:
            texts = self.table(f"batch {batch_size}", batch_size, one_by_one=False)
        for beam, (ours, theirs) in texts.items():
            self.check(beam, ours, theirs)
        if self.arguments.latency:
            self.table("one sentence at a time", 1, one_by_one=True)
        for failure in self.failures:
            print("FAILED:", failure)
        return 1 if self.failures else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--model", type=Path, required=True, help="trained model directory")
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--reference", type=Path, required=True)
    parser.add_argument("--python", default=os.environ.get("NMT_INTEROP_PYTHON", "python3"), help="has ctranslate2")
    parser.add_argument("--programs", type=Path, default=HERE.parent.parent / "build")
    parser.add_argument("--work", type=Path, help="default: a temporary folder")
    parser.add_argument("--widen", action="store_true")
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--kernel-set", choices=KERNEL_SETS, help="see above")
    parser.add_argument("--latency", action="store_true", help="also one sentence at a time")
    parser.add_argument("--cpu-seconds", action="store_true", help="see above")
    parser.add_argument("--limit", type=int, default=100, help="tokens of a translation, </s> counted")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3, help="the median of each program's counts")
    return parser.parse_args()


if __name__ == "__main__":
    arguments = parse_arguments()
    os.environ.update(KERNEL_SETS.get(arguments.kernel_set, {}))
    with tempfile.TemporaryDirectory() as folder:
        arguments.work = arguments.work or Path(folder)
        arguments.work.mkdir(parents=True, exist_ok=True)
        sys.exit(Comparison(arguments).main())
