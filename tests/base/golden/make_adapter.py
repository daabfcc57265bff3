"""Writes the adapter of adapter_test.cpp and what a matrix is with it, by numpy and the definition of the format.

    make_adapter.py    (in its own folder)
"""

import json
import pathlib
import struct

import numpy

FOLDER = pathlib.Path(__file__).parent
RANK, ALPHA, OUT, IN = 2, 6.0, 3, 4


def safetensors(tensors, metadata):
    header, data = {"__metadata__": metadata}, b""
    for name, tensor in tensors.items():
        raw = tensor.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


generator = numpy.random.default_rng(7)
a, b = generator.normal(size=(RANK, IN)).round(2), generator.normal(size=(OUT, RANK)).round(2)
base = numpy.arange(OUT * IN).reshape(OUT, IN) / 8
(FOLDER / "adapter.safetensors").write_bytes(safetensors(
    {"encoder_0.feed_forward.inner.lora_A.weight": a, "encoder_0.feed_forward.inner.lora_B.weight": b},
    {"base_sha256": "0123", "lora_rank": str(RANK), "lora_alpha": str(ALPHA)}))
numpy.savetxt(FOLDER / "adapter_merged.tsv", base + ALPHA / RANK * b @ a, fmt="%.9g", delimiter="\t")
