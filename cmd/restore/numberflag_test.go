package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// The numbers of all flags are decimal and finite.
func TestNumberFlags(t *testing.T) {
	c := &cobra.Command{}
	var whole int
	var seed uint64
	var part float64
	c.Flags().IntVar(&whole, "whole", 0, "")
	c.Flags().Uint64Var(&seed, "seed", 0, "")
	c.Flags().Float64Var(&part, "part", 0, "")
	bindNumbers(c)
	for text, want := range map[string]float64{"3": 3, "+3": 3, "-3": -3, "010": 10, "-0": 0, "1.5": 1.5, ".5": 0.5, "2.": 2, "1e-3": 1e-3, "1E3": 1000} {
		require.NoError(t, c.Flags().Set("part", text), text)
		require.Equal(t, want, part, text)
	}
	for text, want := range map[string]int{"3": 3, "+3": 3, "-3": -3, "010": 10, "-07": -7, "0": 0, "00": 0, "-0": 0} {
		require.NoError(t, c.Flags().Set("whole", text), text)
		require.Equal(t, want, whole, text)
	}
	require.NoError(t, c.Flags().Set("seed", "18446744073709551615"))
	for _, bad := range []string{"", " ", "3 ", "NaN", "Inf", "-inf", "infinity", "0x10", "0b1", "0o7", "1_0", "--1", "+-1", "1e1000", "1,5", "٣"} {
		for _, flag := range []string{"whole", "seed", "part"} {
			require.Error(t, c.Flags().Set(flag, bad), "--%s %q", flag, bad)
		}
	}
	require.Error(t, c.Flags().Set("seed", "-1"))
	require.Error(t, c.Flags().Set("whole", "99999999999999999999"))
}

// What no flag means is one line about it, for the numbers that a program of its own reads, too.
func TestNumbersOutOfRange(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 40, 48, 8, 0.01))
	for _, c := range []struct{ args, want string }{
		{"kernel motion --length 5 -o k.png --angle 1e300", "--angle 1e+300: want -360 to 360 degrees"},
		{"kernel motion --length 5 -o k.png --angle NaN", "--angle NaN: want a number"},
		{"kernel box -o k.png --size 0x10", "--size 0x10: want a whole number"},
		{"denoise a.png --method tv --sigma 0x1p-4", "--sigma 0x1p-4: want auto, or a number"},
		{"denoise a.png --method tv --sigma 1/0", "--sigma 1/0: want auto, or a number"},
		{"denoise a.png --method tv --strength 0x1p1", "--strength 0x1p1: want light"},
		{"denoise a.png --method tv --max-work Inf", "--max-work Inf: want a number"},
		{"degrade a.png --iso 0x10 --camera", "--iso 0x10: want a number"},
		{"degrade a.png --camera --jpeg 0x10", "--jpeg 0x10: want"},
		{"train . --learning-rate NaN", "--learning-rate NaN: want a number"},
	} {
		fails(t, exitUsage, []string{c.want}, fields(c.args)...)
	}
}
