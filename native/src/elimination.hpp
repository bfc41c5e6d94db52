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
//                      [Z ] [Z'] + P
//
// Memory: a vector z is (u, zeros to padded(nu), x, zeros to padded(nx)); y likewise with nu2 = nu - rank controls.
// A row of G is stored as a column of padded length, so that Gauss elimination runs along contiguous memory.
#pragma once

#include <algorithm>
#include <cmath>

#include "arena.hpp"
#include "kernels.hpp"

namespace trisweep {

// A pivot of the equalities counts when it is above this share of the size of the terms summed into its row.
inline constexpr double RANK_TOLERANCE = 1e-10;
// A pivot of the reduced Hessian is positive when it is above this share of the diagonal entries it came from.
inline constexpr double CURVATURE_TOLERANCE = 1e-14;

class Elimination {
public:
    int nu = 0, nx = 0;      // controls and states
    int up = 0, n = 0;       // where x starts in z, and the padded length of z
    int most_rows = 0;       // room for the rows of G
    int most_passed = 0;     // room for the rows left on x
    int rows = 0;            // rows of G now
    int rank = 0;            // rows that fix controls
    int passed = 0;          // rows left on x

    double* H;   // (n, n)              in: the Hessian, lower triangle
    double* G;   // (n, most_rows)      in: the rows; out: (I Y) and Gx, in elimination order
    double* size_u;  // (most_rows)     in: the size of the terms summed into a row, in its u and in its x columns
    double* size_x;
    double* diagonal;  // (up)          in: the size of the terms summed into the diagonal of H at u
    double* P;   // (padded(nx), nx)    out: cost-to-go, full
    double* Gx;  // (padded(nx), most_passed)  out: rows left on x, scaled to a largest entry of 1
    double* p;   // (padded(nx))        out of reduce
    double* gx;  // (most_passed)       out of reduce
    double* left_over;  // (most_rows)  out of reduce: right-hand sides of the rows no variable is left in

    void lay_out(Arena& arena, int controls, int states, int row_room) {
        nu = controls, nx = states, most_rows = row_room;
        up = padded(nu), n = up + padded(nx);
        most_passed = std::min(nx, most_rows);
        const int most_rank = std::min(nu, most_rows), most_pivots = std::min(nu + nx, most_rows);
        H = arena.matrix(n, n);
        P = arena.matrix(n - up, nx);
        p = arena.vector(nx);
        y_u = arena.vector(nu);
        reduced = arena.vector(n);
        inverse = arena.vector(nu);
        threshold = arena.vector(nu);
        diagonal = arena.vector(nu);
        rest = arena.indices(nu);
        if (!most_rows) return;
        F = arena.matrix(n, n);
        G = arena.matrix(n, most_rows);
        size_u = arena.vector(most_rows);
        size_x = arena.vector(most_rows);
        Gx = arena.matrix(n - up, most_passed);
        gx = arena.vector(most_passed);
        left_over = arena.vector(most_rows);
        order = arena.indices(most_rows);
        L = arena.matrix(padded(most_rows), most_pivots);
        U = arena.matrix(padded(most_rank), most_rank);
        Y = arena.matrix(n, most_rank);
        N = arena.matrix(n, most_rank);
        H1 = arena.matrix(n, most_rank);
        scale = arena.vector(most_passed);
        pivots = arena.indices(most_rank);
        candidate = arena.vector(n);
        c = arena.vector(most_rows);
        w = arena.vector(most_rank);
        h1 = arena.vector(most_rank);
        eta = arena.vector(most_rows);
        y = arena.vector(n);
    }

    // From H, G, sizes and diagonal: everything that does not depend on h and g. False: not positive definite.
    bool eliminate() {
        rank = passed = 0;
        if (rows == 0) {
            for (int i = 0; i < nu; ++i) rest[i] = i;
            return schur(H, nu);
        }
        eliminate_rows();
        substitute_controls();
        return schur(F, nu - rank);
    }

    // From h (n) and g (rows): p, gx and left_over, and what `expand` needs.
    void reduce(const double* h, const double* g) {
        const int nu2 = nu - rank, up2 = padded(nu2), xp = n - up;
        const double* factor = rows ? F : H;
        if (rows == 0) {
            std::copy(h, h + up, y_u);
            std::copy(h + up, h + n, p);
        } else {
            reduce_rows(g);
            std::copy(h, h + n, reduced);
            multiply_add<-1>(n, rank, H1, n, w, reduced);
            double* t1 = y;
            for (int i = 0; i < rank; ++i) h1[i] = h[pivots[i]], t1[i] = reduced[pivots[i]];
            std::fill(y_u, y_u + up, 0.0);
            for (int i = 0; i < nu2; ++i) y_u[i] = reduced[rest[i]];
            multiply_add<-1>(up2, rank, Y, n, t1, y_u);
            std::copy(reduced + up, reduced + n, p);
            multiply_add<-1>(xp, rank, Y + up2, n, t1, p);
        }
        solve_lower(nu2, factor, n, inverse, y_u);
        multiply_add<-1>(xp, nu2, factor + up2, n, y_u, p);
    }

