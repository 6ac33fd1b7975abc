// Package normbound proves bounds of the norms of convolutions, rounding included. It is public for whoever
// trains other Lipschitz networks than those of package denoise, as the paper's classifier is one.
package normbound
