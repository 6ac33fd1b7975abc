package train

import "math"

// logarithmic tells whether the loss is logarithmicLoss of the mean squared error: where the batches of
// some iterations have many times the error of others.
func (c Config) logarithmic() bool { return c.photographs() || c.Deblur != nil && c.Guide != nil }

// logarithmicLoss is the loss for a mean squared error: a logarithm, as PSNR is, so that soft photographs
// and weak noise count as much as sharp ones and strong noise, down to 50 dB. errorScale keeps the
// gradients about as long as those of white noise.
func logarithmicLoss(mse float64) float64 { return errorScale * math.Log1p(mse/minError) }

func logarithmicLossSlope(mse float64) float64 { return errorScale / (mse + minError) }

const errorScale, minError = 4e-3, 1e-5
