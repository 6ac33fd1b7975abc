// ONNX Runtime in the race of network.sh:
//
//   node network_onnxruntime.cjs MODEL FOLDER THREADS REPETITIONS
//
// MODEL is plain or rearranged: FOLDER/MODEL.onnx, written by `network_torch.py export`.
// The module onnxruntime-node is looked for in PEERS/node/node_modules, with PEERS as the
// environment says or else peers in the home folder. The output is compared with the one
// in the folder; a difference above 1e-4 is an error. Prints one line of JSON.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');

const allowed = 1e-4;
const names = { plain: 'ONNX Runtime', rearranged: 'ONNX Runtime, graph rearranged by hand' };

// The tensors of a safetensors file of float32, by name.
function load(file) {
  const raw = fs.readFileSync(file);
  const start = 8 + Number(raw.readBigUInt64LE(0));
  const tensors = {};
  for (const [name, info] of Object.entries(JSON.parse(raw.toString('utf8', 8, start)))) {
    if (name === '__metadata__') continue;
    if (info.dtype !== 'F32') throw new Error(`${file}: a tensor of type ${info.dtype}, must be F32`);
    const [begin, end] = info.data_offsets;
    const bytes = new Uint8Array(raw.subarray(start + begin, start + end)); // a copy, and so aligned
    tensors[name] = { shape: info.shape, data: new Float32Array(bytes.buffer) };
  }
  return tensors;
}

function median(x) {
  const s = Float64Array.from(x).sort();
  return (s[(s.length - 1) >> 1] + s[s.length >> 1]) / 2;
}

async function main(model, folder, threads, repetitions) {
  const modules = path.join(process.env.PEERS || path.join(os.homedir(), 'peers'), 'node', 'node_modules');
  const ort = require(path.join(modules, 'onnxruntime-node'));
  const { version } = require(path.join(modules, 'onnxruntime-node', 'package.json'));
  const session = await ort.InferenceSession.create(path.join(folder, model + '.onnx'), {
    executionProviders: ['cpu'], graphOptimizationLevel: 'all', executionMode: 'sequential',
    intraOpNumThreads: threads, interOpNumThreads: 1,
  });
  const pictures = load(path.join(folder, 'pictures.safetensors'));
  const { shape, data } = pictures.input;
  const input = new ort.Tensor('float32', data, shape);
  const warmUp = 2;
  const milliseconds = [];
  let output;
  for (let i = 0; i < warmUp + repetitions; i++) {
    const begin = performance.now();
    output = (await session.run({ input })).output;
    if (i >= warmUp) milliseconds.push(performance.now() - begin);
  }
  const status = /^VmHWM:\s*(\d+) kB$/m.exec(fs.readFileSync('/proc/self/status', 'utf8'));
  const expected = pictures.output.data;
  if (output.data.length !== expected.length) {
    throw new Error(`an output of ${output.data.length} numbers, must be ${expected.length}`);
  }
  let difference = 0;
  for (let i = 0; i < expected.length; i++) {
    difference = Math.max(difference, Math.abs(output.data[i] - expected[i])); // keeps NaN
  }
  if (!(difference <= allowed)) {
    throw new Error(`the output differs from the prepared one by ${difference.toExponential(1)}, at most ${allowed} is allowed`);
  }
  const [n, , height, width] = shape;
  const operations = 2 * 9 * 64 * 64 * height * width * 20 * n;
  console.log(JSON.stringify({
    racer: names[model], version, threads, pictures: n, height, width, repetitions,
    median_ms: median(milliseconds), minimum_ms: Math.min(...milliseconds),
    gflops: operations / median(milliseconds) / 1e6, peak_mib: Number(status[1]) / 1024, difference,
  }));
}

const [model, folder, threads, repetitions] = process.argv.slice(2);
if (process.argv.length !== 6 || !(model in names)) {
  console.error('usage: network_onnxruntime.cjs plain|rearranged FOLDER THREADS REPETITIONS');
  process.exit(2);
}
main(model, folder, Number(threads), Number(repetitions)).catch((error) => {
  console.error(`${names[model]}: ${error.message}`);
  process.exit(1);
});
