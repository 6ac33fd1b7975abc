package strength

// LeastSigma is the noise level below which no prior becomes weaker, but that of denoising by
// total variation, which may do nothing: about what rounding to 8 bits leaves. A blur cannot be
// undone without any prior, and a network cannot be taken to no noise at all.
const LeastSigma = 0.001
