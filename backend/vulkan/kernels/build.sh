#!/usr/bin/env bash
# Compiles the shaders to SPIR-V for Vulkan 1.1 and validates them: go generate ./backend/vulkan/kernels
# It needs glslang (Debian's glslang-tools) and spirv-val (spirv-tools). The same version makes the same bytes.
set -euo pipefail
cd "$(dirname "$0")"
for shader in *.comp; do
	to=${shader%.comp}.spv
	glslangValidator --quiet -V -g0 --target-env vulkan1.1 -o "$to" "$shader"
	spirv-val --target-env vulkan1.1 "$to"
done
