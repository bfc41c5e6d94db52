// The processor's vector of doubles, by the compiler's vector extension, and the register tile that fits it.
#pragma once

#include <cstddef>

namespace trisweep {

// W: doubles in a vector, also with AVX-512: Zen 4 gains nothing by wider ones, and small matrices fill them badly. A register
// tile is TILE_ROWS vectors by TILE_COLUMNS columns of a product.
#if defined(__AVX2__)
inline constexpr int W = 4, TILE_ROWS = 3, TILE_COLUMNS = 4;
#elif defined(__aarch64__)
inline constexpr int W = 2, TILE_ROWS = 4, TILE_COLUMNS = 4;
#else
inline constexpr int W = 2, TILE_ROWS = 2, TILE_COLUMNS = 4;
#endif

// Every block of rows starts at a multiple of PAD and is filled up with zeros to the next one.
inline constexpr int PAD = 4;
inline constexpr std::size_t ALIGNMENT = 64;

constexpr int padded(int size) { return (size + PAD - 1) / PAD * PAD; }

typedef double vec __attribute__((vector_size(W * sizeof(double)), may_alias));

inline vec load(const double* p) { return *reinterpret_cast<const vec*>(p); }
inline void store(double* p, vec v) { *reinterpret_cast<vec*>(p) = v; }
inline vec broadcast(double s) { return s - vec{}; }

typedef double quad __attribute__((vector_size(32), may_alias));
typedef double loose_quad __attribute__((vector_size(32), aligned(sizeof(double)), may_alias));  // at any address
inline loose_quad& loose_quad_at(double* p) { return *reinterpret_cast<loose_quad*>(p); }
inline const loose_quad& loose_quad_at(const double* p) { return *reinterpret_cast<const loose_quad*>(p); }

// A vector's entries summed to four, or to two and two zeros.
inline quad folded(vec v) {
    quad one{};
    __builtin_memcpy(&one, &v, sizeof v);
    return one;
}

// The sums of the entries of four vectors.
inline quad sums(vec a, vec b, vec c, vec d) {
    const quad A = folded(a), B = folded(b), C = folded(c), D = folded(d);
    const quad AB = quad{A[0], B[0], A[2], B[2]} + quad{A[1], B[1], A[3], B[3]};
    const quad CD = quad{C[0], D[0], C[2], D[2]} + quad{C[1], D[1], C[3], D[3]};
    return quad{AB[0], AB[1], CD[0], CD[1]} + quad{AB[2], AB[3], CD[2], CD[3]};
}
inline double sum(vec v) {
    const quad four = folded(v);
    return (four[0] + four[1]) + (four[2] + four[3]);
}

inline vec larger(vec a, vec b) { return a > b ? a : b; }
inline vec smaller(vec a, vec b) { return a < b ? a : b; }
// The largest entry, or 0.
inline double largest(vec v) {
    double entries[W], found = 0.0;
    __builtin_memcpy(entries, &v, sizeof v);
    for (double entry : entries) found = entry > found ? entry : found;
    return found;
}
inline vec magnitude(vec a) { return larger(a, -a); }
inline vec square_root(vec a) {
    for (int k = 0; k < W; ++k) a[k] = __builtin_sqrt(a[k]);
    return a;
}

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
    return largest(larger(even, odd));
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

// job<count>(), where a count of 1 to MOST is known only now: what is unrolled needs it as a constant.
template <int MOST, class Job>
[[gnu::always_inline]] inline auto with_count(int count, const Job& job) {
    if constexpr (MOST > 1)
        if (count < MOST) return with_count<MOST - 1>(count, job);
    return job.template operator()<MOST>();
}

}  // namespace trisweep
