// Products of small dense matrices on padded, aligned, column-major memory.
//
// A matrix is a pointer and the distance `ld` between its columns, a multiple of PAD. Row counts are padded ones:
// the kernels read and write the padding, which is zero on entry and stays zero. Column counts are exact.
#pragma once

#include "vector.hpp"

namespace trisweep {

// acc += SIGN A B for MV vectors of rows of A and NC columns of B, in registers. Columns of A and rows of B follow each other by
// `lda` and `down`, columns of B by `next`.
template <int SIGN, int MV, int NC>
[[gnu::always_inline]] inline void accumulate(vec (&acc)[NC][MV], int depth, const double* A, std::ptrdiff_t lda,
                                              const double* B, std::ptrdiff_t next, std::ptrdiff_t down) {
    for (int k = 0; k < depth; ++k, A += lda, B += down) {
        vec a[MV];
#pragma GCC unroll 8
        for (int i = 0; i < MV; ++i) a[i] = load(A + i * W);
#pragma GCC unroll 8
        for (int j = 0; j < NC; ++j) {
            const vec b = broadcast(B[j * next]);
#pragma GCC unroll 8
            for (int i = 0; i < MV; ++i) acc[j][i] = SIGN > 0 ? acc[j][i] + a[i] * b : acc[j][i] - a[i] * b;
        }
    }
}

// A further A B', of `depth` columns each, that is added to a product.
struct FurtherFactors {
    int depth;
    const double* A;
    int lda;
    const double* B;
    int ldb;

    FurtherFactors from(int row, int column) const { return {depth, A + row, lda, B + column, ldb}; }
};

// One register tile of D = C + SIGN A B or, where B is TRANSPOSED, C + SIGN A B', with MV vectors of rows and NC columns.
template <int MV, int NC, bool TRANSPOSED, int SIGN, class... Further>
[[gnu::always_inline]] inline void product_tile(int depth, const double* A, std::ptrdiff_t lda, const double* B,
                                                std::ptrdiff_t ldb, const double* C, int ldc, double* D, int ldd,
                                                const Further&... further) {
    vec acc[NC][MV];
#pragma GCC unroll 8
    for (int j = 0; j < NC; ++j)
#pragma GCC unroll 8
        for (int i = 0; i < MV; ++i) acc[j][i] = vec{};
    if constexpr (sizeof...(further) > 0)  // what a sum begins with is seldom near
#pragma GCC unroll 8
        for (int j = 0; j < NC; ++j) __builtin_prefetch(C + j * ldc), __builtin_prefetch(C + j * ldc + MV * W - 1);
    accumulate<1>(acc, depth, A, lda, B, TRANSPOSED ? 1 : ldb, TRANSPOSED ? ldb : 1);
    (accumulate<1>(acc, further.depth, further.A, further.lda, further.B, 1, further.ldb), ...);
#pragma GCC unroll 8
    for (int j = 0; j < NC; ++j)
#pragma GCC unroll 8
        for (int i = 0; i < MV; ++i) {
            const vec term = SIGN > 0 ? acc[j][i] : -acc[j][i];
            store(D + j * ldd + i * W, C ? load(C + j * ldc + i * W) + term : term);
        }
}

template <int NC, bool TRANSPOSED, int SIGN, class... Further>
inline void product_columns(int first, int rows, int depth, const double* A, int lda, const double* B, int ldb,
                            const double* C, int ldc, double* D, int ldd, const Further&... further) {
    int i = first, left = (rows - first) / W;
    const auto tile = [&]<int MV>() {
        product_tile<MV, NC, TRANSPOSED, SIGN>(depth, A + i, lda, B, ldb, C ? C + i : nullptr, ldc, D + i, ldd,
                                               further.from(i, 0)...);
        i += MV * W;
        left -= MV;
    };
    while (left > TILE_ROWS + 1 || left == TILE_ROWS) tile.template operator()<TILE_ROWS>();
    while (left >= 2) tile.template operator()<2>();
    if (left == 1) tile.template operator()<1>();
}

// D = C + SIGN A B (C may be null, or D itself), all of it or, with LOWER, its lower triangle and the tiles it touches; of its
// columns those from j on, a whole tile.
template <bool LOWER, bool TRANSPOSED, int SIGN, class... Further>
inline void product(int rows, int columns, int depth, const double* A, int lda, const double* B, int ldb,
                    const double* C, int ldc, double* D, int ldd, int j = 0, const Further&... further) {
    const auto block = [&]<int NC>(int j) {
        const int first = LOWER ? j / W * W : 0;
        product_columns<NC, TRANSPOSED, SIGN>(
            first, rows, depth, A, lda, B + (TRANSPOSED ? j : std::ptrdiff_t(j) * ldb), ldb,
            C ? C + std::ptrdiff_t(j) * ldc : nullptr, ldc, D + std::ptrdiff_t(j) * ldd, ldd, further.from(0, j)...);
        return j + NC;
    };
    while (j + TILE_COLUMNS <= columns) j = block.template operator()<TILE_COLUMNS>(j);
    if (j < columns) with_count<3>(columns - j, [&]<int NC>() { block.template operator()<NC>(j); });
}

// D = C + SIGN A B'
template <bool LOWER, int SIGN>
inline void product_nt(int rows, int columns, int depth, const double* A, int lda, const double* B, int ldb,
                       const double* C, int ldc, double* D, int ldd) {
    product<LOWER, true, SIGN>(rows, columns, depth, A, lda, B, ldb, C, ldc, D, ldd);
}

// D = C + SIGN A B
template <int SIGN>
inline void product_nn(int rows, int columns, int depth, const double* A, int lda, const double* B, int ldb,
                       const double* C, int ldc, double* D, int ldd) {
    product<false, false, SIGN>(rows, columns, depth, A, lda, B, ldb, C, ldc, D, ldd);
}

// Rows begin to below end, both padded, of the lower triangle of D = C + SIGN A B' and of what is `further` added.
template <int SIGN, class... Further>
inline void product_of_rows(int begin, int end, int columns, int depth, const double* A, int lda, const double* B,
                            int ldb, const double* C, int ldc, double* D, int ldd, const Further&... further) {
    const std::ptrdiff_t before = begin < columns ? begin : columns, after = (end < columns ? end : columns) - before;
    product<false, true, SIGN>(end - begin, before, depth, A + begin, lda, B, ldb, C + begin, ldc, D + begin, ldd, 0,
                               further.from(begin, 0)...);
    product<true, true, SIGN>(end - begin, after, depth, A + begin, lda, B + before, ldb, C + begin + before * ldc, ldc,
                              D + begin + before * ldd, ldd, 0, further.from(begin, before)...);
}

// D = A L with a lower triangle L, whose diagonal blocks of TILE_COLUMNS have zeros above the diagonal.
inline void product_triangle(int rows, int size, const double* A, int lda, const double* L, int ldl, double* D,
                             int ldd) {
    for (int j = 0; j < size; j += TILE_COLUMNS) {
        const int columns = size - j < TILE_COLUMNS ? size - j : TILE_COLUMNS;
        product_nn<1>(rows, columns, size - j, A + std::ptrdiff_t(j) * lda, lda, L + j + std::ptrdiff_t(j) * ldl, ldl,
                      nullptr, 0, D + std::ptrdiff_t(j) * ldd, ldd);
    }
}

}  // namespace trisweep
