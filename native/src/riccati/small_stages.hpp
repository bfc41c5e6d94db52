// Stages of few controls and states with one child and no rows: their part of the sweep as functions for each number of
// blocks of PAD that hold u, x and the child's x, so that loops are unrolled and a stage's vectors stay in registers.
// The same products as in `Riccati` and `Elimination`, whose letters these are.
#pragma once

#include <utility>

#include "riccati_stage.hpp"

namespace trisweep {

// y += SIGN A x for the R vectors of y.
template <int R, int SIGN>
[[gnu::always_inline]] inline void add_columns(vec (&y)[R], int columns, const double* A, std::ptrdiff_t ld,
                                               const double* x) {
    constexpr bool TWO = R <= 4;  // chains of additions: with few vectors, even and odd columns have one each
    vec odd[R] = {};
    const auto add = [&](vec(&to)[R], int j) {
        const vec s = broadcast(SIGN > 0 ? x[j] : -x[j]);
#pragma GCC unroll 8
        for (int t = 0; t < R; ++t) to[t] += load(A + j * ld + t * W) * s;
    };
    int j = 0;
    for (; TWO && j + 2 <= columns; j += 2) add(y, j), add(odd, j + 1);
    for (; j < columns; ++j) add(y, j);
#pragma GCC unroll 8
    for (int t = 0; TWO && t < R; ++t) y[t] += odd[t];
}

// Four entries of A' x.
template <int R>
[[gnu::always_inline]] inline quad dots(const double* A, std::ptrdiff_t ld, const vec (&x)[R]) {
    vec acc[4] = {};
#pragma GCC unroll 8
    for (int t = 0; t < R; ++t)
#pragma GCC unroll 8
        for (int c = 0; c < 4; ++c) acc[c] += load(A + c * ld + t * W) * x[t];
    return sums(acc[0], acc[1], acc[2], acc[3]);
}

inline quad& quad_at(double* p) { return *reinterpret_cast<quad*>(p); }
inline const quad& quad_at(const double* p) { return *reinterpret_cast<const quad*>(p); }

// U, X and C blocks of PAD entries hold u, x and the child's x.
template <int U, int X, int C>
struct SmallStage {
    static constexpr int VECTORS = PAD / W, UP = U * PAD, XP = X * PAD, CP = C * PAD, N = UP + XP, LD = N + UP;

    // From the child's P, with H (`ld`) of the stage, to its own: `Riccati::gather_matrices` and `Elimination::eliminate`. `M`: room
    // for N by CP.
    static bool factor(RiccatiStage& s, const RiccatiStage& child, const double* H, int ld, const Workbench& bench,
                       double* M) {
        double* F = bench.H;
        const auto each = [](auto&& column, auto numbers) {
            [&]<int... J>(std::integer_sequence<int, J...>) { (column.template operator()<J>(), ...); }(numbers);
        };
        const bool light = child.light.pattern && child.light.pattern->following.empty();
        const int skipped = light ? child.light.pattern->light : 0, full = child.nx - skipped;
        const double *V = child.E + skipped * N, *P_full = child.sweep.P + skipped * CP;
        each(
            [&]<int J>() { tiles<(U + X) * VECTORS, 1>(full, V, N, P_full + 4 * J, CP, nullptr, 0, M + 4 * J * N, N); },
            std::make_integer_sequence<int, CP / 4>{});
        if (light) add_own_rows(child, M);
        for (int i = 0; i < s.nu; ++i)
            bench.diagonal[i] = std::fabs(H[i + i * ld] + (s.diagonal ? s.diagonal[i] : 0.0));
        each(
            [&]<int J>() {
                constexpr int FIRST = J * 4 / PAD * PAD;
                tiles<(N - FIRST) / W, 1>(full, M + FIRST + skipped * N, N, V + 4 * J, N, H + FIRST + 4 * J * ld, ld,
                                          F + FIRST + 4 * J * LD, LD);
            },
            std::make_integer_sequence<int, N / 4>{});
        if (light) add_own_columns(child, M, F);
        if (s.diagonal) {
            for (int i = 0; i < s.nu; ++i) F[i + i * LD] += s.diagonal[i];
            for (int i = UP; i < UP + s.nx; ++i) F[i + i * LD] += s.diagonal[i];
        }
        for (int i = 0; i < s.nu; ++i)
            bench.threshold[i] = CURVATURE_TOLERANCE * std::max(bench.diagonal[i], std::fabs(F[i + i * LD]));
        if (cholesky<true>(LD, s.nu, F, LD, bench.inverse, bench.threshold) >= 0) return false;
        const double *Z = F + UP, *Q = F + UP + UP * LD;
        double* P = s.sweep.P;
        each(
            [&]<int J>() {
                constexpr int FIRST = J * 4 / PAD * PAD;
                tiles<(XP - FIRST) / W, -1>(s.nu, Z + FIRST, LD, Z + 4 * J, LD, Q + FIRST + 4 * J * LD, LD,
                                            P + FIRST + 4 * J * XP, XP);
            },
            std::make_integer_sequence<int, XP / 4>{});
        mirror(XP, P, XP);
        for (int j = 0; j < s.nu; ++j)
#pragma GCC unroll 8
            for (int i = 0; i < N; i += W) store(s.sweep.ZT + i + j * N, load(Z + i + j * LD));
        return true;
    }

