"""Compiles the kernels to PTX for compute capability 8.0 and 9.0 and packs them: no card is needed. Written to
kernels/compiled.z, which the programs hold; they need neither Python nor Triton.

    scripts/kernel_python.sh -m kernels.compile [--check] [--kernel NAME]... [--ptxas PROGRAM]

--check: nothing is written, and what is in kernels/compiled.z has to be the same. --ptxas: what NVIDIA's assembler says
of registers; a kernel that spills them is refused.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

FOLDER = pathlib.Path(__file__).resolve().parent
PACKED = FOLDER / "compiled.z"
TRITON = "3.6.0"


def checksum():
    """Of the sources: says without a compiler whether compiled.z is made of them."""
    total = hashlib.sha256()
    for path in sorted(FOLDER.glob("*.py")):
        if path.name != "compile.py":
            total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def read_packed(path=PACKED):
    return json.loads(zlib.decompress(path.read_bytes()))


def compiled(job):
    """One kernel for one compute capability, as compiled.z holds it."""
    name, capability = job
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from kernels.table import instances

    instance = instances()[name]
    names = instance.function.arg_names
    parameters = instance.parameters()
    signature = {name: kind for name, kind, _ in parameters} | {name: "constexpr" for name in instance.constants}
    source = ASTSource(fn=instance.function, signature={name: signature[name] for name in names},
                       constexprs={(names.index(name),): value for name, value in instance.constants.items()},
                       attrs={(names.index(name),): [["tt.divisibility", 16]]
                              for name, _, sixteens in parameters if sixteens})
    made = triton.compile(source, target=GPUTarget("cuda", capability, 32),
                          options={"num_warps": instance.warps, "num_stages": 1})
    metadata = made.metadata
    for scratch in ("global_scratch_size", "profile_scratch_size"):
        if getattr(metadata, scratch, 0):
            sys.exit(f"{name}: needs memory of Triton's own ({scratch})")
    lines = (re.sub(r"\s*//.*", "", line) for line in made.asm["ptx"].splitlines())  # without remarks
    ptx = "".join(line + "\n" for line in lines if line)
    return {"name": name, "capability": capability, "entry": metadata.name, "warps": metadata.num_warps,
            "shared": metadata.shared, "constants": instance.constants,
            "parameters": [[name, {"i32": "int32", "fp32": "float32"}.get(kind, "pointer"), sixteens]
                           for name, kind, sixteens in parameters],
            "ptx": ptx}


def registers(ptxas, kernel):
    """(registers, bytes spilled) as ptxas tells them."""
    target = re.search(r"^\.target (sm_\w+)", kernel["ptx"], re.MULTILINE).group(1)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "kernel.ptx"
        path.write_text(kernel["ptx"])
        said = subprocess.run([ptxas, "-v", f"-arch={target}", "-o", path.with_suffix(".cubin"), path], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    return int(re.search(r"Used (\d+) registers", said).group(1)), sum(map(int, re.findall(r"(\d+) bytes spill", said)))


def main():
    parser = argparse.ArgumentParser(prog="kernels.compile", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--kernel", action="append", metavar="NAME")
    parser.add_argument("--ptxas", metavar="PROGRAM")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if options.kernel and not options.check:
        sys.exit("--kernel goes with --check: compiled.z holds all kernels")
    import triton
    from kernels.table import instances

    if triton.__version__ != TRITON:
        sys.exit(f"Triton {triton.__version__}: the kernels are compiled by {TRITON} (scripts/kernel_python.sh)")
    rows = instances()
    jobs = [(name, capability) for name in options.kernel or rows for capability in rows[name].capabilities]
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        kernels = list(pool.map(compiled, jobs))
    failed = False
    if options.ptxas:
        for kernel in kernels:
            used, spilled = registers(options.ptxas, kernel)
            print(f"{kernel['name']} {kernel['capability']}: {used} registers, {spilled} bytes spilled, "
                  f"{kernel['shared']} bytes shared, {kernel['warps']} warps")
            if spilled:
                print(f"{kernel['name']}: refused; give it fewer rows or more warps in kernels/table.py")
                failed = True
    if options.check:
        held = {(kernel["name"], kernel["capability"]): kernel for kernel in read_packed()["kernels"]}
        for kernel in kernels:
            if held.get((kernel["name"], kernel["capability"])) != kernel:
                print(f"{kernel['name']} {kernel['capability']}: kernels/compiled.z holds another one")
                failed = True
    elif not failed:
        text = json.dumps({"triton": TRITON, "sources": checksum(), "kernels": kernels}, separators=(",", ":"))
        PACKED.write_bytes(zlib.compress(text.encode(), 9))
        print(f"{PACKED.name}: {len(kernels)} kernels, {PACKED.stat().st_size} bytes ({len(text)} unpacked)")
    return int(failed)


if __name__ == "__main__":
    # Before Triton is imported, in this process and those of the pool: no paths of this machine in the PTX.
    os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
    os.environ.setdefault("TRITON_CACHE_DIR", str(FOLDER.parent / ".cache" / "triton"))
    sys.exit(main())
