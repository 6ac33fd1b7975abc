package train

import (
	"encoding/hex"
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// generator is the one source of random numbers of a run. Its algorithm (PCG, O'Neill
// 2014) and what is made of its bits are fixed, so that a seed means the same run with
// every version.
type generator struct{ pcg *rand.PCG }

// stream keeps a run's numbers apart from those of other programs with the same seed.
const stream = 0x7472_6169_6e69_6e67

func newGenerator(seed uint64) *generator { return &generator{rand.NewPCG(seed, stream)} }

func (g *generator) bits() uint64 { return g.pcg.Uint64() }

// below returns a whole number in [0, n), n ≥ 1: the high word of a product (Lemire
// 2019), whose bias of n/2⁶⁴ no run is long enough to show.
func (g *generator) below(n int) int {
	high, _ := bits.Mul64(g.bits(), uint64(n))
	return int(high)
}

// uniform returns a number in [0, 1).
func (g *generator) uniform() float64 { return float64(g.bits()>>11) * 0x1p-53 }

// state returns the state as text, for a checkpoint.
func (g *generator) state() (string, error) {
	b, err := g.pcg.MarshalBinary()
	return hex.EncodeToString(b), err
}

func (g *generator) restore(state string) error {
	b, err := hex.DecodeString(state)
	if err == nil {
		err = g.pcg.UnmarshalBinary(b)
	}
	if err != nil {
		return fmt.Errorf("state %.80q of the random numbers: %w", state, err)
	}
	return nil
}

// clone returns a generator that goes on as g does.
func (g *generator) clone() *generator {
	c := *g.pcg
	return &generator{&c}
}
