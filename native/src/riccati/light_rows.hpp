// Rows of an edge that others of it nearly are: positions that follow velocities. With x = (light, full) of the child,
//
//     E' = [ D + T V ]      V: the full rows, dense; D, T: few entries each
//          [    V    ]
//
// so that with the child's P moved to the full rows, M = P_ff + T' P_lf + P_fl T + T' P_ll T and N = P_lf + P_ll T,
//
//     E P E' = (V' M + D' N) V + V' N' D + D' P_ll D
//
// takes less than half of a product with all of E.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/arena.hpp"
#include "kernels/columns.hpp"
#include "kernels/matrix_vector.hpp"
#include "kernels/shared_products.hpp"
#include "kernels/transpose.hpp"

namespace trisweep {

// Where D and T have entries, as pieces of diagonals: entry i of a piece is at (row + i, column + i), its value at `at` + i.
struct LightRows {
    struct Piece {
        int row, column, size, at;
    };
    int light = 0;                 // rows of E' that are light: its first ones
    std::vector<Piece> own;        // of D: columns along the padded z
    std::vector<Piece> following;  // of T: columns among the full rows
    int values = 0;                // of both

    // The first column of D with an entry in rows begin to below end, or more than any.
    int first_of(int begin, int end) const {
        int first = std::numeric_limits<int>::max() / 2;
        for (const Piece& p : own) {
            const int top = std::max(p.row, begin);
            if (top < std::min(p.row + p.size, end)) first = std::min(first, p.column + top - p.row);
        }
        return first;
    }
};

// The light rows of one edge, E (n, nx): none, and all is dense, where `pattern` is null.
struct LightEdge {
    const LightRows* pattern = nullptr;
    double* values = nullptr;
    double* bench = nullptr;  // (nx), for whoever multiplies

    // y += E x
    void multiply_add(int n, int nx, const double* E, const double* x, double* y) const {
        if (!pattern) return trisweep::multiply_add(n, nx, E, n, x, y);
        const int light = pattern->light;
        std::copy(x + light, x + nx, bench);
        add_rows(pattern->following, x, bench);
        trisweep::multiply_add(n, nx - light, E + std::ptrdiff_t(light) * n, n, bench, y);
        add_rows(pattern->own, x, y);
    }

    // x += E' z
    void transposed_multiply_add(int n, int nx, const double* E, const double* z, double* x) const {
        if (!pattern) return trisweep::transposed_multiply_add(n, nx, E, n, z, x);
        const int light = pattern->light, full = nx - light;
        fill_zero(padded(full), bench);
        trisweep::transposed_multiply_add(n, full, E + std::ptrdiff_t(light) * n, n, z, bench);
        for (int i = 0; i < full; ++i) x[light + i] += bench[i];
        add_columns(pattern->own, z, x);
        add_columns(pattern->following, bench, x);
    }

    // to += A' from, to += A from, for D or T; of the first the entries from begin to below end.
    void add_rows(const std::vector<LightRows::Piece>& pieces, const double* from, double* to, int begin = 0,
                  int end = std::numeric_limits<int>::max()) const {
        for (const LightRows::Piece& p : pieces) {
            const int skip = std::max(0, begin - p.column), size = std::min(p.size, end - p.column) - skip;
            add(size, values + p.at + skip, from + p.row + skip, to + p.column + skip);
        }
    }
    void add_columns(const std::vector<LightRows::Piece>& pieces, const double* from, double* to) const {
        for (const LightRows::Piece& p : pieces) add(p.size, values + p.at, from + p.column, to + p.row);
    }

    template <class Visit>
    void each(const std::vector<LightRows::Piece>& pieces, const Visit& visit) const {
        for (const LightRows::Piece& piece : pieces)
            for (int i = 0; i < piece.size; ++i) visit(piece.row + i, piece.column + i, values[piece.at + i]);
    }

private:
    static void add(int size, const double* values, const double* from, double* __restrict to) {
        for (int i = 0; i < size; ++i) to[i] += values[i] * from[i];
    }
};

// E P E' by light rows, in memory for edges of up to so many states and stages of n.
class LightProduct {
public:
    void lay_out(Arena& a, int most_x, int most_n) {
        const int room = padded(most_x) + PAD;
        F = a.matrix(2 * room, room), X = a.matrix(most_n, room);
    }