    // y += P x
    static void multiply_cost(const RiccatiStage& s, const double* x, double* y) {
        vec sum[X * VECTORS];
        take(sum, y);
        add_columns<X * VECTORS, 1>(sum, s.nx, s.sweep.P, XP, x);
        put(sum, y);
    }

    static void reduce(RiccatiStage& s, RiccatiStage& child, const double* h, const double* b, double* Pb,
                       double* gradient, bool again) {
        vec g[C * VECTORS] = {}, f[(U + X) * VECTORS];
        if (again) {
            take(g, Pb);
        } else {
            add_columns<C * VECTORS, 1>(g, child.nx, child.sweep.P, CP, b);
            put(g, Pb);
        }
#pragma GCC unroll 8
        for (int t = 0; t < C * VECTORS; ++t) store(gradient + t * W, g[t] + load(child.sweep.p + t * W));
        take(f, h);
        add_columns<(U + X) * VECTORS, 1>(f, child.nx, child.E, N, gradient);
        vec u[U * VECTORS], p[X * VECTORS];
        std::copy_n(f, U * VECTORS, u), std::copy_n(f + U * VECTORS, X * VECTORS, p);
        double* y = s.sweep.y_u;
#pragma GCC unroll 8
        for (int i = 0; i < UP; i += 4) quad_at(y + i) = dots(s.sweep.ZT + XP + i * N, N, u);
        add_columns<X * VECTORS, -1>(p, s.nu, s.sweep.ZT, N, y);
        put(p, s.sweep.p);
    }

    // `along`: room for u.
    static void expand(const RiccatiStage& s, const RiccatiStage& child, const double* b, double* along, double* z,
                       double* child_x) {
        vec x[X * VECTORS], u[U * VECTORS] = {}, all[(U + X) * VECTORS];
        take(x, z + UP);
#pragma GCC unroll 8
        for (int i = 0; i < UP; i += 4) quad_at(along + i) = dots(s.sweep.ZT + i * N, N, x) + quad_at(s.sweep.y_u + i);
        add_columns<U * VECTORS, -1>(u, s.nu, s.sweep.ZT + XP, N, along);
        put(u, z);
        std::copy_n(u, U * VECTORS, all), std::copy_n(x, X * VECTORS, all + U * VECTORS);
#pragma GCC unroll 8
        for (int j = 0; j < CP; j += 4) quad_at(child_x + j) = dots(child.E + j * N, N, all) + quad_at(b + j);
    }

private:
    // M += D' P of the light rows: entries of a diagonal are a vector of rows of M.
    static void add_own_rows(const RiccatiStage& child, double* M) {
        for (const LightRows::Piece& piece : child.light.pattern->own) {
            const double *values = child.light.values + piece.at, *P = child.sweep.P + piece.row;
            double* to = M + piece.column;
            for (int i = 0; piece.size < 4 && i < piece.size; ++i)
                for (int j = 0; j < child.nx; ++j) to[i + j * N] += values[i] * P[i + j * CP];
            for (int i = 0; piece.size >= 4 && i < piece.size; i += 4) {
                const int at = std::min(i, piece.size - 4);
                const quad given = loose_quad_at(values + at), lane = {0.0, 1.0, 2.0, 3.0};
                const quad value = lane >= double(i - at) ? given : quad{};  // others were added with the four before
                for (int j = 0; j < child.nx; ++j)
                    loose_quad_at(to + at + j * N) += value * loose_quad_at(P + at + j * CP);
            }
        }
    }

