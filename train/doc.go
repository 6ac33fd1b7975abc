// Package train trains the networks of package denoise by gradient descent on the mean squared error, on any
// device.
//
// A run is a folder. Create makes one from a Config and Data, and Open resumes an interrupted one. Run.Train
// continues until the end or until its context ends, and Run.Finish writes the weight file with its
// certificate:
//
//	photographs, leftOut, err := train.ReadPictures(ctx, "photographs", decode, 3, 64)
//	run, err := train.Create(dev, "run", train.DefaultConfig(), train.Data{Training: photographs})
//	err = run.Train(ctx, nil)
//	path, certificate, err := run.Finish(ctx, card)
//
// # What a run folder holds
//
//   - config.json: the Config.
//   - metrics.jsonl: a Metrics object a line.
//   - checkpoint.safetensors: everything that the next iteration depends on. It is written
//     to a temporary file, flushed to the disk and renamed, so that there is always a whole
//     one after the first.
//   - weights.safetensors: the weight file, after Run.Finish.
//
// A run that was interrupted and resumed gives the same bits as one that was not, on the same device and
// instruction set, for any number of threads. Every random number comes from one seeded generator whose state
// is in the checkpoint, and the operations of a device are deterministic. Only images_per_second in the
// metrics differs. RangeTest finds learning rates before a run.
//
// # Networks and their constraints
//
// An averaged network (denoise.Model) is trained under one of two constraints. The paper's, Adaptive, leaves
// the weights free, and the number of steps of a block follows its norm, so the network deepens during
// training. Budget normalises inside the graph, W = V·c/‖V‖ with a learned c below a fixed limit, and keeps
// one step. Both estimate ‖V‖ by one warm-started power iteration for each update of the weights, which is a
// lower bound. Proven bounds come afterwards, from denoise.Model.Certify. DnCNN is trained without
// constraint.
//
// Config.Group projects groups of hidden channels onto balls of learned radii instead of LeakyReLU.
// Config.Shuffle makes the blocks work at a fraction of the resolution. Config.Levels makes biases and radii
// (or gains) depend on the noise level through a table. Package denoise says why all of them keep the proofs.
// Config.Guide makes a network without any constraint set the radii at every pixel of a photograph; it is
// trained together with the averaged one (GuidedConfig).
//
// # Other networks
//
// Part is a piece of a network that is no denoiser: a Layer is a convolution, and a Stage an averaged network
// under Adaptive. Descent changes the parameters of all parts.
//
// # Gradients
//
// They are written by hand, layer by layer (package pullback, dncnn.go), with the operations of package
// backend alone, and compared with finite differences in float64 and with PyTorch.
//
// Sources: Sherry, Celledoni, Ehrhardt, Murari, Owren and Schönlieb, Designing stable neural networks using
// convex analysis and ODEs (Physica D, 2024), section 3, called the paper below; Smith and Topin 2018
// (schedule and range test); Miyato, Kataoka, Koyama and Yoshida 2018 (gradient through a norm from a warm
// power iteration); Kingma and Ba 2015, Loshchilov and Hutter 2019 (Adam, AdamW); Jordan et al. 2024,
// Bernstein and Newhouse 2024 (Muon); Polyak and Juditsky 1992 (averages of weights).
package train
