#!/usr/bin/env bash
# Compiles the shaders to SPIR-V for Vulkan 1.1 and validates them: go generate ./backend/vulkan/kernels
# It needs glslang (Debian's glslang-tools), and spirv-dis, spirv-as and spirv-val (spirv-tools). The same
# versions make the same bytes.
#
# All arithmetic in float is decorated NoContraction: no driver may fuse a product with a sum, or split an
# fma, so kernels with the same operations in the same order compute the same bits. The keyword `precise`
# does not do that: glslang puts no decoration on fma.
set -euo pipefail
cd "$(dirname "$0")"
# A file is replaced when its bytes are final: something may be compiled with it at this moment.
scratch=$(mktemp -d -p .)
trap 'rm -rf "$scratch"' EXIT
for shader in *.comp; do
	to=${shader%.comp}.spv
	glslangValidator --quiet -V -g0 --target-env vulkan1.1 -o "$scratch/plain" "$shader"
	spirv-dis --raw-id "$scratch/plain" >"$scratch/text"
	# Decorations stand before the first type.
	awk '
		NR == FNR {
			if ($3 ~ /^Op(FAdd|FSub|FMul|FDiv|VectorTimesScalar|Dot)$/ || $3 == "OpExtInst" && $6 == "Fma") rounds = rounds "OpDecorate " $1 " NoContraction\n"
			next
		}
		$3 ~ /^OpType/ && !done { printf "%s", rounds; done = 1 }
		{ print }
	' "$scratch/text" "$scratch/text" | spirv-as --preserve-numeric-ids --target-env vulkan1.1 -o "$scratch/final" -
	spirv-val --target-env vulkan1.1 "$scratch/final"
	mv "$scratch/final" "$to"
done
