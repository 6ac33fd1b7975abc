#!/usr/bin/env bash
# What it costs restore denoise to estimate white noise that was saved as JPEG, against being told:
#
#   bench/jpeg.sh SIGMA QUALITY PHOTOGRAPH…
#
# Photograph number i, from 0 on, has noise of the seed 1+i, and is compressed once, with colour at half of the
# resolution. Prints the mean PSNR of the photographs as they are, without a flag, and with --sigma SIGMA, and the worst
# difference of one. RESTORE names the binary (default: built from here).
set -euo pipefail
cd "$(dirname "$0")/.."
sigma=$1 quality=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${RESTORE:-}" ]; then
	RESTORE=$work/restore
	go build -tags research -o "$RESTORE" ./cmd/restore
fi
psnr() { "$RESTORE" compare "$1" "$2" --json | sed -E 's/.*"psnr":([0-9.]+|null).*/\1/'; }
i=0
for photograph in "$@"; do
	"$RESTORE" degrade "$photograph" --sigma "$sigma" --jpeg "$quality" --seed $((1 + i)) --depth 8 -o "$work/noisy.png" --force -q
	"$RESTORE" denoise "$work/noisy.png" -o "$work/auto.png" --force -q >"$work/said" 2>&1
	"$RESTORE" denoise "$work/noisy.png" -o "$work/told.png" --sigma "$sigma" --force -q >"$work/said" 2>&1
	echo "$(psnr "$photograph" "$work/noisy.png") $(psnr "$photograph" "$work/auto.png") $(psnr "$photograph" "$work/told.png")"
	i=$((i + 1))
done | awk '
	{ before += $1; auto += $2; told += $3; d = $2 - $3; if (NR == 1 || d < worst) worst = d }
	END { printf "%d photographs: %.2f dB as they are, %.2f dB estimated, %.2f dB told; the worst difference %.2f\n", NR, before / NR, auto / NR, told / NR, worst }'
