package message

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMessagesAreOneLine(t *testing.T) {
	require.Equal(t, `a\nb\x1b[31m\u202e`, OneLine("a\nb\x1b[31m\u202e"))
	require.Equal(t, "größe 15×15 ‖K‖", OneLine("größe 15×15 ‖K‖"))
}

func TestQuoted(t *testing.T) {
	require.Equal(t, "runs/a-1", Quoted("runs/a-1"))
	require.Equal(t, "'my run'", Quoted("my run"))
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 369280: "369,280", 1000007: "1,000,007"} {
		require.Equal(t, want, Thousands(n))
	}
}
