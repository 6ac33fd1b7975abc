#!/usr/bin/env bash
# How the throughput of restore-beam grows with the cores:
#
#   bench/beam.sh FOLDER AT_ONCE… [-- FLAG…]
#
# Restores the photographs of FOLDER with each of the numbers of cores, as many at once, and prints the
# seconds, the photographs a second, and how many times the first that is; flags go to restore-beam.
# A quiet machine, and at least ten photographs for each core, say, so that the last ones do not count.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -C beam -o "$work/restore-beam" ./restore-beam
cores=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	cores+=("$1")
	shift
done
[ $# -eq 0 ] || shift
for n in "${cores[@]}"; do
	began=$(date +%s.%N)
	GOMAXPROCS=$n "$work/restore-beam" -input "$folder/*" -output "$work/$n" -at-once "$n" "$@" >"$work/said" || [ $? -eq 1 ]
	ended=$(date +%s.%N)
	echo "$n $(wc -l <"$work/$n/results.jsonl") $began $ended"
done | awk '
	{ s = $4 - $3; rate = $2 / s; if (!first) first = rate
	  printf "%d at once: %d photographs in %.1f s, %.3f a second, %.2f times the first\n", $1, $2, s, rate, rate / first; fflush() }'
