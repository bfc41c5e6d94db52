// Small dense kernels on padded, aligned, column-major memory.
//
// A matrix is a pointer and the distance `ld` between its columns, a multiple of PAD. Row counts are padded ones:
// the kernels read and write the padding, which is zero on entry and stays zero. Column counts are exact.
#pragma once

#include <cmath>

#include "vector.hpp"

namespace trisweep {

// One register tile of D = C + SIGN A B or, where B is TRANSPOSED, C + SIGN A B', with MV vectors of rows and NC columns.
template <int MV, int NC, bool TRANSPOSED, int SIGN>
[[gnu::always_inline]] inline void product_tile(int depth, const double* A, std::ptrdiff_t lda, const double* B,
                                                std::ptrdiff_t ldb, const double* C, int ldc, double* D, int ldd) {
    const std::ptrdiff_t next = TRANSPOSED ? 1 : ldb, down = TRANSPOSED ? ldb : 1;
    vec acc[NC][MV];
#pragma GCC unroll 8
    for (int j = 0; j < NC; ++j)
#pragma GCC unroll 8
        for (int i = 0; i < MV; ++i) acc[j][i] = vec{};
    for (int k = 0; k < depth; ++k, A += lda, B += down) {
        vec a[MV];
#pragma GCC unroll 8
        for (int i = 0; i < MV; ++i) a[i] = load(A + i * W);
#pragma GCC unroll 8
        for (int j = 0; j < NC; ++j) {
            const vec b = broadcast(B[j * next]);
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

// The same as a function of its own: where registers are many, compilers keep the tile in them only if nothing is around it.
template <int MV, int NC, bool TRANSPOSED, int SIGN>
[[gnu::noinline]] inline void product_tile_apart(int depth, const double* A, std::ptrdiff_t lda, const double* B,
                                                 std::ptrdiff_t ldb, const double* C, int ldc, double* D, int ldd) {
    product_tile<MV, NC, TRANSPOSED, SIGN>(depth, A, lda, B, ldb, C, ldc, D, ldd);
}

template <int NC, bool TRANSPOSED, int SIGN>
inline void product_columns(int first, int rows, int depth, const double* A, int lda, const double* B, int ldb,
                            const double* C, int ldc, double* D, int ldd) {
    int i = first, left = (rows - first) / W;
    const auto tile = [&]<int MV>() {
        constexpr auto compute =
            W == 8 ? product_tile_apart<MV, NC, TRANSPOSED, SIGN> : product_tile<MV, NC, TRANSPOSED, SIGN>;
        compute(depth, A + i, lda, B, ldb, C ? C + i : nullptr, ldc, D + i, ldd);
        i += MV * W;
        left -= MV;
    };
    while (left > TILE_ROWS + 1 || left == TILE_ROWS) tile.template operator()<TILE_ROWS>();
    while (left >= 2) tile.template operator()<2>();
    if (left == 1) tile.template operator()<1>();
}

// D = C + SIGN A B (C may be null, or D itself), all of it or, with LOWER, its lower triangle and the tiles it touches.
template <bool LOWER, bool TRANSPOSED, int SIGN>
inline void product(int rows, int columns, int depth, const double* A, int lda, const double* B, int ldb,
                    const double* C, int ldc, double* D, int ldd) {
    const auto block = [&]<int NC>(int j) {
        const int first = LOWER ? j / W * W : 0;
        product_columns<NC, TRANSPOSED, SIGN>(
            first, rows, depth, A, lda, B + (TRANSPOSED ? j : std::ptrdiff_t(j) * ldb), ldb,
            C ? C + std::ptrdiff_t(j) * ldc : nullptr, ldc, D + std::ptrdiff_t(j) * ldd, ldd);
        return j + NC;
    };
    int j = 0;
    while (j + TILE_COLUMNS <= columns) j = block.template operator()<TILE_COLUMNS>(j);
    if constexpr (TILE_COLUMNS > 4)
        if (columns - j >= 4) j = block.template operator()<4>(j);
    switch (columns - j) {
        case 3:
            block.template operator()<3>(j);
            break;
        case 2:
            block.template operator()<2>(j);
            break;
        case 1:
            block.template operator()<1>(j);
            break;
        default:
            break;
    }
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

// D = A L with a lower triangle L, whose diagonal blocks of TILE_COLUMNS have zeros above the diagonal.
inline void product_triangle(int rows, int size, const double* A, int lda, const double* L, int ldl, double* D,
                             int ldd) {
    for (int j = 0; j < size; j += TILE_COLUMNS) {
        const int columns = size - j < TILE_COLUMNS ? size - j : TILE_COLUMNS;
        product_nn<1>(rows, columns, size - j, A + std::ptrdiff_t(j) * lda, lda, L + j + std::ptrdiff_t(j) * ldl, ldl,
                      nullptr, 0, D + std::ptrdiff_t(j) * ldd, ldd);
    }
}

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

// MV vectors of y += SIGN A x. Even and odd columns have sums of their own, which halves the chain of dependent additions. A
// function of its own, as are its like: what small matrices cost is registers saved on the way in.
template <int MV, int SIGN>
[[gnu::noinline]] inline void multiply_add_rows(int columns, const double* A, std::ptrdiff_t ld, const double* x,
                                                double* y) {
    vec even[MV], odd[MV];
#pragma GCC unroll 8
    for (int t = 0; t < MV; ++t) even[t] = load(y + t * W), odd[t] = vec{};
    for (; columns >= 2; columns -= 2, A += 2 * ld, x += 2) {
        const vec s0 = broadcast(SIGN > 0 ? x[0] : -x[0]), s1 = broadcast(SIGN > 0 ? x[1] : -x[1]);
#pragma GCC unroll 8
        for (int t = 0; t < MV; ++t) {
            even[t] += load(A + t * W) * s0;
            odd[t] += load(A + ld + t * W) * s1;
        }
    }
    if (columns > 0) {
        const vec s0 = broadcast(SIGN > 0 ? x[0] : -x[0]);
#pragma GCC unroll 8
        for (int t = 0; t < MV; ++t) even[t] += load(A + t * W) * s0;
    }
#pragma GCC unroll 8
    for (int t = 0; t < MV; ++t) store(y + t * W, even[t] + odd[t]);
}

// y += SIGN A x
template <int SIGN = 1>
inline void multiply_add(int rows, int columns, const double* A, int ld, const double* x, double* y) {
    for (; rows > 6 * W; rows -= 6 * W, A += 6 * W, y += 6 * W) multiply_add_rows<6, SIGN>(columns, A, ld, x, y);
    switch (rows / W) {
        case 6:
            return multiply_add_rows<6, SIGN>(columns, A, ld, x, y);
        case 5:
            return multiply_add_rows<5, SIGN>(columns, A, ld, x, y);
        case 4:
            return multiply_add_rows<4, SIGN>(columns, A, ld, x, y);
        case 3:
            return multiply_add_rows<3, SIGN>(columns, A, ld, x, y);
        case 2:
            return multiply_add_rows<2, SIGN>(columns, A, ld, x, y);
        case 1:
            return multiply_add_rows<1, SIGN>(columns, A, ld, x, y);
        default:
            return;
    }
}

// NC entries of y += SIGN A' x
template <int NC, int SIGN>
[[gnu::noinline]] inline void transposed_multiply_add_columns(int rows, const double* A, std::ptrdiff_t ld,
                                                              const double* x, double* y) {
    vec acc[4] = {};
    for (; rows > 0; rows -= W, A += W, x += W) {
        const vec v = load(x);
#pragma GCC unroll 8
        for (int t = 0; t < NC; ++t) acc[t] += load(A + t * ld) * v;
    }
    const quad sum = sums(acc[0], acc[1], acc[2], acc[3]), total = SIGN > 0 ? sum : -sum;
    if constexpr (NC == 4) {
        loose_quad* to = reinterpret_cast<loose_quad*>(y);
        *to = *to + total;
    } else {
#pragma GCC unroll 8
        for (int t = 0; t < NC; ++t) y[t] += total[t];
    }
}

// y += SIGN A' x
template <int SIGN = 1>
inline void transposed_multiply_add(int rows, int columns, const double* A, int ld, const double* x, double* y) {
    for (; columns > 4; columns -= 4, A += 4 * std::ptrdiff_t(ld), y += 4)
        transposed_multiply_add_columns<4, SIGN>(rows, A, ld, x, y);
    switch (columns) {
        case 4:
            return transposed_multiply_add_columns<4, SIGN>(rows, A, ld, x, y);
        case 3:
            return transposed_multiply_add_columns<3, SIGN>(rows, A, ld, x, y);
        case 2:
            return transposed_multiply_add_columns<2, SIGN>(rows, A, ld, x, y);
        case 1:
            return transposed_multiply_add_columns<1, SIGN>(rows, A, ld, x, y);
        default:
            return;
    }
}

// y += A x for a symmetric A of which the lower triangle is given, with zeros above it.
inline void symmetric_multiply_add(int size, const double* A, int ld, const double* x, double* y) {
    for (int j = 0; j < size; j += PAD) {
        const double* block = A + j + std::ptrdiff_t(j) * ld;
        multiply_add(size - j, PAD, block, ld, x + j, y + j);
        transposed_multiply_add(size - j, PAD, block, ld, x + j, y + j);
        for (int i = 0; i < PAD; ++i) y[j + i] -= block[i + std::ptrdiff_t(i) * ld] * x[j + i];
    }
}

// acc <- the NC columns of a panel from `rows` on, minus the product of the `depth` columns before them: A of these rows, B of
// the panel's own.
template <int MV, int NC>
[[gnu::always_inline]] inline void load_panel_rows(vec (&acc)[NC][MV], int depth, const double* A, const double* B,
                                                   std::ptrdiff_t ld, const double* rows) {
#pragma GCC unroll 8
    for (int j = 0; j < NC; ++j)
#pragma GCC unroll 8
        for (int t = 0; t < MV; ++t) acc[j][t] = load(rows + j * ld + t * W);
    for (int k = 0; k < depth; ++k, A += ld, B += ld) {
        vec a[MV];
#pragma GCC unroll 8
        for (int t = 0; t < MV; ++t) a[t] = load(A + t * W);
#pragma GCC unroll 8
        for (int j = 0; j < NC; ++j) {
            const vec b = broadcast(B[j]);
#pragma GCC unroll 8
            for (int t = 0; t < MV; ++t) acc[j][t] -= a[t] * b;
        }
    }
}

// The panel's first MV vectors of rows, which hold its diagonal block: Cholesky, and the other rows times K'^-1, in
// registers. Returns the column whose pivot is not above its threshold, or -1.
template <int MV, int NC>
[[gnu::always_inline]] inline int factor_panel_top(int depth, const double* A, std::ptrdiff_t ld, double* panel,
                                                   double* inverse, const double* threshold) {
    vec acc[NC][MV];
    load_panel_rows<MV, NC>(acc, depth, A, A, ld, panel);
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

// MV vectors of further rows of the panel times K'^-1, with the panel's triangle K.
template <int MV, int NC>
[[gnu::always_inline]] inline void solve_panel_rows(int depth, const double* A, const double* B, std::ptrdiff_t ld,
                                                    const double* K, const double* inverse, double* rows) {
    vec acc[NC][MV];
    load_panel_rows<MV, NC>(acc, depth, A, B, ld, rows);
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
            store(rows + j * ld + t * W, acc[j][t]);
        }
    }
}

// One panel of NC columns after `depth` others, whose rows from the panel's first on are at A.
template <int NC>
inline int factor_panel(int rows, int depth, const double* A, double* panel, int ld, double* inverse,
                        const double* threshold) {
    constexpr int TOP = PAD / W, MOST = TILE_ROWS;
    int left = rows / W - TOP, i = PAD, failed;
    if (left > 0) {
        failed = factor_panel_top<TOP + 1, NC>(depth, A, ld, panel, inverse, threshold);
        i += W, --left;
    } else {
        failed = factor_panel_top<TOP, NC>(depth, A, ld, panel, inverse, threshold);
    }
    if (failed >= 0) return failed;
    const auto solve = [&]<int MV>() {
        solve_panel_rows<MV, NC>(depth, A + i, A, ld, panel, inverse, panel + i);
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
    static_assert(PAD == 4 || PAD == 8);
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
        const auto factor = [&]<int NC>() {
            return factor_panel<NC>(rows - j, j, F + j, panel, ld, inverse + j, threshold + j);
        };
        int failed;
        switch (width) {
            case 1:
                failed = factor.template operator()<1>();
                break;
            case 2:
                failed = factor.template operator()<2>();
                break;
            case 3:
                failed = factor.template operator()<3>();
                break;
            case 4:
                failed = factor.template operator()<4>();
                break;
            case 5:
                failed = factor.template operator()<5>();
                break;
            case 6:
                failed = factor.template operator()<6>();
                break;
            case 7:
                failed = factor.template operator()<7>();
                break;
            default:
                failed = factor.template operator()<8>();
                break;
        }
        if (failed >= 0) return j + failed;
    }
    return -1;
}

}  // namespace trisweep
