// Package denoise says what a denoiser is, and makes averaged networks: as plain numbers with a certificate, and on a
// device.
//
// A block takes N steps of size h/N along f(z) = −Aᵀσ(Az + b). A is a convolution, and the activation σ is the
// gradient of a convex function with the Lipschitz constant L (package activation). The weights may be anything. The
// number of steps follows from a proven bound of ‖A‖ (package normbound) and from the radius of circle contractivity
// of a Runge–Kutta method (package rungekutta). A block is then nonexpansive for any tableau with a radius, averaged
// with a known constant for Euler's method (averaged.EulerStep), and firmly nonexpansive for its implicit variant
// (rungekutta.BackwardEuler).
//
// A Model is such a network as plain numbers. A weight file holds one (FromFile, Model.File). Model.Certify computes
// its constants with proofs and returns a Certificate. Load puts the network of a file on a device as a Network, and
// refuses one whose certificate does not hold:
//
//	file, err := weights.Read(f)
//	phi, err := denoise.Load(ctx, dev, file)
//	fmt.Println(phi.Certificate())
//	err = phi.Apply(ctx, dst, src)
//
// Relax, Rescale and Grey wrap one denoiser into another and carry its certificate along. Package refute looks for
// counterexamples to a certificate. Package dncnn has the unconstrained network to compare with.
//
// # All noise levels
//
// A block can multiply σ(Az + b) by gains in [0, 1], one for each channel. If the activation is positively
// homogeneous, that is a block of the same kind with a smaller A. So one network can serve all noise levels. It has
// biases and gains, or with Balls biases and radii, for some of them (Model.Sigmas). All levels share the filters,
// and one certificate holds for every level. Model.At makes the plain network for one level, and Network.For puts it
// on the device.
//
// # Guided networks
//
// A block may project onto balls of any radii, 0 or more, because the product of the balls of all pixels and groups
// is convex. So a network may be frozen with radii for every pixel of one photograph (Network.Freeze), and it keeps
// its constant for any radii. Model.Guide is a network that looks at the photograph once and chooses them
// (Network.Guide, package guide). Nothing is proven of it:
//
//	radii, err := phi.Guide(ctx, photograph, sigma, 1)
//	frozen, err := phi.Freeze(radii) // for images of this shape
//	err = frozen.Apply(ctx, dst, photograph)
//
// The certificate is of the frozen network. The map that takes a photograph through its guide and the network that
// this froze is not nonexpansive.
//
// # Fewer pixels
//
// Rearranging q×q pixels into q² channels (Model.Shuffle) is an isometry. So a network keeps every constant if it
// works on a quarter of the pixels, where its 3×3 filters see twice as far.
//
// # Tiles
//
// Apply computes an image tile by tile (Tile), so that the tile bounds the scratch memory. The result has the same
// bits for every tile. A tile is computed from a larger window, which grows with every convolution by a pixel, or by
// a whole tile of the device's ConvolutionGrid. So networks of many stages take larger windows, or more time, than
// Euler's method; rungekutta.BackwardEuler takes the most. With Model.Shuffle these are coarse pixels.
//
// # The same network in PyTorch
//
// With load_torch of package weights, which returns metadata and tensors, and json, math,
// torch and torch.nn.functional as F imported, a network of the family "averaged" with
// the activation "leakyrelu", "relu" or "balls" is
//
//	def network(metadata, t, x):  # x has the shape (batch, channels, height, width)
//	    card = lambda key, absent=None: json.loads(metadata.get("averaged." + key, absent))
//	    q, (rows, columns) = card("shuffle", "1"), x.shape[2:]
//	    z = F.pixel_unshuffle(F.pad(x, (0, -columns % q, 0, -rows % q)), q)
//	    z = F.pad(z, (0, 0, 0, 0, 0, card("width") - z.shape[1]))
//	    for i, (h, n) in enumerate(zip(card("step_sizes"), card("steps"))):
//	        A, b, r = (t.get(f"blocks.{i}.{of}") for of in ("weight", "bias", "radius"))
//	        p = card("kernel_size") // 2
//	        act = lambda u: F.leaky_relu(u, card("activation_slope")) if r is None else balls(u, r)
//	        f = lambda z: -F.conv_transpose2d(act(F.conv2d(z, A, b, padding=p)), A, padding=p)
//	        for _ in range(n):
//	            z = STEP[metadata["averaged.integrator"]](f, z, h / n)
//	    z = F.pixel_shuffle(z[:, :q * q * card("channels")], q)
//	    return z[:, :, :rows, :columns]
//
// where the projection of groups of channels onto balls is
//
//	def balls(u, radius):
//	    v = u.reshape(len(u), len(radius), -1, *u.shape[2:])
//	    size = v.norm(dim=2, keepdim=True).clamp(min=1e-38)  # 0 / 0 is no number
//	    return (v * (radius[:, None, None, None] / size).clamp(max=1)).reshape(u.shape)
//
// and the integrators are functions, such as
//
//	STEP = {"euler": lambda f, z, h: z + h * f(z)}
//
// Where the file has noise levels, t is made by
//
//	def at(metadata, t, sigma):  # the tensors for one noise level of a network with "averaged.sigmas"
//	    s = [math.log(level) for level in json.loads(metadata["averaged.sigmas"])]
//	    x = min(max(math.log(sigma), s[0]), s[-1])
//	    i = max(k for k, level in enumerate(s) if level <= x)
//	    j = min(i + 1, len(s) - 1)
//	    row = lambda table: torch.lerp(table[i], table[j], (x - s[i]) / (s[j] - s[i] or 1))
//	    plain = {name: sigma * row(t[name]) for name in t if name.endswith((".bias", ".radius"))}
//	    for name in filter(lambda name: name.endswith(".weight"), t):
//	        gain, bias = name.replace("weight", "gain"), name.replace("weight", "bias")
//	        root = row(t[gain]).sqrt() if gain in t else torch.ones(len(t[name]))
//	        plain[name] = root[:, None, None, None] * t[name]
//	        if bias in t:
//	            plain[bias] = root * plain[bias]
//	    return plain
//
// and a network of the family "dncnn" is
//
//	def dncnn(metadata, t, x):
//	    conv = lambda z, name: F.conv2d(z, t[name + ".weight"], t.get(name + ".bias"), padding="same")
//	    stored = ("running_mean", "running_var", "weight", "bias")
//	    norm = lambda z, name: F.batch_norm(z, *(t[f"{name}.{of}"] for of in stored))
//	    z = F.relu(conv(x, "lift"))
//	    for i in range(json.loads(metadata["averaged.blocks"])):
//	        z = F.relu(norm(conv(z, f"convs.{i}"), f"norms.{i}"))
//	    return x - conv(z, "project")
//
// weights/testdata/check_network.py holds these lines, and a test compares what they give
// with this package.
//
// Sources: Sherry, Celledoni, Ehrhardt, Murari, Owren and Schönlieb, Designing
// stable neural networks using convex analysis and ODEs (Physica D, 2024), called
// the paper below; Dahlquist and Jeltsch, Generalized disks of contractivity for explicit
// and implicit Runge-Kutta methods (1979); Bauschke and Combettes, Convex analysis and
// monotone operator theory in Hilbert spaces (2011, second edition 2017); Combettes and
// Yamada 2015.
package denoise
