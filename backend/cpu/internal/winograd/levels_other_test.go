//go:build noasm || !(amd64 || arm64)

package winograd

func levels() []level { return []level{{"portable", Portable()}} }
