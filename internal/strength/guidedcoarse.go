package strength

// GuidedCoarseLevel is the level of a network with a guide for coarse noise that is estimated as
// sigma. On photographs of cameras, developed and compressed by them, the true level is 1.3 times
// the estimated one at the median, and a guide that is told too much keeps texture all the same, so
// that the true level is the best for it; the estimate is for networks without one, which are better
// told too little (NOTEBOOK.md).
func GuidedCoarseLevel(sigma float64) float64 { return 1.25 * sigma }
