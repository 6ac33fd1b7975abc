// Package backendtest is the compliance suite of package backend. Run tests every operation of a device on
// tables of cases and compares the results with plain float64 references. Benchmark times cases of the same
// tables at the sizes of photographs. SameBits compares two devices that must agree to the bit.
//
// # Accuracy
//
// The error measure is the normalised mean squared error, Σ(d−r)²/Σr², of the device's result d against the
// reference r. The limits and their reasons stand at the constants in accuracy.go. Operations without
// rounding, or with a rounding that the interface prescribes, must be equal to the bit: Fill, copies,
// Multiply, Clip, Upload and Download, CopyRegion, Unshuffle and Shuffle, Gaussian.
//
// # What is checked for every case
//
//   - the result, from destinations that start full of NaN unless the operation
//     reads them, so that a sample that is not written shows;
//   - sources unchanged to the bit, and the same bits when repeated;
//   - operands that are Channels views: the same bits, and the channels around
//     them unchanged; those around a source are NaN, so that reading them shows;
//   - a destination that is a source, as the same buffer and as two views of the
//     same channels, where that is allowed;
//   - ErrAlias where memory must not be shared, no error for neighbours that only
//     touch, nor for two sources that are one buffer;
//   - ErrShape for every extent that does not fit;
//   - ErrFreed (also for a view of a freed array), ErrForeign, and an error for nil
//     in place of every operand;
//   - NaN: a sample whose definition contains the NaN is NaN. No other is NaN if
//     the operation works element by element or by direct sums. In convolutions the
//     rest of a tile of ConvolutionGrid pixels may be NaN too.
//
// The last four items, and sources that are one buffer, run only on arrays of a few thousand elements and
// little work, because size makes none of them harder.
//
// In addition there are checks of memory and lifetimes, of closed devices, of arguments, of adjointness, of
// firm nonexpansiveness, of gradients against finite differences, of the bits in regions and in images that
// are cut at the grid, of contexts that end, and of concurrent use; run them with -race.
//
// # Devices that cannot do everything
//
// A case in which the device returns ErrUnsupported is skipped with that reason, unless the caller of Run
// requires its operation. Memory, including CopyRegion, Sync and Close are always required.
package backendtest