    // F += M D, on and below the diagonal.
    static void add_own_columns(const RiccatiStage& child, const double* M, double* F) {
        child.light.each(child.light.pattern->own, [&](int row, int column, double value) {
            const vec by = broadcast(value);
            for (int i = column / W * W; i < N; i += W)
                store(F + i + column * LD, load(F + i + column * LD) + by * load(M + i + row * N));
        });
    }

    // D = C + SIGN A B', four columns, R vectors of rows, as many at a time as registers hold.
    template <int R, int SIGN>
    [[gnu::always_inline]] static void tiles(int depth, const double* A, int lda, const double* B, int ldb,
                                             const double* from, int ldc, double* D, int ldd) {
        constexpr int MOST = TILE_ROWS, TILES = (R + MOST - 1) / MOST, ROWS = (R + TILES - 1) / TILES;
        product_tile<ROWS, 4, true, SIGN>(depth, A, lda, B, ldb, from, ldc, D, ldd);
        if constexpr (ROWS < R)
            tiles<R - ROWS, SIGN>(depth, A + ROWS * W, lda, B, ldb, from ? from + ROWS * W : nullptr, ldc, D + ROWS * W,
                                  ldd);
    }

    template <int R>
    [[gnu::always_inline]] static void take(vec (&to)[R], const double* from) {
#pragma GCC unroll 8
        for (int t = 0; t < R; ++t) to[t] = load(from + t * W);
    }
    template <int R>
    [[gnu::always_inline]] static void put(const vec (&from)[R], double* to) {
#pragma GCC unroll 8
        for (int t = 0; t < R; ++t) store(to + t * W, from[t]);
    }
};

// The functions of a stage whose child has as many states, or null.
struct SmallSweep {
    decltype(&SmallStage<1, 1, 1>::factor) factor;
    decltype(&SmallStage<1, 1, 1>::multiply_cost) multiply_cost;
    decltype(&SmallStage<1, 1, 1>::reduce) reduce;
    decltype(&SmallStage<1, 1, 1>::expand) expand;

    static const SmallSweep* find(int controls, int states, int child_states);
};

template <int U, int X>
inline constexpr SmallSweep SMALL_SWEEP{SmallStage<U, X, X>::factor, SmallStage<U, X, X>::multiply_cost,
                                        SmallStage<U, X, X>::reduce, SmallStage<U, X, X>::expand};

inline const SmallSweep* SmallSweep::find(int controls, int states, int child_states) {
    static constexpr const SmallSweep* ALL[2][6] = {{&SMALL_SWEEP<1, 1>, &SMALL_SWEEP<1, 2>, &SMALL_SWEEP<1, 3>,
                                                     &SMALL_SWEEP<1, 4>, &SMALL_SWEEP<1, 5>, &SMALL_SWEEP<1, 6>},
                                                    {&SMALL_SWEEP<2, 1>, &SMALL_SWEEP<2, 2>, &SMALL_SWEEP<2, 3>,
                                                     &SMALL_SWEEP<2, 4>, &SMALL_SWEEP<2, 5>, &SMALL_SWEEP<2, 6>}};
    const int u = padded(controls) / PAD, x = padded(states) / PAD;
    const bool small = u >= 1 && u <= 2 && x >= 1 && x <= 6 && padded(child_states) == padded(states);
    return small ? ALL[u - 1][x - 1] : nullptr;
}

}  // namespace trisweep
