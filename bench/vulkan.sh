#!/usr/bin/env bash
# The Vulkan backend on a machine with a card: its checks, and the race.
#
#   bench/vulkan.sh prepare ARCHIVE     here: one archive of at most 45 MiB (needs Go, xz, and for the loader Debian)
#   bash vulkan/vulkan.sh race          there, where `tar xf ARCHIVE` made vulkan/: needs libc and a driver of Vulkan
#   bench/vulkan.sh software FOLDER     here: every part on Mesa's Vulkan in software, with small pictures
#
# Parts, in this order; where one fails or takes too long the others go on, and the end is an error:
#
#   driver       the tests of the driver's binding
#   restore      restore denoise and deblur against the processor: PSNR above 80 dB
#   race         the Euler network on one picture of 481×321, forward, in float32
#   guided       `guided` on a photograph of 12 megapixels, and the same on the processor
#   compliance   every operation of the backend against float64
#   operations   the speed of what `guided` is made of
#   program      restore denoise of a file of 12 megapixels, by the processor and by the card
#   rest         bits, bands, memory, products of all numbers
#   faults       a fault in each call of the driver
#
# All that is to be read is in one text file, vulkan-results.txt. The environment may say:
#
#   PARTS        which of the above                     default: all
#   OUT          folder for the results                 default: that of the parts
#   REPETITIONS  timed passes of the race               default 50
#   LIMIT        seconds that a part may take           default 60
#   TOTAL        seconds that all parts may take        default 150
set -uo pipefail

all='driver restore race guided compliance operations program rest faults'
here=$(cd "$(dirname "$0")" && pwd)
mode=${1:-} at=${2:-}
case $mode/$# in
prepare/2 | software/2) ;;
race/1) at=$here ;;
*)
  echo "usage: $0 prepare ARCHIVE | race | software FOLDER" >&2
  exit 2
  ;;
esac
say() { echo "$*" >&2; }

# build FOLDER puts there what the other machine needs. The programs have the same weights in them.
build() {
  mkdir -p "$1" || return 1
  local folder made
  folder=$(cd "$1" && pwd)
  (
    cd "$here/.." || exit 1
    export CGO_ENABLED=0
    for made in driver.test:./internal/vulkan/driver vulkan.test:./backend/vulkan restore.test:./cmd/restore devices.test:./cmd/restore/internal/devices; do
      go test -c -ldflags=-s -o "$folder/${made%%:*}" "${made#*:}" || exit 1
    done
    for made in restore:./cmd/restore gpurace:./internal/gpurace netrace:./internal/netrace; do
      go build -ldflags=-s -o "$folder/${made%%:*}" "${made#*:}" || exit 1
    done
    cp bench/vulkan.sh "$folder/"
  )
}

# loaders FOLDER puts libraries there that a machine with a driver may lack: Vulkan's loader, and what the
# driver is linked with.
loaders() {
  local scratch deb
  scratch=$(mktemp -d)
  chmod 755 "$scratch"
  (cd "$scratch" && apt-get download -qq libvulkan1 libx11-6 libxext6 libxcb1 libxau6 libxdmcp6 libbsd0 libmd0) >&2 &&
    for deb in "$scratch"/*.deb; do dpkg -x "$deb" "$scratch/unpacked" || break; done &&
    mkdir -p "$1" && cp -a "$scratch"/unpacked/usr/lib/*/*.so.* "$1/"
  local status=$?
  rm -rf "$scratch"
  return $status
}

