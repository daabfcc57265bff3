#!/usr/bin/env python3
"""Memory of a service with a model and adapters of it, one after the other.

    bench/server/adapter_memory.py --model DIR --adapter FILE... [--programs build] [--precision bf16]

Each model translates a sentence; then the service's Pss and Private_Dirty are read (/proc/PID/smaps_rollup, Linux).
"""
import argparse
import json
import re
import subprocess
import tempfile
import urllib.request
from pathlib import Path


def megabytes(process, what):
    text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    return int(re.search(rf"^{what}:\s+(\d+) kB", text, re.MULTILINE)[1]) / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, nargs="+", required=True)
    parser.add_argument("--programs", type=Path, default=Path(__file__).resolve().parents[2] / "build")
    parser.add_argument("--precision", default="bf16")
    arguments = parser.parse_args()
    lines = [f"  - {{directory: {arguments.model.resolve()}, source: xx, target: base}}"]
    lines += [f"  - {{directory: {arguments.model.resolve()}, adapter: {file.resolve()}, source: xx, target: adapter-{i}}}"
              for i, file in enumerate(arguments.adapter)]
    targets = ["base", *(f"adapter-{i}" for i in range(len(arguments.adapter)))]
    print("| adapters | Pss, MB | Private_Dirty, MB |\n| -- | -- | -- |")
    for count in range(1, len(lines) + 1):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write("models:\n" + "\n".join(lines[:count]) + "\n")
            config.flush()
            service = subprocess.Popen([arguments.programs / "nmt-translate", "--serve-config", config.name, "--serve", "0",
                                        "--precision", arguments.precision, "--threads", "1", "-q"],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            address = service.stdout.readline().strip()
            for target in targets[:count]:
                body = json.dumps({"q": "Ein Hund.", "source": "xx", "target": target}).encode()
                request = urllib.request.Request(address + "/translate", body, {"Content-Type": "application/json"})
                urllib.request.urlopen(request).read()
            print(f"| {count - 1} | {megabytes(service, 'Pss'):.0f} | {megabytes(service, 'Private_Dirty'):.0f} |", flush=True)
            service.terminate()
            service.wait()


if __name__ == "__main__":
    main()
