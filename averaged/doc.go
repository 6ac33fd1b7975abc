// Package averaged is the algebra of averaged operators: the constants of steps, compositions, relaxations
// and contractions, and the bounds of an iteration that follow from them.
//
// A map Φ of a Hilbert space is α-averaged if Φ = (1−α)·id + α·T with T nonexpansive, or equivalently
//
//	‖Φx − Φy‖² ≤ ‖x − y‖² − (1−α)/α·‖(x − Φx) − (y − Φy)‖².
//
// The functions take and return such constants, each rounded up so that it is proven: 0 is the identity (plus
// a constant), 1 is any nonexpansive map, and +Inf means that nothing is proven, not even that the map is
// nonexpansive. An argument that is no such constant (negative, above 1, NaN) counts as +Inf.
//
// Every theorem about averaged maps that the project uses stands here, once, with its source: Bauschke and
// Combettes, Convex analysis and monotone operator theory in Hilbert spaces (2011, second edition 2017);
// Combettes and Yamada, Compositions and convex combinations of averaged nonexpansive operators (2015);
// Sherry, Celledoni, Ehrhardt, Murari, Owren and Schönlieb, Designing stable neural networks using convex
// analysis and ODEs (2024), called the paper.
package averaged
