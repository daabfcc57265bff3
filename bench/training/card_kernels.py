#!/usr/bin/env python3
"""Times of the kernels of kernels/ on a card, beside what was expected (docs/gpu.md).

    bench/training/card_kernels.py [--rehearse]

For 20,000 words of sentences of 20 on average, 512 wide, 8 heads, dropout 0.1. Medians of 20 launches; before each the
L2 cache is emptied, which also hides the launch itself. --rehearse: without a card, one launch each in Triton's
interpreter, small; no time is printed.
"""

import argparse
import math
import os
import pathlib
import random
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "kernels"), str(ROOT)]
LAUNCHES = 20


def lengths_of(words):
    """Sentences of up to 64 words, the shortest first."""
    draw, lengths = random.Random(1), []
    while (left := words - sum(lengths)) > 0:
        lengths.append(min(left, 64, max(2, round(draw.lognormvariate(math.log(20) - 0.2, 0.6)))))
    return sorted(lengths)


def launches(bench, words, width, classes, parameters):
    """(name, expected ms, (kernel, grid, arguments))"""
    from cases import pieces_of, segments_of, tiles_of

    lengths, heads = lengths_of(words), width // 64
    dropout = {"p": 0.1, "key_ptr": bench.key, "site": 1}
    segments = bench.ints(segments_of(lengths))
    tiles = bench.ints(tiles_of(lengths, lengths, 64))
    qkv, gradients = bench.half(words, 3 * width), bench.half_result(words, 3 * width)
    x, y, dx, n = *(bench.half(words, width) for _ in range(3)), bench.half_result(words, width)
    common = {"tiles": tiles, "query_segments": segments, "key_segments": segments, "q_stride": 3 * width,
              "kv_stride": 3 * width, "out_stride": width, "scale": 0.125, "causal": 0, **dropout}
    q, k, v = qkv.split(width, 1)
    yield "attention, forward", 0.059, ("attention_forward_64_64", (heads, len(tiles)), {
        "q_ptr": q, "k_ptr": k, "v_ptr": v, "out_ptr": n, **common})
    dq, dk, dv = gradients.split(width, 1)
    yield "attention, backward", 0.096, ("attention_backward_64_64", (heads, len(tiles)), {
        "q_ptr": q, "k_ptr": k, "v_ptr": v, "dout_ptr": dx, "dq_ptr": dq, "dk_ptr": dk, "dv_ptr": dv,
        "dq_stride": 3 * width, "dkv_stride": 3 * width, **common})
    vector, state = bench.randn(width), bench.result(words, 2)
    rows = {"rows": words, "width": width, "has_r": 1, "centred": 1.0, **dropout}
    yield "residual, dropout, norm: forward", 0.035, (
        f"residual_norm_forward_{width}", bench.blocks(f"residual_norm_forward_{width}", words), {
            "x_ptr": x, "r_ptr": y, "r_bias_ptr": vector, "weight_ptr": vector, "bias_ptr": vector, "y_ptr": y,
            "n_ptr": n, "statistics": state, "epsilon": 1e-5, **rows})
    programs = 1056
    yield "residual, dropout, norm: backward", 0.061, (f"residual_norm_backward_{width}", (programs,), {
        "dn_ptr": x, "dy_ptr": x, "y_ptr": y, "statistics": state, "weight_ptr": vector, "dx_ptr": dx, "dr_ptr": n,
        "parts": bench.result(programs, 3 * width), "dy_place": 1, **rows})
    wide, programs = bench.half(words, 4 * width), 66
    yield "ReLU's gradient, with sums", 0.090, (
        "relu_backward", (programs, bench.blocks("relu_backward", 1, 4 * width)[1]), {
            "dh_ptr": bench.half(words, 4 * width), "h_ptr": wide, "parts": bench.result(programs, 4 * width),
            "rows": words, "width": 4 * width, "has_relu": 1, "p": 0.1})
    numbers = [min(classes - 1, int(1 / (random.Random(i).random() + 1 / classes))) for i in range(words)]
    words_ = bench.ints(numbers)
    yield "smoothed loss", 1.05, ("smoothed_cross_entropy", (words,), {
        "logits": bench.half(words, classes), "labels": words_, "losses": bench.result(words, 3),
        "scale_ptr": bench.randn(1), "classes": classes, "stride": classes, "smoothing": 0.1})
    table = {"width": width, "scale": width**0.5, **dropout}
    yield "embedding, forward", 0.017, ("embedding_forward", bench.blocks("embedding_forward", words, width), {
        "words": words_, "positions": words_ * 0, "table": bench.half(classes, width), "position_table": x,
        "out_ptr": n, "rows": words, "has_positions": 1, **table})
    order, pieces, _, parts = pieces_of(numbers, bench.machine.constants("embedding_pieces")["ROWS"])
    yield "embedding, gradient of pieces", 0.020, (
        "embedding_pieces", (len(pieces), bench.blocks("embedding_pieces", 1, width)[1]), {
            "dx_ptr": dx, "order": bench.ints(order), "pieces": bench.ints([list(map(int, piece)) for piece in pieces]),
            "dtable": bench.randn(classes, width), "parts": bench.result(parts, width), **table})
    gradient, programs = bench.half(parameters), 528
    suffix = "_bf16" if bench.machine.half.itemsize == 2 else ""
    yield "squared norm, gradients in 16 bits", 0.057, ("squared_norm" + suffix, (programs,), {
        "gradient": gradient, "parts": bench.result(programs), "count": parameters})
    flat = [bench.randn(parameters) for _ in range(2)]
    block = bench.machine.constants("adam")["BLOCK"]
    yield "Adam, gradients in 16 bits", 0.571, ("adam" + suffix, (-(-parameters // block),), {
        "weights": flat[0], "first_moment": flat[1], "second_moment": flat[1].square(), "gradient": gradient,
        "copy": bench.half_result(parameters), "count": parameters, "control": bench.randn(5).abs() + 1,
        "options": bench.randn(4).abs(), "rate_ptr": bench.randn(1)})


def median_ms(bench, kernel, grid, arguments):
    import torch

    cache = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    times = []
    for _ in range(LAUNCHES + 3):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        cache.zero_()
        begin.record()
        bench.launch(kernel, grid, **arguments)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[3:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rehearse", action="store_true")
    options = parser.parse_args()
    os.environ["TRITON_INTERPRET"] = str(int(options.rehearse))
    from cases import Bench
    from machines import Card, Interpreter

    if options.rehearse:
        bench = Bench(Interpreter())
        for name, _, (kernel, grid, arguments) in launches(bench, 60, 256, 512, 5000):
            bench.launch(kernel, grid, **arguments)
            print(name, kernel)
        return
    import torch

    hopper = torch.cuda.get_device_capability() == (9, 0)
    bench = Bench(Card(90 if hopper else 80))
    print(f"{torch.cuda.get_device_name()}\n\n| kernel | expected on an H100, ms | measured, ms |\n| -- | -- | -- |")
    for name, expected, launch in launches(bench, 20000, 512, 32000, 60_500_000):
        print(f"| {name} | {expected:.3f} | {median_ms(bench, *launch):.3f} |", flush=True)


if __name__ == "__main__":
    main()
