#!/usr/bin/env bash
# The CUDA backend on a machine with a card: all checks, and the race against PyTorch.
#
#   bench/cuda.sh prepare ARCHIVE   here: one archive of at most 45 MiB (needs Go, a C compiler and xz)
#   bash cuda/cuda.sh race          there, where `tar xf ARCHIVE` made cuda/: needs libc and a driver
#   bench/cuda.sh fake FOLDER       here: every part on the fake driver, with small pictures; PyTorch on the
#                                   processor, and what the fake driver itself checks for compute-sanitizer
#
# Parts, in this order; where one fails the others go on, and the end is an error:
#
#   driver       the tests of the driver's binding on the card
#   compliance   every operation of the backend against float64
#   beyond       the same with more images and planes than a grid has blocks for
#   networks     networks, precisions, graphs and memory
#   restore      restore denoise and deblur, and a training, against the processor: PSNR above 60 dB
#   race-1       the Euler network on one picture of 481×321, forward, and forward and backward, in FP32, TF32 and FP16
#   torch-1      the same with PyTorch and cuDNN: eager and as a CUDA graph, channels_last in TF32 and FP16
#   compiled-1   the same by torch.compile
#   race-5, torch-5, compiled-5   the same on five pictures
#   training     iterations of training of the Euler network, of 8 crops and of 64, here and with PyTorch
#   operations   the speed of every operation
#   memcheck-convolutions, memcheck-gradients, memcheck-rest   compliance under compute-sanitizer
#   racecheck-convolutions, racecheck-rest, synccheck          what its other tools look for
#
# Each part ends within nine minutes, or is ended. What is not there, compute-sanitizer or PyTorch, is left out, with a
# word about it. After each part all results so far are in one archive, cuda-results.tar.gz. The environment may say:
#
#   PARTS        which of the above; "race" means race-1 and race-5         default: all
#   NO_COMPILE   1 leaves torch.compile out, which takes most of the time
#   OUT          folder for the archive of results                          default: that of the parts
#   PYTHON       a Python with PyTorch                                      default: python3
#   REPETITIONS  timed passes of the race                                   default 50
#   TORCH_COMPILE  mode of torch.compile                                    default reduce-overhead
#   LIMIT        seconds that a part may take                               default 540
set -uo pipefail

all='driver compliance beyond networks restore race-1 torch-1 compiled-1 race-5 torch-5 compiled-5 training operations
  memcheck-convolutions memcheck-gradients memcheck-rest racecheck-convolutions racecheck-rest synccheck'
here=$(cd "$(dirname "$0")" && pwd)
mode=${1:-} at=${2:-}
case $mode/$# in
prepare/2 | fake/2) ;;
race/1) at=$here ;;
*)
  echo "usage: $0 prepare ARCHIVE | race | fake FOLDER" >&2
  exit 2
  ;;
esac
say() { echo "$*" >&2; }

# build FOLDER puts there what the other machine needs.
build() {
  mkdir -p "$1" || return 1
  local folder made
  folder=$(cd "$1" && pwd)
  (
    cd "$here/.." || exit 1
    export CGO_ENABLED=1 CGO_CFLAGS="-g -O2 -I$PWD/backend/cuda/internal/cudaheader"
    for made in driver.test:./backend/cuda/internal/driver cuda.test:./backend/cuda restore.test:./cmd/restore; do
      go test -c -tags cuda -ldflags=-s -o "$folder/${made%%:*}" "${made#*:}" || exit 1
    done
    go build -tags cuda,research -ldflags=-s -o "$folder/restore" ./cmd/restore &&
      go build -tags cuda -ldflags=-s -o "$folder/gpurace" ./internal/gpurace &&
      CGO_ENABLED=0 go build -ldflags=-s -o "$folder/netrace" ./internal/netrace &&
      cp bench/cuda.sh bench/cuda_torch.py "$folder/"
  )
}

