package estimate

// minWithout is what the objective without a kernel has to be at least, in units of that with it, for the photograph to be
// blurred. Of 53 published blurred photographs it was 0.95 and more. Of 27 sharp files with an estimated kernel 14 had less,
// 0.52 to 0.92 (docs/notebook/kernel-estimation.md).
const minWithout = 0.93

// pays says whether the kernel s explains the photograph about as well as no blur, or better. A kernel
// pays where one sharp difference takes the place of the many of a blurred edge. A sharp photograph has no differences to
// save, and its details are sharper than what the kernel can make. Texture is explained alike by both.
func (e *estimation) pays(levels []*level, s support) (bool, error) {
	// With less λ, noise would be explained by edges, of which no blur allows more than any kernel.
	edges := e.edges
	edges.lambda = max(edges.lambda, lastEdgesFor(e.sigma).lambda)
	with, err := e.objective(levels, s, edges)
	if err != nil {
		return false, err
	}
	without, err := e.objective(levels, point(s.r), edges)
	return without >= minWithout*with, err
}

// objective is what the image step minimises, with the differences of the photograph in the place of its samples, which
// low frequencies would decide: ‖k∗∇u − ∇v‖² + λ‖∇u‖₀ where the photograph is known, for the image u that is found for k
// with the prior edges.
func (e *estimation) objective(levels []*level, s support, edges edgePrior) (float64, error) {
	m, err := explained(levels, s, edges)
	if err != nil {
		return 0, err
	}
	return edges.objective(levels, m), nil
}

// objective is that of the image that levels hold, whose moments are m.
func (edges edgePrior) objective(levels []*level, m *moments) float64 {
	betas := edges.couplings()
	sum := m.left
	for _, l := range levels {
		sum += edges.lambda * float64(l.steps(edges.lambda/betas[len(betas)-1]))
	}
	return sum
}

// steps counts the known samples where the squares of the sharp image's differences sum to least or more: to what the last
// step of the splitting does not drop.
func (l *level) steps(least float64) int {
	n := 0
	for i, known := range l.known {
		if a, b := float64(l.x[0][i]), float64(l.x[1][i]); known && float64(a*a)+float64(b*b) >= least {
			n++
		}
	}
	return n
}

// point is the kernel of no blur.
func point(r int) support {
	s := newSupport(r)
	s.k[len(s.k)/2] = 1
	return s
}
