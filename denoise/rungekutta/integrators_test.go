package rungekutta

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIntegratorNames(t *testing.T) {
	for _, tableau := range Integrators() {
		named, err := Named(tableau.Name)
		require.NoError(t, err)
		require.Equal(t, tableau, named)
		require.True(t, tableau.IsNamed())
		_, err = tableau.Radius()
		require.NoError(t, err)
	}
	_, err := Named("midpoint")
	require.ErrorContains(t, err, "backward-euler")
	require.False(t, midpoint.IsNamed())
	require.False(t, Tableau{Name: "euler", A: midpoint.A, B: midpoint.B}.IsNamed())
	require.True(t, ForwardEuler().IsEuler())
	require.False(t, BackwardEuler().IsEuler())
	require.True(t, backwardEuler.IsBackwardEuler(), "whatever its name")
}
