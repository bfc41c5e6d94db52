// Columns and matrices moved, cleared, mirrored and measured; // matrices as `matrix_product.hpp` has them.
#pragma once

#include <cmath>

#include "transpose.hpp"

namespace trisweep {

// The upper triangle of a square matrix from its lower one, in blocks of 4; of that the rows begin to below end, multiples of 4.
inline void mirror_rows(int begin, int end, double* A, int ld) {
    const auto at = [&](int i, int j) { return reinterpret_cast<quad*>(A + i + std::ptrdiff_t(j) * ld); };
    for (int i = begin; i < end; i += 4)
        for (int j = 0; j <= i; j += 4) {
            quad a = *at(i, j), b = *at(i, j + 1), c = *at(i, j + 2), d = *at(i, j + 3);
            const quad below[3] = {b, c, d};
            turn_block(a, b, c, d);
            if (i > j) {
                *at(j, i) = a, *at(j, i + 1) = b, *at(j, i + 2) = c, *at(j, i + 3) = d;
            } else {
                *at(j, j + 1) = __builtin_shufflevector(b, below[0], 0, 5, 6, 7);
                *at(j, j + 2) = __builtin_shufflevector(c, below[1], 0, 1, 6, 7);
                *at(j, j + 3) = __builtin_shufflevector(d, below[2], 0, 1, 2, 7);
            }
        }
}

// There must be room for padded(size) columns.
inline void mirror(int size, double* A, int ld) { mirror_rows(0, padded(size), A, ld); }

// The first `size` entries, a padded number, of one column into another.
inline void copy(int size, const double* from, double* to) {
    for (int i = 0; i < size; i += W) store(to + i, load(from + i));
}

// Memory that is soon to be read, into the cache.
inline void prefetch(std::ptrdiff_t size, const double* from) {
    for (std::ptrdiff_t i = 0; i < size; i += 8) __builtin_prefetch(from + i, 0, 2);
}

inline void fill_zero(int size, double* to) {
    for (int i = 0; i < size; i += W) store(to + i, vec{});
}

inline double largest_entry(int size, const double* x) {
    typedef double loose __attribute__((vector_size(W * sizeof(double)), aligned(sizeof(double)), may_alias));
    vec found[2] = {};
    int i = 0;
    for (; i + 2 * W <= size; i += 2 * W)
        for (int k = 0; k < 2; ++k)
            found[k] = larger(magnitude(vec(*reinterpret_cast<const loose*>(x + i + k * W))), found[k]);
    double most = largest(larger(found[0], found[1]));
    for (; i < size; ++i) most = std::fabs(x[i]) > most ? std::fabs(x[i]) : most;
    return most;
}

}  // namespace trisweep
