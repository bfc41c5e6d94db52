// Small dense kernels on padded, aligned, column-major memory.
//
// A matrix is a pointer and the distance `ld` between its columns, a multiple of PAD. Row counts are padded ones:
// the kernels read and write the padding, which is zero on entry and stays zero. Column counts are exact.
#pragma once

#include <cmath>

#include "vector.hpp"

namespace trisweep {

// One register tile of D = C + sign A B, with MV vectors of rows and NC columns; element (k, j) of B is B[k bk + j bj].
template <int MV, int NC, int SIGN>
[[gnu::always_inline]] inline void product_tile(int depth, const double* A, int lda, const double* B, int bk, int bj,
                                                const double* C, int ldc, double* D, int ldd) {
    vec acc[NC][MV];
#pragma GCC unroll 8
    for (int j = 0; j < NC; ++j)
#pragma GCC unroll 8
        for (int i = 0; i < MV; ++i) acc[j][i] = vec{};
    for (int k = 0; k < depth; ++k, A += lda, B += bk) {
        vec a[MV];
#pragma GCC unroll 8
        for (int i = 0; i < MV; ++i) a[i] = load(A + i * W);
#pragma GCC unroll 8
        for (int j = 0; j < NC; ++j) {
            const vec b = broadcast(B[j * bj]);
#pragma GCC unroll 8
            for (int i = 0; i < MV; ++i) acc[j][i] += a[i] * b;
        }
    }
#pragma GCC unroll 8
    for (int j = 0; j < NC; ++j)
#pragma GCC unroll 8
        for (int i = 0; i < MV; ++i) {
            const vec term = SIGN > 0 ? acc[j][i] : -acc[j][i];
            store(D + j * ldd + i * W, C ? load(C + j * ldc + i * W) + term : term);
        }
}

template <int NC, int SIGN>
inline void product_columns(int first, int rows, int depth, const double* A, int lda, const double* B, int bk, int bj,
                            const double* C, int ldc, double* D, int ldd) {
    int i = first, left = (rows - first) / W;
    const auto tile = [&]<int MV>() {
        product_tile<MV, NC, SIGN>(depth, A + i, lda, B, bk, bj, C ? C + i : nullptr, ldc, D + i, ldd);
        i += MV * W;
        left -= MV;
    };
    while (left > TILE_ROWS + 1 || left == TILE_ROWS) tile.template operator()<TILE_ROWS>();
    while (left >= 2) tile.template operator()<2>();
    if (left == 1) tile.template operator()<1>();
}

// D = C + SIGN A B (C may be null, or D itself), all of it or, with LOWER, its lower triangle and the tiles it touches.
template <bool LOWER, int SIGN>
inline void product(int rows, int columns, int depth, const double* A, int lda, const double* B, int bk, int bj,
                    const double* C, int ldc, double* D, int ldd) {
    const auto block = [&]<int NC>(int j) {
        const int first = LOWER ? j / W * W : 0;
        product_columns<NC, SIGN>(first, rows, depth, A, lda, B + std::ptrdiff_t(j) * bj, bk, bj,
                                  C ? C + std::ptrdiff_t(j) * ldc : nullptr, ldc, D + std::ptrdiff_t(j) * ldd, ldd);
        return j + NC;
    };
    int j = 0;
    while (j + TILE_COLUMNS <= columns) j = block.template operator()<TILE_COLUMNS>(j);
    if constexpr (TILE_COLUMNS > 4)
        if (columns - j >= 4) j = block.template operator()<4>(j);
    switch (columns - j) {
        case 3: block.template operator()<3>(j); break;
        case 2: block.template operator()<2>(j); break;
        case 1: block.template operator()<1>(j); break;
        default: break;
    }
}

// D = C + SIGN A B'
template <bool LOWER, int SIGN>
inline void product_nt(int rows, int columns, int depth, const double* A, int lda, const double* B, int ldb,
                       const double* C, int ldc, double* D, int ldd) {
    product<LOWER, SIGN>(rows, columns, depth, A, lda, B, ldb, 1, C, ldc, D, ldd);
}

// D = C + SIGN A B
template <int SIGN>
inline void product_nn(int rows, int columns, int depth, const double* A, int lda, const double* B, int ldb,
                       const double* C, int ldc, double* D, int ldd) {
    product<false, SIGN>(rows, columns, depth, A, lda, B, 1, ldb, C, ldc, D, ldd);
}

// The upper triangle of a square matrix from its lower one.
inline void mirror(int size, double* A, int ld) {
    for (int j = 1; j < size; ++j)
        for (int i = 0; i < j; ++i) A[i + std::ptrdiff_t(j) * ld] = A[j + std::ptrdiff_t(i) * ld];
}

// y += SIGN A x
template <int SIGN = 1>
inline void multiply_add(int rows, int columns, const double* A, int ld, const double* x, double* y) {
    const auto strip = [&]<int MV>(int i) {
        vec acc[MV];
#pragma GCC unroll 8
        for (int t = 0; t < MV; ++t) acc[t] = load(y + i + t * W);
        const double* a = A + i;
        for (int j = 0; j < columns; ++j, a += ld) {
            const vec s = broadcast(SIGN > 0 ? x[j] : -x[j]);
#pragma GCC unroll 8
            for (int t = 0; t < MV; ++t) acc[t] += load(a + t * W) * s;
        }
#pragma GCC unroll 8
        for (int t = 0; t < MV; ++t) store(y + i + t * W, acc[t]);
    };
    int i = 0;
    for (; i + 6 * W <= rows; i += 6 * W) strip.template operator()<6>(i);
    for (; i + 4 * W <= rows; i += 4 * W) strip.template operator()<4>(i);
    if (i + 2 * W <= rows) strip.template operator()<2>(i), i += 2 * W;
    if (i < rows) strip.template operator()<1>(i);
}

// y += SIGN A' x
template <int SIGN = 1>
inline void transposed_multiply_add(int rows, int columns, const double* A, int ld, const double* x, double* y) {
    const auto strip = [&]<int NC>(int j) {
        vec acc[NC];
#pragma GCC unroll 8
        for (int t = 0; t < NC; ++t) acc[t] = vec{};
        for (int i = 0; i < rows; i += W) {
            const vec v = load(x + i);
#pragma GCC unroll 8
            for (int t = 0; t < NC; ++t) acc[t] += load(A + std::ptrdiff_t(j + t) * ld + i) * v;
        }
#pragma GCC unroll 8
        for (int t = 0; t < NC; ++t) y[j + t] += SIGN > 0 ? sum(acc[t]) : -sum(acc[t]);
    };
    int j = 0;
    for (; j + 4 <= columns; j += 4) strip.template operator()<4>(j);
    for (; j < columns; ++j) strip.template operator()<1>(j);
}

// Cholesky of the diagonal block of one panel, width at most PAD. Fails where a pivot is not above its threshold.
inline bool factor_diagonal(int width, double* F, int ld, double* inverse, const double* threshold) {
    for (int j = 0; j < width; ++j) {
        double* column = F + std::ptrdiff_t(j) * ld;
        if (!(column[j] > threshold[j])) return false;
        inverse[j] = 1.0 / std::sqrt(column[j]);
        for (int i = j; i < width; ++i) column[i] *= inverse[j];
        for (int k = j + 1; k < width; ++k)
            for (int i = k; i < width; ++i) F[i + std::ptrdiff_t(k) * ld] -= column[i] * column[k];
    }
    return true;
}

// MV vectors of rows of F (K')^-1 for the panel's triangle K.
template <int MV, int NC>
[[gnu::always_inline]] inline void solve_panel_rows(const double* K, int ld, const double* inverse, double* rows) {
    vec x[NC][MV];
#pragma GCC unroll 8
    for (int j = 0; j < NC; ++j) {
#pragma GCC unroll 8
        for (int t = 0; t < MV; ++t) x[j][t] = load(rows + std::ptrdiff_t(j) * ld + t * W);
#pragma GCC unroll 8
        for (int i = 0; i < j; ++i) {
            const vec k = broadcast(K[j + std::ptrdiff_t(i) * ld]);
#pragma GCC unroll 8
            for (int t = 0; t < MV; ++t) x[j][t] -= x[i][t] * k;
        }
        const vec s = broadcast(inverse[j]);
#pragma GCC unroll 8
        for (int t = 0; t < MV; ++t) {
            x[j][t] *= s;
            store(rows + std::ptrdiff_t(j) * ld + t * W, x[j][t]);
        }
    }
}

template <int NC>
inline void solve_panel(int first, int rows, double* F, int ld, const double* inverse) {
    int i = first;
    for (; i + 2 * W <= rows; i += 2 * W) solve_panel_rows<2, NC>(F, ld, inverse, F + i);
    if (i < rows) solve_panel_rows<1, NC>(F, ld, inverse, F + i);
}

// Factor the first `columns` columns of the symmetric F (lower triangle, `rows` rows): F = [K; Z] [K; Z]' there,
// with the rows of Z from padded(columns) on. `inverse` takes the inverse diagonal of K. Returns the column whose
// pivot is not above its threshold, or -1.
inline int cholesky(int rows, int columns, double* F, int ld, double* inverse, const double* threshold) {
    static_assert(PAD == 4 || PAD == 8);
    for (int j = 0; j < columns; j += PAD) {
        double* panel = F + j + std::ptrdiff_t(j) * ld;
        const int width = columns - j < PAD ? columns - j : PAD;
        if (j > 0) product_nt<false, -1>(rows - j, width, j, F + j, ld, F + j, ld, panel, ld, panel, ld);
        if (!factor_diagonal(width, panel, ld, inverse + j, threshold + j)) {
            for (int t = 0; t < width; ++t)
                if (!(panel[t + std::ptrdiff_t(t) * ld] > threshold[j + t])) return j + t;
            return j;
        }
        const auto rest = [&]<int NC>() { solve_panel<NC>(PAD, rows - j, panel, ld, inverse + j); };
        switch (width) {
            case 1: rest.template operator()<1>(); break;
            case 2: rest.template operator()<2>(); break;
            case 3: rest.template operator()<3>(); break;
            case 4: rest.template operator()<4>(); break;
            case 5: rest.template operator()<5>(); break;
            case 6: rest.template operator()<6>(); break;
            case 7: rest.template operator()<7>(); break;
            default: rest.template operator()<8>(); break;
        }
    }
    return -1;
}

// x <- K^-1 x and x <- K'^-1 x with the lower triangle K and its inverse diagonal. x has padded room, and its padding stays.
inline void solve_lower(int size, const double* K, int ld, const double* inverse, double* x) {
    for (int j = 0; j < size; ++j) {
        const double* column = K + std::ptrdiff_t(j) * ld;
        x[j] *= inverse[j];
        for (int i = j + 1; i < size; ++i) x[i] -= column[i] * x[j];
    }
}

inline void solve_lower_transposed(int size, const double* K, int ld, const double* inverse, double* x) {
    for (int j = size - 1; j >= 0; --j) {
        x[j] *= inverse[j];
        for (int i = 0; i < j; ++i) x[i] -= K[j + std::ptrdiff_t(i) * ld] * x[j];
    }
}

}  // namespace trisweep
