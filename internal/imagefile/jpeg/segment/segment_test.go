package segment

import (
	"testing"

	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
)

func TestAppendJFIF(t *testing.T) {
	for want, r := range map[string]metadata.Resolution{
		"\x01\x00\x48\x00\x60": {X: 72, Y: 96, Unit: metadata.Inch},
		"\x02\x00\x1e\x00\x1f": {X: 30, Y: 31, Unit: metadata.Centimetre},
		"\x01\x01\x2c\x01\x2c": {X: 11811, Y: 11811, Unit: metadata.Metre}, // 300 an inch
		"\x00\x00\x04\x00\x03": {X: 4, Y: 3, Unit: metadata.Aspect},
		"\x00\x00\x01\x00\x01": {}, // square pixels
	} {
		require.Equal(t, "before\xff\xe0\x00\x10JFIF\x00\x01\x02"+want+"\x00\x00", string(AppendJFIF([]byte("before"), r)), r)
	}
}
