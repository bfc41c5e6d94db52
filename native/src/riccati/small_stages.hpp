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

// The controls of a stage and the edge to its child, as these functions see them.
struct SmallView {
    int nu;
    const double* E;
    const LightEdge* light;  // of E, or null
};

// U, X and C blocks of PAD entries hold u, x and the child's x.
template <int U, int X, int C>
struct SmallStage {
    static constexpr int VECTORS = PAD / W, UP = U * PAD, XP = X * PAD, CP = C * PAD, N = UP + XP, LD = N + UP;

    // From the child's P, with H (`ld`), what is to be added to its `diagonal` or null, and the sizes of its diagonal on the bench,
    // to the stage's own: `Riccati::gather_matrices` and `Elimination::eliminate`. `M`: room for N by CP.
    static bool factor(RiccatiStage& s, const RiccatiStage& child, const SmallView& view, const double* H, int ld,
                       const double* diagonal, const Workbench& bench, double* M) {
        double* F = bench.H;
        const bool light = view.light && view.light->pattern && view.light->pattern->following.empty();
        const int skipped = light ? view.light->pattern->light : 0, full = child.nx - skipped;
        const double *V = view.E + skipped * N, *P_full = child.sweep.P + skipped * CP;
        each(
            [&]<int J>() { tiles<(U + X) * VECTORS, 1>(full, V, N, P_full + 4 * J, CP, nullptr, 0, M + 4 * J * N, N); },
            std::make_integer_sequence<int, CP / 4>{});
        if (light) add_own_rows(child, M);
        each(
            [&]<int J>() {
                constexpr int FIRST = J * 4 / PAD * PAD;
                tiles<(N - FIRST) / W, 1>(full, M + FIRST + skipped * N, N, V + 4 * J, N, H + FIRST + 4 * J * ld, ld,
                                          F + FIRST + 4 * J * LD, LD);
            },
            std::make_integer_sequence<int, N / 4>{});
        if (light) add_own_columns(child, M, F);
        if (diagonal) {
            for (int i = 0; i < view.nu; ++i) F[i + i * LD] += diagonal[i];
            for (int i = UP; i < UP + s.nx; ++i) F[i + i * LD] += diagonal[i];
        }
        for (int i = 0; i < view.nu; ++i)
            bench.threshold[i] = CURVATURE_TOLERANCE * std::max(bench.diagonal[i], std::fabs(F[i + i * LD]));
        if (cholesky<true>(LD, view.nu, F, LD, bench.inverse, bench.threshold) >= 0) return false;
        const double *Z = F + UP, *Q = F + UP + UP * LD;
        double* P = s.sweep.P;
        each(
            [&]<int J>() {
                constexpr int FIRST = J * 4 / PAD * PAD;
                tiles<(XP - FIRST) / W, -1>(view.nu, Z + FIRST, LD, Z + 4 * J, LD, Q + FIRST + 4 * J * LD, LD,
                                            P + FIRST + 4 * J * XP, XP);
            },
            std::make_integer_sequence<int, XP / 4>{});
        mirror(XP, P, XP);
        for (int j = 0; j < view.nu; ++j)
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

    static void reduce(RiccatiStage& s, const RiccatiStage& child, const SmallView& view, const double* h,
                       const double* b, double* Pb, double* gradient, bool again) {
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
        add_columns<(U + X) * VECTORS, 1>(f, child.nx, view.E, N, gradient);
        vec p[X * VECTORS];
        std::copy_n(f + U * VECTORS, X * VECTORS, p);
        if constexpr (U > 0) {
            vec u[U * VECTORS];
            std::copy_n(f, U * VECTORS, u);
            double* y = s.sweep.y_u;
#pragma GCC unroll 8
            for (int i = 0; i < UP; i += 4) quad_at(y + i) = dots(s.sweep.ZT + XP + i * N, N, u);
            add_columns<X * VECTORS, -1>(p, view.nu, s.sweep.ZT, N, y);
        }
        put(p, s.sweep.p);
    }

    // `along`: room for u.
    static void expand(const RiccatiStage& s, const SmallView& view, const double* b, double* along, double* z,
                       double* child_x) {
        vec x[X * VECTORS], all[(U + X) * VECTORS];
        take(x, z + UP);
        if constexpr (U > 0) {
            vec u[U * VECTORS] = {};
#pragma GCC unroll 8
            for (int i = 0; i < UP; i += 4)
                quad_at(along + i) = dots(s.sweep.ZT + i * N, N, x) + quad_at(s.sweep.y_u + i);
            add_columns<U * VECTORS, -1>(u, view.nu, s.sweep.ZT + XP, N, along);
            put(u, z);
            std::copy_n(u, U * VECTORS, all);
        }
        std::copy_n(x, X * VECTORS, all + U * VECTORS);
#pragma GCC unroll 8
        for (int j = 0; j < CP; j += 4) quad_at(child_x + j) = dots(view.E + j * N, N, all) + quad_at(b + j);
    }

    // What is left of H (`ld`, lower triangle) with this `diagonal` added, or null, as F on the bench, and of the edge, once controls
    // are fixed.
    static void substitute(Substitution& by, const double* H, int ld, const double* diagonal, const RiccatiStage& child,
                           int parent_n, const Workbench& bench) {
        const int rank = by.rank, free = by.nu - rank, rp = by.rp;
        double *Q = bench.N, *F = bench.F, *half = bench.half;
        const auto lower = [&](int i, int j) { return i > j ? H[i + j * ld] : H[j + i * ld]; };
        const auto on_diagonal = [&](int i) { return H[i + i * ld] + (diagonal ? diagonal[i] : 0.0); };
        for (int k = 0; k < rank; ++k) {
            const int c = by.fixed[k];
            for (int i = 0; i < free; ++i) Q[i + k * N] = lower(by.rest[i], c);
            for (int i = free; i < UP; ++i) Q[i + k * N] = 0.0;
            copy(XP, H + by.up + c * ld, Q + UP + k * N);
            for (int l = 0; l < rank; ++l) by.H11[l + k * rp] = l == k ? on_diagonal(c) : lower(by.fixed[l], c);
            for (int l = 0; l < rp; l += W) store(half + l + k * rp, 0.5 * load(by.H11 + l + k * rp));
        }
        for (int k = 0; k < rank; k += 4)
            tiles<(U + X) * VECTORS, -1>(rank, by.Y, N, half + k, rp, Q + k * N, N, Q + k * N, N);
        for (int k = 0; k < rank; k += 4)
            tiles<(U + X) * VECTORS, -1>(rank, by.Y, N, half + k, rp, Q + k * N, N, by.M + k * N, N);
        for (int j = 0; j < free; ++j) {
            const int c = by.rest[j];
            for (int i = j; i < free; ++i) F[i + j * N] = H[by.rest[i] + c * ld];
            for (int i = free; i < UP; ++i) F[i + j * N] = 0.0;
            copy(XP, H + by.up + c * ld, F + UP + j * N);
            F[j + j * N] = on_diagonal(c);
            bench.diagonal[j] = std::fabs(F[j + j * N]);
        }
        for (int j = free; j < UP; ++j) fill_zero(N, F + j * N);
        for (int j = 0; j < XP; ++j) copy(XP, H + by.up + (by.up + j) * ld, F + UP + (UP + j) * N);
        for (int j = 0; diagonal && j < XP; ++j) F[UP + j + (UP + j) * N] += diagonal[by.up + j];
        for (int half = 0; half < 2; ++half)
            each(
                [&]<int J>() {
                    constexpr int FIRST = J * 4 / PAD * PAD;
                    const double *left = half ? Q : by.Y, *right = half ? by.Y : Q;
                    double* to = F + FIRST + 4 * J * N;
                    tiles<(N - FIRST) / W, -1>(rank, left + FIRST, N, right + 4 * J, N, to, N, to, N);
                },
                std::make_integer_sequence<int, N / 4>{});
        for (int j = 0; j < free; ++j) bench.diagonal[j] = std::max(bench.diagonal[j], std::fabs(F[j + j * N]));
        substitute_edge(by, child, parent_n);
    }

    // `reduce` after that, with g and b of the stage. `y`: room for N.
    static void reduce_substituted(RiccatiStage& s, const RiccatiStage& child, const SmallView& view, const double* h,
                                   const double* g, const double* b, double* y, double* Pb, double* gradient,
                                   bool again) {
        Substitution& by = s.substitution;
        const int rank = by.rank, rp = by.rp;
        if (!again) {
            for (int k = 0; k < rank; k += 4) {
                vec acc[4] = {};
                for (int t = 0; t < rp; t += W)
#pragma GCC unroll 8
                    for (int c = 0; c < 4; ++c) acc[c] += load(by.R + t + (k + c) * rp) * load(g + t);
                quad_at(by.w + k) = sums(acc[0], acc[1], acc[2], acc[3]);
            }
            vec moved[C * VECTORS];
            take(moved, b);
            add_columns<C * VECTORS, -1>(moved, rank, by.E1, CP, by.w);
            put(moved, by.b);
        }
        for (int t = 0; t < rp; t += W) {
            vec sum{};
            for (int k = 0; k < rank; ++k) sum -= load(by.H11 + t + k * rp) * broadcast(by.w[k]);
            store(by.h1 + t, sum);
        }
        vec to[(U + X) * VECTORS];
        gather(by, h, to);
        for (int k = 0; k < rank; ++k) {
            const double slope = h[by.fixed[k]];
            const vec one = broadcast(slope), other = broadcast(by.w[k]);
            by.h1[k] += slope;
#pragma GCC unroll 16
            for (int t = 0; t < (U + X) * VECTORS; ++t)
                to[t] -= load(by.Y + t * W + k * N) * one + load(by.M + t * W + k * N) * other;
        }
        put(to, y);
        reduce(s, child, view, y, by.b, Pb, gradient, again);
    }

    // `expand` likewise.
    static void expand_substituted(const RiccatiStage& s, const SmallView& view, double* along, double* y, double* z,
                                   double* child_x) {
        const Substitution& by = s.substitution;
        copy(XP, z + by.up, y + UP);
        expand(s, view, by.b, along, y, child_x);
        vec all[(U + X) * VECTORS];
        take(all, y);
        for (int k = 0; k < by.rank; k += 4) {
            const quad u1 = dots(by.Y + k * N, N, all) + quad_at(by.w + k);
            for (int c = 0; c < 4 && k + c < by.rank; ++c) z[by.fixed[k + c]] = -u1[c];
        }
        for (int i = 0; i < view.nu; ++i) z[by.rest[i]] = y[i];
    }

    static void find_multipliers(const RiccatiStage& s, const double* z, const double* lambda, double* eta) {
        const Substitution& by = s.substitution;
        vec y[(U + X) * VECTORS], of_edge[C * VECTORS];
        gather(by, z, y), take(of_edge, lambda);
        double slope[Substitution::MOST_ROWS];
        for (int k = 0; k < by.rank; k += 4)
            loose_quad_at(slope + k) =
                quad_at(by.h1 + k) + dots(by.M + k * N, N, y) + dots(by.E1 + k * CP, CP, of_edge);
        for (int t = 0; t < by.rp; t += W) {
            vec sum{};
            for (int k = 0; k < by.rank; ++k) sum -= load(by.R + t + k * by.rp) * broadcast(slope[k]);
            store(eta + t, sum);
        }
    }

private:
    template <class Column, int... J>
    [[gnu::always_inline]] static void each(const Column& column, std::integer_sequence<int, J...>) {
        (column.template operator()<J>(), ...);
    }

    // y from z.
    [[gnu::always_inline]] static void gather(const Substitution& by, const double* z, vec (&y)[(U + X) * VECTORS]) {
        if constexpr (U > 0) {
            alignas(ALIGNMENT) double u[UP] = {};
            for (int i = 0; i < by.nu - by.rank; ++i) u[i] = z[by.rest[i]];
#pragma GCC unroll 8
            for (int t = 0; t < U * VECTORS; ++t) y[t] = load(u + t * W);
        }
#pragma GCC unroll 8
        for (int t = 0; t < X * VECTORS; ++t) y[U * VECTORS + t] = load(z + by.up + t * W);
    }

    static void substitute_edge(Substitution& by, const RiccatiStage& child, int parent_n) {
        const LightRows* light = child.light.pattern;
        if (light && light->light == child.nx && light->following.empty()) {  // few entries
            fill_zero(N * CP, by.E), fill_zero(CP * by.rp, by.E1);
            child.light.each(light->own, [&](int row, int column, double value) {
                const int at = by.place[column], k = -1 - at;
                double* to = by.E + row * N;
                if (at >= 0) {
                    to[at] += value;
                } else {
                    by.E1[row + k * CP] += value;
                    for (int t = 0; t < N; t += W) store(to + t, load(to + t) - value * load(by.Y + t + k * N));
                }
            });
            return;
        }
        for (int j = 0; j < child.nx; ++j) {
            const double* from = child.E + j * parent_n;
            for (int i = 0; i < by.nu - by.rank; ++i) by.E[i + j * N] = from[by.rest[i]];
            copy(XP, from + by.up, by.E + UP + j * N);
            for (int k = 0; k < by.rank; ++k) by.E1[j + k * CP] = from[by.fixed[k]];
        }
        for (int j = 0; j < child.nx; j += 4)
            tiles<(U + X) * VECTORS, -1>(by.rank, by.Y, N, by.E1 + j, CP, by.E + j * N, N, by.E + j * N, N);
    }

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
    decltype(&SmallStage<1, 1, 1>::substitute) substitute;
    decltype(&SmallStage<1, 1, 1>::reduce_substituted) reduce_substituted;
    decltype(&SmallStage<1, 1, 1>::expand_substituted) expand_substituted;
    decltype(&SmallStage<1, 1, 1>::find_multipliers) find_multipliers;

    static const SmallSweep* find(int controls, int states, int child_states);
};

template <int U, int X>
inline constexpr SmallSweep SMALL_SWEEP{SmallStage<U, X, X>::factor,
                                        SmallStage<U, X, X>::multiply_cost,
                                        SmallStage<U, X, X>::reduce,
                                        SmallStage<U, X, X>::expand,
                                        SmallStage<U, X, X>::substitute,
                                        SmallStage<U, X, X>::reduce_substituted,
                                        SmallStage<U, X, X>::expand_substituted,
                                        SmallStage<U, X, X>::find_multipliers};

inline const SmallSweep* SmallSweep::find(int controls, int states, int child_states) {
    static constexpr const SmallSweep* ALL[3][6] = {{&SMALL_SWEEP<0, 1>, &SMALL_SWEEP<0, 2>, &SMALL_SWEEP<0, 3>,
                                                     &SMALL_SWEEP<0, 4>, &SMALL_SWEEP<0, 5>, &SMALL_SWEEP<0, 6>},
                                                    {&SMALL_SWEEP<1, 1>, &SMALL_SWEEP<1, 2>, &SMALL_SWEEP<1, 3>,
                                                     &SMALL_SWEEP<1, 4>, &SMALL_SWEEP<1, 5>, &SMALL_SWEEP<1, 6>},
                                                    {&SMALL_SWEEP<2, 1>, &SMALL_SWEEP<2, 2>, &SMALL_SWEEP<2, 3>,
                                                     &SMALL_SWEEP<2, 4>, &SMALL_SWEEP<2, 5>, &SMALL_SWEEP<2, 6>}};
    const int u = padded(controls) / PAD, x = padded(states) / PAD;
    const bool small = u <= 2 && x >= 1 && x <= 6 && padded(child_states) == padded(states);
    return small ? ALL[u][x - 1] : nullptr;
}

}  // namespace trisweep
