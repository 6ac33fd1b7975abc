#!/usr/bin/env bash
# The CUDA backend on a machine with a card: all checks, and the race against PyTorch.
#
#   bench/cuda.sh prepare FOLDER   here: builds what the other machine needs (Go, a C compiler)
#   bench/cuda.sh race FOLDER      there: runs it all; needs the folder, a driver, and nothing else
#   bench/cuda.sh fake FOLDER      here: runs the same on the fake driver, with small pictures
#
# race runs, in this order, and goes on where one of them fails, to end with an error:
#
#   driver      the tests of the driver's binding on the card
#   compliance  every operation of the backend against float64
#   restore     restore denoise and deblur, and a training, against the processor: PSNR above 60 dB
#   memcheck    compliance again under compute-sanitizer, and racecheck of the convolutions
#   race        the Euler network on one and on five pictures of 481×321, forward, and forward plus backward,
#               against PyTorch with cuDNN: FP32, TF32 and FP16, channels_last, torch.compile, CUDA graphs
#   operations  the speed of every operation
#
# What is not there, compute-sanitizer or PyTorch, is left out, with a word about it. Results go to standard output
# and, in full, to FOLDER/results (OUT names another folder for them). The environment may say:
#
#   PARTS        which of the above                                     default: all
#   PYTHON       a Python with PyTorch                                  default: python3
#   REPETITIONS  timed passes of the race                               default 50
#   TORCH_COMPILE  mode of torch.compile                                default reduce-overhead
set -uo pipefail
mode=${1:-} folder=${2:-}
case $mode in prepare | race | fake) ;; *) mode= ;; esac
if [ -z "$mode" ] || [ -z "$folder" ] || [ $# -ne 2 ]; then
  echo "usage: $0 prepare|race|fake FOLDER" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder" || exit 1
folder=$(cd "$folder" && pwd)

say() { echo "$*" >&2; }

if [ "$mode" = prepare ] || [ "$mode" = fake ]; then
  (
    set -e
    cd "$here/.."
    export CGO_ENABLED=1 CGO_CFLAGS="-g -O2 -I$PWD/backend/cuda/internal/cudaheader"
    go test -c -tags cuda -ldflags=-s -o "$folder/driver.test" ./backend/cuda/internal/driver
    go test -c -tags cuda -ldflags=-s -o "$folder/cuda.test" ./backend/cuda
    go test -c -tags cuda -ldflags=-s -o "$folder/restore.test" ./cmd/restore
    go build -tags cuda -ldflags=-s -o "$folder/restore" ./cmd/restore
    go build -tags cuda -ldflags=-s -o "$folder/cudarace" ./internal/cudarace
    CGO_ENABLED=0 go build -ldflags=-s -o "$folder/netrace" ./internal/netrace
    cp bench/cuda.sh bench/cuda_torch.py "$folder/"
    if [ "$mode" = fake ]; then bash backend/cuda/internal/hostcuda/build.sh "$folder/lib"; fi
  ) || exit 1
  if [ "$mode" = prepare ]; then
    du -sh "$folder" >&2
    say "now, on the other machine: bash FOLDER/cuda.sh race FOLDER"
    exit
  fi
fi

parts=${PARTS:-driver compliance restore memcheck race operations}
repetitions=${REPETITIONS:-50} height=321 width=481 batches='1 5' benchtime=1s
# The tests fail where there is no card.
export IMAGING_WANT_CUDA=1
if [ "$mode" = fake ]; then
  export LD_LIBRARY_PATH="$folder/lib"
  repetitions=${REPETITIONS:-1} height=12 width=14 batches=1 benchtime=1x
  parts=${PARTS:-driver restore memcheck race}
fi
results=${OUT:-$folder/results}
mkdir -p "$results"
failed=

# part NAME COMMAND… runs a command with its output in results/NAME.txt.
part() {
  local name=$1 begun=$SECONDS
  shift
  if "$@" >"$results/$name.txt" 2>&1; then
    say "ok      $name, $((SECONDS - begun)) s"
  else
    failed="$failed $name"
    say "FAILED  $name, $((SECONDS - begun)) s:"
    grep -vE '^ *(=== |--- PASS)' "$results/$name.txt" | tail -40 >&2
  fi
}
wanted() { [[ " $parts " == *" $1 "* ]]; }
left_out() { echo "left out: $*" | tee -a "$results/left_out.txt" >&2; }

: >"$results/left_out.txt"
cd "$folder" || exit 1
{
  ./restore info | grep -E '^(restore|device|CUDA|CPU)'
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit --format=csv,noheader 2>/dev/null
  sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sed 1q
} | tee "$results/machine.txt"

if wanted driver; then part driver ./driver.test -test.v; fi
if wanted compliance; then part compliance ./cuda.test -test.v -test.timeout 9m; fi
if wanted restore; then part restore ./restore.test -test.v -test.run CUDA -test.timeout 9m; fi

if wanted memcheck; then
  sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1)
  if [ -n "$sanitizer" ]; then
    part memcheck "$sanitizer" --tool memcheck --leak-check full --error-exitcode 9 ./cuda.test -test.run 'Compliance' -test.timeout 9m
    part racecheck "$sanitizer" --tool racecheck --error-exitcode 9 ./cuda.test -test.run 'Compliance/(Conv|Filter|Gradient|TV|Reduce|ApplyBlur|ProjectBalls)' -test.timeout 9m
    part synccheck "$sanitizer" --tool synccheck --error-exitcode 9 ./cuda.test -test.run 'Compliance/(Conv|Filter|Gradient|Reduce)' -test.timeout 9m
  else
    left_out 'compute-sanitizer is not here (NVIDIA: cuda-sanitizer)'
  fi
