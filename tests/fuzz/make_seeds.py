#!/usr/bin/env python3
"""Writes the first seeds of the fuzz targets, seeds/TARGET/NAME: small files of each kind, sound and damaged.

What a fuzzer has added there (names of 40 hexadecimal digits, scripts/fuzz.sh --keep) stays. The same bytes in every run.
"""

import argparse
import gzip
import hashlib
import json
import pathlib
import pickle
import struct
import zlib


def npy(descr, shape, data, version=1, order="False"):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + size + header + data


def archive(members, deflated=False, zip64=False, flags=0, comment=b""):
    """A zip archive by hand: that of Python writes times and systems, which no reader looks at."""
    body, directory = b"", b""
    for name, data in members:
        packed = data
        if deflated:
            packer = zlib.compressobj(9, zlib.DEFLATED, -15)
            packed = packer.compress(data) + packer.flush()
        kind = struct.pack("<HHHI", 20, flags, 8 if deflated else 0, 0)[:10]
        check = struct.pack("<I", zlib.crc32(data))
        sizes = struct.pack("<II", len(packed), len(data))
        place, extra = struct.pack("<I", len(body)), b""
        if zip64:
            extra = struct.pack("<HHHHQQQ", 9, 0, 1, 24, len(data), len(packed), len(body))
            place = sizes_there = b"\xff\xff\xff\xff"
            directory_sizes = sizes_there * 2
        else:
            directory_sizes = sizes
        body += b"PK\x03\x04" + kind + check + sizes + struct.pack("<HH", len(name), 0) + name.encode() + packed
        directory += (b"PK\x01\x02" + struct.pack("<H", 20) + kind + check + directory_sizes +
                      struct.pack("<HHHHHI", len(name), len(extra), 0, 0, 0, 0) + place + name.encode() + extra)
    end = struct.pack("<HHHHII", 0, 0, len(members), len(members), len(directory), len(body))
    locator = b""
    if zip64:
        end64 = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, len(members), len(members), len(directory),
                                            len(body))
        locator = end64 + b"PK\x06\x07" + struct.pack("<IQI", 0, len(body) + len(directory), 1)
    return body + directory + locator + b"PK\x05\x06" + end + struct.pack("<H", len(comment)) + comment


def state_dictionary(tensors, parameter=False):
    """The pickle of torch.save({name: tensor}): tensors are (name, storage type, key, offset, shape, strides)."""
    def text(value):
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    def number(value):
        return b"K" + bytes([value]) if 0 <= value < 256 else b"\x8a\x08" + struct.pack("<q", value)

    def numbers(values):
        return b"(" + b"".join(map(number, values)) + b"t"

    out = b"\x80\x02}q\x00("
    for name, kind, key, offset, shape, strides in tensors:
        out += text(name)
        if parameter:
            out += b"ctorch._utils\n_rebuild_parameter\n("
        out += (b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + b"ctorch\n" + kind.encode() + b"\n" + text(key) +
                text("cpu") + number(8) + b"tQ" + number(offset) + numbers(shape) + numbers(strides) +
                b"\x89ccollections\nOrderedDict\n)RtR")
        if parameter:
            out += b"\x88ccollections\nOrderedDict\n)RtR"
    return out + b"u."


