package train

import "time"

// pace measures how fast iterations are. The clock is in no way part of what is learned.
type pace struct {
	imagesEach      int
	iterations      int
	spent           time.Duration
	sinceIterations int // since images was asked
	sinceSpent      time.Duration
}

func newPace(imagesEach int) *pace { return &pace{imagesEach: imagesEach} }

func (p *pace) add(d time.Duration) {
	p.iterations++
	p.sinceIterations++
	p.spent += d
	p.sinceSpent += d
}

// images returns the images per second since the last call.
func (p *pace) images() float64 {
	n, d := p.sinceIterations, max(p.sinceSpent, time.Nanosecond)
	p.sinceIterations, p.sinceSpent = 0, 0
	return float64(n*p.imagesEach) / d.Seconds()
}

// remaining returns how long that many iterations take.
func (p *pace) remaining(iterations int) time.Duration {
	if p.iterations == 0 {
		return 0
	}
	return time.Duration(float64(p.spent) / float64(p.iterations) * float64(iterations))
}
