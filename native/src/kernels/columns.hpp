// Columns and matrices moved, cleared, mirrored and measured; // matrices as `matrix_product.hpp` has them.
#pragma once

#include <cmath>

#include "vector.hpp"

namespace trisweep {

// The upper triangle of a square matrix from its lower one, in blocks of 4. There must be room for padded(size) columns.
inline void mirror(int size, double* A, int ld) {
    const auto at = [&](int i, int j) { return reinterpret_cast<quad*>(A + i + std::ptrdiff_t(j) * ld); };
    for (int j = 0; j < size; j += 4)
        for (int i = j; i < size; i += 4) {
            const quad a = *at(i, j), b = *at(i, j + 1), c = *at(i, j + 2), d = *at(i, j + 3);
            if (i > j) {
                *at(j, i) = quad{a[0], b[0], c[0], d[0]};
                *at(j, i + 1) = quad{a[1], b[1], c[1], d[1]};
                *at(j, i + 2) = quad{a[2], b[2], c[2], d[2]};
                *at(j, i + 3) = quad{a[3], b[3], c[3], d[3]};
            } else {
                *at(j, j + 1) = quad{a[1], b[1], b[2], b[3]};
                *at(j, j + 2) = quad{a[2], b[2], c[2], c[3]};
                *at(j, j + 3) = quad{a[3], b[3], c[3], d[3]};
            }
        }
}

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
    double largest = 0.0;
    for (int i = 0; i < size; ++i) {
        const double entry = std::fabs(x[i]);
        if (entry > largest) largest = entry;
    }
    return largest;
}

}  // namespace trisweep
