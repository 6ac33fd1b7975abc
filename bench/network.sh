#!/bin/sh
# The Euler network (64 channels, 10 blocks of one step, seeded weights) on this machine's processor:
#
#   bench/network.sh            a race against ONNX Runtime, PyTorch and oneDNN on a 481×321 picture, in turn
#   bench/network.sh scaling    time per pixel and peak memory of this library from 0.1 to 24 megapixels
#
# Every output of the race is compared with this library's; a difference above 1e-4 ends it. A peer that is not
# there is left out, with a word about it. The table has medians over the rounds of the medians of a round, ratios to
# ONNX Runtime in the same round, GFLOP/s by the operations of direct convolution (two for a weight and pixel), and the
# peak of resident memory of a whole process, interpreter included. The environment may say:
#
#   ROUNDS        how often everything runs, each time in a process of its own     default 5; scaling: 3
#   REPETITIONS   timed passes in a process, after two that are not; a third for   default 7
#                 PyTorch's conv_transpose2d and the portable level, which are slow
#   THREADS       threads of every racer                                           default 2
#   PICTURES      pictures in one batch of the race                                default 1
#   LEVELS        levels of this library                                           default: all that are there
#   SIZES         scaling: WIDTHxHEIGHT:REPETITIONS of every picture
#   PEERS         folder with node/node_modules/onnxruntime-node                   default: peers in the home folder
#   PYTHON        a Python with PyTorch and ONNX                                   default: python3, /usr/bin/python3
#   RESULTS       file that the lines of JSON are appended to, besides the table
#
# The peers come from Debian (python3-torch python3-onnx g++ libdnnl-dev nodejs) and from npm (onnxruntime-node).
set -eu
mode=${1:-race}
case $# in 0 | 1) ;; *) mode= ;; esac
case $mode in race | scaling) ;; *)
  echo "usage: $0 [race | scaling]" >&2
  exit 2
  ;;
esac
PEERS=${PEERS:-$HOME/peers}
THREADS=${THREADS:-2} REPETITIONS=${REPETITIONS:-7} PICTURES=${PICTURES:-1}
export PEERS PYTHONDONTWRITEBYTECODE=1
for number in "$THREADS" "$REPETITIONS" "$PICTURES" "${ROUNDS:-1}"; do
  case $number in '' | 0* | *[!0-9]*)
    echo "ROUNDS, REPETITIONS, THREADS and PICTURES must be numbers from 1, not '$number'" >&2
    exit 2
    ;;
  esac
done

say() { echo "$*" >&2; }

# Before anything is built: what was busy until now is somebody else.
load=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || uptime | sed 's/.*load average[s]*: *\([0-9.]*\).*/\1/')
if awk -v l="$load" 'BEGIN { exit !(l > 0.3) }'; then
  say "WARNING: this machine is busy (load average $load, should be below 0.3): the times will be wrong"
fi

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
(cd "$here/.." && CGO_ENABLED=0 go build -o "$work/netrace" ./internal/netrace)
"$work/netrace" prepare -folder "$work" -pictures "$PICTURES"
: >"$work/results"

# race COMMAND… runs one racer and keeps its line.
race() {
  "$@" >"$work/line" 2>"$work/errors" || {
    cat "$work/errors" >&2
    say "failed: $*"
    exit 1
  }
  sed 's/.*"racer": *"\([^"]*\)".*"median_ms": *\([0-9]*\).*/  \1: \2 ms/' "$work/line" >&2
  cat "$work/line" >>"$work/results"
}

finish() {
  if [ -n "${RESULTS:-}" ]; then cat "$work/results" >>"$RESULTS"; fi
  "$work/netrace" "$1" <"$work/results"
}

describe() {
  model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | sed 1q)
  say "${model:-unknown processor}, $THREADS threads, $(go version | cut -d ' ' -f 3), load average $load"
}

