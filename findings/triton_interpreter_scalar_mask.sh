#!/usr/bin/env bash
# Triton 3.6.0 (NumPy 2.3.5): in the interpreter a mask of a block cannot be joined by `&` with a comparison of a float
# that the kernel has loaded; the compiler takes the same kernel.
#
# What one expects: TRITON_INTERPRET=1 runs what triton.compile accepts. Seen with `(offsets < n) & (value > 0)`:
# compiled to PTX for 8.0; interpreted with a value of int32 the mask is right; with one of float32 the launch ends
# with InterpreterError, "ufunc 'bitwise_and' not supported for the input types". tl.where instead of `&` gives the right mask
# for both; so does a float that is an argument of the kernel.
# Exit code 0: still so. 1: it has changed. 77: no network or no x86-64.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python" && "$folder/python/bin/python" -m pip install -q triton==3.6.0 numpy==2.3.5 || exit 77
cat >"$folder/kernel.py" <<'PYTHON'
import triton
import triton.language as tl


@triton.jit
def mask(value_of, out, n, KIND: tl.constexpr, size: tl.constexpr):
    offsets = tl.arange(0, size)
    value = tl.load(value_of)
    if KIND == "and":
        kept = (offsets < n) & (value > 0)
    else:
        kept = tl.where(offsets < n, value > 0, False)
    tl.store(out + offsets, kept.to(tl.int32))
PYTHON
cat >"$folder/compiled.py" <<'PYTHON'
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
import kernel

source = ASTSource(fn=kernel.mask, signature={"value_of": "*fp32", "out": "*i32", "n": "i32", "KIND": "constexpr",
                                              "size": "constexpr"}, constexprs={"KIND": "and", "size": 8})
print("compiled:", ".entry mask" in triton.compile(source, target=GPUTarget("cuda", 80, 32)).asm["ptx"])
PYTHON
cat >"$folder/interpreted.py" <<'PYTHON'
import numpy as np
import kernel


class Tensor:
    """What the interpreter asks of a tensor of PyTorch, over an array."""
    def __init__(self, array): self.array, self.dtype = array, array.dtype
    def data_ptr(self): return self.array.ctypes.data
    def untyped_storage(self): return self
    def cpu(self): return self
    def copy_(self, other): pass
    def new_empty(self, *sizes, device): return Tensor(np.empty(0, self.dtype))
    def set_(self, storage, *layout): self.array = storage.array
    def storage_offset(self): return 0
    def size(self): return self.array.shape
    def stride(self): return (1,)


for kind in ("and", "where"):
    for dtype in (np.int32, np.float32):
        out = Tensor(np.zeros(8, np.int32))
        try:
            kernel.mask[(1,)](Tensor(np.ones(1, dtype)), out, 5, kind, 8)
            print(kind, dtype.__name__, out.array.tolist())
        except Exception as error:
            print(kind, dtype.__name__, type(error).__name__, "bitwise_and" in str(error))
PYTHON
cd "$folder"
python/bin/python compiled.py | tee seen
TRITON_INTERPRET=1 python/bin/python interpreted.py | tee -a seen
cat >expected <<'TEXT'
compiled: True
and int32 [1, 1, 1, 1, 1, 0, 0, 0]
and float32 InterpreterError True
where int32 [1, 1, 1, 1, 1, 0, 0, 0]
where float32 [1, 1, 1, 1, 1, 0, 0, 0]
TEXT
diff expected seen
