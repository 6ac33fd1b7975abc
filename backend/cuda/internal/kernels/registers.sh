#!/usr/bin/env bash
# bash registers.sh [PTXAS] prints, for every kernel and architecture, what NVIDIA's assembler
# makes of the PTX: registers of a thread, bytes of static shared memory, and bytes that do
# not fit and are spilled to memory. It fails where the assembler does not take the PTX, which
# clang does not check inside inline assembly. PTXAS is the program of that name from CUDA
# 11.8 or newer (Debian's non-free nvidia-cuda-toolkit; unpacking it is enough).
set -euo pipefail
ptxas=${1:-ptxas}
cd "$(dirname "$0")"
printf '%-32s %-6s %9s %7s %7s\n' kernel for registers shared spilled
for ptx in *.sm_*.ptx; do
	made=${ptx##*.sm_}
	made=${made%.ptx}
	for arch in "$made" 90; do
		"$ptxas" -v -arch="sm_$arch" -o /dev/null "$ptx" 2>&1 | awk -v arch="sm_$arch" '
			/Compiling entry function/ { split($0, part, "\047"); name = part[2] }
			/spill stores/ { spilled = $5 + $9 }
			/Used [0-9]+ registers/ {
				shared = 0
				for (i = 1; i < NF; i++) if ($(i + 1) == "bytes" && $(i + 2) ~ /^smem/) shared = $i
				for (i = 1; i < NF; i++) if ($i == "Used") registers = $(i + 1)
				printf "%-32s %-6s %9d %7d %7d\n", name, arch, registers, shared, spilled
				next
			}
			/error|fatal/ { print; bad = 1 }
			END { exit bad }'
	done
done
