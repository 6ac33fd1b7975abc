#!/bin/sh
# FFDNet's architecture in ONNX Runtime against the networks of this library, guide included, on a picture of
# 481×321, in turn:
#
#   bench/ffdnet.sh
#
# Prints medians over the rounds, in milliseconds, and each one's ratio to FFDNet in the same round. The
# environment may say:
#
#   ROUNDS        how often everything runs                                   default 5
#   REPETITIONS   passes of FFDNet in a round, after two that are not timed   default 7
#   THREADS       threads of every racer                                      default 2
#   NETWORKS      of this library                                             default: general guided fast
#   PEERS         folder with node/node_modules/onnxruntime-node              default: peers in the home folder
#   PYTHON        a Python with ONNX                                          default: /usr/bin/python3
#
# The peers come from Debian (python3-onnx nodejs) and from npm (onnxruntime-node).
set -eu
[ $# -eq 0 ] || { echo "usage: $0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
PEERS=${PEERS:-$HOME/peers} THREADS=${THREADS:-2} NETWORKS=${NETWORKS:-general guided fast}
export PEERS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
load=$(cut -d ' ' -f 1 /proc/loadavg)
if awk -v l="$load" 'BEGIN { exit !(l > 0.3) }'; then
  echo "WARNING: this machine is busy (load average $load, should be below 0.3): the times will be wrong" >&2
fi
"${PYTHON:-/usr/bin/python3}" "$here/ffdnet_export.py" "$work/ffdnet.onnx" 481 321
(cd "$here/.." && CGO_ENABLED=0 go test -c -o "$work/restore.test" ./restore)
cd "$here/../restore"
round=1
while [ "$round" -le "${ROUNDS:-5}" ]; do
  ffdnet=$(node "$here/ffdnet_onnxruntime.cjs" "$work/ffdnet.onnx" 481 321 "$THREADS" "${REPETITIONS:-7}")
  echo "FFDNet $ffdnet 1" >>"$work/results"
  for name in $NETWORKS; do
    "$work/restore.test" -test.run '^$' -test.cpu "$THREADS" -test.bench "^BenchmarkEmbedded/$name\$" >"$work/line"
    awk -v name="$name" -v peer="$ffdnet" '/ns\/op/ { print name, $3 / 1e6, $3 / 1e6 / peer; found = 1 }
      END { exit !found }' "$work/line" >>"$work/results"
  done
  round=$((round + 1))
done
for name in FFDNet $NETWORKS; do
  for column in 2 3; do
    awk -v name="$name" -v column="$column" '$1 == name { print $column }' "$work/results" | sort -g >"$work/sorted"
    awk '{ v[NR] = $1 } END { printf "%.3g ", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }' "$work/sorted"
  done
  echo "$name"
done | awk '{ printf "%-10s %7s ms  %5s of FFDNet\n", $3, $1, $2 }'
