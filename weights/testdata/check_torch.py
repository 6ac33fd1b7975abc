#!/usr/bin/env python3
"""Reads a weight file twice, with PyTorch and with the standard library alone,
prints the shape and the sum of every tensor, and checks that both readings are
the same bytes and that the checksum of the card is right.

    python3 check_torch.py [--no-torch] FILE...

No safetensors module is needed, and without PyTorch (or with --no-torch) the
standard library reads alone. The exit status is 1 if something is not right.
"""

import hashlib
import json
import math
import struct
import sys

try:
    if "--no-torch" in sys.argv:
        raise ImportError
    import torch
except ImportError:
    torch = None


def load_torch(path):
    raw = open(path, "rb").read()
    start = 8 + int.from_bytes(raw[:8], "little")
    header, data = json.loads(raw[8:start]), bytearray(raw[start:])
    metadata = header.pop("__metadata__", {})
    types = {"F64": torch.float64, "F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}
    def tensor(dtype, shape, data_offsets):
        flat = data[slice(*data_offsets)]  # a copy, so that the tensor may be written to
        return torch.frombuffer(flat, dtype=types[dtype]).reshape(shape) if flat else torch.empty(shape, dtype=types[dtype])
    return metadata, {name: tensor(**info) for name, info in header.items()}


# The letter of the module struct for each type that it knows.
LETTERS = {
    "BOOL": "?", "I8": "b", "U8": "B", "I16": "h", "U16": "H", "F16": "e", "I32": "i",
    "U32": "I", "F32": "f", "C64": "f", "I64": "q", "U64": "Q", "F64": "d",
}


def load_struct(path):
    """Returns the metadata, and (dtype, shape, bytes) by name."""
    with open(path, "rb") as f:
        (length,) = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(length).decode("utf-8"))
        data = f.read()
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, info in header.items():
        begin, end = info["data_offsets"]
        tensors[name] = info["dtype"], info["shape"], data[begin:end]
    return metadata, tensors


def numbers(dtype, data):
    """Returns the elements, or None for the types that Python has no numbers for."""
    if dtype == "BF16":
        words = struct.unpack("<%dH" % (len(data) // 2), data)
        return [struct.unpack("<f", struct.pack("<I", w << 16))[0] for w in words]
    if dtype not in LETTERS:
        return None
    size = struct.calcsize("<" + LETTERS[dtype])
    return struct.unpack("<%d%s" % (len(data) // size, LETTERS[dtype]), data)


def checksum(tensors):
    """The checksum as the package weights defines it."""
    h = hashlib.sha256(b"averaged weights 1\n")

    def number(n):
        h.update(struct.pack("<Q", n))

    def text(b):
        number(len(b))
        h.update(b)

    number(len(tensors))
    for name, (dtype, shape, data) in sorted(tensors.items(), key=lambda t: t[0].encode("utf-8")):
        text(name.encode("utf-8"))
        text(dtype.encode("utf-8"))
        number(len(shape))
        for n in shape:
            number(n)
        text(data)
    return "sha256:" + h.hexdigest()


def torch_bytes(tensor):
    """The bytes of a tensor; PyTorch 1 has no view of a scalar as another type."""
    flat = tensor.contiguous().reshape(-1)
    return bytes(flat.view(torch.uint8).tolist()) if flat.numel() else b""


def check(path):
    right = True
    metadata, tensors = load_struct(path)
    print("%s: %d tensors" % (path, len(tensors)))
    for key in sorted(metadata):
        print("  %s = %s" % (key, metadata[key]))
    for name, (dtype, shape, data) in tensors.items():
        values = numbers(dtype, data)
        total = "no sum" if values is None else "sum %.9g" % math.fsum(values) if all(map(math.isfinite, values)) else "sum not finite"
        print("  %s %s %s %s" % (name, dtype, shape, total))

    computed = checksum(tensors)
    stated = metadata.get("averaged.checksum")
    print("  checksum %s, %s" % (computed, "none stated" if stated is None else "as stated" if stated == computed else "NOT THE STATED ONE"))
    right &= stated in (None, computed)

    floats = {"F64", "F32", "BF16", "F16"}
    if torch is None:
        print("  read by the standard library alone")
    elif not all(dtype in floats for dtype, _, _ in tensors.values()):
        print("  not read by PyTorch: types other than floats")
    else:
        metadata_torch, tensors_torch = load_torch(path)
        same = metadata_torch == metadata and list(tensors_torch) == list(tensors)
        for name, (_, shape, data) in tensors.items():
            t = tensors_torch[name]
            same = same and list(t.shape) == shape and torch_bytes(t) == data
            if t.numel() and bool(torch.isfinite(t).all()):
                print("  torch: %s %s sum %.9g" % (name, tuple(t.shape), t.double().sum().item()))
        print("  torch %s reads %s" % (torch.__version__, "the same" if same else "SOMETHING ELSE"))
        right &= same
    return right


if __name__ == "__main__":
    paths = [a for a in sys.argv[1:] if a != "--no-torch"]
    if not paths:
        sys.exit(__doc__)
    sys.exit(0 if all([check(path) for path in paths]) else 1)
