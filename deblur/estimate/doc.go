// Package estimate finds the kernel of a blur from the blurred photograph alone.
//
// It works from coarse to fine. At every scale image steps and kernel steps alternate. The image step finds a
// sharp image with few edges that the blur turns into the photograph (the prior ‖∇u‖₀ by half-quadratic
// splitting: Xu, Zheng and Jia 2013; Pan, Hu, Su and Yang 2014; Anger, Facciolo and Delbracio 2019). The
// kernel step finds the kernel without negative weights that fits the photograph's differences best. Samples
// beyond the frame, clipped samples, and those near samples that are clipped at white are not fitted. But a
// sample that is clipped at white is at least white.
//
// The package also finds the size of the kernel, whether the photograph is blurred at all, whether a simple
// shape explains it as well, and how far parts of the photograph agree.
package estimate
