package record

import "github.com/averaged/imaging/internal/evaluation"

// Eval is a JSON object of eval: about an image, which Input names, or the means
// over Images of them.
type Eval struct {
	Schema  int      `json:"schema"`
	Command string   `json:"command"`
	Input   string   `json:"input,omitempty"`
	Images  int      `json:"images,omitempty"`
	Method  string   `json:"method,omitempty"`
	Network *Network `json:"network,omitempty"`
	// Task is that of inpainting; deblurring has a kernel.
	Task     string `json:"task,omitempty"`
	Kernel   string `json:"kernel,omitempty"`
	Boundary string `json:"boundary,omitempty"`
	Mask     string `json:"mask,omitempty"`
	Missing  Number `json:"missing,omitempty"` // share of the pixels, without a mask
	Sigma    Number `json:"sigma"`
	// Blind: the method was not told sigma.
	Blind bool `json:"blind"`
	// Seed is that of the image, and of the first one in means.
	Seed *uint64 `json:"seed,omitempty"`
	// Error says what went wrong; nothing below is set then.
	Error string `json:"error,omitempty"`
	*EvalScore
}

// EvalScore is what was measured.
type EvalScore struct {
	Noisy   Number `json:"psnr_noisy"`
	PSNR    Number `json:"psnr"`
	SSIM    Number `json:"ssim"` // null below 11×11
	Seconds Number `json:"seconds"`
}

// EvalScoreOf describes a score.
func EvalScoreOf(s evaluation.Score) *EvalScore {
	return &EvalScore{Number(s.Noisy), Number(s.PSNR), Number(s.SSIM), Number(s.Seconds)}
}
