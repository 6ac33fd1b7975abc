package record

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// JSON has no infinities, and strings of it hold UTF-8 only.
func TestWhatJSONCannotHold(t *testing.T) {
	text, err := json.Marshal([]Number{0.1, Number(math.Inf(1)), Number(math.NaN()), 1e-7})
	require.NoError(t, err)
	require.Equal(t, "[0.1,null,null,1e-07]", string(text))
	require.Nil(t, ExactNames("input", "größe.png", "output", ""))
	require.Equal(t, Names{"output": []byte("n\xff.png")}, ExactNames("input", "a.png", "output", "n\xff.png"))
}

// No more is claimed than a certificate proves, and of a run that was stopped nothing about its result.
func TestClaim(t *testing.T) {
	require.Equal(t, "nothing proven", (&Certificate{Averagedness: 0.5}).Claim(true))
	require.Equal(t, "0.5-averaged", (&Certificate{Proven: true, Averagedness: 0.5}).Claim(true))
	require.Equal(t, "nonexpansive", (&Certificate{Proven: true, Averagedness: 1}).Claim(true))
	c := &Certificate{Proven: true, Averagedness: 0.5, iterationCertificate: &iterationCertificate{}}
	require.Equal(t, "convergence not proven", c.Claim(true))
	c.Converges = true
	require.Equal(t, "proven to converge in exact arithmetic, not as rounded", c.Claim(true))
	require.Equal(t, "with more iterations it converges in exact arithmetic (proven)", c.Claim(false))
	c.RoundingCovered = true
	require.Equal(t, "convergence proven", c.Claim(true))
}
