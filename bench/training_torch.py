#!/usr/bin/env python3
"""PyTorch in the race of training.sh: forward and backward of the paper's Euler network.

    training_torch.py THREADS REPETITIONS

64 channels, 10 blocks of one step, a batch of 8 crops of 64×64 pixels, mean squared error.
The adjoint of a convolution is a convolution with turned weights, which is three times as
fast here as conv_transpose2d. No optimiser and no power iteration are timed. It prints the
milliseconds of each repetition, after two that are not timed.
"""

import sys
import time

import torch
import torch.nn.functional as F


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(0.02 * torch.randn(width, width, 3, 3))
        self.bias = torch.nn.Parameter(torch.zeros(width))

    def forward(self, z):
        inner = F.leaky_relu(F.conv2d(z, self.weight, self.bias, padding=1), 0.01)
        return z - F.conv2d(inner, self.weight.transpose(0, 1).flip(2, 3), padding=1)


def main():
    threads, repetitions = int(sys.argv[1]), int(sys.argv[2])
    torch.manual_seed(1)
    torch.set_num_threads(threads)
    width, channels = 64, 3
    network = torch.nn.Sequential(*(Block(width) for _ in range(10)))
    noisy, clean = torch.rand(8, channels, 64, 64), torch.rand(8, channels, 64, 64)
    for repetition in range(repetitions + 2):
        begun = time.perf_counter()
        lifted = torch.cat([noisy, noisy.new_zeros(8, width - channels, 64, 64)], 1)
        F.mse_loss(network(lifted)[:, :channels], clean).backward()
        network.zero_grad()
        if repetition >= 2:
            print(1000 * (time.perf_counter() - begun))


main()
