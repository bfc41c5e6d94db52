// One block of memory for everything a problem needs: laid out once, zeroed, aligned, never grown.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "vector.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

// Under AddressSanitizer every piece is followed by a gap that must not be touched.
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define TRISWEEP_GAP 64
#else
#define TRISWEEP_GAP 0
#endif

namespace trisweep {

// Walk a layout twice: the first walk (no memory yet) counts, the second hands out pieces.
class Arena {
public:
    Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena() {
#if TRISWEEP_GAP
        if (memory_) __asan_unpoison_memory_region(memory_, used_);
#endif
        std::free(memory_);
    }

    template <class Layout>
    void build(Layout&& layout) {
        layout(*this);
        const std::size_t alignment = used_ < 2 * LARGE_PAGE ? ALIGNMENT : LARGE_PAGE;
        const std::size_t bytes = (used_ + alignment) / alignment * alignment;
        memory_ = static_cast<char*>(std::aligned_alloc(alignment, bytes));
        if (!memory_) throw std::bad_alloc();
#if defined(__linux__)
        if (alignment == LARGE_PAGE) madvise(memory_, bytes, MADV_HUGEPAGE);  // a wish: nothing depends on it
#endif
        std::memset(memory_, 0, bytes);
        used_ = 0;
        layout(*this);
    }

    double* matrix(std::size_t ld, std::size_t columns) { return take<double>(ld * columns); }
    double* vector(int size) { return take<double>(std::size_t(padded(size))); }
    int* indices(int size) { return take<int>(std::size_t(size)); }
    std::size_t bytes() const { return used_; }

private:
    static constexpr std::size_t LARGE_PAGE = std::size_t(1) << 21;  // of which a processor finds many more at once

    template <class T>
    T* take(std::size_t count) {
        T* piece = memory_ ? reinterpret_cast<T*>(memory_ + used_) : nullptr;
        used_ += (count * sizeof(T) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
#if TRISWEEP_GAP
        if (memory_) __asan_poison_memory_region(memory_ + used_, TRISWEEP_GAP);
        used_ += TRISWEEP_GAP;
#endif
        return piece;
    }
    char* memory_ = nullptr;
    std::size_t used_ = 0;
};

}  // namespace trisweep