if [ "$mode" = prepare ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  build "$scratch/cuda" || exit 1
  # The programs have the same weights in them, which only a large window finds.
  tar -C "$scratch" -c cuda | xz -T2 --lzma2=preset=6,dict=128MiB >"$at" || exit 1
  bytes=$(wc -c <"$at")
  if [ "$bytes" -gt $((45 << 20)) ]; then
    say "$at has $((bytes >> 20)) MiB, more than the 45 that it may have"
    exit 1
  fi
  say "$at has $((bytes >> 20)) MiB. On the other machine: tar xf $(basename "$at") && bash cuda/cuda.sh race"
  exit
fi

repetitions=${REPETITIONS:-50} height=321 width=481 batches='8 64' benchtime=1s limit=${LIMIT:-540}
# The tests fail where there is no card.
export IMAGING_WANT_CUDA=1
if [ "$mode" = fake ]; then
  build "$at" && bash "$here/../backend/cuda/internal/hostcuda/build.sh" "$at/lib" || exit 1
  at=$(cd "$at" && pwd)
  export LD_LIBRARY_PATH="$at/lib"
  repetitions=${REPETITIONS:-1} height=12 width=14 batches=1 benchtime=1x limit=${LIMIT:-3600} # as it may take on the host
fi
cd "$at" || exit 1
out=${OUT:-$at}
mkdir -p results "$out" || exit 1
rm -f results/*
failed=

wanted() {
  local part
  case $1 in compiled-*) [ "${NO_COMPILE:-0}" = 1 ] && return 1 ;; esac
  for part in ${PARTS:-$all}; do
    if [ "$part" = "$1" ] || [ "$part" = "${1%%-*}" ]; then return 0; fi
  done
  return 1
}
left_out() { echo "left out: $*" | tee -a results/left_out.txt >&2; }
keep() { tar czf "$out/cuda-results.tar.gz" results; }

# part NAME COMMAND… runs a command within the limit, shows how it goes on, and keeps all that it says.
part() {
  local name=$1 begun=$SECONDS status
  shift
  say "begin   $name"
  timeout -k 10 "$limit" "$@" 2>&1 | tee "results/$name.txt" |
    grep --line-buffered -E '^ {0,4}--- |^\{|^left out|^Benchmark' | cut -c1-150 | sed -u 's/^/        /' >&2
  status=${PIPESTATUS[0]}
  if [ "$status" = 0 ]; then
    say "ok      $name, $((SECONDS - begun)) s"
  else
    failed="$failed $name"
    say "FAILED  $name, $((SECONDS - begun)) s, status $status:"
    grep -vE '^ *(=== |--- PASS|\{)' "results/$name.txt" | tail -40 >&2
  fi
  keep
}

# The operations of TestCompliance, in three parts.
convolutions='^TestCompliance$/(Conv|GradientFlow)' gradients='^TestCompliance$/(.*Filter|.*Gradient$)' rest='^TestCompliance$'
tests() { # tests NAME COMMAND…: a part that is a test binary's
  local name=$1
  shift
  if wanted "$name"; then part "$name" "$@" -test.v -test.timeout 30m; fi
}

{
  ./restore info | grep -E '^(restore|device|CUDA|CPU)'
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit --format=csv,noheader 2>/dev/null
  sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sed 1q
} | tee results/machine.txt

tests driver ./driver.test
tests compliance ./cuda.test -test.run '^TestCompliance$'
tests beyond ./cuda.test -test.run '^TestBeyondTheGrid$'
tests networks ./cuda.test -test.skip '^TestCompliance'
tests restore ./restore.test -test.run CUDA

python=${PYTHON:-python3} torch=
# pictures N makes the pictures of the race, and what the network makes of them.
pictures() {
  [ -e "pictures-$1/pictures.safetensors" ] || {
    mkdir -p "pictures-$1" && ./netrace prepare -folder "pictures-$1" -pictures "$1" -height "$height" -width "$width"
  }
}
racer() { # ours, one precision after the other, so that none has the card warmer than the rest
  local precision
  for precision in float32 tf32 half; do ./gpurace -folder "pictures-$1" -precision "$precision" -repetitions "$repetitions" || return 1; done
}
export -f racer
export repetitions
has_torch() { # has_torch NAME: whether there is PyTorch, which is found out once
  if [ -z "$torch" ]; then
    torch=no
    # A fake card runs no PyTorch: its processor takes part in the trial.
    if [ "$mode" = fake ]; then
      export CUDA_TORCH_ON=cpu
      if "$python" -c 'import torch' 2>/dev/null; then torch=yes; fi
    elif "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then torch=yes; fi
  fi
  [ $torch = yes ] || { left_out "$1: PyTorch is not here, or has no CUDA"; return 1; }
}
for n in 1 5; do
  for racing in race torch compiled; do
    name=$racing-$n
    wanted "$name" || continue
    if [ $racing != race ]; then has_torch "$name" || continue; fi
    if ! pictures "$n"; then
      failed="$failed $name"
      continue
    fi
    case $racing in
    race) part "$name" bash -c "racer $n" ;;
    torch) part "$name" "$python" cuda_torch.py "pictures-$n" "$repetitions" eager graph ;;
    compiled) part "$name" "$python" cuda_torch.py "pictures-$n" "$repetitions" compiled ;;
    esac
  done
done
if wanted training && pictures 1; then
  trainer() { # one number of crops after the other
    local crops precision
    for crops in $batches; do
      for precision in float32 tf32 half; do ./gpurace -crops "$crops" -precision "$precision" -repetitions "$repetitions" || return 1; done
      if [ "$1" = yes ]; then
        "$python" cuda_torch.py pictures-1 "$repetitions" eager graph $([ "${NO_COMPILE:-0}" = 1 ] || echo compiled) crops="$crops" || return 1
      fi
    done
  }
  export -f trainer
  export python batches
  has_torch training
  part training bash -c "trainer $torch"
fi
# The table: of every racer the median, and the operations of direct convolution in a second.
cat results/{race,torch,compiled}-[15].txt results/training.txt 2>/dev/null | grep '^{' |
  sed -E 's/.*"racer": ?"([^"]*)".*"pass": ?"([^"]*)".*"precision": ?"([^"]*)".*"pictures": ?([0-9]+).*"median_ms": ?([0-9.e+-]+).*"stream_ms": ?([0-9.e+-]+).*"tflops": ?([0-9.e+-]+).*/\4\t\2\t\1\t\3\t\5\t\6\t\7/' |
  sort -t "$(printf '\t')" -k1,1n -k2,2 -k5,5g |
  awk -F '\t' 'NR == 1 { printf "%8s  %-21s %-36s %-9s %10s %10s %9s\n", "pictures", "pass", "racer", "precision", "ms", "ms queued", "TFLOP/s" }
    { printf "%8d  %-21s %-36s %-9s %10.3f %10.3f %9.2f\n", $1, $2, $3, $4, $5, $6, $7 }' | tee results/table.txt

if wanted operations; then part operations ./cuda.test -test.run '^$' -test.bench Operations -test.benchtime "$benchtime" -test.timeout 30m; fi

# Fake GPUs that run PTX look at every access themselves.
sanitizer=
check() { # check NAME TOOL TESTS…
  local name=$1 tool=$2
  shift 2
  wanted "$name" || return 0
  if [ "$mode" = fake ]; then
    tests "$name" env FAKE_CUDA_RUN=ptx ./cuda.test "$@"
    return
  fi
  [ -n "$sanitizer" ] || sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1)
  if [ -z "$sanitizer" ]; then
    left_out "$name: compute-sanitizer is not here (NVIDIA: cuda-sanitizer)"
  elif [ "$tool" = memcheck ]; then
    tests "$name" "$sanitizer" --tool memcheck --leak-check full --error-exitcode 9 ./cuda.test "$@"
  else
    tests "$name" "$sanitizer" --tool "$tool" --error-exitcode 9 ./cuda.test "$@"
  fi
}
check memcheck-convolutions memcheck -test.run "$convolutions"
check memcheck-gradients memcheck -test.run "$gradients"
check memcheck-rest memcheck -test.run "$rest" -test.skip "$convolutions|$gradients"
check racecheck-convolutions racecheck -test.run "$convolutions"
check racecheck-rest racecheck -test.run '^TestCompliance$/(FilterGradient|TV|Reduce|ApplyBlur|ProjectBalls)'
check synccheck synccheck -test.run '^TestCompliance$/(Conv|FilterGradient|Reduce)'

keep
say "results: $out/cuda-results.tar.gz"
if [ -n "$failed" ]; then
  say "failed:$failed"
  exit 1
fi
