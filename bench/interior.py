#!/usr/bin/env python3
"""How much the unknown boundary costs inside the frame: every fourth photograph of a folder, blurred by a camera shake
beyond its frame and circularly, is deblurred with that boundary, and the mean PSNR (peak 1) is taken over the frame that
both have, and over what is half a kernel and 12 pixels inside it. Needs NumPy and Pillow.

    bench/interior.py RESTORE FOLDER NOISE/255...
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

if len(sys.argv) < 4:
    sys.exit(__doc__)
restore, folder = sys.argv[1:3]
photographs = [os.path.join(folder, f) for f in sorted(os.listdir(folder))][::4]
sizes = [19, 17, 15, 27, 13, 21, 23, 25]


def run(*arguments):
    subprocess.run([restore, *arguments, "--force", "-q"], check=True, stdout=subprocess.DEVNULL)


def pfm(path):
    with open(path, "rb") as f:
        assert f.readline() == b"PF\n"
        width, height = map(int, f.readline().split())
        order = "<f4" if float(f.readline()) < 0 else ">f4"
        return np.frombuffer(f.read(), order).reshape(height, width, 3)[::-1]


def psnr(a, b, margin):
    d = (a - b)[margin : a.shape[0] - margin, margin : a.shape[1] - margin].astype(np.float64)
    return -10 * np.log10((d**2).mean())


with tempfile.TemporaryDirectory() as work:
    kernel, blurred, sharp = (os.path.join(work, n) for n in ("kernel.pfm", "blurred.pfm", "sharp.pfm"))
    for noise in map(float, sys.argv[3:]):
        rows = []
        for n, photograph in enumerate(photographs):
            size = sizes[n % 8]
            run("kernel", "shake", "--size", str(size), "--seed", str(n % 8), "-o", kernel)
            x = np.asarray(Image.open(photograph).convert("RGB"), np.float32) / 255
            row = []
            for boundary in ("unknown", "circular"):
                run("degrade", photograph, "--kernel", kernel, "--boundary", boundary,
                    "--sigma", str(noise / 255), "--seed", str(n + 1), "-o", blurred)
                run("deblur", blurred, "--kernel", kernel, "--boundary", boundary, "-o", sharp)
                found, whole = pfm(sharp), np.zeros_like(x)
                top, left = (x.shape[0] - found.shape[0]) // 2, (x.shape[1] - found.shape[1]) // 2
                whole[top : top + found.shape[0], left : left + found.shape[1]] = found
                row += [psnr(whole, x, (size - 1) // 2), psnr(whole, x, size + 12)]
            rows.append(row)
        t = np.array(rows)
        print("noise %g/255: frame: unknown %.2f, circular %.2f dB; interior: unknown %.2f, circular %.2f, worst difference %.2f"
              % (noise, t[:, 0].mean(), t[:, 2].mean(), t[:, 1].mean(), t[:, 3].mean(), (t[:, 1] - t[:, 3]).min()))
