package devices

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCausesAreOneLineWithoutThePackage(t *testing.T) {
	require.Equal(t, `no CUDA driver: a\nb`, gpuCause("cuda", errors.New("cuda: no CUDA driver: a\nb")))
	require.Equal(t, "no CUDA driver", gpuCause("cuda", errors.New("cuda:12: no CUDA driver")))
	require.Equal(t, "cuda:x", gpuCause("cuda", errors.New("cuda:x")))
}
