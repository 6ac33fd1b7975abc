#!/usr/bin/env python3
"""Computes gradients, and the steps of optimisers, with PyTorch's automatic
differentiation in float64.

    python3 check_training.py INPUT OUTPUT [INPUT OUTPUT]...

INPUT is a safetensors file whose metadata key "task" is a JSON object; its key "kind"
is "averaged", "dncnn" or "optimiser". OUTPUT becomes a safetensors file with the
gradients of the mean squared error by the names of the parameters, and the loss, or
with the parameters after the steps.
"""

import json
import os
import struct
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../weights/testdata"))
from check_torch import load_torch


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


def averaged(task, t):
    x = t["noisy"]
    width = t["blocks.0.weight"].shape[1]
    z = F.pad(x, (0, 0, 0, 0, 0, width - x.shape[1]))
    for i, n in enumerate(task["steps"]):
        A, b = t[f"blocks.{i}.weight"], t[f"blocks.{i}.bias"]
        p = A.shape[2] // 2
        if task["constraint"] == "budget":
            # ‖A‖ through one application to a vector that is taken as given.
            norm = F.conv2d(t[f"blocks.{i}.weight.singular"][None], A, padding=p).norm()
            A = A / norm * task["limit"] * torch.sigmoid(t[f"blocks.{i}.theta"])
        u = lambda z: F.leaky_relu(F.conv2d(z, A, b, padding=p), task["slope"])
        f = lambda z: -F.conv_transpose2d(u(z), A, padding=p)
        for _ in range(n):
            z = STEP[task["integrator"]](f, z, task["length"] / n)
    return z[:, :x.shape[1]]


def dncnn(task, t):
    x = t["noisy"]
    conv = lambda z, name: F.conv2d(z, t[name + ".weight"], t.get(name + ".bias"), padding="same")
    z = F.relu(conv(x, "lift"))
    for i in range(task["layers"]):
        z = conv(z, f"convs.{i}")
        mean, var = t[f"norms.{i}.running_mean"], t[f"norms.{i}.running_var"]
        z = F.relu(F.batch_norm(z, mean, var, t[f"norms.{i}.weight"], t[f"norms.{i}.bias"], True, task["momentum"]))
    return x - conv(z, "project")


def gradients(task, t):
    parameters = [k for k in t if k in task["parameters"]]
    for k in parameters:
        t[k].requires_grad_()
    loss = F.mse_loss({"averaged": averaged, "dncnn": dncnn}[task["kind"]](task, t), t["clean"])
    loss.backward()
    result = {k: t[k].grad for k in parameters}
    result["loss"] = loss.detach()
    result.update({k: v for k, v in t.items() if ".running_" in k})  # after one update
    return result


def optimiser(task, t):
    parameter = torch.nn.Parameter(t["values"].clone())
    optimiser = getattr(torch.optim, task["class"])([parameter], **task["arguments"])
    for g in t["gradients"]:
        parameter.grad = g.clone()
        optimiser.step()
    return {"values": parameter.detach()}


def save(path, tensors):
    header, data = {}, b""
    for name, t in tensors.items():
        values = t.double().contiguous().reshape(-1).tolist()
        header[name] = {"dtype": "F64", "shape": list(t.shape), "data_offsets": [len(data), len(data) + 8 * len(values)]}
        data += struct.pack("<%dd" % len(values), *values)
    header = json.dumps(header).encode("utf-8")
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(header)) + header + data)


if __name__ == "__main__":
    if len(sys.argv) < 3 or len(sys.argv) % 2 == 0:
        sys.exit(__doc__)
    for given, output in zip(sys.argv[1::2], sys.argv[2::2]):
        metadata, t = load_torch(given)
        task = json.loads(metadata["task"])
        t = {k: v.double() for k, v in t.items()}
        save(output, optimiser(task, t) if task["kind"] == "optimiser" else gradients(task, t))
    print("torch", torch.__version__)
