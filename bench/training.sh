#!/bin/sh
# Training the paper's Euler network (64 channels, 10 blocks of one step) on this machine's processor: one whole
# iteration of package train, with its power iterations and its optimiser, against forward and backward alone in
# PyTorch, 8 crops of 64×64 pixels, in turn. It prints medians in milliseconds and their ratio. The environment may say:
#
#   ROUNDS    how often both run, in processes of their own                        default 5
#   THREADS   threads of both                                                      default 2
#   PYTHON    a Python with PyTorch (Debian: python3-torch)                        default: python3, /usr/bin/python3
set -eu
ROUNDS=${ROUNDS:-5} THREADS=${THREADS:-2}
here=$(cd "$(dirname "$0")" && pwd)
for candidate in ${PYTHON:-python3 /usr/bin/python3}; do
  if "$candidate" -c 'import torch' 2>/dev/null; then
    python=$candidate
    break
  fi
done
[ -n "${python:-}" ] || { echo "no Python with PyTorch: name one with PYTHON" >&2; exit 1; }
load=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo 0)
if awk -v l="$load" 'BEGIN { exit !(l > 0.3) }'; then
  echo "WARNING: this machine is busy (load average $load, should be below 0.3): the times will be wrong" >&2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
(cd "$here/.." && go test -c -o "$work/train.test" ./train)
for round in $(seq "$ROUNDS"); do
  (cd "$work" && GOMAXPROCS=$THREADS ./train.test -test.run '^$' -test.bench 'Iteration/paper$' -test.benchtime 15x) |
    awk '/ns\/op/ { print $3 / 1e6 }' >>"$work/ours"
  OMP_NUM_THREADS=$THREADS "$python" "$here/training_torch.py" "$THREADS" 7 | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }' >>"$work/torch"
  echo "round $round: $(tail -n 1 "$work/ours") ms here, $(tail -n 1 "$work/torch") ms in PyTorch" >&2
done
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
ours=$(median "$work/ours") torch=$(median "$work/torch")
echo "an iteration here: $ours ms; forward and backward in PyTorch: $torch ms"
awk -v a="$ours" -v b="$torch" 'BEGIN { printf "%.2f times as fast\n", b / a }'
