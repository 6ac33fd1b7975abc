package estimate

import "math"

// texture is the part of a photograph that the edges of the image step do not explain: noise, and
// differences with the same variance at all frequencies, under the same blur. A frequency that the
// blur weakens has weaker texture too. So without noise all frequencies determine the kernel with
// the same relative accuracy, and the weak ones, which deblurring amplifies, count as much as others.
type texture struct {
	variance float64 // of each difference, before the blur; 0: all frequencies weigh the same
	noise    float64 // variance of the noise in a sample
}

// minPower is added to |K|². Where that is small it is not known exactly, and the edges of the image step are
// sharper than those of photographs. If such frequencies weigh much, the errors move to low frequencies, where
// photographs have most of their power.
const minPower = 0.05

// weight is that of a frequency in generalised least squares (Aitken 1935), the inverse of the
// variance of a difference: power is |K|² there, and rough |1 − exp(iθ)|², the spectrum of the
// differences of white noise, along rows and columns together.
func (t texture) weight(power, rough float64) float64 {
	return t.variance / (float64(t.variance*(power+minPower)) + float64(t.noise*rough))
}

// textureOf returns the texture of a photograph. m has the residual under the kernel s.
func textureOf(m *moments, s support, sigma float64) texture {
	// What is left of a difference is noise of variance 2σ² and texture under the blur.
	const minTexture = 0.05 // of it
	left := m.left / m.data
	return texture{variance: max(left-float64(2*sigma*sigma), float64(minTexture*left)) / s.energy(), noise: sigma * sigma}
}

// finishing is how the last steps are made.
var finishing = struct {
	free, bound int     // steps anywhere in the support, and on what these leave
	momentum    float64 // share of the last change of the kernel that is added to it before a step
	threshold   float64 // of the weights at the end
	lens        float64 // variance of the blur that all photographs bear
	soft        int     // steps with the blur of softLens
	softLens    float64
	maxLeft     float64 // how much more of the differences' squares these may leave
}{free: 12, bound: 6, momentum: 0.85, threshold: 0.01, lens: 0.16, soft: 4, softLens: 0.4, maxLeft: 1.03}

// finish makes steps at full size from a kernel of any form that is nearly right, weighted as the
// texture asks. The last ones are on what is found of the kernel and the samples around it, without
// the ℓ1 term, which takes weight from all alike.
//
// The edges of the image step are sharper than those of photographs, which were taken through a lens. The kernel would
// then contain the blur of the lens too. So where there is almost no noise, the sharp image is softened: by what all
// photographs bear, and then, in soft more steps, by more, if the photograph is explained as well.
//
// A wide support has islands that texture and edges that repeat make. If the largest island alone, with its own last steps, explains
// a photograph with almost no noise as well by Schwarz's criterion (1978), it is the kernel. In noise the kernels of shakes
// are cut into islands themselves, and hardly one of them by itself would pay.
func (e *estimation) finish(levels []*level, s support, soft int) (support, error) {
	all, err := e.lastSteps(levels, s, nil, soft)
	if err != nil {
		return all, err
	}
	largest := all.largestIsland().centred()
	if e.sigma >= calm || all.extent() <= largest.extent()+2 {
		return all, nil
	}
	one, err := e.lastSteps(levels, largest, largest.square(largest.reach()+1), soft)
	if err != nil {
		return all, err
	}
	var m [2]*moments
	for i, k := range []support{all, one} {
		if m[i], err = explained(levels, k, lastEdgesFor(e.sigma)); err != nil {
			return all, err
		}
	}
	if m[1].left-m[0].left <= m[0].schwarz(all.count()-one.count()) {
		return one.centred(), nil
	}
	return all, nil
}

// schwarz is by how much more a kernel may leave that has a number of weights less (Schwarz 1978).
func (m *moments) schwarz(saved int) float64 {
	return float64(saved) * math.Log(m.data) * m.left / m.data
}

// lastSteps makes the steps of finish, the first ones where within says, or anywhere in the support if it is nil.
func (e *estimation) lastSteps(levels []*level, s support, within []bool, soft int) (support, error) {
	edges, kernel := lastEdgesFor(e.sigma), tuned.kernel
	kernel.within = within
	kernel.ridge = lastRidgeFor(e.sigma)
	lens := 0.0
	if e.sigma < calm {
		lens = finishing.lens
	}
	var t texture
	var sharper support
	last := s
	left := 0.0
	for i := range finishing.free + finishing.bound + soft {
		if i >= finishing.free {
			kernel.sparsity, kernel.within = 0, s.cleaned(tuned.threshold, islandFor(e.sigma)).around()
		}
		if i == finishing.free+finishing.bound {
			if lens == 0 {
				break
			}
			sharper, lens = s, finishing.softLens
		}
		if i == finishing.free || i == finishing.free+finishing.bound {
			last = s // another problem begins
		}
		next, m, err := e.step(levels, s.beyond(last, finishing.momentum), edges, lens, t, kernel)
		if err != nil {
			return s, err
		}
		if m.data == 0 {
			return s, nil // all is clipped
		}
		if i < finishing.free+finishing.bound {
			left = m.left / m.data
		} else if i == finishing.free+finishing.bound+soft-1 && m.left/m.data > finishing.maxLeft*left {
			next = sharper
		}
		t, last, s = textureOf(m, s, e.sigma), s, next
	}
	return s.cleaned(finishing.threshold, islandFor(e.sigma)).centred(), nil
}

// beyond returns the kernel moved on by a share of the way that it came from another one. Weights stay at 0 or above.
func (s support) beyond(from support, share float64) support {
	t := newSupport(s.r)
	for i, v := range s.k {
		t.k[i] = max(v+float64(share*(v-from.k[i])), 0)
	}
	t.normalise()
	return t
}

// around says where a weight above 0 is, or one beside it, corners included.
func (s support) around() []bool {
	n := s.side()
	all := make([]bool, n*n)
	for i, v := range s.k {
		if v == 0 {
			continue
		}
		for y := max(i/n-1, 0); y <= min(i/n+1, n-1); y++ {
			for x := max(i%n-1, 0); x <= min(i%n+1, n-1); x++ {
				all[y*n+x] = true
			}
		}
	}
	return all
}
