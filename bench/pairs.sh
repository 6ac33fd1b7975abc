#!/usr/bin/env bash
# What restore denoise makes of photographs of which a clean one is known:
#
#   bench/pairs.sh FOLDER [FLAG…]
#
# FOLDER has noisy/NAME.* and clean/NAME.png; flags go to restore denoise. Prints the mean PSNR of the
# photographs as they are and as they become, and the least gain of one.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -tags research -o "$work/restore" ./cmd/restore
psnr() { "$work/restore" compare "$1" "$2" --json | sed -E 's/.*"psnr":([0-9.]+|null).*/\1/'; }
for noisy in "$folder"/noisy/*; do
	clean=$folder/clean/$(basename "${noisy%.*}").png
	"$work/restore" denoise "$noisy" -o "$work/out.png" --force -q "$@" >"$work/said"
	echo "$(psnr "$clean" "$noisy") $(psnr "$clean" "$work/out.png")"
done | awk '
	{ before += $1; after += $2; gain = $2 - $1; if (NR == 1 || gain < least) least = gain }
	END { printf "%d photographs: %.2f dB as they are, %.2f dB denoised; least gain %.2f\n", NR, before / NR, after / NR, least }'
