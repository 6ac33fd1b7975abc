#!/usr/bin/env bash
# What restore denoise makes of photographs by simulated cameras behind a lens:
#
#   bench/cameras.sh ISO SEED PHOTOGRAPH…
#
# Photograph number i, from 0 on, is blurred by a Gaussian of LENS pixels, as lenses and low-pass filters do, and taken by
# the camera of seed SEED+i. Prints the mean PSNR of the photographs as taken and as they become, against what the
# same camera takes without noise, the least gain of one and the names of those that lose more than 0.1 dB. A mosaic
# turns detail of a pixel's size into specks of false colour, also without noise; the lens keeps such detail away. The
# environment may say:
#
#   LENS      standard deviation of the blur in pixels; nothing for no lens    default: 0.6
#   JPEG      the quality that they are saved with; nothing for PNG            default: nothing
#   RESTORE   the binary                                                       default: built from here
set -euo pipefail
cd "$(dirname "$0")/.."
iso=$1 seed=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${RESTORE:-}" ]; then
	RESTORE=$work/restore
	go build -tags research -o "$RESTORE" ./cmd/restore
fi
options=(--camera --iso "$iso" --depth 8 --force -q --clean "$work/clean.png" -o "$work/noisy.png")
[ -z "${JPEG-}" ] || options+=(--jpeg "$JPEG")
if [ -n "${LENS-0.6}" ]; then
	"$RESTORE" kernel gaussian --std "${LENS-0.6}" -o "$work/lens.png" -q >"$work/said"
	options+=(--kernel "$work/lens.png" --boundary reflect)
fi
psnr() { "$RESTORE" compare "$1" "$2" --json | sed -E 's/.*"psnr":([0-9.]+|null).*/\1/'; }
i=0
for photograph in "$@"; do
	"$RESTORE" degrade "$photograph" "${options[@]}" --seed $((seed + i)) >"$work/said"
	"$RESTORE" denoise "$work/noisy.png" -o "$work/out.png" --force -q >"$work/said"
	echo "$(psnr "$work/clean.png" "$work/noisy.png") $(psnr "$work/clean.png" "$work/out.png") $(basename "${photograph%.*}")"
	i=$((i + 1))
done | awk '
	{ before += $1; after += $2; gain = $2 - $1; if (NR == 1 || gain < least) least = gain }
	gain < -0.1 { lose = lose sprintf(", %s %.2f", $3, gain) }
	END { printf "%d photographs: %.2f dB as taken, %.2f dB denoised; least gain %.2f%s\n", NR, before / NR, after / NR, least, lose }'
