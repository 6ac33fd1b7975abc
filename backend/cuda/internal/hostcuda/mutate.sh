#!/usr/bin/env bash
# bash mutate.sh [PTX…] breaks the PTX of ../kernels, or the files that are named, in one place
# after the other, and says whether the tests find it: each barrier is taken out, and each wait
# for asynchronous copies waits for one copy less. It works on a copy of the tree, and ends with
# an error if a mistake was missed. All of them take a quarter of an hour; needs what .ci/cuda needs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git -C "$root" ls-files -z --cached --others --exclude-standard | (cd "$root" && xargs -0 tar -cf -) | tar -xf - -C "$copy"
cd "$copy"
export CGO_ENABLED=1 CGO_CFLAGS="-g -O2 -I$copy/backend/cuda/internal/cudaheader"
bash "$here/build.sh" "$copy/lib"
if [ $# -eq 0 ]; then set -- "$here"/../kernels/*.ptx; fi

passes() {
	(cd backend/cuda && env FAKE_CUDA_RUN=ptx FAKE_CUDA_CAPABILITY="$capability" LD_LIBRARY_PATH="$copy/lib" \
		"$copy/test" -test.failfast -test.timeout 20m -test.run "$1" >"$copy/log" 2>&1)
}

missed=0 found=0
for ptx; do
	name=$(basename "$ptx") capability=90
	file=backend/cuda/internal/kernels/$name
	# Kernels that newer GPUs leave to tensor cores.
	case $name in convolution.* | gradients.* | filters.sm_70.*) capability=70 ;; esac
	cp "$file" original
	for line in $(grep -nE 'bar\.sync|cp\.async\.wait_group' original | cut -d: -f1); do
		awk -v line="$line" 'NR != line { print; next }
			/wait_group/ { match($0, /[0-9]+;/); print substr($0, 1, RSTART - 1) substr($0, RSTART, RLENGTH - 1) + 1 ";"; next }
			{ print "" }' original >"$file"
		kernel=$(head -"$line" original | sed -nE 's/^.*\.entry ([A-Za-z0-9_$]+).*$/\1/p' | tail -1)
		what="$name line $line, $kernel: $(sed -n "${line}s/^[[:space:]]*//p" original)"
		go test -c -tags cuda -o test ./backend/cuda
		# The short tests first, which find most of it.
		if passes 'Precisions|Flows' && passes Compliance; then
			echo "MISSED  $what"
			missed=$((missed + 1))
		else
			echo "found   $what$(sed -nE 's/^fake CUDA driver: kernel ([^ ,]+), block [^ ]+ thread ([^:]+): ([^:]+), in line.*$/: \3/p' "$copy/log" | head -1)"
			found=$((found + 1))
		fi
	done
	cp original "$file"
done
echo "$found found, $missed missed"
[ "$missed" = 0 ]