def legacy(tensors, keys, size):
    """A file as torch.save() wrote it before PyTorch 1.6."""
    return (pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2) + pickle.dumps({}, 2) + state_dictionary(tensors) +
            pickle.dumps(keys, 2) + b"".join(struct.pack("<Q", size // 4) + bytes(size) for _ in keys))


def safetensors(header, data, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def transformer(kind, changes=None):
    """Weights of the target transformer_weights: d_model 4, d_ff 4, a block of encoder and decoder each, 6 pieces. changes: other
    shapes by name; None leaves a tensor out."""
    shapes = {"embedding": [6, 4]}
    for block, mixers in (("encoder_0", ["self"]), ("decoder_0", ["self", "cross"])):
        maps = [f"{mixer}_attention.{part}" for mixer in mixers for part in ("query", "key", "value", "output")]
        for name in maps + ["feed_forward.inner", "feed_forward.outer"]:
            shapes |= {f"{block}.{name}.weight": [4, 4], f"{block}.{name}.bias": [4]}
        for name in [f"{mixer}_attention" for mixer in mixers] + ["feed_forward"]:
            shapes |= {f"{block}.{name}_norm.weight": [4], f"{block}.{name}_norm.bias": [4]}
    quantized = [name for name, shape in shapes.items() if len(shape) == 2]
    if kind == "I8":
        shapes |= {f"{name}_scale": shapes[name][:1] for name in quantized}
    header, data = {}, b""
    for name, shape in (shapes | (changes or {})).items():
        if shape is None:
            continue
        dtype = kind if name in quantized else "F32"
        count = shape[0] * (shape[1] if len(shape) == 2 else 1)
        part = {"F32": struct.pack("<f", 0.5) * count, "BF16": b"\0\x3f" * count, "I8": b"\x05" * count}[dtype]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    return safetensors(header, data)


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """A field of a protocol buffer: a number, a float or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def sentencepiece(pieces, kind, trainer=b"", normalizer=b"", specials=True):
    special = [("<pad>", 0.0, 3), ("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)] if specials else []
    model = b"".join(field(1, field(1, text) + field(2, score) + field(3, type)) for text, score, type in special + pieces)
    return model + field(2, field(3, kind) + trainer) + field(3, field(1, "identity") + normalizer)


def character_map():
    """A double array of Darts-clone that has nothing in it, and texts."""
    units = [0] * 512
    return struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + b"a\0"


def prepared_corpus(pairs):
    """A corpus as src/data/prepared_corpus.h describes it."""
    columns, ends = [], [0, 0, 0, 0]
    tables = [[], [], [], []]
    for pair in pairs:
        for i, part in enumerate(pair):
            ends[i] += len(part)
            tables[i].append(ends[i])
    for table in tables:
        columns.append(struct.pack(f"<{len(table)}Q", *table))
    columns.append(struct.pack(f"<{len(pairs)}i", *[i % 3 for i in range(len(pairs))]))
    for i in (0, 1):
        ids = [number for pair in pairs for number in pair[i]]
        columns.append(struct.pack(f"<{len(ids)}i", *ids))
    for i in (2, 3):
        columns.append(b"".join(pair[i] for pair in pairs))
    header = b"NMTPAIRS" + struct.pack("<IIQ", 1, 96, len(pairs)) + struct.pack("<9Q", *map(len, columns))
    return header + b"".join(column + bytes(-len(column) % 8) for column in columns)


def lexicon(best, frequent, most=2):
    """Without its checksum, which the target adds."""
    ends, translations = [], []
    for row in best:
        translations += row
        ends.append(len(translations))
    numbers = struct.pack(f"<{len(ends)}I", *ends) + struct.pack(f"<{len(translations) + len(frequent)}i", *translations,
                                                               *frequent)
    header = b"NMTLEXIC" + struct.pack("<IIQQQQ", 1, 112, len(best), len(frequent), len(translations), most) + b"a" * 64
    return header + numbers


def manifest():
    verdicts = ["kept", "empty", "duplicate", "test_overlap", "source_too_long", "target_too_long", "length_ratio"]
    return {"format": "nmt prepared data", "version": 1, "made_by": "nmt", "options": {"vocab_size": "80"}, "seed": 1,
            "sampled": False, "tokenizer": {"type": "sentencepiece"},
            "inputs": [{"option": "data.train1", "path": "a", "size": 1, "modified": 2, "sha256": ""}],
            "splits": [{"name": "train", "pairs": 1, "source_pieces": 2, "target_pieces": 3, "source_unknown": 0,
                        "target_unknown": 0, "sha256": "0"}],
            "cleaning": [{"corpus": "a + b", "training": True, "read": 1, "verdicts": dict.fromkeys(verdicts, 0),
                          "duplicates_found": 0, "test_overlap_found": 0, "repaired_lines": 0}]}


# The same as in model_json_target.cpp.
VOCABULARY = "<PAD>\t9\n<UNK>\t9\n<S>\t9\n</S>\t9\nthe\t9\ncat\t8\n"


def model_json(**changes):
    tokenizer = {"type": "words", "joint": True, "files": {"joint.vocab.tsv": hashlib.sha256(VOCABULARY.encode()).hexdigest()},
                 "lowercase": True, "nfkc": False, "latin_only": False, "source_language": "de", "target_language": "en",
                 "source_markers": "end", "min_cnt": 1, "vocab_size": 100}
    model = {"format_version": 1, "architecture": "transformer", "parameters": 10, "source_vocabulary": 6,
             "target_vocabulary": 6, "tokenizer": tokenizer, "summary": {"bleu": 1.5},
             "configuration": {"model": {"d_model": 8, "num_heads": 2}, "decoding": {"beam_size": 2}}}
    tokenizer.update(changes.pop("tokenizer", {}))
    model.update(changes)
    return model


HUGGING_FACE = {"model_type": "marian", "d_model": 2, "encoder_ffn_dim": 2, "decoder_ffn_dim": 2, "encoder_attention_heads": 1,
                "decoder_attention_heads": 1, "encoder_layers": 1, "decoder_layers": 1, "activation_function": "silu",
                "vocab_size": 6, "pad_token_id": 5, "eos_token_id": 0, "decoder_start_token_id": 5, "num_beams": 6,
                "scale_embedding": True, "normalize_before": False}
T5 = {"model_type": "t5", "d_model": 4, "d_kv": 2, "d_ff": 2, "num_heads": 2, "num_layers": 1, "vocab_size": 8,
      "feed_forward_proj": "relu", "layer_norm_epsilon": 1e-6, "relative_attention_num_buckets": 32,
      "task_specific_params": {"summarization": {"prefix": "s: "},
                               "translation_en_to_de": {"prefix": "a b: ", "max_length": 300, "num_beams": 4}}}
WORDS = {"</s>": 0, "<unk>": 1, "\u2581": 2, "a": 3, "b": 4, "<pad>": 5}
MARIAN = """type: transformer
dim-emb: 2
transformer-dim-ffn: 2
transformer-heads: 1
enc-depth: 1
dec-depth: 1
transformer-ffn-depth: 2
transformer-ffn-activation: swish
transformer-preprocess: ""
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-decoder-autoreg: self-attention
tied-embeddings-all: true
tied-embeddings-src: false
"""
DECODER = """models:
  - model.npz
vocabs:
  - vocab.yml
  - vocab.yml
beam-size: 6
normalize: 1
"""


def parts(*texts):
    return b"\n%%\n".join(text if isinstance(text, bytes) else
                          (text if isinstance(text, str) else json.dumps(text)).encode() for text in texts)


def seeds():
    def add(target, name, data):
        yield target, name, data if isinstance(data, bytes) else data.encode()

    for name, text in {"values": '{"a": [1, -2, 3.5, true, null, "\\u00e9\\ud83d\\ude00"], "b": {}}', "deep": "[" * 9 + "]" * 9,
                       "many": "[" + "1," * 300 + "1]", "damaged": '{"a": 1,', "long": '"' + "a" * 4096 + '"',
                       "invalid": b'"\xff"'}.items():
        yield from add("json", name, text)

    host = "Host: localhost\r\n"
    post = "POST /translate?x=%20 HTTP/1.1\r\n" + host
    for name, text in {"get": "GET /health HTTP/1.1\r\n" + host + "\r\n", "old": "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
                       "pipeline": (post + "Content-Length: 5\r\n\r\nq=ab\n\r\n") * 3 + "HEAD /languages HTTP/1.1\r\n" + host + "\r\n",
                       "chunks": post + "Transfer-Encoding: chunked\r\n\r\n3;a=\"b\"\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: t\r\n\r\nGET / HTTP/1.1\r\n",
                       "expect": post + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\nab", "long": "GET /" + "a" * 600 + " HTTP/1.1\r\n",
                       "body": post + "Content-Length: 257\r\n\r\n" + "a" * 257, "both": post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                       "coding": post + "Transfer-Encoding: gzip\r\n\r\n", "twice": post + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na",
                       "proxy": "GET http://localhost/a?b HTTP/1.1\r\n" + host + "\r\n", "no_host": "GET / HTTP/1.1\r\n\r\n",
                       "two_hosts": "GET / HTTP/1.1\r\n" + host * 2 + "\r\n", "version": "GET / HTTP/2.0\r\n\r\n", "no_path": "GET a HTTP/1.1\r\n" + host + "\r\n",
                       "close": "GET / HTTP/1.1\r\nConnection: close\r\n" + host + "\r\nGET", "folded": "GET / HTTP/1.1\r\n" + host + "A: b\r\n c\r\n\r\n",
                       "wish": post + "Expect: x\r\n\r\n", "nonsense": b"\0\xff\r\n\r\n"}.items():
        yield from add("http_request", name, text)

    disposition = 'Content-Disposition: form-data; name="'
    for name, text in {"json": 'application/json\n{"q": ["a", "b"], "source": "de", "alternatives": 2, "attention": true}',
                       "form": "application/x-www-form-urlencoded\nq=a%20b+c&source=d%&alternatives=3&attention=false&&=&x",
                       "parts": f'multipart/form-data; boundary="X"\n--X\r\n{disposition}q"\r\n\r\na\r\n--X\r\n{disposition}file"; filename="C:\\d\\a.txt"\r\n'
                                "Content-Type: text/plain\r\n\r\n\r\n\r\n--X--\r\n", "deep": '\n{"q": [["a"]]}', "list": "\n[]", "number": '\n{"alternatives": -1.5}',
                       "cut": f"multipart/form-data; boundary=X\n--X\r\n{disposition}q\r\n\r\nab", "invalid": b"\nq=%ff&source=\xff%00",
                       "no_boundary": "multipart/form-data\n--\r\n\r\n", "many": "m; boundary=X\n" + "--X\r\n\r\n\r\n" * 101 + "--X--"}.items():
        yield from add("http_body", name, text)

    tensors = {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
               "b": {"dtype": "BF16", "shape": [4], "data_offsets": [24, 32]},
               "h": {"dtype": "F16", "shape": [1], "data_offsets": [32, 34]},
               "d": {"dtype": "F64", "shape": [1], "data_offsets": [34, 42]},
               "i": {"dtype": "I64", "shape": [1], "data_offsets": [42, 50]},
               "e": {"dtype": "F32", "shape": [0, 5], "data_offsets": [50, 50]}}
    yield from add("safetensors", "types", safetensors({"__metadata__": {"format": "pt"}} | tensors, bytes(range(50))))
    for name, header in {"overlap": {"a": tensors["w"], "b": tensors["w"] | {"data_offsets": [1, 25]}},
                         "type": {"a": tensors["w"] | {"dtype": "F8"}}, "extent": {"a": tensors["w"] | {"data_offsets": [0, 23]}},
                         "shape": {"a": tensors["w"] | {"shape": [2**62, 2**62]}}, "form": {"a": tensors["w"] | {"shape": [1.5]}},
                         "entry": {"a": 1}, "negative": {"a": tensors["w"] | {"shape": [-2, -3]}}, "list": b"[1]",
                         "damaged": b"{"}.items():
        yield from add("safetensors", name, safetensors(header, bytes(26)))
    for name, scales, kind in (("int8", (0.5, 2.0), "I8"), ("int8_scale", (0.5, float("inf")), "I8"), ("bf16", (), "BF16")):
        size = 6 if kind == "I8" else 12
        header = {"embedding": {"dtype": kind, "shape": [2, 3], "data_offsets": [12, 12 + size]},
                  "output_bias": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
        if scales:
            header["embedding_scale"] = {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}
        yield from add("safetensors", name, safetensors(header, struct.pack("<3f", 7.0, *(scales or (0, 0))) + bytes(range(125, 125 + size))))
    factors = {"m.lora_A.weight": {"dtype": "F32", "shape": [1, 3], "data_offsets": [0, 12]},
               "m.lora_B.weight": {"dtype": "F32", "shape": [2, 1], "data_offsets": [12, 20]}}
    about = {"__metadata__": {"base_sha256": "0", "lora_rank": "1", "lora_alpha": "2"}}
    yield from add("safetensors", "adapter", safetensors(about | factors, struct.pack("<5f", 1, 2, 3, 4, 5)))
    yield from add("safetensors", "cut", safetensors(tensors, b"", 2**63))
    yield from add("safetensors", "short", b"abc")
    for kind in ("F32", "BF16", "I8"):
        yield from add("transformer_weights", kind.lower(), transformer(kind))
    for name, changes in {"missing": {"embedding": None}, "further": {"other": [2]}, "shape": {"encoder_0.feed_forward.inner.weight": [4, 3]},
                          "rows": {"embedding": [5, 4]}}.items():
        yield from add("transformer_weights", name, transformer("F32", changes))
    yield from add("transformer_weights", "cut", transformer("I8")[:-1])

    for protocol in range(6):
        value = {"a": [1, 300, -5, 2**40, 2**70 if protocol > 1 else 7], "b": (True, None, 1.5), "c": b"x" * 3, "d": "\u00e9",
                 "e": (), "f": {}, "g": (1,), "h": (1, 2)}
        if protocol < 3:
            del value["c"]
        yield from add("pickle", f"protocol{protocol}", pickle.dumps(value, protocol))
    weight = ("w", "FloatStorage", "0", 1, (2, 3), (1, 2))
    yield from add("pickle", "tensor", state_dictionary([weight]))
    yield from add("pickle", "call", b"cos\nsystem\n(S'true'\ntR.")

    good = [weight, ("b", "FloatStorage", "0", 0, (4,), (1,)), ("s", "HalfStorage", "0", 0, (), ())]
    yield from add("torch_file", "pickle", state_dictionary(good))
    yield from add("torch_file", "parameters", state_dictionary(good, parameter=True))
    yield from add("torch_file", "archive", archive([("m/data.pkl", state_dictionary([weight])), ("m/data/0", bytes(32))]))
    yield from add("torch_file", "legacy", legacy([weight], ["0"], 32))
    for name, tensor in {"offset": ("w", "FloatStorage", "0", 2**63 - 4, (2, 3), (1, 2)),
                         "stride": ("w", "FloatStorage", "0", 0, (2, 3), (2**62, 2**62)),
                         "shape": ("w", "FloatStorage", "0", 0, (2**40, 2**40), (0, 0)),
                         "empty": ("w", "FloatStorage", "0", 0, (0, 2**62, 4, 4), (0, 0, 0, 0)),
                         "axes": ("w", "FloatStorage", "0", 0, (1,) * 9, (1,) * 9),
                         "type": ("w", "BoolStorage", "0", 0, (1,), (1,)), "lost": ("w", "FloatStorage", "1", 0, (1,), (1,)),
                         "unequal": ("w", "LongStorage", "0", 0, (1,), ())}.items():
        yield from add("torch_file", name, state_dictionary([tensor]))

    members = [("a", b"some text"), ("m/b", bytes(40)), ("empty", b"")]
    for name, data in {"stored": archive(members), "deflated": archive(members, deflated=True), "zip64": archive(members, zip64=True),
                       "encrypted": archive(members, flags=1), "comment": archive(members, comment=b"a comment"),
                       "twice": archive([("a", b"1"), ("a", b"2")]), "outside": archive([("../a", b"1")]),
                       "bomb": archive([("a", bytes(10000))], deflated=True), "cut": archive(members)[:-30],
                       "checksum": archive(members).replace(b"some text", b"some Text"), "none": archive([])}.items():
        yield from add("zip", name, data)

    matrix = npy("<f4", "(2, 3)", struct.pack("<6f", *range(6)))
    for name, data in {"matrix": matrix, "column": npy("<f4", "(2, 3)", bytes(24), order="True"),
                       "half": npy("<f2", "(3,)", bytes(6)), "double": npy("<f8", "()", bytes(8), version=2),
                       "bytes": npy("|i1", "(5,)", b"a: b\0"), "objects": npy("|O", "(1,)", b"cos\n"),
                       "longs": npy("<i8", "(1,)", bytes(8)), "short": npy("<f4", "(4, 4)", bytes(8)),
                       "long": npy("<f4", "(1,)", bytes(8)), "axes": npy("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1)", bytes(4)),
                       "huge": npy("<f4", "(99999999999999999999,)", b""), "order": npy("<f4", "(1,)", b"", order="Maybe"),
                       "empty_column": npy("<f4", "(4611686018427387904, 4, 0)", b"", order="True"),
                       "empty_row": npy("<f4", "(0, 4611686018427387904, 4, 4)", b""),
                       "huge_longs": npy("<i8", "(4611686018427387904, 4)", b""),
                       "archive": archive([("w.npy", matrix)], deflated=True), "magic": b"\x93NUMPX\x01\0"}.items():
        yield from add("npz", name, data)

    for name, text in {"words": VOCABULARY + "rare\t1\n", "no_end": VOCABULARY[:-1], "no_tab": VOCABULARY + "dog\n",
                       "count": VOCABULARY + "dog\tmany\n", "twice": VOCABULARY + "cat\t2\n", "specials": "the\t9\n",
                       "short": "<PAD>\t9\n", "none": VOCABULARY[:36], "empty_word": VOCABULARY + "\t5\n",
                       "invalid": VOCABULARY.encode() + b"\xff\t5\n", "many": VOCABULARY + "".join(f"w{i}\t5\n" for i in range(30))
                       }.items():
        yield from add("word_vocabulary", name, text)

    vectors = "3 3\nthe 1 2 3\ncat -1.5 2e-3 0\ndog 1 1 1\ncat 9 9 9\na 1 2 3 \n"
    for name, text in {"header": vectors, "plain": vectors[4:], "short": "the 1 2\n", "word": "the a b c\n",
                       "infinite": "the inf 1 1\n", "none": "", "packed": gzip.compress(vectors.encode(), mtime=0)}.items():
        yield from add("word_vectors", name, text)

    for name, text in {"json": json.dumps(WORDS), "yaml": '</s>: 0\n<unk>: 1\n"\u2581": 2\n\'a\': 3\n? long\n: 4\n# x\n---\nb: 5\r\n',
                       "twice": '{"a": 1, "a": 2}', "same": '{"a": 1, "b": 1}', "beyond": '{"a": 50}', "list": "[1]",
                       "text": '{"a": "b"}', "real": '{"a": 1.5}', "nested": '{"a": {"b": 1}}', "large": '{"a": 18446744073709551615}',
                       "no_id": "a:\n", "no_token": ": 1\n", "cut": "? long\n", "quote": '"a: 1\n', "escape": '"\\x41": 1\n',
                       "wrong": '"\\q": 1\n'}.items():
        yield from add("marian_vocabulary", name, text)

    letters = [("\u2581", -1.0, 1), ("a", -2.0, 1), ("t", -2.5, 1), ("c", -2.6, 1), ("h", -3.0, 1), ("e", -3.0, 1), ("s", -3.1, 1)]
    longer = [("at", -4.0, 1), ("\u2581c", -5.0, 1), ("he", -5.0, 1), ("\u2581the", -6.0, 1), ("cat", -6.5, 1)]
    bytes_ = [(f"<0x{i:02X}>", -9.0, 6) for i in range(256)]
    flags = b"".join(field(number, 1) for number in (3, 4, 5))
    for name, data in {"unigram": sentencepiece(letters + longer, 1, normalizer=flags),
                       "bpe": sentencepiece(letters + longer, 2, normalizer=flags),
                       "words": sentencepiece(letters + longer, 3), "characters": sentencepiece(letters, 4),
                       "bytes": sentencepiece(letters + bytes_, 1, trainer=field(35, 1)),
                       "user": sentencepiece(letters + [("sat", 0.0, 4), ("old", 0.0, 5)], 2, normalizer=flags),
                       "suffix": sentencepiece(letters + longer, 1, trainer=field(24, 1)),
                       "map": sentencepiece(letters, 1, normalizer=field(2, character_map())),
                       "bad_map": sentencepiece(letters, 1, normalizer=field(2, character_map()[:-8])),
                       "no_specials": sentencepiece(letters, 1, specials=False), "not_one": b"not a model",
                       "spaces": sentencepiece(letters + [("a b", -3.0, 1), ("t\u2581", -3.0, 1)], 2, normalizer=flags)}.items():
        yield from add("sentencepiece", name, data)

    pairs = [((5, 6, 7), (8, 9), b"a b c", b"d e"), ((), (), b"", b""), ((99,), (10, 11), b"x", "\u00e9".encode())]
    corpus = prepared_corpus(pairs)
    for name, data in {"pairs": corpus, "none": prepared_corpus([]), "id": prepared_corpus([((100,), (1,), b"", b"")]),
                       "negative": prepared_corpus([((1,), (-1,), b"", b"")]), "cut": corpus[:-8], "header": corpus[:50],
                       "foreign": b"a file", "version": corpus[:8] + b"\2" + corpus[9:], "long": corpus + bytes(8),
                       "ends": corpus[:96] + struct.pack("<Q", 77) + corpus[104:], "count": corpus[:16] + b"\4" + corpus[17:],
                       "size": corpus[:12] + b"\0" + corpus[13:], "text": corpus[:144] + b"\x99" + corpus[145:]}.items():
        yield from add("prepared_corpus", name, data)

    table = lexicon([[4, 5], [], [5]], [4, 5, 0, 1, 2, 3])
    for name, data in {"table": table, "checked": table + hashlib.sha256(table).hexdigest().encode(), "cut": table[:100],
                       "foreign": b"text", "order": lexicon([[4, 5], []], [1] * 6)[:112] + struct.pack("<II2i6i", 2, 1, 0, 0, *[0] * 6),
                       "beyond": lexicon([[9]], [0]), "version": table[:8] + b"\2" + table[9:], "sizes": table + bytes(4)}.items():
        yield from add("lexicon", name, data)

    header = json.dumps({"format": "nmt pair scores", "version": 1, "train": "0", "pairs": 2, "made_by": "x"}) + "\n"
    for name, data in {"scores": header + "-0.25\n-100\n", "few": header + "-1\n", "many": header + "-1\n-1\n-1\n",
                       "positive": header + "1\n-1\n", "words": header + "x\n-1\n", "cut": header[:40],
                       "none": "", "format": header.replace("pair", "x"), "other": header.replace('"0"', '"1"')}.items():
        yield from add("pair_scores", name, data)

    record = {"format": "nmt synthetic text", "version": 1, "side": "source", "symbols": ["<BT>"], "sha256": "0",
              "made": {"seed": 1}}
    for name, value in {"whole": record, "target": record | {"side": "target"}, "side": record | {"side": 1},
                        "symbols": record | {"symbols": [1]}, "version": record | {"version": 2}, "other": {"pairs": 2},
                        "list": [1]}.items():
        yield from add("synthetic_text", name, json.dumps(value))

    whole = manifest()
    for name, value in {"whole": whole, "lexicon": whole | {"lexicon": "0"}, "version": whole | {"version": 2},
                        "format": whole | {"format": "x"}, "inputs": whole | {"inputs": [1]}, "seed": whole | {"seed": "a"},
                        "cleaning": whole | {"cleaning": [{}]}}.items():
        yield from add("manifest", name, json.dumps(value))

    changed = model_json(configuration={"model": {"architecture": "rnn"}})
    for name, value in {"whole": model_json(), "newer": model_json(format_version=9),
                        "quantized": model_json(format_version=2, weights="int8"), "weights": model_json(weights=8), "foreign": {"a": 1}, "list": [1],
                        "architecture": changed, "counts": model_json(parameters=-1), "summary": model_json(summary=[]),
                        "tokenizer": model_json(tokenizer={"type": "bytes"}), "pieces": model_json(tokenizer={"type": "sentencepiece"}),
                        "files": model_json(tokenizer={"files": {}}), "sum": model_json(tokenizer={"files": {"joint.vocab.tsv": "0"}}),
                        "language": model_json(tokenizer={"source_language": "a/b"}), "two": model_json(tokenizer={"joint": False}),
                        "markers": model_json(tokenizer={"source_markers": "x"}), "option": model_json(configuration={"model": {"x": 1}}),
                        "missing": {k: v for k, v in model_json().items() if k != "tokenizer"}}.items():
        yield from add("model_json", name, json.dumps(value))

    for name, text in {"sections": "data:\n  vocab_size: 80\n  train1: [a, b]\nmodel: {d_model: 64, num_heads: 4}\ntraining:\n"
                       "  lr: 1e-3\n  seed: 3\ndecoding:\n  beam_size: 4\n", "base": "base: base.yaml\ntraining:\n  seed: 8\n",
                       "old": "lr: 0.1\nd_model: 512\nmaxlen1: 100\nnum_epochs: 20\nbatch_size: 128\nvocab: v\nlogdir: x\n",
                       "old_sections": "training:\n  warmup_steps: 4000\n  lr: 0.0003\nmodel:\n  hidden_units: 512\n",
                       "setting": "training.lr=0.001\n", "setting_list": "data.train1=[a, b]\n", "setting_text": "data.dir=a b\n",
                       "unknown": "training:\n  lrr: 1\n", "section": "trainin:\n  lr: 1\n", "twice": "data:\n  dir: a\n  dir: b\n",
                       "kinds": "model:\n  d_model: many\n", "range": "model:\n  d_model: -3\n", "list": "- 1\n", "scalar": "data: 3\n",
                       "not_yaml": "a: [1\n", "two": "a: 1\n---\nb: 2\n", "alias": "data: &a\n  dir: x\nmodel: *a\n", "empty": "data:\n",
                       "invalid": b"\xff: 1\n", "name": "? [a]\n: 1\n", "bool": "data:\n  joint_vocabulary: maybe\n",
                       "base_list": "base: base.yaml\ndata:\n  train1: {a: b}\n"}.items():
        yield from add("config", name, text)

    segments = ('<?xml version="1.0"?>\n<mteval><refset setid="a" srclang="any" trglang="en">\n<doc docid="1">\n<seg id="1"> A &amp; b '
                "<i>c</i> </seg>\n<seg id=\"2\">two</seg><seg id=\"3\">three</seg>\n</doc>\n</refset></mteval>\n")
    tags = "<url>x</url>\n<title>t</title>\n A talk. \nMore <b>.\n\n<reviewer></reviewer>\n"
    for name, text in {"plain": "one\ntwo\r\n\nthree", "bom": b"\xef\xbb\xbfone\n", "segments": segments, "tags": tags,
                       "unended": "<refset>\n<seg id=1>open\n", "utf16": b"\xff\xfeo\0n\0", "zip": b"PK\x03\x04", "bzip2": b"BZh9",
                       "xz": b"\xfd7zXZ\0", "zstd": b"\x28\xb5\x2f\xfd", "packed": gzip.compress(segments.encode(), mtime=0),
                       "srcset": segments.replace("refset", "srcset"), "invalid": b"a\xffb\n"}.items():
        yield from add("text_reader", name, text)

    lines = gzip.compress(b"one\ntwo\n\nlong " + b"x" * 300 + b"\nlast", mtime=0)
    for name, data in {"plain": b"one\ntwo\r\n\nlast", "packed": lines, "members": lines + gzip.compress(b"more\n", mtime=0),
                       "padded": lines + bytes(100), "trailing": lines + b"not gzip", "cut": lines[:-9], "checksum": lines[:-8] + bytes(8),
                       "damaged": lines[:20] + b"\xff\xff" + lines[22:], "only_magic": b"\x1f\x8b", "none": gzip.compress(b"", mtime=0),
                       "zeros": bytes(10)}.items():
        yield from add("gzip", name, data)
    # Frames of zstd by hand (RFC 8878): a raw block, then a last one that repeats a byte; a checksum is announced by bit 2.
    frame = b"\x28\xb5\x2f\xfd\x00\x58" + struct.pack("<I", 8 << 3)[:3] + b"one\ntwo\n" + struct.pack("<I", (300 << 3) | 3)[:3] + b"x"
    skippable = b"\x50\x2a\x4d\x18" + struct.pack("<I", 3) + b"abc"
    for name, data in {"frame": frame, "frames": skippable + frame + frame, "cut": frame[:-3], "trailing": frame + b"no frame",
                       "window": frame[:5] + b"\xa8" + frame[6:], "checksum": frame[:4] + b"\x04" + frame[5:] + bytes(4),
                       "block": frame[:6] + b"\x07" + frame[7:], "only_magic": frame[:4], "skippable": skippable}.items():
        yield from add("gzip", f"zstd_{name}", data)

    for name, text in {"tsv": "ein\tone\nzwei\ttwo\tmore\n", "json": '{"source": "ein", "target": "one"}\n\n{"de": "a\\nb", "en": "c"}\n',
                       "translation": '{"translation": {"de": "a", "en": "b"}, "x": [1]}\n', "no_tab": "ein one\n",
                       "no_key": '{"de": "a"}\n', "no_text": '{"de": 1, "en": 2}\n', "no_object": "[1]\n", "no_json": "{\n",
                       "two": "ein\nzwei\n%%\none\ntwo\n", "unequal": "ein\nzwei\n%%\none\n", "tags": tags + "%%\n" + tags,
                       "segments": segments + "%%\none\ntwo\nthree\n", "invalid": b"\xff\ta\n\n%%\nb\n", "empty": "\n%%\n\n",
                       "columns": "1\tein\tone\n22\tzwei\ttwo\n", "nul": "ein\tone\0\n", "numbers": "1\tone\n",
                       "entities": "<refset>\n<seg id=1>&quot;</seg>\n\n%%\na\n", "deep": '{"de": ' + "[" * 10 + "]" * 10 + "}\n"
                       }.items():
        yield from add("pairs", name, text)
    moses = [("README", b"x\n"), ("x.de-en.de", b"eins\nzwei\n"), ("x.de-en.en", b"one\ntwo\n")]
    zips = {"zip": archive(moses), "zip_deflated": archive(moses, deflated=True), "zip64": archive(moses, zip64=True, comment=b"PK\x05\x06"),
            "zip_encrypted": archive(moses, flags=1), "zip_unequal": archive([moses[1], (moses[2][0], b"one\n")]), "zip_none": archive(moses[:2])}
    zips |= {"zip_cut": zips["zip"][:-1], "zip_checksum": zips["zip"].replace(b"one\n", b"two\n"), "zip_far": zips["zip"].replace(b"PK\x05\x06", b"PK\x05\x06" * 2)}
    for name, data in zips.items():
        yield from add("pairs", name, data)

    tmx = ('<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">\n<header srclang="de"/>\n'
           '<body>%s</body>\n</tmx>\n')
    unit = '<tu><tuv xml:lang="en-US"><seg>a <ph x="1">&lt;b&gt;</ph> dog</seg></tuv>\n<tuv lang="DE"><seg>ein &#72;und</seg></tuv></tu>\n'
    wmt = ('<dataset id="x">\n<doc id="a"><src lang="de"><p><seg id="2">zwei</seg><seg id="1">eins</seg></p></src>\n<hyp system="s"><p>'
           '<seg id="1">won</seg></p></hyp><ref lang="en" translator="A"><p><seg id="1">one</seg>\n<seg id="2"> two\n </seg></p></ref></doc>\n'
           '<doc testsuite="t"><src lang="fr"><seg id="1">a</seg></src></doc></dataset>')
    for name, text in {"tmx": tmx % (unit + unit), "none": tmx % "", "other": tmx % unit.replace("DE", "fr"), "wmt": wmt,
                       "entity": tmx % unit.replace("ein", "&nbsp;"), "declared": tmx.replace('.dtd"', '.dtd" []') % unit,
                       "comment": tmx % ("<!-- " + unit + "-->" + unit), "cdata": tmx % unit.replace("ein", "<![CDATA[<&]]>"),
                       "unended": (tmx % unit)[:-9], "deep": "<tmx>" + "<a>" * 70, "id": wmt.replace('"2"', '"-x"'),
                       "twice": wmt.replace('"2"', '"1"'), "no_language": tmx % unit.replace("lang", "long"),
                       "invalid": (tmx % unit).encode().replace(b"ein", b"\xff"), "root": "<html/>"}.items():
        yield from add("xml_pairs", name, text)

    for name, text in {"options": "type: transformer\ndim-emb: 512\nmodels:\n  - a.npz\na: true\n", "kinds": "a: [1, 2]\ndim-emb: x\n",
                       "range": "dim-emb: -1\nmodels: {}\n", "list": "- a\n", "damaged": "a: [\n", "none": "a: ~\n", "real": "a: 1.5\n",
                       "alias": "a: &x [1]\nmodels: *x\n"}.items():
        yield from add("marian_options", name, text)

    extra = {"source_lang": "de", "target_lang": "e/n"}
    yield from add("hugging_face", "whole", parts(HUGGING_FACE, WORDS, extra, {"num_beams": 3, "length_penalty": 9}))
    for name, changes in {"untied": {"tie_word_embeddings": False}, "unscaled": {"scale_embedding": False},
                          "separate": {"share_encoder_decoder_embeddings": False}, "type": {"model_type": "bert"},
                          "norm": {"normalize_before": True}, "heads": {"decoder_attention_heads": 2}, "ffn": {"decoder_ffn_dim": 3},
                          "odd": {"encoder_attention_heads": 3, "decoder_attention_heads": 3}, "act": {"activation_function": "tanh"},
                          "gelu": {"activation_function": "gelu"}, "size": {"d_model": 16777217}, "rows": {"vocab_size": 7},
                          "large": {"d_model": 16777216, "encoder_layers": 1000, "decoder_layers": 1000},
                          "special": {"eos_token_id": 77}, "decoder": {"decoder_vocab_size": 5}, "start": {"decoder_start_token_id": 0}
                          }.items():
        yield from add("hugging_face", name, parts(HUGGING_FACE | changes, WORDS))
    yield from add("hugging_face", "no_unknown", parts(HUGGING_FACE, {"a": 0}))
    yield from add("hugging_face", "no_words", parts(HUGGING_FACE))
    yield from add("hugging_face", "lists", parts([], [], [], []))
    yield from add("hugging_face", "extra_lists", parts(HUGGING_FACE, WORDS, [1], [1]))

    generation = {"decoder_start_token_id": 0, "early_stopping": True, "length_penalty": 2}
    pieces = [("<pad>", 0.0, 3), ("</s>", 0.0, 3), ("<unk>", 0.0, 2), ("\u2581", -1.0, 1), ("a", -2.0, 1)]
    own_pieces = sentencepiece(pieces, 1, specials=False)
    yield from add("t5", "whole", parts(T5, generation))
    yield from add("t5", "pieces", parts(T5, generation, own_pieces))
    yield from add("t5", "bpe", parts(T5, generation, sentencepiece(pieces, 2, specials=False)))
    yield from add("t5", "no_unknown", parts(T5, {}, sentencepiece(pieces[:2], 1, specials=False)))
    yield from add("t5", "many_pieces", parts(T5 | {"vocab_size": 3}, {}))
    yield from add("t5", "lists", parts([], [], b"x"))
    yield from add("t5", "extra_list", parts(T5, [1]))
    for name, changes in {"gated": {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}, "mt5": {"model_type": "mt5"},
                          "divided": {"scale_decoder_outputs": False}, "type": {"model_type": "umt5"}, "act": {"feed_forward_proj": "tanh"},
                          "heads": {"num_heads": 3}, "narrow": {"num_heads": 1, "d_kv": 4}, "wide": {"d_kv": 9}, "blocks": {"num_layers": 900},
                          "decoder": {"num_decoder_layers": 2}, "size": {"d_model": 65537}, "rows": {"vocab_size": 16777216},
                          "epsilon": {"layer_norm_epsilon": 0}, "buckets": {"relative_attention_num_buckets": 4097},
                          "start": {"decoder_start_token_id": 3}, "end": {"eos_token_id": 77}, "same": {"eos_token_id": 0},
                          "pad": {"pad_token_id": 2, "decoder_start_token_id": -1}, "tasks": {"task_specific_params": [1]},
                          "task": {"task_specific_params": {"translation_en_to_de": 1, "translation_": {"prefix": 1, "max_length": -1}}},
                          "two": {"task_specific_params": {"translation_en_to_de": {}, "translation_en_to_fr": {}}}}.items():
        yield from add("t5", name, parts(T5 | changes, {}))

    words = "".join(f'"{token}": {id}\n' for token, id in WORDS.items())
    yield from add("marian_npz", "whole", parts(DECODER, MARIAN, words))
    for name, change in {"untied": ("tied-embeddings-all: true", "tied-embeddings-src: true"), "pre": ('preprocess: ""', "preprocess: n"),
                         "separate": ("tied-embeddings-all: true\n", ""), "act": ("swish", "gelu"), "rnn": ("type: transformer", "type: s2s"),
                         "depth": ("ffn-depth: 2", "ffn-depth: 3"), "blocks": ("enc-depth: 1", "enc-depth: 900"),
                         "width": ("dim-emb: 2", "dim-emb: 16000000"), "odd": ("heads: 1", "heads: 3"),
                         "decoder_ffn": ("type: transformer", "type: transformer\ntransformer-decoder-dim-ffn: 9"),
                         "lemma": ("type: transformer", "type: transformer\nlemma-dim-emb: 3\nright-left: true"),
                         "tied_layers": ("type: transformer", "type: transformer\ntransformer-tied-layers: [1]"),
                         "no_bias": ("type: transformer", "type: transformer\noutput-omit-bias: true"),
                         "zero": ("dec-depth: 1", "dec-depth: 1\n\0")}.items():
        yield from add("marian_npz", name, parts(DECODER, MARIAN.replace(*change), words))
    for name, change in {"outside": ("model.npz", "../model.npz"), "form": ("model.npz", "vocab.yml"), "two": ("model.npz", "a\n  - b"),
                         "penalty": ("normalize: 1", "word-penalty: 1"), "missing": ("vocab.yml", "v.yml"), "one": ("  - vocab.yml\n", ""),
                         "unknown": ("normalize: 1", "allow-unk: true"), "nothing": ("model.npz", "''")}.items():
        yield from add("marian_npz", name, parts(DECODER.replace(change[0], change[1], 1), MARIAN, words))
    yield from add("marian_npz", "few_words", parts(DECODER, MARIAN, "</s>: 0\n"))
    yield from add("marian_npz", "no_unknown", parts(DECODER, MARIAN, words.replace("<unk>", "x")))

    pages = {
        "page": "<!DOCTYPE html><html lang=en><head><title>One &amp; two</title><meta charset=utf-8><style>p{}</style></head><body>"
                "<h1>A <em>big</em> title</h1><p class=a>Text with <a href='x?a=1&b=2' title=\"a title\">a link</a>, <code>code</code>"
                "<br>and <img src=a.png alt='an image'> more.<p>Another<ul><li>one<li>two <b>three</b></ul><pre>a  b</pre></body></html>",
        "crossing": "<b>one <i>two</b> three</i> <p>four</div> five <u>six",
        "kept": "<div translate=no>a <p translate=yes>b</p></div><span class='x notranslate'>c</span> d <svg><path/></svg> e",
        "broken": "<a href=\"x>one</a> <!-- two <p <b a=1/ c='", "table": "<table><tr><td>a<td>b<tr><th>c</table><dl><dt>d<dd>e</dl>",
        "entities": "&lt;&eacute;&copy &#x41;&#66;&#128;&unknown; &amp;amp; a<sup>1</sup> H<sub>2</sub>O",
    }
    for name, page in pages.items():
        yield from add("markup_html", name, page.encode())
    xmls = {
        "mixed": "<?xml version='1.0'?><d a='b'><p>one <b>two</b> <c/> &amp; three</p><!-- x --><p><![CDATA[a < b]]></p></d>",
        "entities": "<!DOCTYPE d [<!ENTITY a 'b'>]><d>&a;</d>", "type": "<!DOCTYPE d SYSTEM 'd.dtd'><d>&b; c</d>",
        "xliff1": "<xliff version='1.2'><file><body><trans-unit id='1'><source>a <g id='1'>b</g><x id='2'/> c <bpt id='3'>x</bpt>d<ept "
                  "id='3'>y</ept></source></trans-unit><trans-unit id='2'><source>e</source><target state='new'/></trans-unit></body></file></xliff>",
        "xliff2": "<xliff version='2.0'><file id='f'><unit id='u'><segment state='initial'><source>a <pc id='1'>b</pc><sc id='2'/>c<ec "
                  "startRef='2'/></source></segment></unit></file></xliff>",
    }
    for name, text in xmls.items():
        yield from add("markup_xml", name, text.encode())
    word = "xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'"
    packages = {
        "docx": f"<w:document {word}><w:p><w:pPr/><w:r><w:rPr><w:b/></w:rPr><w:t>one </w:t><w:tab/><w:t>two</w:t></w:r><w:hyperlink><w:r>"
                "<w:t>three</w:t></w:r></w:hyperlink><w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText>HYPERLINK x</w:instrText>"
                "</w:r><w:r><w:fldChar w:fldCharType='separate'/></w:r><w:r><w:t>four</w:t></w:r><w:r><w:fldChar w:fldCharType='end'/></w:r>"
                "<w:sdt><w:sdtContent><w:r><w:t>five</w:t></w:r></w:sdtContent></w:sdt></w:p></w:document>",
        "pptx": "<p:sld xmlns:p='p' xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main'><a:p><a:r><a:rPr/><a:t>one</a:t></a:r><a:br/>"
                "<a:r><a:t>two</a:t></a:r><a:endParaRPr/></a:p></p:sld>",
        "odt": "<o><text:p>one <text:span>two</text:span><text:tab/>three<text:note><text:p>four</text:p></text:note></text:p><text:tracked-changes>"
               "<text:p>x</text:p></text:tracked-changes></o>",
        "xhtml": "<!DOCTYPE html><html><body><p>one&nbsp;<i>two</i><br/>three</p></body></html>",
    }
    for name, text in packages.items():
        yield from add("markup_package", name, text.encode())
    yield from add("markup_package", "archive", archive([("mimetype", b"x"), ("content.xml", packages["odt"].encode()),
                                                         ("_rels/.rels", b"<r><Relationship Type='x/officeDocument' Target='word/document.xml'/></r>"),
                                                         ("word/document.xml", packages["docx"].encode())], deflated=True))
    yield from add("markup_package", "outside", archive([("../content.xml", b"<a/>")]))
    yield from add("markup_package", "zip64", archive([("content.xml", packages["odt"].encode())], zip64=True))
    texts = {
        "srt": "1\n00:00:01,000 --> 00:00:02,000\n{\\an8}<i>One line</i>\nand two\n\n2\n00:00:03,000 --> 00:00:04,000\n- Yes.\n- No.\n",
        "vtt": "WEBVTT\n\nNOTE x\n\nid\n00:01.000 --> 00:02.000 align:start\n<v Ann>one <c.x>two</c> &amp; <00:01.500>three\n",
        "po": "msgid \"\"\nmsgstr \"Plural-Forms: nplurals=3;\\n\"\n\n#, c-format\nmsgctxt \"a\"\nmsgid \"one <b>%s</b>\\n\"\n\"two\"\n"
              "msgid_plural \"more\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n\n#~ msgid \"x\"\n",
        "txt": "One.\r\n  Two words \n\n3\n",
    }
    for name, text in texts.items():
        yield from add("markup_text", name, text.encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent / "seeds")
    folder = parser.parse_args().folder
    for target, name, data in seeds():
        (folder / target).mkdir(parents=True, exist_ok=True)
        (folder / target / name).write_bytes(data)


if __name__ == "__main__":
    main()
