// Cholesky by panels kept in registers; matrices as `matrix_product.hpp` has them.
#pragma once

#include <cmath>

#include "columns.hpp"
#include "matrix_product.hpp"

namespace trisweep {

// A panel before its own Cholesky: columns of F minus the products of the `depth` columns at A and, where there are any, of
// `further` ones at B. A and B start at the panel's first row.
struct Panel {
    const double* F;
    std::ptrdiff_t ld_F;
    int depth;
    const double* A;
    std::ptrdiff_t ld_A;
    int further = 0;
    const double* B = nullptr;
    std::ptrdiff_t ld_B = 0;

    // acc <- NC columns of MV vectors of rows from `row` on.
    template <int MV, int NC>
    [[gnu::always_inline]] void take(vec (&acc)[NC][MV], int row) const {
#pragma GCC unroll 8
        for (int j = 0; j < NC; ++j)
#pragma GCC unroll 8
            for (int t = 0; t < MV; ++t) acc[j][t] = load(F + row + j * ld_F + t * W);
        if (further) accumulate<-1>(acc, further, B + row, ld_B, B, 1, ld_B);
        accumulate<-1>(acc, depth, A + row, ld_A, A, 1, ld_A);
    }
};

// The panel's first MV vectors of rows, which hold its diagonal block: Cholesky, and the other rows times K'^-1, in
// registers. Returns the column whose pivot is not above its threshold, or -1.
template <int MV, int NC>
[[gnu::always_inline]] inline int factor_panel_top(const Panel& before, double* panel, std::ptrdiff_t ld,
                                                   double* inverse, const double* threshold) {
    vec acc[NC][MV];
    before.take(acc, 0);
#pragma GCC unroll 8
    for (int j = 0; j < NC; ++j) {
        const double pivot = acc[j][j / W][j % W];
        if (!(pivot > threshold[j])) return j;
        const double reciprocal = 1.0 / pivot;
        vec scaled[MV];
#pragma GCC unroll 8
        for (int t = 0; t < MV; ++t) scaled[t] = acc[j][t] * broadcast(reciprocal);
#pragma GCC unroll 8
        for (int k = j + 1; k < NC; ++k) {
            const vec entry = broadcast(acc[j][k / W][k % W]);
#pragma GCC unroll 8
            for (int t = 0; t < MV; ++t) acc[k][t] -= scaled[t] * entry;
        }
        const double root = std::sqrt(pivot);  // nobody waits for it: the next pivot needs the reciprocal alone
        inverse[j] = root * reciprocal;
#pragma GCC unroll 8
        for (int t = 0; t < MV; ++t) store(panel + j * ld + t * W, scaled[t] * broadcast(root));
    }
    return -1;
}

// MV vectors of further rows of the panel, from `row` on, times K'^-1 with its triangle K.
template <int MV, int NC>
[[gnu::always_inline]] inline void solve_panel_rows(const Panel& before, int row, double* K, std::ptrdiff_t ld,
                                                    const double* inverse) {
    vec acc[NC][MV];
    before.take(acc, row);
#pragma GCC unroll 8
    for (int j = 0; j < NC; ++j) {
#pragma GCC unroll 8
        for (int i = 0; i < j; ++i) {
            const vec k = broadcast(K[j + i * ld]);
#pragma GCC unroll 8
            for (int t = 0; t < MV; ++t) acc[j][t] -= acc[i][t] * k;
        }
        const vec s = broadcast(inverse[j]);
#pragma GCC unroll 8
        for (int t = 0; t < MV; ++t) {
            acc[j][t] *= s;
            store(K + row + j * ld + t * W, acc[j][t]);
        }
    }
}

// One panel of NC columns and so many rows.
template <int NC>
inline int factor_panel(int rows, const Panel& before, double* panel, int ld, double* inverse,
                        const double* threshold) {
    constexpr int TOP = PAD / W, MOST = TILE_ROWS;
    int left = rows / W - TOP, i = PAD, failed;
    if (left > 0) {
        failed = factor_panel_top<TOP + 1, NC>(before, panel, ld, inverse, threshold);
        i += W, --left;
    } else {
        failed = factor_panel_top<TOP, NC>(before, panel, ld, inverse, threshold);
    }
    if (failed >= 0) return failed;
    const auto solve = [&]<int MV>() {
        solve_panel_rows<MV, NC>(before, i, panel, ld, inverse);
        i += MV * W, left -= MV;
    };
    while (left > MOST + 1 || left == MOST) solve.template operator()<MOST>();
    while (left >= 2) solve.template operator()<2>();
    if (left == 1) solve.template operator()<1>();
    return -1;
}

// Factor the first `columns` columns of the symmetric F (lower triangle): they become [K; Z] with F = [K; Z] [K; Z]',
// the rows of Z from padded(columns) on. Any rows may follow; each is multiplied by K'^-1. With INVERSE the last
// padded(columns) of the rows are made an identity first, so that they become K'^-1 itself. `inverse` takes the inverse
// diagonal of K. Returns the column whose pivot is not above its threshold, or -1.
template <bool INVERSE = false>
inline int cholesky(int rows, int columns, double* F, int ld, double* inverse, const double* threshold) {
    static_assert(PAD == 4);
    const int given = INVERSE ? rows - padded(columns) : rows;
    for (int j = 0; j < columns; j += PAD) {
        if constexpr (INVERSE) {  // the identity's rows from here on have nothing in the panels before
            for (int i = j; i < columns && i < j + PAD; ++i) {
                fill_zero(padded(columns), F + given + std::ptrdiff_t(i) * ld);
                F[given + i + std::ptrdiff_t(i) * ld] = 1.0;
            }
            rows = given + j + PAD;
        }
        double* panel = F + j + std::ptrdiff_t(j) * ld;
        const int width = columns - j < PAD ? columns - j : PAD;
        const int failed = with_count<PAD>(width, [&]<int NC>() {
            return factor_panel<NC>(rows - j, {panel, ld, j, F + j, ld}, panel, ld, inverse + j, threshold + j);
        });
        if (failed >= 0) return j + failed;
    }
    return -1;
}

// L (size, size), zeros above the diagonal in its diagonal blocks of PAD, with L L' = Q - Z Z': the lower triangle of Q is given, and
// Z has `depth` columns. Returns the column whose pivot is not above its threshold, or -1.
inline int cholesky_after(int size, int depth, const double* Z, int ldz, const double* Q, int ldq, double* L, int ldl,
                          double* inverse, const double* threshold) {
    for (int j = 0; j < size; j += PAD) {
        double* panel = L + j + std::ptrdiff_t(j) * ldl;
        const int width = size - j < PAD ? size - j : PAD;
        const int failed = with_count<PAD>(width, [&]<int NC>() {
            const Panel before{Q + j + std::ptrdiff_t(j) * ldq, ldq, j, L + j, ldl, depth, Z + j, ldz};
            return factor_panel<NC>(padded(size) - j, before, panel, ldl, inverse + j, threshold + j);
        });
        if (failed >= 0) return j + failed;
        for (int c = 1; c < width; ++c)
            for (int i = 0; i < c; ++i) panel[i + std::ptrdiff_t(c) * ldl] = 0.0;
    }
    return -1;
}

}  // namespace trisweep
