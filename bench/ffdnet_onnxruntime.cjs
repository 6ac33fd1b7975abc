// ONNX Runtime in the race of ffdnet.sh:
//
//   node ffdnet_onnxruntime.cjs MODEL WIDTH HEIGHT THREADS REPETITIONS
//
// Prints the median of the milliseconds of REPETITIONS passes, after two that are not counted. The
// module onnxruntime-node is looked for in PEERS/node/node_modules, with PEERS as the environment says
// or else peers in the home folder.
'use strict';
const os = require('os');
const path = require('path');

async function main(model, width, height, threads, repetitions) {
  const modules = path.join(process.env.PEERS || path.join(os.homedir(), 'peers'), 'node', 'node_modules');
  const ort = require(path.join(modules, 'onnxruntime-node'));
  const session = await ort.InferenceSession.create(model, {
    executionProviders: ['cpu'], graphOptimizationLevel: 'all', executionMode: 'sequential',
    intraOpNumThreads: threads, interOpNumThreads: 1,
  });
  const data = Float32Array.from({ length: 3 * height * width }, (_, i) => ((i * 7919) % 256) / 255);
  const input = new ort.Tensor('float32', data, [1, 3, height, width]);
  const times = [];
  for (let i = 0; i < repetitions + 2; i++) {
    const begin = performance.now();
    const { output } = await session.run({ input });
    if (output.data.length !== data.length) throw new Error(`an output of ${output.data.length} numbers`);
    if (i >= 2) times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  console.log((times[(times.length - 1) >> 1] + times[times.length >> 1]) / 2);
}

const [model, ...numbers] = process.argv.slice(2);
main(model, ...numbers.map(Number)).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
