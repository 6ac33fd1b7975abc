#!/usr/bin/env python3
"""PyTorch in the race of cuda.sh: the Euler network on a CUDA card.

    cuda_torch.py FOLDER REPETITIONS WAY… [crops=N]

FOLDER is what `netrace prepare` wrote, a WAY one of eager, graph (a CUDA graph) and compiled
(torch.compile). For each precision (FP32, TF32, FP16) and each way, with channels_last where
cuDNN likes it, it times the forward pass, and forward plus backward with the gradient of half
the squared norm of the output in all weights and biases; both as gpurace does: from the first
call to the end of a synchronisation, pictures already on the card. The environment's
TORCH_COMPILE is the mode of torch.compile, reduce-overhead if it is not set (max-autotune takes
minutes). What does not work in the installed version is left out, with a word about it on
standard error. One line of JSON for each.

With crops=N it times what an iteration of training has on N random crops of 64×64 pixels in the
place of both: forward, the mean squared error, and backward. Neither power iterations nor an
optimiser are timed, which gpurace times as well.

With CUDA_TORCH_ON=cpu it runs on the processor, eager in FP32 and what else works there: the trial
of `cuda.sh fake`.
"""

import contextlib
import json
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F


def load(path):
    """Returns the metadata and the tensors of a safetensors file of float32."""
    with open(path, "rb") as f:
        raw = f.read()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, info in header.items():
        begin, end = info["data_offsets"]
        tensors[name] = torch.frombuffer(bytearray(raw[start + begin : start + end]), dtype=torch.float32).reshape(info["shape"])
    return metadata, tensors


class Network(torch.nn.Module):
    """One Euler step a block, z ← z − h·Aᵀσ(Az + b), between lifting and projection."""

    def __init__(self, metadata, tensors):
        super().__init__()
        card = lambda key: json.loads(metadata["averaged." + key])
        if metadata["averaged.integrator"] != "euler" or metadata["averaged.activation"] != "leakyrelu" or set(card("steps")) != {1}:
            sys.exit("the network must be one of Euler steps, one a block, and LeakyReLU")
        self.channels, self.width, self.kernel = card("channels"), card("width"), card("kernel_size")
        self.slope, self.sizes = card("activation_slope"), card("step_sizes")
        self.A = torch.nn.ParameterList(tensors[f"blocks.{i}.weight"] for i in range(len(self.sizes)))
        self.b = torch.nn.ParameterList(tensors[f"blocks.{i}.bias"] for i in range(len(self.sizes)))
        # The adjoint of a convolution is one with turned weights. Where no gradient is asked
        # for they are turned here, once, with the step size in them.
        for i, h in enumerate(self.sizes):
            self.register_buffer(f"B{i}", self.turned(tensors[f"blocks.{i}.weight"], h).contiguous())

    @staticmethod
    def turned(A, h):
        return (-h * A).transpose(0, 1).flip(2, 3)

    def forward(self, x, training=False):
        z = F.pad(x, (0, 0, 0, 0, 0, self.width - self.channels))
        for i, (A, b, h) in enumerate(zip(self.A, self.b, self.sizes)):
            u = F.leaky_relu(F.conv2d(z, A, b, padding=self.kernel // 2), self.slope)
            z = z + F.conv2d(u, self.turned(A, h) if training else getattr(self, f"B{i}"), padding=self.kernel // 2)
        return z[:, : self.channels]

    def operations(self, pixels):
        return 2 * 2 * len(self.sizes) * self.kernel**2 * self.width**2 * pixels


ON = os.environ.get("CUDA_TORCH_ON", "cuda")


def synchronize():
    if ON == "cuda":
        torch.cuda.synchronize()


def timed(call, repetitions):
    """Returns median, minimum, and the time of one of many calls in a row, in milliseconds."""
    for _ in range(max(3, repetitions // 3)):
        call()
    synchronize()
    single = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        call()
        synchronize()
        single.append((time.perf_counter() - begin) * 1e3)
    begin = time.perf_counter()
    for _ in range(repetitions):
        call()
    synchronize()
    return statistics.median(single), min(single), (time.perf_counter() - begin) * 1e3 / repetitions


def graphed(call):
    """Returns a call that replays what call does, as a CUDA graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


CROP = 64


def main(folder, repetitions, ways, crops):
    metadata, tensors = load(os.path.join(folder, "network.safetensors"))
    if crops:
        given = torch.rand(crops, 3, CROP, CROP).to(ON)
        clean = torch.rand(crops, 3, CROP, CROP).to(ON)
        expected = None
    else:
        _, pictures = load(os.path.join(folder, "pictures.safetensors"))
        given, expected = pictures["input"].to(ON), pictures["output"].to(ON)
    n, _, height, width = given.shape
    torch.backends.cudnn.benchmark = True
    for precision, dtype, layout in (
        ("float32", torch.float32, torch.contiguous_format),
        ("TF32", torch.float32, torch.channels_last),
        ("half", torch.float16, torch.channels_last),
    ):
        if precision == "TF32" and ON != "cuda":
            print("left out: PyTorch, TF32: no card", file=sys.stderr)
            continue
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = precision == "TF32"
        for way in ways:
            # Weights stay in float32 for training, so half precision of both passes is autocast's.
            for both in [True] if crops else [False, True]:
                name = "training" if crops else "forward and backward" if both else "forward"
                try:
                    network = Network(metadata, tensors).to(ON).to(memory_format=layout)
                    x = given.to(memory_format=layout)
                    if dtype is torch.float16 and not both:
                        network, x = network.half(), x.half()
                    model = torch.compile(network, mode=os.environ.get("TORCH_COMPILE", "reduce-overhead")) if way == "compiled" else network
                    last = [None]

                    def forward():
                        with torch.no_grad():
                            last[0] = model(x)

                    def forward_and_backward():
                        for p in network.parameters():
                            p.grad = None
                        with torch.autocast("cuda", dtype=torch.float16) if dtype is torch.float16 else contextlib.nullcontext():
                            y = model(x, True)
                        (F.mse_loss(y.float(), clean) if crops else y.float().square().sum() / 2).backward()
                        last[0] = y.detach()

                    call = forward_and_backward if both else forward
                    median, minimum, stream = timed(graphed(call) if way == "graph" else call, repetitions)
                    result = {}
                    if expected is not None:
                        result["difference"] = (last[0].float() - expected).abs().max().item()
                        if precision == "float32" and not result["difference"] < 1e-3:
                            sys.exit(f"PyTorch, {way}: differs by {result['difference']} from what the network makes of the pictures")
                    print(json.dumps({
                        "racer": f"PyTorch {torch.__version__}, {way}", "pass": name,
                        "precision": precision, "card": torch.cuda.get_device_name() if ON == "cuda" else "none", "pictures": n, "height": height, "width": width,
                        "repetitions": repetitions, "median_ms": median, "minimum_ms": minimum, "stream_ms": stream,
                        "tflops": (3 if both else 1) * network.operations(n * height * width) / median / 1e9,
                        **result,
                    }), flush=True)
                except Exception as e:  # a way that this version or card does not have
                    print(f"left out: PyTorch, {precision}, {way}, {name}: {str(e).splitlines()[:1]}", file=sys.stderr)


if __name__ == "__main__":
    ways, crops = sys.argv[3:], 0
    if ways and ways[-1].startswith("crops="):
        crops = int(ways.pop()[len("crops=") :])
    if not ways or set(ways) - {"eager", "graph", "compiled"}:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]), ways, crops)
