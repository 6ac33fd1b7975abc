package main

import "github.com/averaged/imaging/internal/networks"

// The methods that are used where none is named: by denoise, by deblur and check, and by inpaint and upscale.
func defaultMethod() string       { return networks.DefaultMethod() }
func defaultPrior() string        { return networks.DefaultPrior() }
func defaultInversePrior() string { return networks.DefaultInversePrior() }
