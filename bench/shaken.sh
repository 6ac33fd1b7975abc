#!/usr/bin/env bash
# What restore deblur makes of shaken photographs with the noise of cameras, by the kernel and without another flag:
#
#   bench/shaken.sh ISO PHOTOGRAPH…
#
# Photograph number i, from 0 on, is blurred circularly by a shake of 13, 19 or 25 pixels and taken by the simulated
# camera of seed 77+i. Prints the mean PSNR of the photographs as taken and as they become, against the sharp photograph
# by the same camera without noise, and the least gain of one. The environment may say:
#
#   JPEG      the quality that they are saved with; nothing for PNG    default: 90
#   RESTORE   the binary                                               default: built from here
set -euo pipefail
cd "$(dirname "$0")/.."
iso=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${RESTORE:-}" ]; then
	RESTORE=$work/restore
	go build -o "$RESTORE" ./cmd/restore
fi
saved=()
[ -z "${JPEG-90}" ] || saved=(--jpeg "${JPEG-90}")
psnr() { "$RESTORE" compare "$1" "$2" --json | sed -E 's/.*"psnr":([0-9.]+|null).*/\1/'; }
i=0
for photograph in "$@"; do
	size=$((13 + 6 * (i % 3))) camera=(--camera --iso "$iso" --seed $((77 + i)) --depth 8 --force -q)
	"$RESTORE" kernel shake --size $size --seed $((1 + i % 3)) -o "$work/kernel.png" --force -q >"$work/said"
	"$RESTORE" degrade "$photograph" --kernel "$work/kernel.png" --boundary circular --sigma 0.00001 --seed 1 \
		--depth 16 -o "$work/blurred.png" --force -q >"$work/said"
	"$RESTORE" degrade "$work/blurred.png" "${camera[@]}" "${saved[@]}" -o "$work/shaken.png" >"$work/said"
	"$RESTORE" degrade "$photograph" "${camera[@]}" --clean "$work/sharp.png" -o "$work/noisy.png" >"$work/said"
	"$RESTORE" deblur "$work/shaken.png" --kernel "$work/kernel.png" --boundary circular -o "$work/out.png" --force -q >"$work/said"
	echo "$(psnr "$work/sharp.png" "$work/shaken.png") $(psnr "$work/sharp.png" "$work/out.png")"
	i=$((i + 1))
done | awk '
	{ before += $1; after += $2; gain = $2 - $1; if (NR == 1 || gain < least) least = gain }
	END { printf "%d photographs: %.2f dB as taken, %.2f dB deblurred; least gain %.2f\n", NR, before / NR, after / NR, least }'
