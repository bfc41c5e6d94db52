// Transposition in blocks of 4, on padded, aligned, column-major memory.
#pragma once

#include "vector.hpp"

namespace trisweep {

inline void turn_block(quad& a, quad& b, quad& c, quad& d) {
    const quad ab = __builtin_shufflevector(a, b, 0, 4, 2, 6), ba = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const quad cd = __builtin_shufflevector(c, d, 0, 4, 2, 6), dc = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    a = __builtin_shufflevector(ab, cd, 0, 1, 4, 5), b = __builtin_shufflevector(ba, dc, 0, 1, 4, 5);
    c = __builtin_shufflevector(ab, cd, 2, 3, 6, 7), d = __builtin_shufflevector(ba, dc, 2, 3, 6, 7);
}

// Of four vectors the entries of each lane.
inline void turn_lanes(vec a, vec b, vec c, vec d, quad (&lanes)[W]) {
    quad turned[] = {folded(a), folded(b), folded(c), folded(d)};
    turn_block(turned[0], turned[1], turned[2], turned[3]);
    for (int l = 0; l < W; ++l) lanes[l] = turned[l];
}

// B = A' for A (rows, columns), both padded to multiples of 4.
inline void transpose(int rows, int columns, const double* A, int lda, double* B, int ldb) {
    for (int j = 0; j < columns; j += 4)
        for (int i = 0; i < rows; i += 4) {
            const auto from = [&](int t) { return reinterpret_cast<const quad*>(A + i + std::ptrdiff_t(j + t) * lda); };
            const auto to = [&](int t) { return reinterpret_cast<quad*>(B + j + std::ptrdiff_t(i + t) * ldb); };
            quad a = *from(0), b = *from(1), c = *from(2), d = *from(3);
            turn_block(a, b, c, d);
            *to(0) = a, *to(1) = b, *to(2) = c, *to(3) = d;
        }
}

// The lower triangle, in blocks, of B = A + A' + C; C may be null.
inline void fold(int size, const double* A, const double* C, double* B, int ld) {
    for (int j = 0; j < size; j += 4)
        for (int i = j; i < size; i += 4) {
            const auto at = [&](const double* matrix, int r, int c) {
                return *reinterpret_cast<const quad*>(matrix + r + std::ptrdiff_t(c) * ld);
            };
            quad turned[] = {at(A, j, i), at(A, j, i + 1), at(A, j, i + 2), at(A, j, i + 3)};
            turn_block(turned[0], turned[1], turned[2], turned[3]);
            for (int t = 0; t < 4; ++t) {
                const quad sum = at(A, i, j + t) + turned[t];
                *reinterpret_cast<quad*>(B + i + std::ptrdiff_t(j + t) * ld) = C ? sum + at(C, i, j + t) : sum;
            }
        }
}

}  // namespace trisweep
