#!/bin/sh
# Mean PSNR (peak 1) of the restore command over a folder of photographs:
#
#   bench/quality.sh denoise FOLDER [SIGMA…]          default: 0.15
#   bench/quality.sh auto    FOLDER [SIGMA…]          the same with --sigma auto
#   bench/quality.sh deblur  FOLDER [NOISE/255…]      default: 2.55 7.65 12.75; every third photograph,
#                                                     eight camera-shake kernels, circular
#
# Noise is not clipped (PFM). RESTORE names the binary (default: built from here). COUNT limits the photographs.
set -eu
mode=$1 folder=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${RESTORE:-}" ]; then
  RESTORE=$work/restore
  (cd "$(dirname "$0")/.." && go build -tags research -o "$RESTORE" ./cmd/restore)
fi
mean() { awk -v n="$1" '{ s += $1; k++ } END { printf "%s: mean PSNR %.2f dB of %d photographs\n", n, s/k, k }'; }
psnr() { sed -n 's/.*"psnr": *\([0-9.]*\).*/\1/p'; }

case $mode in
denoise | auto)
  [ $# -gt 0 ] || set -- 0.15
  for sigma; do
    given=$sigma
    [ "$mode" = denoise ] || given=auto
    i=0
    for f in "$folder"/*; do
      i=$((i + 1))
      [ "$i" -le "${COUNT:-1000000}" ] || break
      "$RESTORE" degrade -q "$f" --sigma "$sigma" --seed "$i" -o "$work/y.pfm" --force
      "$RESTORE" denoise "$work/y.pfm" --method tv --sigma "$given" --reference "$f" --json -o "$work/x.pfm" --force | psnr
    done | mean "$mode, sigma $sigma"
  done
  ;;
deblur)
  [ $# -gt 0 ] || set -- 2.55 7.65 12.75
  k=0
  for size in 19 17 15 27 13 21 23 25; do
    "$RESTORE" kernel -q shake --size "$size" --seed "$k" -o "$work/k$k.pfm"
    k=$((k + 1))
  done
  for noise; do
    i=0
    for f in "$folder"/*; do
      i=$((i + 1))
      [ $((i % 3)) = 1 ] || continue
      [ "$i" -le "${COUNT:-1000000}" ] || break
      kernel=$work/k$((i / 3 % 8)).pfm
      "$RESTORE" degrade -q "$f" --kernel "$kernel" --boundary circular --sigma "$noise/255" --seed "$i" -o "$work/y.pfm" --force
      "$RESTORE" deblur "$work/y.pfm" --prior tv --kernel "$kernel" --boundary circular --sigma "$noise/255" --reference "$f" --json -o "$work/x.pfm" --force | psnr
    done | mean "deblur, noise $noise/255"
  done
  ;;
*)
  echo "usage: $0 denoise|auto|deblur FOLDER [LEVEL…]" >&2
  exit 2
  ;;
esac
