//go:build js && wasm

package webgpu

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed kernels/*.wgsl
var shaders embed.FS

// parts are the files that a kernel is made of besides its own.
var parts = map[string][]string{
	"balls": {"ball"}, "ballsregion": {"ball"}, "convolve": {"ball", "convolution"}, "convolve3": {"ball", "convolution"},
}

// source returns the WGSL of a kernel.
func source(name string) (string, error) {
	var code strings.Builder
	for _, part := range append(slices.Clone(parts[name]), name) {
		text, err := shaders.ReadFile("kernels/" + part + ".wgsl")
		if err != nil {
			return "", err
		}
		code.Write(text)
	}
	return code.String(), nil
}

// declaration is that of an operand. Binding 0 has the numbers of a dispatch, and operands follow.
var declaration = regexp.MustCompile(`@group\(0\) @binding\((\d+)\) var<storage, (read|read_write)> (\w+): array<(\w+)>;`)

// merge returns the code for operands of which some are in the same buffer: operand k is in that of
// operand first[k] ≤ k. WebGPU lets a dispatch write a buffer by one binding only, and not read it by
// another: such operands become one.
func merge(code string, first []int) (string, error) {
	found := declaration.FindAllStringSubmatch(code, -1)
	if len(found) != len(first) {
		return "", fmt.Errorf("%d operands for a kernel that has %d", len(first), len(found))
	}
	for k, to := range first {
		if to == k {
			continue
		}
		own, other := found[k], found[to]
		if own[4] != other[4] {
			return "", fmt.Errorf("operands %s and %s in one buffer have different types", other[3], own[3])
		}
		if own[2] == "read_write" && other[2] == "read" {
			written := strings.Replace(other[0], "<storage, read>", "<storage, read_write>", 1)
			code = strings.Replace(code, other[0], written, 1)
			found[to][0], found[to][2] = written, "read_write"
		}
		code = strings.Replace(code, own[0], "", 1)
		code = regexp.MustCompile(`\b`+own[3]+`\[`).ReplaceAllString(code, other[3]+"[")
	}
	return code, nil
}
