// The elimination of one stage's controls: `riccati/reference.py` says the same in NumPy and is to be read first.
//
//     min over u of  1/2 z'Hz + h'z   subject to   G z + g = 0,      z = (u, x)
//
//     rows of G:   L [ U1 (I  Y) ]      columns (u1, u2, x): u1 = -(Y y + w), y = (u2, x)
//                    [ 0   0  Gx ]
//                    [ 0   0   0 ]      what is left here says whether the rows are consistent
//
//     Hessian on y:  Hyy - Y'N - N'Y,   N = H1y - 1/2 H11 Y
//                    = [K ] [K']        on u2, and the cost-to-go P on x
//                      [Z ] [Z'] + P        u2 = -K'^-1 (K^-1 h + Z' x)
//
// Memory: a vector z is (u, zeros to padded(nu), x, zeros to padded(nx)); y likewise with nu2 = nu - rank controls.
// A row of G is stored as a column of padded length, so that Gauss elimination runs along contiguous memory.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/cholesky.hpp"
#include "kernels/columns.hpp"
#include "kernels/matrix_vector.hpp"
#include "kernels/shared_products.hpp"
#include "workbench.hpp"

namespace trisweep {

// A pivot of the equalities counts when it is above this share of the size of the terms summed into its row.
inline constexpr double RANK_TOLERANCE = 1e-10;
// A control whose entry in a row has cancelled to less than this share of its terms would need large gains to meet the row:
// the row is passed on instead, without the entry, to be met further up. Refinement brings back what the entry had to say.
inline constexpr double COMFORTABLE_PIVOT = 1e-6;
// Entries below this share of the largest terms of their row are taken for rounding of whoever wrote the row.
inline constexpr double ROW_ROUNDING = 1e-14;
// A pivot of the reduced Hessian is positive when it is above this share of the diagonal entries it came from.
inline constexpr double CURVATURE_TOLERANCE = 1e-14;

class Elimination {
public:
    int nu = 0, nx = 0;     // controls and states
    int up = 0, n = 0;      // where x starts in z, and the padded length of z
    int ld = 0;             // room for z and, below it, for u once more: an identity that becomes K'^-1
    int most_rows = 0;      // room for the rows of G
    int most_passed = 0;    // room for the rows left on x
    int rows = 0;           // rows of G now
    int rank = 0;           // rows that fix controls
    int passed = 0;         // rows left on x
    bool declined = false;  // whether a row was passed on though a control had a small pivot in it
    bool rooted = false;    // whether P is kept as its factor

    double* P;          // (padded(nx), padded(nx))   cost-to-go, full; where `rooted`, L of P = L L'
    double* Gx;         // (padded(nx), most_passed)  rows left on x, scaled to a largest entry of 1
    double* p;          // (padded(nx))        out of reduce
    double* gx;         // (most_passed)       out of reduce
    double* left_over;  // (most_rows)  out of reduce: right-hand sides of the rows no variable is left in
    double* ZT;         // (n, nu): Z and, below it, K'^-1, for the controls u2; zeros up to padded(nu) columns
    double* y_u;        // (nu) of the last reduce: K^-1 h

    void lay_out(Arena& arena, int controls, int states, int row_room) {
        nu = controls, nx = states, most_rows = row_room;
        up = padded(nu), n = up + padded(nx), ld = n + up;
        most_passed = std::min(nx, most_rows);
        const int most_rank = std::min(nu, most_rows), most_pivots = std::min(nu + nx, most_rows);
        P = arena.matrix(n - up, n - up);
        p = arena.vector(nx);
        ZT = arena.matrix(n, up);
        y_u = arena.vector(nu);
        rest = arena.indices(nu);
        if (!most_rows) return;
        Gx = arena.matrix(n - up, most_passed);
        gx = arena.vector(most_passed);
        scale = arena.vector(most_passed);
        left_over = arena.vector(most_rows);
        order = arena.indices(most_rows);
        L = arena.matrix(padded(most_rows), most_pivots);
        U = arena.matrix(padded(most_rank), most_rank);
        Y = arena.matrix(n, most_rank);
        H1 = arena.matrix(n, most_rank);
        pivots = arena.indices(most_rank);
        w = arena.vector(most_rank);
        h1 = arena.vector(most_rank);
    }

