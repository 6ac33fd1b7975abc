#!/usr/bin/env python3
"""PyTorch in the race of network.sh, and the network as ONNX for ONNX Runtime.

    network_torch.py export FOLDER
    network_torch.py time convolution|transposed FOLDER THREADS REPETITIONS

FOLDER is what `netrace prepare` wrote. Both commands compare outputs with the one in the
folder, and fail where they differ by more than 1e-4. time prints one line of JSON; export
writes plain.onnx and rearranged.onnx. The forms of the network are one map:

  transposed   the adjoint of a convolution is conv_transpose2d;
  convolution  it is a convolution with turned weights, which is faster everywhere;
  plain        the same, as a graph without operations in place;
  rearranged   the same, made to suit ONNX Runtime: channels of zeros and channels that
               nobody looks at are left out, and lifting and projection are convolutions
               with an identity of 1×1 pixels, so that every array between is in the
               layout of the convolutions, and every update fused with one.
"""

import json
import os
import statistics
import sys
import time
import warnings

import torch
import torch.nn.functional as F

ALLOWED = 1e-4


def load(path):
    """Returns the metadata and the tensors of a safetensors file of float32."""
    with open(path, "rb") as f:
        raw = f.read()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    metadata = header.pop("__metadata__", {})

    def tensor(dtype, shape, data_offsets):
        if dtype != "F32":
            sys.exit(f"{path}: a tensor of type {dtype}, must be F32")
        begin, end = data_offsets
        return torch.frombuffer(bytearray(raw[start + begin : start + end]), dtype=torch.float32).reshape(shape)

    return metadata, {name: tensor(**info) for name, info in header.items()}


class Network(torch.nn.Module):
    """One Euler step a block, z ← z − h·Aᵀσ(Az + b), between lifting and projection."""

    def __init__(self, metadata, tensors, form):
        super().__init__()
        card = lambda key: json.loads(metadata["averaged." + key])
        if metadata["averaged.integrator"] != "euler" or metadata["averaged.activation"] != "leakyrelu":
            sys.exit("the network must be one of Euler steps and LeakyReLU")
        if set(card("steps")) != {1}:
            sys.exit("every block must be one step")
        self.form = form
        self.channels, self.width, self.blocks = card("channels"), card("width"), card("blocks")
        self.kernel, self.slope, self.sizes = card("kernel_size"), card("activation_slope"), card("step_sizes")
        for i in range(self.blocks):
            A = tensors[f"blocks.{i}.weight"]
            # With the sign and the step size in the weights an update is a sum.
            B = (-self.sizes[i] * A).transpose(0, 1).flip(2, 3)
            if form == "rearranged" and i == 0:
                A = A[:, : self.channels]
            if form == "rearranged" and i == self.blocks - 1:
                B = B[: self.channels]
            self.register_buffer(f"A{i}", A.contiguous())
            self.register_buffer(f"B{i}", B.contiguous())
            self.register_buffer(f"b{i}", tensors[f"blocks.{i}.bias"])
        self.register_buffer("lift", torch.eye(self.width, self.channels)[:, :, None, None].contiguous())
        self.register_buffer("project", torch.eye(self.channels, self.width)[:, :, None, None].contiguous())

    def forward(self, x):
        rearranged, in_place = self.form == "rearranged", self.form in ("convolution", "transposed")
        if rearranged:
            z = F.conv2d(x, self.lift)
        else:
            z = F.pad(x, (0, 0, 0, 0, 0, self.width - self.channels))
        for i, h in enumerate(self.sizes):
            A, b, B = (getattr(self, f"{name}{i}") for name in "AbB")
            u = F.conv2d(x if rearranged and i == 0 else z, A, b, padding=self.kernel // 2)
            u = F.leaky_relu(u, self.slope, inplace=in_place)
            if rearranged and i == self.blocks - 1:
                z = F.conv2d(z, self.project)
            if self.form == "transposed":
                z.sub_(F.conv_transpose2d(u, A, padding=self.kernel // 2), alpha=h)
            elif in_place:
                z.add_(F.conv2d(u, B, padding=self.kernel // 2))
            else:
                z = z + F.conv2d(u, B, padding=self.kernel // 2)
        return z if rearranged else z[:, : self.channels]

    def operations(self, pixels):
        """Multiplications and additions of direct convolution."""
        return 2 * 2 * self.blocks * self.kernel**2 * self.width**2 * pixels


def read(folder):
    metadata, tensors = load(os.path.join(folder, "network.safetensors"))
    _, pictures = load(os.path.join(folder, "pictures.safetensors"))
    return metadata, tensors, pictures["input"], pictures["output"]


def difference(output, expected, what):
    d = (output - expected).abs().max().item()
    if not d <= ALLOWED:  # NaN too
        sys.exit(f"{what}: the output differs from the prepared one by {d:.2g}, at most {ALLOWED:g} is allowed")
    return d


def peak_mib():
    """The largest resident memory of this process, as Linux tells it."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM:")) / 1024


def export(folder):
    warnings.simplefilter("ignore")  # the exporter has much to say of its own doings
    metadata, tensors, given, expected = read(folder)
    for form in "plain", "rearranged":
        network = Network(metadata, tensors, form).eval()
        difference(network(given), expected, "PyTorch, " + form)
        path = os.path.join(folder, form + ".onnx")
        torch.onnx.export(network, given, path, opset_version=13, input_names=["input"], output_names=["output"])


def measure(form, folder, threads, repetitions, warm_up=2):
    torch.set_num_threads(threads)
    metadata, tensors, given, expected = read(folder)
    network = Network(metadata, tensors, form).eval()
    milliseconds = []
    for i in range(warm_up + repetitions):
        begin = time.perf_counter()
        output = network(given)
        if i >= warm_up:
            milliseconds.append((time.perf_counter() - begin) * 1e3)
    peak = peak_mib()
    n, _, height, width = given.shape
    median = statistics.median(milliseconds)
    name = {"convolution": "PyTorch", "transposed": "PyTorch, conv_transpose2d"}[form]
    print(json.dumps({
        "racer": name, "version": torch.__version__, "threads": threads,
        "pictures": n, "height": height, "width": width, "repetitions": repetitions,
        "median_ms": median, "minimum_ms": min(milliseconds),
        "gflops": network.operations(n * height * width) / median / 1e6,
        "peak_mib": peak, "difference": difference(output, expected, name),
    }))


if __name__ == "__main__":
    torch.set_grad_enabled(False)
    arguments = sys.argv[1:]
    if len(arguments) == 2 and arguments[0] == "export":
        export(arguments[1])
    elif len(arguments) == 5 and arguments[0] == "time" and arguments[1] in ("convolution", "transposed"):
        measure(arguments[1], arguments[2], int(arguments[3]), int(arguments[4]))
    else:
        sys.exit(__doc__)
