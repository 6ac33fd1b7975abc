// Package normbound proves bounds of the norms of convolutions, rounding included.
package normbound