if [ "$mode" = prepare ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  build "$scratch/vulkan" && loaders "$scratch/vulkan/libraries" || exit 1
  # Only a large window finds the weights that the programs share.
  tar -C "$scratch" -c vulkan | xz -T2 --lzma2=preset=6,dict=128MiB >"$at" || exit 1
  bytes=$(wc -c <"$at")
  if [ "$bytes" -gt $((45 << 20)) ]; then
    say "$at has $((bytes >> 20)) MiB, more than the 45 that it may have"
    exit 1
  fi
  say "$at has $((bytes >> 20)) MiB. On the other machine: tar xf $(basename "$at") && bash vulkan/vulkan.sh race"
  exit
fi

repetitions=${REPETITIONS:-50} height=321 width=481 photograph=4000x3000 limit=${LIMIT:-60} total=${TOTAL:-150}
# The tests fail where there is no device.
export IMAGING_WANT_VULKAN=1
if [ "$mode" = software ]; then
  build "$at" || exit 1
  at=$(cd "$at" && pwd)
  VK_ICD_FILENAMES=$(find /usr/share/vulkan/icd.d -name 'lvp_icd*.json' | head -1)
  export VK_ICD_FILENAMES
  repetitions=${REPETITIONS:-1} height=24 width=26 photograph=64x48 limit=${LIMIT:-900} total=${TOTAL:-3600}
fi
cd "$at" || exit 1
out=${OUT:-$at}
mkdir -p results "$out" || exit 1
rm -f results/*
failed=

# A driver that was installed without the loader, or without what it is linked with.
if [ -d libraries ]; then
  mkdir -p used
  for library in libraries/*.so.*; do
    name=$(basename "$library")
    ldconfig -p | grep -q "[[:space:]]$name " || ln -sf "../$library" "used/$name"
  done
  for folder in /usr/local/nvidia/lib64 "$at/used"; do
    [ -d "$folder" ] && export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder"
  done
fi
devices() { timeout 30 ./restore info 2>&1 | grep -E 'vulkan|Vulkan'; }
hardware() { devices | grep -E 'vulkan:[0-9]' | grep -qvE 'llvmpipe|SwiftShader'; }
if [ "$mode" = race ] && [ -z "${VK_ICD_FILENAMES:-}" ] && ! hardware >/dev/null; then
  nvidia=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
  [ -f "$nvidia" ] || nvidia=$(find / -xdev -name 'nvidia_icd*.json' 2>/dev/null | head -1)
  if [ -n "$nvidia" ]; then
    export VK_ICD_FILENAMES=$nvidia VK_DRIVER_FILES=$nvidia
    if ! hardware >/dev/null; then # the library for GLX needs X11, the one for EGL does not
      sed 's/libGLX_nvidia/libEGL_nvidia/' "$nvidia" >egl_icd.json
      export VK_ICD_FILENAMES=$at/egl_icd.json VK_DRIVER_FILES=$at/egl_icd.json
    fi
  fi
fi

wanted() {
  local part
  for part in ${PARTS:-$all}; do [ "$part" = "$1" ] && return 0; done
  return 1
}
# keep makes the file that is to be read: tables, the names of tests that failed and what they said, and of
# tests that pass or are skipped the number.
keep() {
  local f
  {
    cat results/machine.txt
    for f in ${PARTS:-$all}; do
      [ -e "results/$f.txt" ] || continue
      echo "== $f: $(cat "results/$f.status")"
      if grep -qE '^ *--- (PASS|FAIL|SKIP)' "results/$f.txt"; then
        echo "$(grep -cE '^ *--- PASS' "results/$f.txt") passed, $(grep -cE '^ *--- FAIL' "results/$f.txt") failed, $(grep -cE '^ *--- SKIP' "results/$f.txt") skipped"
        grep -E '^ *--- FAIL' "results/$f.txt" | cut -c1-160
        grep -E '^--- PASS| dB$' "results/$f.txt" | cut -c1-160 | head -40
      fi
      grep -vE '^ *(=== |--- |PASS)| dB$' "results/$f.txt" | cut -c1-300 | head -120
    done
  } | head -c 200000 >"$out/vulkan-results.txt"
}
# part NAME COMMAND… runs a command within the limits.
part() {
  local name=$1 begun=$SECONDS status left
  shift
  wanted "$name" || return 0
  left=$((total - SECONDS))
  [ "$left" -gt "$limit" ] && left=$limit
  if [ "$left" -lt 3 ]; then
    status='left out, the time is over'
    : >"results/$name.txt"
  else
    timeout -k 5 "$left" "$@" >"results/$name.txt" 2>&1
    status="status $?, $((SECONDS - begun)) s"
  fi
  echo "$status" >"results/$name.status"
  say "$name: $status"
  case $status in 'status 0,'*) ;; *) failed="$failed $name" ;; esac
  keep
}

{
  devices
  # What the loader says where it finds no GPU.
  if [ "$mode" = race ] && ! hardware >/dev/null; then VK_LOADER_DEBUG=error,warn,driver timeout 30 ./restore info 2>&1 | head -80; fi
  begun=$(date +%s%3N)
  devices >/dev/null
  echo "restore info: $(($(date +%s%3N) - begun)) ms"
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit --format=csv,noheader 2>/dev/null
  sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort | uniq -c
} | tee results/machine.txt >&2

race() {
  mkdir -p pictures && ./netrace prepare -folder pictures -pictures 1 -height "$height" -width "$width" &&
    ./gpurace -device vulkan -folder pictures -repetitions "$repetitions"
}
guided() { ./gpurace -device vulkan -photograph "$photograph"; }
operations() { ./gpurace -device vulkan -operations -photograph "$photograph" -repetitions "$((repetitions / 5 + 1))"; }
program() {
  local device
  { printf 'P6\n%s %s\n255\n' "${photograph%x*}" "${photograph#*x}" && head -c "$((3 * ${photograph/x/*}))" /dev/urandom; } >photograph.ppm || return 1
  for device in cpu vulkan vulkan; do
    echo "$device:"
    time ./restore denoise --sigma 0.1 --backend "$device" --force -o "$device.ppm" photograph.ppm || return 1
  done
  ./restore compare cpu.ppm vulkan.ppm
}
export -f race guided operations program
export repetitions height width photograph

part driver ./driver.test -test.v
part restore ./restore.test -test.v -test.run 'VulkanInInfo|VulkanAgrees'
part devices ./devices.test -test.v -test.run Races
part race bash -c race
part guided bash -c guided
part compliance ./vulkan.test -test.v -test.run '^TestCompliance$'
part operations bash -c operations
part program bash -c program
part rest ./vulkan.test -test.v -test.skip '^TestCompliance$|Faults|Wrong'
part faults ./vulkan.test -test.v -test.run 'Faults|Wrong'

say "results: $out/vulkan-results.txt"
if [ -n "$failed" ]; then
  say "failed:$failed"
  exit 1
fi
