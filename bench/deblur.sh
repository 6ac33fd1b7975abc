#!/bin/sh
# Deblurring of a folder of photographs by the restore command, with --sigma auto and no other choice than the prior:
#
#   bench/deblur.sh FOLDER [NOISE/255…]              default: 2.55 7.65 12.75 17.85
#
# Photograph number i is blurred with number i of eight camera shakes, 13 to 27 pixels wide, and gets noise that is not
# clipped (PFM). For every noise level and prior it prints the mean PSNR (peak 1), that of the blurred photographs, how
# often the prior was applied, and how many results have a lower PSNR than what was blurred. The environment may say:
#
#   PRIORS    the priors                                                             default: tv deblur
#   COUNT     how many photographs                                                   default: all
#   EVERY     only every so-manieth photograph, beginning with the first             default: 1
#   KERNELS   shake, or shapes: Gaussians of 0.6, 1.6 and 3, box 9, disk 4, motions of 5 and 15, and none
#                                                                                    default: shake
#   BOUNDARY  circular, or unknown: blurred beyond the frame                         default: circular
#   SIGMA     auto, or by what the true noise is multiplied to be given              default: auto
#   RESTORE   the binary                                                             default: built from here
set -eu
[ $# -ge 1 ] || { sed -n '2,/^set/{s/^# \{0,1\}//;/^set/d;p;}' "$0" >&2; exit 2; }
folder=$1
shift
[ $# -gt 0 ] || set -- 2.55 7.65 12.75 17.85
PRIORS=${PRIORS:-tv deblur} COUNT=${COUNT:-1000000} EVERY=${EVERY:-1} KERNELS=${KERNELS:-shake}
BOUNDARY=${BOUNDARY:-circular} SIGMA=${SIGMA:-auto}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
if [ -z "${RESTORE:-}" ]; then
  RESTORE=$work/restore
  (cd "$(dirname "$0")/.." && go build -tags research -o "$RESTORE" ./cmd/restore)
fi
k=0
kernel() {
  "$RESTORE" kernel -q "$@" -o "$work/k$k.pfm"
  k=$((k + 1))
}
case $KERNELS in
shake) for size in 19 17 15 27 13 21 23 25; do kernel shake --size "$size" --seed "$k"; done ;;
shapes)
  kernel gaussian --std 1.6
  kernel box --size 9
  kernel disk --radius 4
  kernel motion --length 15 --angle 30
  kernel gaussian --std 0.01
  kernel gaussian --std 0.6
  kernel motion --length 5 --angle 60
  kernel gaussian --std 3
  ;;
*)
  echo "KERNELS=$KERNELS: want shake or shapes" >&2
  exit 2
  ;;
esac
field() { sed -n "s/.*\"$1\": *\\([0-9.]*\\).*/\\1/p" "$2" | head -1; }
for noise; do
  given=$SIGMA
  [ "$SIGMA" = auto ] || given=$(awk "BEGIN { print $SIGMA * $noise }")/255
  for prior in $PRIORS; do
    i=0 n=0
    for f in "$folder"/*; do
      i=$((i + 1))
      [ $(((i - 1) % EVERY)) = 0 ] || continue
      [ "$n" -lt "$COUNT" ] || break
      kernel=$work/k$((n % 8)).pfm
      n=$((n + 1))
      "$RESTORE" degrade -q "$f" --kernel "$kernel" --boundary "$BOUNDARY" --sigma "$noise/255" --seed "$n" -o "$work/y.pfm" --force
      "$RESTORE" compare "$f" "$work/y.pfm" --center --json >"$work/y.json"
      "$RESTORE" deblur "$work/y.pfm" --prior "$prior" --kernel "$kernel" --boundary "$BOUNDARY" --sigma "$given" \
        --reference "$f" --json -o "$work/x.pfm" --force >"$work/x.json"
      echo "$(field psnr "$work/x.json") $(field psnr "$work/y.json") $(field iterations "$work/x.json")"
    done | awk -v t="noise $noise/255, $prior" '
      { x += $1; y += $2; k += $3; n++; if ($1 < $2) worse++ }
      END { printf "%s: %.2f dB of %d photographs, blurred %.2f dB, %.0f iterations, %d worse\n", t, x/n, n, y/n, k/n, worse }'
  done
done
