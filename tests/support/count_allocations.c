/* Preloaded before everything else, this counts the process's calls to the heap. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static long count;
long allocation_count(void) { return count; }

/* dlsym itself may allocate before the real functions are known: serve that from here. */
static char early[65536];
static size_t early_used;
static void* early_take(size_t size) {
    void* p = early + early_used;
    early_used += (size + 63) / 64 * 64;
    return p;
}

#define REAL(name, type) static type real; if (!real) real = (type)dlsym(RTLD_NEXT, name)

static int resolving;
void* malloc(size_t size) {
    static void* (*real)(size_t);
    if (!real) {
        if (resolving) return early_take(size);
        resolving = 1;
        real = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc");
        resolving = 0;
    }
    ++count;
    return real(size);
}
void* calloc(size_t n, size_t size) {
    static void* (*real)(size_t, size_t);
    if (!real) {
        if (resolving) return early_take(n * size);
        resolving = 1;
        real = (void* (*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
        resolving = 0;
    }
    ++count;
    return real(n, size);
}
typedef void* (*realloc_type)(void*, size_t);
void* realloc(void* p, size_t size) { REAL("realloc", realloc_type); ++count; return real(p, size); }
typedef void* (*aligned_type)(size_t, size_t);
void* aligned_alloc(size_t a, size_t size) { REAL("aligned_alloc", aligned_type); ++count; return real(a, size); }
void* memalign(size_t a, size_t size) { REAL("memalign", aligned_type); ++count; return real(a, size); }
typedef int (*posix_type)(void**, size_t, size_t);
int posix_memalign(void** p, size_t a, size_t size) { REAL("posix_memalign", posix_type); ++count; return real(p, a, size); }
typedef void (*free_type)(void*);
void free(void* p) {
    REAL("free", free_type);
    if ((char*)p >= early && (char*)p < early + sizeof early) return;
    real(p);
}
