// Package classifier has the two classifiers of the paper's experiment on adversarial robustness,
// with what trains them, attacks them and proves their margins.
//
// # The networks
//
// The paper's section 4.2 writes Φ = A_lin ∘ pool ∘ ⃝ [Ξ ∘ pool₂ ∘ A_lift]. Its numbers of
// parameters, 254,810 and 497,290, are those of channels 3 → 16 → 32 → 64 → 128, with a lift
// before each of the three stages Ξ and one after the last, biases everywhere, and a linear layer
// of 128 to 10. So the stages work on 32×32, 16×16 and 8×8 pixels. A mean over pixels commutes
// with a 1×1 convolution and its bias, and is done first where there is a choice.
//
// # Gradients
//
// Stages and convolutions are parts of package train; pooling, the residual blocks and the losses
// have theirs here, compared with finite differences in float64.
//
// Source: Sherry et al. 2024 (see package train), sections 4.1 and 4.2. Attack: Madry et al. 2018.
// Certified radius: Tsuzuku, Sato and Sugiyama 2018.
package classifier