    // z = (u, x) and the multipliers of the rows of G, from x (already in z) and the multipliers eta_x of the rows on x.
    // `affine` false leaves the right-hand side out: the linear part of u(x).
    void expand(double* z, const double* eta_x, double* multipliers, bool affine = true) {
        const int nu2 = nu - rank, up2 = padded(nu2), xp = n - up;
        const double* factor = rows ? F : H;
        double* u2 = rows ? y : z;
        const double* x = z + up;
        std::fill(u2, u2 + (rows ? up2 : up), 0.0);
        if (affine) std::copy(y_u, y_u + nu2, u2);
        transposed_multiply_add(xp, nu2, factor + up2, n, x, u2);
        solve_lower_transposed(nu2, factor, n, inverse, u2);
        for (int i = 0; i < nu2; ++i) u2[i] = -u2[i];
        if (rows == 0) return;
        std::copy(x, x + xp, y + up2);
        for (int i = 0; i < nu2; ++i) z[rest[i]] = y[i];
        double* u1 = eta;
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
        unwind(multipliers);
    }

    // Weights of the rows of G that add up to nothing in any variable, from weights of the rows left over and on x.
    void conflict(const double* left_over_weights, const double* weights_x, double* weights) {
        std::fill(eta, eta + rank, 0.0);
        for (int i = 0; i < passed; ++i) eta[rank + i] = scale[i] * weights_x[i];
        std::copy(left_over_weights, left_over_weights + rows - rank - passed, eta + rank + passed);
        unwind(weights);
    }

private:
    int padded_rank() const { return padded(std::min(nu, most_rows)); }