    // From G and its sizes on the bench: which rows fix controls, and which are left on x. `smallest_pivot`: of controls.
    void eliminate_rows(const Workbench& bench, double smallest_pivot) {
        rank = passed = 0;
        declined = false;
        for (int i = 0; i < nu; ++i) rest[i] = i;
        if (rows) split_rows(bench, smallest_pivot);
    }

    // Then, from H and its diagonal there too: everything that does not depend on h and g. `root`: P is kept as its factor, where
    // it has one. False: not positive definite.
    bool eliminate(const Workbench& bench, bool root, const SharedProducts& shared) {
        if (rank) substitute_controls(bench);
        double* H = rank ? bench.F : bench.H;
        return factor_controls(bench, H) && (find_cost_to_go(bench, H, root, shared), true);
    }

    // The same in two parts, where no row fixes a control. The first takes nothing of H but its columns of u.
    bool factor_controls(const Workbench& bench) const { return factor_controls(bench, bench.H); }
    void find_cost_to_go(const Workbench& bench, bool root, const SharedProducts& shared) {
        find_cost_to_go(bench, bench.H, root, shared);
    }

    // From h (n) and g (rows): p, gx and left_over, and what `expand` needs.
    void reduce(const Workbench& bench, const double* h, const double* g) {
        const int nu2 = nu - rank, up2 = padded(nu2), xp = n - up;
        const double* h_u = h;
        if (rows == 0) {
            copy(xp, h + up, p);
        } else {
            double *t = bench.t, *t1 = bench.eta, *y = bench.y;
            reduce_rows(bench.c, g);
            copy(n, h, t);
            multiply_add<-1>(n, rank, H1, n, w, t);
            for (int i = 0; i < rank; ++i) h1[i] = h[pivots[i]], t1[i] = t[pivots[i]];
            gather(t, y, nu2, up2);
            multiply_add<-1>(up2 + xp, rank, Y, n, t1, y);
            copy(xp, y + up2, p);
            h_u = y;
        }
        fill_zero(up2, y_u);
        transposed_multiply_add(up2, nu2, ZT + xp, n, h_u, y_u);
        multiply_add<-1>(xp, nu2, ZT, n, y_u, p);
    }

    // z = (u, x) and the multipliers of the rows of G, from x (already in z) and the multipliers eta_x of the rows on x.
    // `affine` false leaves the right-hand side out: the linear part of u(x).
    void expand(const Workbench& bench, double* z, const double* eta_x, double* multipliers, bool affine = true) {
        const int nu2 = nu - rank, up2 = padded(nu2), xp = n - up;
        double *y = bench.y, *u2 = rows ? y : z, *along = bench.along;
        const double* x = z + up;
        for (int i = 0; i < nu2; ++i) along[i] = affine ? y_u[i] : 0.0;
        transposed_multiply_add(xp, nu2, ZT, n, x, along);
        fill_zero(up2, u2);
        multiply_add<-1>(up2, nu2, ZT + xp, n, along, u2);
        if (rows == 0) return;
        copy(xp, x, y + up2);
        for (int i = 0; i < nu2; ++i) z[rest[i]] = y[i];
        double *eta = bench.eta, *u1 = eta;
        for (int i = 0; i < rank; ++i) u1[i] = affine ? w[i] : 0.0;
        transposed_multiply_add(up2 + xp, rank, Y, n, y, u1);
        for (int i = 0; i < rank; ++i) z[pivots[i]] = -u1[i];
        if (!multipliers) return;
        std::fill(eta, eta + rows, 0.0);
        for (int i = 0; i < rank; ++i) eta[i] = -h1[i];
        transposed_multiply_add<-1>(n, rank, H1, n, z, eta);
        for (int i = 0; i < rank; ++i) {  // U1'^-1
            for (int k = 0; k < i; ++k) eta[i] -= U[k + i * padded_rank()] * eta[k];
            eta[i] /= U[i + i * padded_rank()];
        }
        for (int i = 0; i < passed; ++i) eta[rank + i] = scale[i] * eta_x[i];
        unwind(eta, multipliers);
    }

