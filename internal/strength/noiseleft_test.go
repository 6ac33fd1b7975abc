package strength

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Noise that goes as the level is raised was noise, and what stays is texture, which gets the level back that it had.
func TestJudgeNoiseLeft(t *testing.T) {
	const sigma = 0.005
	type step struct {
		level, factor float64
		again         bool
	}
	for name, steps := range map[string][]step{
		"a clean result":          {{0.004, 1, false}},
		"noise that goes at once": {{0.02, louder, true}, {0.003, afterwards, false}, {0.1, 1, false}},
		"noise that goes late":    {{0.05, farLouder, true}, {0.048, louder, true}, {0.044, louder, true}, {0.004, afterwards, false}},
		"noise that goes in part": {{0.18, farLouder, true}, {0.16, farLouder, true}, {0.14, louder, true}, {0.04, afterwards, false}},
		"a lot of noise":          {{0.12, farLouder, true}, {0.002, afterwards, false}},
		"texture that stays":      {{0.018, louder, true}, {0.017, 1 / louder, true}, {0.02, 1, false}},
		"noise, and texture beside it": {
			{0.04, farLouder, true}, {0.015, louder, true}, {0.014, 1 / louder, true}, {0.02, 1, false},
		},
		"gravel": {
			{0.12, farLouder, true}, {0.11, farLouder, true}, {0.1, louder, true},
			{0.09, 1 / (farLouder * farLouder * louder), true}, {0.1, 1, false},
		},
	} {
		var n NoiseLeft
		at := sigma
		for i, s := range steps {
			factor, again := n.Judge(s.level, at)
			at *= factor
			require.Equal(t, s.factor, factor, "%s, run %d", name, i)
			require.Equal(t, s.again, again, "%s, run %d", name, i)
		}
		require.LessOrEqual(t, len(steps), MaxRepeats+2)
	}
	var n NoiseLeft
	factor, again := n.Judge(0.015, 0.03)
	require.Equal(t, 1.0, factor, "of a run for twice as much noise")
	require.False(t, again)
}