    // Complete pivoting over the u columns, then over the x columns; the rows end up as drawn above.
    void eliminate_rows() {
        for (int i = 0; i < rows; ++i) order[i] = i;
        std::fill(candidate, candidate + nu, 1.0);
        std::fill(candidate + nu, candidate + up, 0.0);
        std::fill(candidate + up, candidate + up + nx, 1.0);
        rank = pivot(0, 0, nu, size_u, pivots);
        passed = pivot(rank, up, up + nx, size_x, nullptr) - rank;
        for (int i = 0, free = 0; i < nu; ++i)
            if (candidate[i] != 0.0) rest[free++] = i;

        for (int j = 0; j < rank; ++j)
            for (int i = 0; i < rank; ++i) U[i + j * padded_rank()] = i <= j ? row(i)[pivots[j]] : 0.0;
        for (int i = rank - 1; i >= 0; --i) {
            const double inverse_pivot = 1.0 / U[i + i * padded_rank()];
            for (int t = 0; t < n; ++t) row(i)[t] *= inverse_pivot;
            for (int k = 0; k < i; ++k) subtract_row(k, U[k + i * padded_rank()], i);
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

    double* row(int i) const { return G + std::ptrdiff_t(i) * n; }

    void subtract_row(int i, double factor, int from) {
        const double* source = row(from);
        double* target = row(i);
        for (int t = 0; t < n; ++t) target[t] -= factor * source[t];
    }

    // Gauss elimination from row `step` on, pivots sought in the candidate columns first ... last. Returns the rows done.
    int pivot(int step, int first, int last, const double* size, int* chosen) {
        const int ld = padded(most_rows);
        for (; step < rows && step < most_pivots(); ++step) {
            double best = RANK_TOLERANCE;
            int best_row = -1, best_column = -1;
            for (int i = step; i < rows; ++i) {
                const double threshold = best * size[i];
                double largest = threshold;
                int column = -1;
                for (int t = first; t < last; ++t) {
                    const double entry = std::fabs(row(i)[t]) * candidate[t];
                    if (entry > largest) largest = entry, column = t;
                }
                if (column >= 0 && size[i] > 0.0) best = largest / size[i], best_row = i, best_column = column;
            }
            if (best_row < 0) break;
            exchange(step, best_row);
            candidate[best_column] = 0.0;
            if (chosen) *chosen++ = best_column;
            const double inverse_pivot = 1.0 / row(step)[best_column];
            for (int i = step + 1; i < rows; ++i) {
                const double factor = row(i)[best_column] * inverse_pivot;
                L[i + step * ld] = factor;
                if (factor == 0.0) continue;
                subtract_row(i, factor, step);
                row(i)[best_column] = 0.0;
                size_u[i] += std::fabs(factor) * size_u[step];
                size_x[i] += std::fabs(factor) * size_x[step];
            }
        }
        return step;
    }

    int most_pivots() const { return std::min(nu + nx, most_rows); }

    void exchange(int i, int k) {
        if (i == k) return;
        const int ld = padded(most_rows);
        std::swap_ranges(row(i), row(i) + n, row(k));
        std::swap(order[i], order[k]);
        std::swap(size_u[i], size_u[k]);
        std::swap(size_x[i], size_x[k]);
        for (int j = 0; j < i; ++j) std::swap(L[i + j * ld], L[k + j * ld]);
    }

    // F <- Hyy - Y'N - N'Y on y = (u2, x), from the full H; H1, Y in passing.
    void substitute_controls() {
        const int nu2 = nu - rank, up2 = padded(nu2), xp = n - up, n2 = up2 + xp;
        mirror(up + nx, H, n);
        for (int j = 0; j < rank; ++j) {
            std::copy(H + std::ptrdiff_t(pivots[j]) * n, H + std::ptrdiff_t(pivots[j]) * n + n, H1 + j * n);
            gather(row(j), Y + j * n, nu2, up2);
            gather(H1 + j * n, N + j * n, nu2, up2);
        }
        for (int j = 0; j < rank; ++j)  // N' = Hy1 - 1/2 Y' H11
            for (int k = 0; k < rank; ++k) {
                const double half = 0.5 * H1[pivots[k] + j * n];
                for (int t = 0; t < n2; ++t) N[t + j * n] -= half * Y[t + k * n];
            }
        for (int j = 0; j < nu2; ++j) gather(H + std::ptrdiff_t(rest[j]) * n, F + j * n, nu2, up2);
        for (int j = nu2; j < up2; ++j) std::fill(F + j * n, F + j * n + n, 0.0);
        for (int j = 0; j < nx; ++j)
            std::copy(H + up + std::ptrdiff_t(up + j) * n, H + n + std::ptrdiff_t(up + j) * n, F + up2 + (up2 + j) * n);
        if (rank == 0) return;
        const int columns = up2 + nx;
        product_nt<true, -1>(n2, columns, rank, Y, n, N, n, F, n, F, n);
        product_nt<true, -1>(n2, columns, rank, N, n, Y, n, F, n, F, n);
    }

    // y from z: the controls in `rest`, then x.
    void gather(const double* z, double* to, int nu2, int up2) const {
        for (int i = 0; i < nu2; ++i) to[i] = z[rest[i]];
        std::fill(to + nu2, to + up2, 0.0);
        std::copy(z + up, z + n, to + up2);
    }

    // Cholesky of the first `controls` columns of `factor`, P from the rest.
    bool schur(double* factor, int controls) {
        const int at = padded(controls), xp = n - up;
        for (int i = 0; i < controls; ++i)
            threshold[i] = CURVATURE_TOLERANCE * std::max(diagonal[rest[i]], std::fabs(factor[i + i * n]));
        if (cholesky(at + xp, controls, factor, n, inverse, threshold) >= 0) return false;
        double* Z = factor + at;
        double* Q = factor + at + std::ptrdiff_t(at) * n;
        product_nt<true, -1>(xp, nx, controls, Z, n, Z, n, Q, n, P, xp);
        mirror(nx, P, xp);
        return true;
    }

    // c = L^-1 g in elimination order, w = U1^-1 of its first part, gx and left_over the others.
    void reduce_rows(const double* g) {
        const int ld = padded(most_rows);
        for (int i = 0; i < rows; ++i) c[i] = g[order[i]];
        for (int j = 0; j < rank + passed; ++j)
            for (int i = j + 1; i < rows; ++i) c[i] -= L[i + j * ld] * c[j];
        for (int i = rank - 1; i >= 0; --i) {
            w[i] = c[i];
            for (int j = i + 1; j < rank; ++j) w[i] -= U[i + j * padded_rank()] * w[j];
            w[i] /= U[i + i * padded_rank()];
        }
        for (int i = 0; i < passed; ++i) gx[i] = scale[i] * c[rank + i];
        for (int i = rank + passed; i < rows; ++i) left_over[i - rank - passed] = c[i];
    }

    // L'^-1 eta, put back into the order the rows came in.
    void unwind(double* multipliers) {
        const int ld = padded(most_rows);
        for (int j = rank + passed - 1; j >= 0; --j)
            for (int i = j + 1; i < rows; ++i) eta[j] -= L[i + j * ld] * eta[i];
        for (int i = 0; i < rows; ++i) multipliers[order[i]] = eta[i];
    }

    double *F, *L, *U, *Y, *N, *H1, *scale, *candidate, *inverse, *threshold;
    double *c, *w, *h1, *eta, *y, *y_u, *reduced;
    int *order, *pivots, *rest;
};

}  // namespace trisweep
