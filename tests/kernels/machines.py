"""Where a kernel runs: in Triton's interpreter on the CPU, in float32; or compiled.z on a card, in bfloat16, started by
the driver without Triton."""

import ctypes
import sys
import unittest

import torch

from kernels import compile as compiler


class Interpreter:
    """TRITON_INTERPRET=1 has to be set before Triton is imported. bfloat16 is not right in Triton 3.6's."""

    device, half, name = "cpu", torch.float32, "the interpreter"

    def __init__(self):
        from kernels.table import instances

        self.kernels = instances()
        torch.set_num_threads(1)  # small tensors: threads would only wait for one another

    def launch(self, name, grid, **arguments):
        instance = self.kernels[name]
        instance.function[grid](**arguments, **instance.constants)

    def constants(self, name):
        return self.kernels[name].constants


class Card:
    """The kernels for one compute capability, 80 or 90."""

    device, half = "cuda", torch.bfloat16

    def __init__(self, capability):
        self.name = f"the card, code for {capability / 10}"
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.kernels = {kernel["name"]: kernel for kernel in compiler.read_packed()["kernels"]
                        if kernel["capability"] == capability}
        self.functions = {}
        torch.zeros(1, device="cuda")  # makes the device's context present

    def check(self, result, what):
        if result:
            text = ctypes.c_char_p()
            self.driver.cuGetErrorString(result, ctypes.byref(text))
            sys.exit(f"{what}: the CUDA driver says: {(text.value or b'').decode()} ({result})")

    def function(self, name):
        if name not in self.functions:
            kernel, module, function = self.kernels[name], ctypes.c_void_p(), ctypes.c_void_p()
            self.check(self.driver.cuModuleLoadData(ctypes.byref(module), kernel["ptx"].encode() + b"\0"), name)
            self.check(self.driver.cuModuleGetFunction(ctypes.byref(function), module, kernel["entry"].encode()), name)
            if kernel["shared"] > 48 << 10:
                self.check(self.driver.cuFuncSetAttribute(function, 8, kernel["shared"]), name)
            self.functions[name] = function
        return self.functions[name]

    def launch(self, name, grid, **arguments):
        if name not in self.kernels:
            raise unittest.SkipTest(f"{name}: not compiled for this code")
        kernel, function = self.kernels[name], self.function(name)
        values = []
        for parameter, kind, sixteens in kernel["parameters"]:
            value = arguments.pop(parameter)
            value = value.data_ptr() if isinstance(value, torch.Tensor) else value
            if sixteens and value % 16:
                raise ValueError(f"{name}: {parameter} is no multiple of 16")
            values.append({"pointer": ctypes.c_void_p, "int32": ctypes.c_int, "float32": ctypes.c_float}[kind](value))
        if arguments:
            raise ValueError(f"{name}: no parameters {sorted(arguments)}")
        values += [ctypes.c_void_p(None)] * 2  # memory of Triton's own, none
        places = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        grid = tuple(grid) + (1,) * (3 - len(grid))
        self.check(self.driver.cuLaunchKernel(function, *grid, 32 * kernel["warps"], 1, 1, kernel["shared"], stream,
                                              places, None), name)

    def constants(self, name):
        return self.kernels[name]["constants"]
