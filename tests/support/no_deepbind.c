// CasADi loads its plug-ins with RTLD_DEEPBIND, which sanitizers refuse: dlopen without it, preloaded before theirs.
#define _GNU_SOURCE
#include <dlfcn.h>

void* dlopen(const char* name, int flags) {
    void* (*next)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
    return next(name, flags & ~RTLD_DEEPBIND);
}
