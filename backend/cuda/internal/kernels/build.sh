#!/usr/bin/env bash
# bash build.sh [SOURCE.cu…] makes the PTX of all kernels, those of the driver's tests
# included, or of the given sources: NAME.sm_70.ptx beside NAME.cu, and NAME.sm_80.ptx if
# that is another program; an architecture for which the source has no kernel is left out.
#
# Debian's clang-19 does it without anything from NVIDIA, and to the same bytes each time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
clang=${CLANG:-clang-19}
if [ $# -eq 0 ]; then
	shopt -s nullglob
	set -- "$here"/*.cu "$here"/../driver/testdata/*.cu
fi
# ptx70 is the language of CUDA 11.0. A product and a sum are two operations unless the
# source says fma, as on the host.
flags=(-x cuda --cuda-device-only -nocudainc -nocudalib --cuda-feature=+ptx70
	-O3 -ffp-contract=off -std=c++17 -Wall -Wextra -Werror -Wno-unused-function
	-Wno-unused-parameter -I"$here" -S)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for source; do
	name=${source%.cu}
	rm -f "$scratch"/*
	for arch in 70 80; do
		"$clang" "${flags[@]}" --cuda-gpu-arch="sm_$arch" -o "$scratch/commented" "$source"
		sed -E 's|[ \t]*//.*$||; /^[ \t]*$/d' "$scratch/commented" >"$scratch/sm_$arch.ptx" # a fifth is comments
		grep -q '\.entry' "$scratch/sm_$arch.ptx" || rm "$scratch/sm_$arch.ptx"
	done
	if [ -e "$scratch/sm_70.ptx" ] && [ -e "$scratch/sm_80.ptx" ] &&
		sed 's/^\.target sm_70$/.target sm_80/' "$scratch/sm_70.ptx" | cmp -s - "$scratch/sm_80.ptx"; then
		rm "$scratch/sm_80.ptx"
	fi
	rm -f "$name".sm_*.ptx
	for ptx in "$scratch"/*.ptx; do
		mv "$ptx" "$name.$(basename "$ptx")"
	done
done
