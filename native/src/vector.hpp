// The processor's vector of doubles, by the compiler's vector extension, and the register tile that fits it.
#pragma once

#include <cstddef>

namespace trisweep {

// W: doubles in a vector. A register tile is TILE_ROWS vectors by TILE_COLUMNS columns of a product.
#if defined(__AVX512F__)
inline constexpr int W = 8, TILE_ROWS = 3, TILE_COLUMNS = 8;
#elif defined(__AVX2__)
inline constexpr int W = 4, TILE_ROWS = 3, TILE_COLUMNS = 4;
#elif defined(__aarch64__)
inline constexpr int W = 2, TILE_ROWS = 4, TILE_COLUMNS = 4;
#else
inline constexpr int W = 2, TILE_ROWS = 2, TILE_COLUMNS = 4;
#endif

// Every block of rows starts at a multiple of PAD and is filled up with zeros to the next one.
inline constexpr int PAD = W < 4 ? 4 : W;
inline constexpr std::size_t ALIGNMENT = 64;

constexpr int padded(int size) { return (size + PAD - 1) / PAD * PAD; }

typedef double vec __attribute__((vector_size(W * sizeof(double)), may_alias));

inline vec load(const double* p) { return *reinterpret_cast<const vec*>(p); }
inline void store(double* p, vec v) { *reinterpret_cast<vec*>(p) = v; }
inline vec broadcast(double s) { return s - vec{}; }

// The sum of a vector's entries, by halves.
template <int N = W>
inline double sum(const double* v) {
    if constexpr (N == 1) {
        return *v;
    } else {
        return sum<N / 2>(v) + sum<N / 2>(v + N / 2);
    }
}
inline double sum(vec v) {
    double entries[W];
    __builtin_memcpy(entries, &v, sizeof v);
    return sum<W>(entries);
}

}  // namespace trisweep
