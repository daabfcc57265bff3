"""Makes a model of base size that computes the same function as a small one.

    widen_model.py SMALL_MODEL_DIRECTORY NEW_DIRECTORY

Speed depends on the sizes of a model and on the lengths of its sentences: so a model of base size can be measured on
the sentences of a trained model without being trained. Every feature, hidden unit and head stands twice, and a product sums
halves of both; blocks are added whose last maps are zero. Takes Transformers with norm: pre, sinusoidal positions and
tied embeddings of one float32 file; sinusoids become learned positions, since those of twice the size are others.
"""

import json
import math
import shutil
import struct
import sys
from array import array
from pathlib import Path

POSITIONS = 512


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        assert entry["dtype"] == "F32", name
        tensors[name] = (entry["shape"], array("f", data[8 + size + begin:8 + size + end]))
    return tensors


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, (shape, values) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + 4 * len(values)]}
        offset += 4 * len(values)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, values in tensors.values():
            file.write(values.tobytes())


def scaled(values, factor):
    return array("f", (factor * value for value in values))


def twice(tensor):
    """A vector, or a matrix whose product with a doubled input is doubled."""
    shape, values = tensor
    if len(shape) == 1:
        return [2 * shape[0]], values + values
    rows = array("f")
    for row in range(shape[0]):
        half = scaled(values[row * shape[1]:(row + 1) * shape[1]], 0.5)
        rows += half + half
    return [2 * shape[0], 2 * shape[1]], rows + rows


def twice_columns(tensor, factor):
    (count, size), values = tensor
    rows = array("f")
    for row in range(count):
        one = scaled(values[row * size:(row + 1) * size], factor)
        rows += one + one
    return [count, 2 * size], rows


def sinusoids(size):
    """Sine and cosine of a frequency side by side, as model.sinusoid: interleaved."""
    rows = array("f")
    for position in range(POSITIONS):
        for pair in range(size // 2):
            angle = position / 10000 ** (2 * pair / size)
            rows.extend((math.sin(angle), math.cos(angle)))
    return [POSITIONS, size], rows


def widen(tensors, model):
    size, blocks = model["d_model"], model["num_blocks"]
    wide = {}
    for name, tensor in tensors.items():
        if name.endswith("embedding"):
            wide[name] = twice_columns(tensor, math.sqrt(0.5))  # the input layer multiplies by sqrt(d_model)
        elif name.startswith("decoder_norm"):
            shape, values = twice(tensor)
            wide[name] = shape, scaled(values, math.sqrt(0.5))  # the output layer has twice the embedding's products
        else:
            wide[name] = twice(tensor)
    for side in ("source", "target"):
        wide[f"{side}_positions.weight"] = twice_columns(sinusoids(size), 1)
    for stack in ("encoder", "decoder"):  # blocks that add nothing
        for name in [name for name in wide if name.startswith(f"{stack}_0.")]:
            for block in range(blocks):
                shape, values = wide[name]
                last = ".output." in name or ".outer." in name
                copy = name.replace(f"{stack}_0.", f"{stack}_{blocks + block}.")
                wide[copy] = shape, scaled(values, 0 if last else 1)
    return wide


def main(small, new):
    description = json.loads((small / "model.json").read_text(encoding="utf-8"))
    model = description["configuration"]["model"]
    assert model["norm"] == "pre" and model["positions"] == "sinusoidal" and model["sinusoid"] == "interleaved"
    assert model["tie_embeddings"] == "all" and model["final_norm"]
    tensors = widen(read_safetensors(small / "model.safetensors"), model)
    model.update(d_model=2 * model["d_model"], d_ff=2 * model["d_ff"], num_heads=2 * model["num_heads"],
                 num_blocks=2 * model["num_blocks"], positions="learned", max_positions=POSITIONS)
    if "parameters" in description:
        description["parameters"] = sum(len(values) for _, values in tensors.values())
    shutil.copytree(small, new, dirs_exist_ok=True)
    (new / "model.json").write_text(json.dumps(description), encoding="utf-8")
    write_safetensors(new / "model.safetensors", tensors)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
