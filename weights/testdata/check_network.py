#!/usr/bin/env python3
"""Applies the networks of weight files to an image with PyTorch.

    python3 check_network.py INPUT WEIGHTS OUTPUT [WEIGHTS OUTPUT]...

INPUT is a safetensors file with the tensor "image" of shape (batch, channels,
height, width); OUTPUT becomes one of the same form. The package documentation of
denoise shows the functions network, balls, at and dncnn.
"""

import json
import math
import struct
import sys

import torch
import torch.nn.functional as F

sys.dont_write_bytecode = True  # no trace beside the scripts
from check_torch import load_torch


def network(metadata, t, x):  # x has the shape (batch, channels, height, width)
    card = lambda key, absent=None: json.loads(metadata.get("averaged." + key, absent))
    q, (rows, columns) = card("shuffle", "1"), x.shape[2:]
    z = F.pixel_unshuffle(F.pad(x, (0, -columns % q, 0, -rows % q)), q)
    z = F.pad(z, (0, 0, 0, 0, 0, card("width") - z.shape[1]))
    for i, (h, n) in enumerate(zip(card("step_sizes"), card("steps"))):
        A, b, r = (t.get(f"blocks.{i}.{of}") for of in ("weight", "bias", "radius"))
        p = card("kernel_size") // 2
        act = lambda u: F.leaky_relu(u, card("activation_slope")) if r is None else balls(u, r)
        f = lambda z: -F.conv_transpose2d(act(F.conv2d(z, A, b, padding=p)), A, padding=p)
        for _ in range(n):
            z = STEP[metadata["averaged.integrator"]](f, z, h / n)
    z = F.pixel_shuffle(z[:, :q * q * card("channels")], q)
    return z[:, :, :rows, :columns]


def balls(u, radius):
    v = u.reshape(len(u), len(radius), -1, *u.shape[2:])
    size = v.norm(dim=2, keepdim=True).clamp(min=1e-38)  # 0 / 0 is no number
    return (v * (radius[:, None, None, None] / size).clamp(max=1)).reshape(u.shape)


def at(metadata, t, sigma):  # the tensors for one noise level of a network with "averaged.sigmas"
    s = [math.log(level) for level in json.loads(metadata["averaged.sigmas"])]
    x = min(max(math.log(sigma), s[0]), s[-1])
    i = max(k for k, level in enumerate(s) if level <= x)
    j = min(i + 1, len(s) - 1)
    row = lambda table: torch.lerp(table[i], table[j], (x - s[i]) / (s[j] - s[i] or 1))
    plain = {name: sigma * row(t[name]) for name in t if name.endswith((".bias", ".radius"))}
    for name in filter(lambda name: name.endswith(".weight"), t):
        gain, bias = name.replace("weight", "gain"), name.replace("weight", "bias")
        root = row(t[gain]).sqrt() if gain in t else torch.ones(len(t[name]))
        plain[name] = root[:, None, None, None] * t[name]
        if bias in t:
            plain[bias] = root * plain[bias]
    return plain


def euler(f, z, h):
    return z + h * f(z)


def heun(f, z, h):
    k1 = f(z)
    return z + h / 2 * (k1 + f(z + h * k1))


def rk4(f, z, h):
    k1 = f(z)
    k2 = f(z + h / 2 * k1)
    k3 = f(z + h / 2 * k2)
    return z + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(z + h * k3))


STEP = {"euler": euler, "heun": heun, "rk4": rk4}


def dncnn(metadata, t, x):
    conv = lambda z, name: F.conv2d(z, t[name + ".weight"], t.get(name + ".bias"), padding="same")
    stored = ("running_mean", "running_var", "weight", "bias")
    norm = lambda z, name: F.batch_norm(z, *(t[f"{name}.{of}"] for of in stored))
    z = F.relu(conv(x, "lift"))
    for i in range(json.loads(metadata["averaged.blocks"])):
        z = F.relu(norm(conv(z, f"convs.{i}"), f"norms.{i}"))
    return x - conv(z, "project")


def save(path, image):
    header = json.dumps({"image": {"dtype": "F32", "shape": list(image.shape), "data_offsets": [0, 4 * image.numel()]}})
    header = header.encode("utf-8")
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(header)) + header)
        f.write(struct.pack("<%df" % image.numel(), *image.contiguous().reshape(-1).tolist()))


if __name__ == "__main__":
    if len(sys.argv) < 4 or len(sys.argv) % 2:
        sys.exit(__doc__)
    _, given = load_torch(sys.argv[1])
    for weights, output in zip(sys.argv[2::2], sys.argv[3::2]):
        metadata, t = load_torch(weights)
        t = {name: tensor.float() for name, tensor in t.items()}
        if "averaged.sigmas" in metadata:
            t = at(metadata, t, json.loads(metadata["averaged.sigma"]))
        apply = {"averaged": network, "dncnn": dncnn}[metadata["averaged.architecture"]]
        with torch.no_grad():
            save(output, apply(metadata, t, given["image"]))
    print("torch", torch.__version__)
