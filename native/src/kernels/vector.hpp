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

inline vec larger(vec a, vec b) { return a > b ? a : b; }
inline vec magnitude(vec a) { return larger(a, -a); }

// Over a vector of a padded size, with term(i) the W terms from i on: their sum, and the largest of them or 0.
template <class Term>
inline double sum_over(int size, const Term& term) {
    vec even{}, odd{};
    int i = 0;
    for (; i + 2 * W <= size; i += 2 * W) {
        even += term(i);
        odd += term(i + W);
    }
    if (i < size) even += term(i);
    return sum(even + odd);
}

template <class Term>
inline double largest_over(int size, const Term& term) {
    vec even{}, odd{};
    int i = 0;
    for (; i + 2 * W <= size; i += 2 * W) {
        even = larger(even, term(i));
        odd = larger(odd, term(i + W));
    }
    if (i < size) even = larger(even, term(i));
    even = larger(even, odd);
    double entries[W], largest = 0.0;
    __builtin_memcpy(entries, &even, sizeof even);
    for (double entry : entries) largest = entry > largest ? entry : largest;
    return largest;
}

// Whether all entries, at any address, are finite numbers.
inline bool all_finite(std::ptrdiff_t size, const double* x) {
    typedef double loose __attribute__((vector_size(W * sizeof(double)), aligned(sizeof(double)), may_alias));
    vec zeros[4] = {};
    std::ptrdiff_t i = 0;
    for (; i + 4 * W <= size; i += 4 * W)
        for (int k = 0; k < 4; ++k) zeros[k] += vec(*reinterpret_cast<const loose*>(x + i + k * W)) * 0.0;
    double rest = sum(zeros[0] + zeros[1] + (zeros[2] + zeros[3]));
    for (; i < size; ++i) rest += x[i] * 0.0;
    return rest == 0.0;
}

inline double largest_size(int size, const double* x) {
    return largest_over(size, [x](int i) { return magnitude(load(x + i)); });
}
inline double sum_of_sizes(int size, const double* x) {
    return sum_over(size, [x](int i) { return magnitude(load(x + i)); });
}

}  // namespace trisweep
