#!/usr/bin/env python3
"""What several GPUs would give, computed and not measured: the tables of docs/results.md in Markdown.

    scripts/scaling_table.py [--batch-seconds SMALL BASE BIG] [--cpu-batch-seconds SMALL BASE]

--batch-seconds: the measured time of one micro-batch of the batches below on one GPU, forward and backward; without it,
it is worked out from the model's operations at half of the peak of a GPU.
--cpu-batch-seconds: the same on one machine without a GPU, for small and base with 8,000 pieces and batches of 4,096 tokens;
with it a third table is printed, of such machines and MPI.
"""

import argparse
import math

# Name, d_model, d_ff, blocks a side, joint or both vocabularies, tokens a side of a micro-batch
MODELS = [("small (multi30k_de_en)", 256, 1024, 3, 8000, 4096),
          ("base (vaswani_base)", 512, 2048, 6, 37000, 25000),
          ("big (vaswani_big)", 1024, 4096, 6, 37000, 25000)]
PEAK = 989e12      # multiplications and additions a second: H100 SXM, bfloat16, dense
UTILISATION = 0.5  # of the peak
NVLINK = 300e9     # bytes a second of a ring among the 8 GPUs of a machine: two thirds of NVLink 4's 450e9 in a direction
INFINIBAND = 40e9  # bytes a second and GPU between machines: one adapter of 400 Gbit/s a GPU, at four fifths
ETHERNET = 2.5e9   # the same where 8 GPUs share 200 Gbit/s, at four fifths
TEN_GIGABIT = 1e9  # bytes a second of a machine on 10 Gbit/s Ethernet, at four fifths
SETTLING = 100e-6  # seconds an update for small messages and the last bucket's start
BACKWARD = 2 / 3   # of a micro-batch's time
BUCKET = 8 << 20   # bytes; the embedding, which is larger, is a bucket of its own, the last, with nothing to hide behind


def parameters(d, ff, blocks, vocabulary):
    attention = 4 * d * d + 4 * d
    inner = 2 * d * ff + ff + d
    norm = 2 * d
    return vocabulary * d + blocks * ((attention + inner + 2 * norm) + (2 * attention + inner + 3 * norm))


def batch_seconds(d, ff, blocks, vocabulary, tokens):
    # Six operations a weight and token that meets it (Kaplan et al. 2020); looking embeddings up costs nothing, the output
    # layer does.
    return 6 * parameters(d, ff, blocks, vocabulary) * tokens / (PEAK * UTILISATION)


def update(seconds, size, last, gpus, bandwidth, rounds):
    """(seconds of an update of `rounds` micro-batches a GPU, share of the time that is work)."""
    work = rounds * seconds
    exchange = 2 * (gpus - 1) / gpus * size / bandwidth
    hidden = min(exchange * (1 - last / size), seconds * BACKWARD)
    total = work + exchange - hidden + SETTLING
    return total, work / total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch-seconds", type=float, nargs=3)
    parser.add_argument("--cpu-batch-seconds", type=float, nargs=2)
    options = parser.parse_args()
    given = options.batch_seconds
    print("| model | parameters | gradients an update | sent by each of 8 GPUs | of 64 GPUs | by each of 2 processes of MPI, 1 batch | 2 batches |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, d, ff, blocks, vocabulary, _ in MODELS:
        size = 4 * parameters(d, ff, blocks, vocabulary)
        megabytes = [size, 2 * 7 / 8 * size, 2 * 63 / 64 * size, (1 + 1) / 2 * size, (2 + 1) / 2 * size]
        print(f"| {name} | {size / 4e6:.1f} M | " + " | ".join(f"{b / 1e6:.1f} MB" for b in megabytes) + " |")
    print()
    print("| model | tokens a micro-batch | its time | GPUs | network between machines | batches a GPU and update | update | of ideal | times one GPU |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for index, (name, d, ff, blocks, vocabulary, tokens) in enumerate(MODELS):
        if name.startswith("small") and not given:
            continue  # its time is that of starting kernels, not of operations
        seconds = given[index] if given else batch_seconds(d, ff, blocks, vocabulary, tokens)
        size = 4 * parameters(d, ff, blocks, vocabulary)
        rows = [(8, "none", NVLINK, 1)]
        for network, bandwidth in (("40 GB/s a GPU", INFINIBAND), ("2.5 GB/s a GPU", ETHERNET)):
            rows += [(64, network, bandwidth, rounds) for rounds in (1, 4)]
        for gpus, network, bandwidth, rounds in rows:
            total, share = update(seconds, size, max(4 * vocabulary * d, BUCKET), gpus, bandwidth, rounds)
            print(f"| {name.split()[0]} | {tokens:,} | {seconds * 1e3:.1f} ms | {gpus} | {network} | {rounds} | "
                  f"{total * 1e3:.1f} ms | {share:.0%} | {gpus * share:.1f} |")
    if options.cpu_batch_seconds:
        print_cpu_table(options.cpu_batch_seconds)


def print_cpu_table(seconds_of):
    print("\n| model | parameters | batch, measured | machines | batches a machine and update | update | of ideal | "
          "times one machine |\n|" + " --- |" * 8)
    for (name, d, ff, blocks, _, _), seconds in zip(MODELS, seconds_of):
        size = 4 * parameters(d, ff, blocks, 8000)
        for machines in (2, 8):
            for rounds in (1, 4):
                exchanged = (machines - 1) / machines * size / TEN_GIGABIT
                work = rounds * seconds
                total = work + max(0, rounds * (exchanged - BACKWARD * seconds)) + exchanged
                print(f"| {name.split()[0]} | {size / 4e6:.1f} M | {seconds:.2f} s | {machines} | {rounds} | {total:.2f} s | "
                      f"{work / total:.0%} | {machines * work / total:.1f} |")


if __name__ == "__main__":
    main()