    // y += P x, both padded.
    void multiply_cost(const double* x, double* y) const {
        if (rooted) return square_multiply_add(nx, P, n - up, x, y);
        multiply_add(n - up, nx, P, n - up, x, y);
    }

    // K (nu, nx) by rows of u = K x where there are no rows; overwrites the Hessian on the bench.
    void gain(const Workbench& bench, double* K) const {
        const int xp = n - up;
        product_nt<false, -1>(xp, nu, nu, ZT, n, ZT + xp, n, nullptr, 0, bench.H, ld);
        for (int i = 0; i < nu; ++i) K = std::copy_n(bench.H + std::ptrdiff_t(i) * ld, nx, K);
    }

    // What `reduce` and `expand` read, soon to be used.
    void prefetch_gains() const { trisweep::prefetch(n * std::ptrdiff_t(nu), ZT); }
    void prefetch_cost() const { trisweep::prefetch((n - up) * std::ptrdiff_t(nx), P); }

    // Weights of the rows of G that add up to nothing in any variable, from weights of the rows left over and on x.
    void conflict(const Workbench& bench, const double* left_over_weights, const double* weights_x, double* weights) {
        double* eta = bench.eta;
        std::fill(eta, eta + rank, 0.0);
        for (int i = 0; i < passed; ++i) eta[rank + i] = scale[i] * weights_x[i];
        std::copy(left_over_weights, left_over_weights + rows - rank - passed, eta + rank + passed);
        unwind(eta, weights);
    }

private:
    int padded_rank() const { return padded(std::min(nu, most_rows)); }

    // Complete pivoting over the u columns, then over the x columns; the rows end up as drawn above.
    void split_rows(const Workbench& bench, double smallest_pivot) {
        double* candidate = bench.candidate;
        for (int i = 0; i < rows; ++i) order[i] = i;
        std::fill(candidate, candidate + nu, 1.0);
        std::fill(candidate + nu, candidate + up, 0.0);
        std::fill(candidate + up, candidate + up + nx, 1.0);
        rank = pivot(bench, 0, 0, nu, bench.size_u, smallest_pivot, pivots);
        passed = pivot(bench, rank, up, up + nx, bench.size_x, RANK_TOLERANCE, nullptr) - rank;
        for (int i = 0, free = 0; i < nu; ++i)
            if (candidate[i] != 0.0) rest[free++] = i;

        const auto row = [&](int i) { return bench.G + std::ptrdiff_t(i) * n; };
        for (int j = 0; j < rank; ++j)
            for (int i = 0; i < rank; ++i) U[i + j * padded_rank()] = i <= j ? row(i)[pivots[j]] : 0.0;
        for (int i = rank - 1; i >= 0; --i) {
            const double inverse_pivot = 1.0 / U[i + i * padded_rank()];
            for (int t = 0; t < n; t += W) store(row(i) + t, inverse_pivot * load(row(i) + t));
            for (int k = 0; k < i; ++k)
                if (const double factor = U[k + i * padded_rank()]; factor != 0.0) subtract(factor, row(i), row(k));
        }
        const int xp = n - up;
        for (int i = 0; i < passed; ++i) {
            const double* x = row(rank + i) + up;
            double largest = 0.0;
            for (int t = 0; t < nx; ++t) largest = std::max(largest, std::fabs(x[t]));
            scale[i] = 1.0 / largest;
            for (int t = 0; t < xp; ++t) Gx[t + i * xp] = x[t] * scale[i];
        }
    }

    void subtract(double factor, const double* source, double* target) const {
        for (int t = 0; t < n; t += W) store(target + t, load(target + t) - factor * load(source + t));
    }