    // H + E P E', lower triangle, into `to`; P (nx, nx) is full. `side` has room for E. Threads share the rows, so that what each
    // has written is what it reads.
    void add(const LightEdge& edge, int n, int columns, int nx, const double* E, const double* P, const double* H,
             int ldh, double* side, double* to, int ldt, const SharedProducts& shared) {
        const LightRows& rows = *edge.pattern;
        const int light = rows.light, full = nx - light, fp = padded(full), xp = padded(nx), ld = fp + padded(light);
        move(edge, light, full, P, xp, ld);
        const double *V = E + std::ptrdiff_t(light) * n, *N = F + fp;
        int first = n;  // row in which D has something
        for (const LightRows::Piece& piece : rows.own) first = std::min(first, piece.column / W * W);
        shared.rows_of_triangle(n, full + light, [&](int begin, int end) {
            const int count = end - begin, before = std::min(begin, columns);
            product<false, true, 1>(count, full, full, V + begin, n, F, ld, nullptr, 0, side + begin, n);
            for (int j = 0; j < full; ++j)
                edge.add_rows(rows.own, N + std::ptrdiff_t(j) * ld, side + std::ptrdiff_t(j) * n, begin, end);
            product<false, true, 1>(count, before, full, side + begin, n, V, n, H + begin, ldh, to + begin, ldt);
            const std::ptrdiff_t corner = begin;
            product<true, true, 1>(count, std::min(end, columns) - before, full, side + begin, n, V + begin, n,
                                   H + corner + corner * ldh, ldh, to + corner + corner * ldt, ldt);
            const int top = std::max(first, begin);
            if (top >= end) return;
            for (int j = 0; j < light; j += TILE_COLUMNS) {  // V' N' + D' P_ll, as far as D takes it below the diagonal
                const int last = std::min(j + TILE_COLUMNS, light),
                          from = std::max(top, rows.first_of(j, last) / W * W);
                if (from >= end) continue;
                double* to_X = X + std::ptrdiff_t(j) * n;
                product<false, true, 1>(end - from, last - j, full, V + from, n, N + j, ld, nullptr, 0, to_X + from, n);
                for (int k = j; k < last; ++k, to_X += n)
                    edge.add_rows(rows.own, P + std::ptrdiff_t(k) * xp, to_X, from, end);
            }
            edge.each(rows.own, [&](int row, int column, double value) {
                const double* from = X + std::ptrdiff_t(row) * n;
                double* target = to + std::ptrdiff_t(column) * ldt;
                for (int i = std::max(begin, column / W * W); i < end; i += W)
                    store(target + i, load(target + i) + value * load(from + i));
            });
        });
    }

private:
    // F <- [M; N]
    void move(const LightEdge& edge, int light, int full, const double* P, int xp, int ld) {
        const int fp = padded(full);
        for (int j = 0; j < full; ++j) {
            const double* column = P + std::ptrdiff_t(light + j) * xp;
            double* to = F + std::ptrdiff_t(j) * ld;
            for (int i = 0; i < full; ++i) to[i] = 0.5 * column[light + i];
            std::fill(to + full, to + fp, 0.0);
            std::copy_n(column, light, to + fp);
            std::fill(to + fp + light, to + ld, 0.0);
        }
        for (int j = full; j < fp; ++j) fill_zero(ld, F + std::ptrdiff_t(j) * ld);
        add_following(edge, light, P, xp, ld, fp);  // half of P_ll T, and the other half once T' has met the first
        for (int j = 0; j < full; ++j) {
            double* to = F + std::ptrdiff_t(j) * ld;
            edge.add_rows(edge.pattern->following, to + fp, to);
        }
        fold(fp, F, ld);
        mirror(full, F, ld);
        add_following(edge, light, P, xp, ld, fp);
    }

    void add_following(const LightEdge& edge, int light, const double* P, int xp, int ld, int fp) {
        edge.each(edge.pattern->following, [&](int row, int column, double value) {
            const double *from = P + std::ptrdiff_t(row) * xp, half = 0.5 * value;
            double* to = F + fp + std::ptrdiff_t(column) * ld;
            for (int t = 0; t < padded(light); t += W) store(to + t, load(to + t) + half * load(from + t));
        });
    }

    double *F, *X;
};

}  // namespace trisweep
