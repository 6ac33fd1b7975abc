// Package estimate finds the kernel of a blur from the blurred photograph alone.
//
// It goes from coarse to fine. At every scale an image step and a kernel step take turns: the sharp
// image is the one with few edges that is the photograph when blurred (the prior ‖∇u‖₀ by
// half-quadratic splitting: Xu, Zheng and Jia 2013; Pan, Hu, Su and Yang 2014; Anger, Facciolo and
// Delbracio 2019), and the kernel fits the photograph's differences best among those that are not
// negative. What lies beyond the frame, and what is clipped, is not fitted.
//
// How large the kernel is is found as well, whether the photograph is blurred at all, whether a
// simple shape explains it as well, and how far parts of the photograph agree.
package estimate
