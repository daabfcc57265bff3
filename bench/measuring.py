"""What the comparisons of bench/ share: on what machine they run, and how the rounds of one are summed up."""
import os
import platform
import statistics
import time
from pathlib import Path

SETS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8", "asimd", "asimddp", "i8mm", "bf16")


def processor():
    """Its name, and those of its instruction sets that the toolkit has kernels for."""
    model, flags = platform.processor(), set()
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            model = value.strip()
        if name.strip() in ("flags", "Features"):
            flags = set(value.split())
    return f"{model or 'unknown processor'} ({', '.join(name for name in SETS if name in flags)})"


def conditions(threads, rounds):
    """The line that stands above a table."""
    return (f"{processor()}, {os.cpu_count()} processors, {threads} threads, {time.strftime('%Y-%m-%d')}, "
            f"{rounds} round{'s in turns' if rounds > 1 else ''}, load before {os.getloadavg()[0]:.1f}")


def median(values):
    return statistics.median(values)


def spread(values, form="{:,.0f}"):
    """'median (least to most)'; the figure alone where there is one."""
    middle = form.format(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({form.format(min(values))} to {form.format(max(values))})"
