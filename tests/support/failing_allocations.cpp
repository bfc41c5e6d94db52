// Preloaded before everything else: the n-th time from now on that the core asks for memory, or for a thread, there is
// none. Python, which asks malloc itself, is not touched.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<long> left, failed;  // left = 0: none fails
static std::atomic<long> threads_left{-1};  // below 0: as many as are wanted

// Small pieces are left alone: nanobind takes some where nothing can be thrown.
static bool fails(std::size_t size) {
    if (size < 512 || left <= 0 || left.fetch_sub(1) != 1) return false;
    ++failed;
    return true;
}

extern "C" {
void fail_at(long n) { left = n, failed = 0; }
long have_failed() { return failed; }
void give_threads(long n) { threads_left = n; }

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*act)(void*), void* given) {
    static const auto real = (decltype(&pthread_create))dlsym(RTLD_NEXT, "pthread_create");
    if (threads_left == 0) return EAGAIN;
    if (threads_left > 0) --threads_left;
    return real(thread, attributes, act, given);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    static const auto real = (void* (*)(std::size_t, std::size_t))dlsym(RTLD_NEXT, "aligned_alloc");
    return fails(size) ? nullptr : real(alignment, size);
}
}

void* operator new(std::size_t size) {
    void* found = fails(size) ? nullptr : std::malloc(size ? size : 1);
    if (!found) throw std::bad_alloc();
    return found;
}
