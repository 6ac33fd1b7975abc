#!/usr/bin/env python3
"""FFDNet's architecture for colour, with seeded weights, as an ONNX file: what its times depend on.

    ffdnet_export.py FILE WIDTH HEIGHT

Zhang, Zuo and Zhang (2018), "FFDNet: Toward a Fast and Flexible Solution for CNN based Image
Denoising": 2×2 pixels become channels, a plane of the noise level beside them, 12 convolutions of
3×3 with 96 channels and ReLU between, and back. 852,108 weights and biases.
"""

import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

CHANNELS, LAYERS = 96, 12


def main(path, width, height):
    random = numpy.random.default_rng(1)
    half = [(height + 1) // 2, (width + 1) // 2]
    constants, nodes = [], []

    def constant(name, values):
        constants.append(numpy_helper.from_array(values, name))
        return name

    def node(kind, inputs, output, **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    pads = constant("pads", numpy.array([0, 0, 0, 0, 0, 0, height % 2, width % 2], dtype=numpy.int64))
    x = node("Pad", ["input", pads], "even", mode="edge")
    x = node("SpaceToDepth", [x], "shuffled", blocksize=2)
    level = constant("level", numpy.full([1, 1] + half, 0.15, dtype=numpy.float32))
    x = node("Concat", [x, level], "told", axis=1)
    parameters = 0
    for i in range(LAYERS):
        shape = [CHANNELS if i < LAYERS - 1 else 12, CHANNELS if i else 13, 3, 3]
        scale = (2 / (9 * shape[1])) ** 0.5
        w = constant(f"w{i}", (random.standard_normal(shape) * scale).astype(numpy.float32))
        b = constant(f"b{i}", numpy.zeros(shape[0], dtype=numpy.float32))
        parameters += numpy.prod(shape) + shape[0]
        x = node("Conv", [x, w, b], f"convolved{i}", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        if i < LAYERS - 1:
            x = node("Relu", [x], f"rectified{i}")
    x = node("DepthToSpace", [x], "unshuffled", blocksize=2, mode="CRD")
    begins = constant("begins", numpy.array([0, 0], dtype=numpy.int64))
    ends = constant("ends", numpy.array([height, width], dtype=numpy.int64))
    axes = constant("axes", numpy.array([2, 3], dtype=numpy.int64))
    node("Slice", [x, begins, ends, axes], "output")
    image = [1, 3, height, width]
    graph = helper.make_graph(
        nodes, "ffdnet",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, image)],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, image)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, path)
    print(f"{parameters} parameters", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
