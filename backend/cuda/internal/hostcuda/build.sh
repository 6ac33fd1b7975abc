#!/usr/bin/env bash
# bash build.sh FOLDER [SOURCE.cu…] makes FOLDER/libcuda.so.1, the fake driver, from the
# kernels of this repository, those of the driver's own tests, and further sources.
#
# Each kernel is compiled once for every architecture that its PTX is made for. A compiler
# with C++17 does; CXX chooses it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: build.sh FOLDER [SOURCE.cu…]}
shift
mkdir -p "$out"
out=$(cd "$out" && pwd)
cxx=${CXX:-$(command -v clang++-19 || command -v g++ || command -v clang++)}
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

flags=(-std=c++17 -O2 -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno -Wall -Wextra -Wno-unused-parameter -Wno-psabi
	-I"$here/../kernels" -I"$here" -I"$here/../cudaheader")
case $(uname -m) in
x86_64) flags+=(-march=x86-64-v3) ;; # fused multiply-adds and halves in hardware
esac
# A trap where an address does not suit its type, an index leaves an array, a shift is too
# wide: the emulator makes an error of the GPU out of it.
checks=(-fsanitize=alignment,bounds,shift -fno-sanitize-recover=all)
if "$cxx" --version | grep -q clang; then
	checks+=(-fsanitize-trap=all -Wno-unused-command-line-argument)
else
	checks+=(-fsanitize-undefined-trap-on-error -Wno-unknown-pragmas)
fi

shopt -s nullglob
jobs=()
for source in "$here"/../kernels/*.cu "$here"/../driver/testdata/*.cu "$@"; do
	name=$(basename "$source" .cu)
	for ptx in "${source%.cu}".sm_*.ptx; do
		arch=${ptx##*.sm_}
		arch=${arch%.ptx}
		{
			printf '#define DEVICE_ARCH %s\n#include "%s"\n' "$arch" "$source"
			sed -nE 's/^.*\.entry ([A-Za-z0-9_$]+).*$/HOST_KERNEL(\1)/p' "$ptx"
		} >"$objects/$name-$arch.cpp"
		"$cxx" "${flags[@]}" "${checks[@]}" -c -o "$objects/$name-$arch.o" "$objects/$name-$arch.cpp" &
		jobs+=($!)
	done
done
for part in emulator tensorcores driver ptx_assemble ptx_operations ptx_memory ptx_run ptx_profile; do
	"$cxx" "${flags[@]}" -std=c++20 -c -o "$objects/$part.o" "$here/$part.cpp" &
	jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done
"$cxx" -shared -Wl,-soname,libcuda.so.1 -o "$out/libcuda.so.1.new" "$objects"/*.o -lpthread
mv "$out/libcuda.so.1.new" "$out/libcuda.so.1"
