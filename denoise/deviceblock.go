package denoise

import (
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/nn/ondevice"
	"github.com/averaged/imaging/internal/nn/tile"
)

// deviceBlock is a block on a device.
type deviceBlock struct {
	filter     backend.Filter
	bias       backend.Buffer // or nil
	activation backend.Activation
	balls      backend.Buffer // radii of a projection after the convolution, or nil
	step       float32        // h/N
	steps      int            // N
}

// newDeviceBlocks puts the blocks on a device. The numbers of steps are those of the
// certificate, or where nothing is proven those of the model.
func newDeviceBlocks(dev backend.Device, m Model, r float64, c Certificate) (_ []deviceBlock, err error) {
	blocks := make([]deviceBlock, 0, len(m.Blocks))
	total := 0
	defer func() {
		if err != nil {
			freeDeviceBlocks(blocks)
		}
	}()
	for i, from := range m.Blocks {
		b := deviceBlock{steps: from.Steps}
		if c.Proven {
			b.steps = c.Blocks[i].Steps
		}
		if b.steps == 0 {
			if !m.implicit() {
				return nil, fmt.Errorf("block %d has no number of steps: Certify chooses one", i)
			}
			b.steps = 1 // any number is nonexpansive
		}
		if total += b.steps; total > maxTotalSteps {
			return nil, fmt.Errorf("more than %d steps in all", maxTotalSteps)
		}
		b.step = rungekutta.StepSize(from.length(r), b.steps)
		b.activation = m.Activation.Device()
		if b.filter, err = ondevice.Filter(dev, m.filterShape(from), from.Filter); err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
		if blocks[i].bias, err = ondevice.Vector(dev, from.Bias); err != nil {
			return nil, err
		}
		radii := from.Radius
		if radii == nil {
			radii = m.Activation.Radii(b.hidden())
		}
		if blocks[i].balls, err = ondevice.Vector(dev, radii); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

func freeDeviceBlocks(blocks []deviceBlock) {
	for _, b := range blocks {
		b.filter.Free()
		for _, v := range []backend.Buffer{b.bias, b.balls} {
			if v != nil {
				v.Free()
			}
		}
	}
}

// hidden returns the number of channels of Az.
func (b deviceBlock) hidden() int { return b.filter.Shape().N }

// radius returns ⌊K/2⌋.
func (b deviceBlock) radius() int { return max(b.filter.Shape().H, b.filter.Shape().W) / 2 }

// forward sets u = σ(Az + b).
func (b deviceBlock) forward(dev backend.Device, u, z backend.Buffer) error {
	if err := dev.Convolve(u, z, b.filter, backend.ConvEnd{Bias: b.bias, Activation: b.activation}); err != nil {
		return err
	}
	if b.balls == nil {
		return nil
	}
	return dev.ProjectBalls(u, u, b.balls)
}

// widest returns the largest number of hidden channels.
func widest(blocks []deviceBlock) int {
	n := 0
	for _, b := range blocks {
		n = max(n, b.hidden())
	}
	return n
}

// hiddenBuffer returns a buffer for Az, kept from one layer to the next where the
// numbers of channels agree.
func hiddenBuffer(s *tile.Scratch, old backend.Buffer, b deviceBlock, like backend.Shape) (backend.Buffer, error) {
	if old != nil && old.Shape().C == b.hidden() {
		return old, nil
	}
	if old != nil {
		old.Free()
	}
	like.C = b.hidden()
	return s.Alloc(like)
}
