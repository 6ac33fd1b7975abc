// Package denoise holds the mathematics of averaged networks: the integrators that
// their blocks are made of, the constants that are proven of them, and the bound of
// a convolution's norm on which all of that rests.
//
// A block takes N steps of size h/N along f(z) = −Aᵀσ(Az + b), where A is a
// convolution and σ increases with slope at most L. Nothing is assumed of the
// weights. With a proven bound of ‖A‖ (ConvolutionNorm) and the tableau's radius of
// circle contractivity (Tableau.Radius) the number of steps follows (Steps), and
// with it what the block is: nonexpansive for any tableau that has a radius,
// averaged with a known constant for Euler's method (EulerAveragedness).
//
// Sources: Sherry, Celledoni, Ehrhardt, Murari, Owren and Schönlieb, Designing
// stable neural networks using convex analysis and ODEs (Physica D, 2024), called
// the paper below; Dahlquist and Jeltsch 1979; Combettes and Yamada 2015.
package denoise