fi

if wanted race; then
  python=${PYTHON:-python3}
  : >"$results/race.jsonl"
  torch=
  if "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then torch=yes; else left_out 'PyTorch with CUDA is not here'; fi
  race() { # one racer after the other, so that none has the card warmer than the rest
    local n=$1 precision
    mkdir -p "$results/$n"
    ./netrace prepare -folder "$results/$n" -pictures "$n" -height "$height" -width "$width" || return 1
    for precision in float32 tf32 half; do
      ./cudarace -folder "$results/$n" -precision "$precision" -repetitions "$repetitions" >>"$results/race.jsonl" || return 1
    done
    if [ -n "$torch" ]; then "$python" cuda_torch.py "$results/$n" "$repetitions" >>"$results/race.jsonl" || return 1; fi
    rm -r "${results:?}/$n"
  }
  for n in $batches; do part "race-$n" race "$n"; done
  # The table: of every racer the median, and the operations of direct convolution in a second.
  sed -E 's/.*"racer": ?"([^"]*)".*"pass": ?"([^"]*)".*"precision": ?"([^"]*)".*"pictures": ?([0-9]+).*"median_ms": ?([0-9.e+-]+).*"stream_ms": ?([0-9.e+-]+).*"tflops": ?([0-9.e+-]+).*/\4\t\2\t\1\t\3\t\5\t\6\t\7/' \
    "$results/race.jsonl" | sort -t "$(printf '\t')" -k1,1n -k2,2 -k5,5g |
    awk -F '\t' 'BEGIN { printf "%8s  %-21s %-36s %-9s %10s %10s %9s\n", "pictures", "pass", "racer", "precision", "ms", "ms queued", "TFLOP/s" }
      { printf "%8d  %-21s %-36s %-9s %10.3f %10.3f %9.2f\n", $1, $2, $3, $4, $5, $6, $7 }' | tee "$results/race.txt"
fi

if wanted operations; then part operations ./cuda.test -test.run '^$' -test.bench Operations -test.benchtime "$benchtime" -test.timeout 9m; fi

if [ -n "$failed" ]; then
  say "failed:$failed"
  exit 1
fi