if [ "$mode" = scaling ]; then
  describe
  sizes=${SIZES:-386x258:21 481x321:15 1224x816:5 2448x1632:3 4242x2828:1 6000x4000:1}
  round=1
  while [ "$round" -le "${ROUNDS:-3}" ]; do
    say "round $round of ${ROUNDS:-3}"
    for size in $sizes; do
      repetitions=${size##*:} size=${size%:*}
      # A pass that is made once is long enough to need none before it.
      warmup=2
      if [ "$repetitions" -eq 1 ]; then warmup=0; fi
      say " $size"
      race "$work/netrace" time -folder "$work" -threads "$THREADS" -width "${size%x*}" -height "${size#*x}" \
        -repetitions "$repetitions" -warmup "$warmup"
    done
    round=$((round + 1))
  done
  finish scaling
  exit
fi

# ------------------------------------------------------------------ which racers are there

left_out() { say "left out: $1: $2"; }

python=
for p in "${PYTHON:-python3}" /usr/bin/python3; do
  if "$p" -c 'import torch' >/dev/null 2>&1; then
    python=$p
    break
  fi
done
[ -n "$python" ] || left_out PyTorch 'no Python with the module torch (Debian: python3-torch)'

onnxruntime=
if [ -z "$python" ]; then
  left_out 'ONNX Runtime' 'its model is exported by PyTorch'
elif ! command -v node >/dev/null; then
  left_out 'ONNX Runtime' 'node is missing (Debian: nodejs)'
elif [ ! -d "$PEERS/node/node_modules/onnxruntime-node" ]; then
  left_out 'ONNX Runtime' "no folder $PEERS/node/node_modules/onnxruntime-node (npm install onnxruntime-node in $PEERS/node)"
elif ! "$python" -c 'import onnx' >/dev/null 2>&1; then
  left_out 'ONNX Runtime' "$python has no module onnx, which PyTorch exports with (Debian: python3-onnx)"
else
  "$python" "$here/network_torch.py" export "$work" >"$work/export" 2>&1 || {
    cat "$work/export" >&2
    say 'failed: the export of the network to ONNX'
    exit 1
  }
  onnxruntime=yes
fi

onednn=
if ! command -v g++ >/dev/null; then
  left_out oneDNN 'g++ is missing'
elif ! echo '#include <dnnl.hpp>' | g++ -std=c++17 -fsyntax-only -x c++ - >/dev/null 2>&1; then
  left_out oneDNN 'its header dnnl.hpp is missing (Debian: libdnnl-dev)'
elif ! g++ -O2 -std=c++17 -fopenmp "$here/network_onednn.cpp" -o "$work/network_onednn" -ldnnl 2>"$work/errors"; then
  cat "$work/errors" >&2
  left_out oneDNN 'it does not compile'
else
  for algorithm in direct winograd; do
    status=0
    "$work/network_onednn" "$algorithm" "$work" "$THREADS" 1 >"$work/line" 2>"$work/errors" || status=$?
    case $status in
    0) onednn="$onednn $algorithm" ;;
    3) left_out "oneDNN, $algorithm" "$(cat "$work/errors")" ;;
    *)
      cat "$work/errors" >&2
      say "failed: oneDNN, $algorithm"
      exit 1
      ;;
    esac
  done
fi

# ---------------------------------------------------------------------------- the rounds

describe
levels=${LEVELS:-$("$work/netrace" levels)}
few=$(((REPETITIONS + 2) / 3))
# PyTorch allocates every array anew: without these settings glibc gives each back to the system, and half of the time
# goes into page faults.
torch() {
  race env MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=17179869184 MALLOC_TOP_PAD_=268435456 \
    "$python" "$here/network_torch.py" time "$1" "$work" "$THREADS" "$2"
}
round=1
while [ "$round" -le "${ROUNDS:-5}" ]; do
  say "round $round of ${ROUNDS:-5}"
  for level in $levels; do
    repetitions=$REPETITIONS warmup=2
    if [ "$level" = portable ]; then repetitions=$few warmup=0; fi
    race "$work/netrace" time -folder "$work" -level "$level" -threads "$THREADS" -repetitions "$repetitions" -warmup "$warmup"
  done
  for algorithm in $onednn; do
    race "$work/network_onednn" "$algorithm" "$work" "$THREADS" "$REPETITIONS"
  done
  if [ -n "$onnxruntime" ]; then
    race node "$here/network_onnxruntime.cjs" plain "$work" "$THREADS" "$REPETITIONS"
    race node "$here/network_onnxruntime.cjs" rearranged "$work" "$THREADS" "$REPETITIONS"
  fi
  if [ -n "$python" ]; then
    torch convolution "$REPETITIONS"
    torch transposed "$few"
  fi
  round=$((round + 1))
done
finish table
