// Package guide is the network that looks at a photograph and says how large the balls of an
// averaged network's projections are (package denoise), for every pixel and every group of
// channels. Nothing is proven of it, and nothing has to be: the averaged network is averaged
// with the same constant whatever it says.
//
// It is a U of residual blocks. On the way down every scale has one, x + C₂σ(C₁x + c₁) + c₂
// with 3×3 convolutions and LeakyReLU σ, and hands on half the resolution: 2×2 pixels become
// channels, and a 1×1 convolution mixes them. On the way up the same the other way about, and
// what the way down had at this scale is added. A last convolution makes the numbers x, of which the factor of a
// radius is exp(L·tanh(x/L)), L = Limit, and MaxFactor at most. With a number for every scale and layer,
//
//	z₀ = in(units(y), σ),  a_i = enter_i(z_i),  z_{i+1} = down_i(unshuffle(a_i)),
//	b_S = leave_S(a_S),    b_i = leave_i(a_i + shuffle(up_i(b_{i+1}))),   x = out(b₀).
//
// Sources: Ronneberger, Fischer and Brox 2015 (the U); He, Zhang, Ren and Sun 2015 and 2016
// (residual blocks, and how large weights begin); Shi et al. 2016 (pixels as channels).
package guide