    // Gauss elimination from row `step` on, pivots sought in the candidate columns first ... last, above the share `smallest`
    // of `size`. Returns the rows done.
    int pivot(const Workbench& bench, int step, int first, int last, const double* size, double smallest, int* chosen) {
        const auto row = [&](int i) { return bench.G + std::ptrdiff_t(i) * n; };
        const auto peak_of = [&](int i) {
            const double *entry = row(i) + first, *candidate = bench.candidate + first;
            return largest_over(padded(last - first),
                                [=](int t) { return magnitude(load(entry + t)) * load(candidate + t); });
        };
        const int room = padded(most_rows);
        for (int i = step; i < rows; ++i) bench.peak[i] = peak_of(i);
        for (; step < rows && step < most_pivots(); ++step) {
            double best = RANK_TOLERANCE;
            int best_row = -1;
            for (int i = step; i < rows && best < 1.0; ++i)  // no entry is larger than the terms of its row
                if (bench.peak[i] > best * size[i] && size[i] > 0.0) best = bench.peak[best_row = i] / size[i];
            if (best_row < 0) break;
            if (best <= smallest) {
                declined = true;
                break;
            }
            exchange(bench, step, best_row);
            int column = first;
            while (std::fabs(row(step)[column]) * bench.candidate[column] != bench.peak[step]) ++column;
            bench.candidate[column] = 0.0;
            if (chosen) *chosen++ = column;
            const double inverse_pivot = 1.0 / row(step)[column];
            for (int i = step + 1; i < rows; ++i) {
                const double factor = row(i)[column] * inverse_pivot;
                L[i + step * room] = factor;
                if (factor == 0.0) continue;
                subtract(factor, row(step), row(i));
                row(i)[column] = 0.0;
                bench.size_u[i] += std::fabs(factor) * bench.size_u[step];
                bench.size_x[i] += std::fabs(factor) * bench.size_x[step];
                bench.peak[i] = peak_of(i);
            }
        }
        return step;
    }

    int most_pivots() const { return std::min(nu + nx, most_rows); }

    void exchange(const Workbench& bench, int i, int k) {
        if (i == k) return;
        const int room = padded(most_rows);
        std::swap_ranges(bench.G + std::ptrdiff_t(i) * n, bench.G + std::ptrdiff_t(i + 1) * n,
                         bench.G + std::ptrdiff_t(k) * n);
        std::swap(order[i], order[k]);
        std::swap(bench.size_u[i], bench.size_u[k]);
        std::swap(bench.size_x[i], bench.size_x[k]);
        std::swap(bench.peak[i], bench.peak[k]);
        for (int j = 0; j < i; ++j) std::swap(L[i + j * room], L[k + j * room]);
    }

    // F <- Hyy - Y'N - N'Y on y = (u2, x), from the full H; H1, Y in passing.
    void substitute_controls(const Workbench& bench) {
        double *H = bench.H, *F = bench.F, *N = bench.N;
        const int nu2 = nu - rank, up2 = padded(nu2), xp = n - up, n2 = up2 + xp;
        mirror(up + nx, H, ld);
        for (int j = 0; j < rank; ++j) {
            copy(n, H + std::ptrdiff_t(pivots[j]) * ld, H1 + j * n);
            gather(bench.G + std::ptrdiff_t(j) * n, Y + j * n, nu2, up2);
            gather(H1 + j * n, N + j * n, nu2, up2);
        }
        for (int j = 0; j < rank; ++j)  // N' = Hy1 - 1/2 Y' H11
            for (int k = 0; k < rank; ++k) {
                const double half = 0.5 * H1[pivots[k] + j * n];
                for (int t = 0; half != 0.0 && t < n2; t += W)
                    store(N + t + j * n, load(N + t + j * n) - half * load(Y + t + k * n));
            }
        for (int j = 0; j < nu2; ++j) gather(H + std::ptrdiff_t(rest[j]) * ld, F + j * ld, nu2, up2);
        for (int j = nu2; j < up2; ++j) fill_zero(n2, F + j * ld);
        for (int j = 0; j < nx; ++j)
            copy(xp, H + up + std::ptrdiff_t(up + j) * ld, F + up2 + std::ptrdiff_t(up2 + j) * ld);
        const int columns = up2 + nx;
        product_nt<true, -1>(n2, columns, rank, Y, n, N, n, F, ld, F, ld);
        product_nt<true, -1>(n2, columns, rank, N, n, Y, n, F, ld, F, ld);
    }

