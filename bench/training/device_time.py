#!/usr/bin/env python3
"""Where the time of a card goes: kernels in a profile.json of nmt-train --profile, summed by the operation that launched them.

    bench/training/device_time.py profile.json [--updates 10] [--top 20]

The file may be packed (.gz). --updates: those that were traced.
"""

import argparse
import collections
import gzip
import json
import pathlib
import sys

KERNELS = ("kernel", "gpu_memcpy", "gpu_memset")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile", type=pathlib.Path)
    parser.add_argument("--updates", type=int, default=10)
    parser.add_argument("--top", type=int, default=20)
    options = parser.parse_args()
    with (gzip.open if options.profile.suffix == ".gz" else open)(options.profile, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    kernels = [event for event in events if event.get("cat") in KERNELS]
    if not kernels:
        sys.exit(f"device_time.py: {options.profile}: no kernel of a card in it")
    operations = {event["args"]["External id"]: event["name"] for event in events
                  if event.get("cat") == "cpu_op" and "External id" in event.get("args", {})}
    times, calls = collections.Counter(), collections.Counter()
    for kernel in kernels:
        name = operations.get(kernel["args"].get("External id"), "others")
        times[name] += kernel["dur"]
        calls[name] += 1
    each = 1000 * options.updates  # microseconds to milliseconds of an update
    span = max(kernel["ts"] + kernel["dur"] for kernel in kernels) - min(kernel["ts"] for kernel in kernels)
    print(f"kernels: {sum(times.values()) / each:.1f} of {span / each:.1f} ms an update\n\n"
          "| operation | ms | kernels |\n| --- | --- | --- |")
    for name, time in times.most_common(options.top):
        print(f"| {name} | {time / each:.2f} | {calls[name] / options.updates:.1f} |")


if __name__ == "__main__":
    main()
