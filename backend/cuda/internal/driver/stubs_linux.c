//go:build cuda && cgo && (amd64 || arm64)

// The functions of the driver library as jumps through a table that driver_load fills, so
// that the program needs no libcuda to start. All are hidden: the driver library calls
// functions of the same names itself, and must find its own.

#include "stubs_linux.h"

#include <dlfcn.h>
#include <stddef.h>

// What a function returns that the library does not have, or before it is loaded:
// CUDA_ERROR_NOT_SUPPORTED.
static int missing(void) { return 801; }

#define NAME(f) __attribute__((used, visibility("hidden"))) void *slot_##f = (void *)missing;
#include "names_linux.h"
#undef NAME

#if defined(__x86_64__)
#define JUMP(f) "jmp *slot_" #f "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(f) "adrp x16, slot_" #f "\nldr x16, [x16, :lo12:slot_" #f "]\nbr x16\n"
#endif

#define NAME(f)                                                                      \
	__asm__(".pushsection .text\n"                                               \
		".globl " #f "\n.hidden " #f "\n.type " #f ", %function\n.p2align 4\n" \
		#f ":\n" JUMP(f) ".size " #f ", . - " #f "\n.popsection");
#include "names_linux.h"
#undef NAME

static const struct {
	const char *name;
	void **slot;
} table[] = {
#define NAME(f) {#f, &slot_##f},
#include "names_linux.h"
#undef NAME
};

// cuInit is called by package cu before main, where nothing shall happen yet: cu ends the
// process if there is no GPU.
__attribute__((visibility("hidden"))) int cuInit(unsigned int flags) {
	(void)flags;
	return 0;
}

const char *driver_load(const char *path, int *result) {
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return dlerror();
	int (*init)(unsigned int) = (int (*)(unsigned int))dlsym(library, "cuInit");
	if (init == NULL)
		return "the library that is called libcuda.so.1 has no cuInit";
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		void *f = dlsym(library, table[i].name);
		if (f != NULL)
			*table[i].slot = f;
	}
	*result = init(0);
	return NULL;
}
