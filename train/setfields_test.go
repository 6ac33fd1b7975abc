package train

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSetFields(t *testing.T) {
	before := DefaultConfig()
	before.Seed = 1<<63 + 1 // more digits than a float64 has
	text, err := MarshalConfig(before)
	require.NoError(t, err)
	changed, err := SetFields(text, []string{"optimiser.weight_decay=1e-4", "augment=false", "OPTIMISER.name=adam", `schedule.name="cosine"`})
	require.NoError(t, err)
	c, err := UnmarshalConfig(changed)
	require.NoError(t, err)
	want := before
	want.Optimiser.WeightDecay, want.Augment, want.Optimiser.Name, want.Schedule.Name = 1e-4, false, Adam, Cosine
	require.Equal(t, want, c)

	for assignment, says := range map[string]string{
		"width": "width: want KEY=VALUE, as in augment=false", "=1": "=1: want KEY=VALUE, as in augment=false",
		"width.x=1": "width.x=1: width has no fields",
	} {
		_, err := SetFields(text, []string{assignment})
		require.EqualError(t, err, says)
	}
	for assignment, says := range map[string]string{
		"width=wide": "configuration: width is a string, must be a whole number in range", "augment=1": "configuration: augment is a number, must be true or false",
		"depth=1": `configuration: unknown field "depth"`,
	} {
		changed, err := SetFields(text, []string{assignment})
		require.NoError(t, err)
		_, err = UnmarshalConfig(changed)
		require.EqualError(t, err, says)
	}
}