    // y from z: the controls in `rest`, then x.
    void gather(const double* z, double* to, int nu2, int up2) const {
        for (int i = 0; i < nu2; ++i) to[i] = z[rest[i]];
        std::fill(to + nu2, to + up2, 0.0);
        copy(n - up, z + up, to + up2);
    }

    // Cholesky of `factor` at u2.
    bool factor_controls(const Workbench& bench, double* factor) const {
        const int nu2 = nu - rank, up2 = padded(nu2);
        for (int i = 0; i < nu2; ++i) {
            const double size = std::max(bench.diagonal[rest[i]], std::fabs(factor[i + std::ptrdiff_t(i) * ld]));
            bench.threshold[i] = CURVATURE_TOLERANCE * size;
        }
        return cholesky<true>(up2 + n - up + up2, nu2, factor, ld, bench.inverse, bench.threshold) < 0;
    }

    // P, or its root, from what `factor` has beside u2; Z and K'^-1 are kept.
    void find_cost_to_go(const Workbench& bench, const double* factor, bool root, const SharedProducts& shared) {
        const int nu2 = nu - rank, up2 = padded(nu2), xp = n - up;
        const double *Z = factor + up2, *Q = Z + std::ptrdiff_t(up2) * ld;
        rooted = root && find_root(bench, nu2, Z, Q);
        const auto finish = [&](int begin, int end) {
            const int last = end < xp ? end : xp + up2;  // K'^-1 stands below Z
            for (int j = 0; j < nu2; ++j)
                copy(last - begin, Z + begin + std::ptrdiff_t(j) * ld, ZT + begin + std::ptrdiff_t(j) * n);
            if (rooted) return;
            product_of_rows<-1>(begin, end, nx, nu2, Z, ld, Z, ld, Q, ld, P, xp);
            mirror_rows(begin, end, P, xp);
        };
        if (shared.is_worth(0.5 * nx * nx * nu2))
            shared.blocks_of_rows(xp, [](int i) { return double(i) * i; }, finish);
        else
            finish(0, xp);
    }

    // L with L L' = Q - Z Z'. False where that is not positive definite.
    bool find_root(const Workbench& bench, int nu2, const double* Z, const double* Q) {
        for (int i = 0; i < nx; ++i)
            bench.threshold[i] = CURVATURE_TOLERANCE * std::fabs(Q[i + std::ptrdiff_t(i) * ld]);
        return cholesky_after(nx, nu2, Z, ld, Q, ld, P, n - up, bench.inverse, bench.threshold) < 0;
    }

    // c = L^-1 g in elimination order, w = U1^-1 of its first part, gx and left_over the others.
    void reduce_rows(double* c, const double* g) {
        const int room = padded(most_rows);
        for (int i = 0; i < rows; ++i) c[i] = g[order[i]];
        for (int j = 0; j < rank + passed; ++j)
            for (int i = j + 1; i < rows; ++i) c[i] -= L[i + j * room] * c[j];
        for (int i = rank - 1; i >= 0; --i) {
            w[i] = c[i];
            for (int j = i + 1; j < rank; ++j) w[i] -= U[i + j * padded_rank()] * w[j];
            w[i] /= U[i + i * padded_rank()];
        }
        for (int i = 0; i < passed; ++i) gx[i] = scale[i] * c[rank + i];
        for (int i = rank + passed; i < rows; ++i) left_over[i - rank - passed] = c[i];
    }

    // L'^-1 eta, put back into the order the rows came in.
    void unwind(double* eta, double* multipliers) {
        const int room = padded(most_rows);
        for (int j = rank + passed - 1; j >= 0; --j)
            for (int i = j + 1; i < rows; ++i) eta[j] -= L[i + j * room] * eta[i];
        for (int i = 0; i < rows; ++i) multipliers[order[i]] = eta[i];
    }

    double *L, *U, *Y, *H1;      // of the drawing
    double* scale;               // of the rows left on x
    double *w, *h1;              // of the last reduce: u1 = -(Y y + w), h at u1
    int *order, *pivots, *rest;  // of the rows; of u1 and u2 in u
};

}  // namespace trisweep
