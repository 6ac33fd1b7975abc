//go:build !noasm

package winograd

func levels() []level { return []level{{"portable", Portable()}, {"neon", NEON()}} }
