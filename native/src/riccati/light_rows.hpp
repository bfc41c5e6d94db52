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
#include <utility>
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
    // The same for who adds up along columns: the entries of short pieces stand column by column, so that no sum is written and read
    // again at once.
    struct Columns {
        struct Entry {
            int row, column, at;
        };
        std::vector<Piece> pieces;
        std::vector<Entry> entries;
    };
    int light = 0;                 // rows of E' that are light: its first ones
    std::vector<Piece> own;        // of D: columns along the padded z
    std::vector<Piece> following;  // of T: columns among the full rows
    int values = 0;                // of both
    Columns own_columns, following_columns;

    // When all are there.
    void sort() {
        for (const auto& [pieces, to] : {std::pair(&own, &own_columns), std::pair(&following, &following_columns)}) {
            for (const Piece& p : *pieces) {
                if (p.size >= LONG) to->pieces.push_back(p);
                for (int i = 0; p.size < LONG && i < p.size; ++i)
                    to->entries.push_back({p.row + i, p.column + i, p.at + i});
            }
            std::sort(to->entries.begin(), to->entries.end(), [](const Columns::Entry& a, const Columns::Entry& b) {
                return std::pair(a.column, a.row) < std::pair(b.column, b.row);
            });
        }
    }

    // The first column of D with an entry in rows begin to below end, or more than any.
    int first_of(int begin, int end) const {
        int first = std::numeric_limits<int>::max() / 2;
        for (const Piece& p : own) {
            const int top = std::max(p.row, begin);
            if (top < std::min(p.row + p.size, end)) first = std::min(first, p.column + top - p.row);
        }
        return first;
    }

private:
    static constexpr int LONG = 7;
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
        const double* full = x + light;
        if (!pattern->following.empty()) {
            std::copy(full, x + nx, bench);
            add_rows(pattern->following_columns, x, bench);
            full = bench;
        }
        trisweep::multiply_add(n, nx - light, E + std::ptrdiff_t(light) * n, n, full, y);
        add_rows(pattern->own_columns, x, y);
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
    void add_rows(const LightRows::Columns& A, const double* from, double* to, int begin = 0,
                  int end = std::numeric_limits<int>::max()) const {
        for (const LightRows::Piece& p : A.pieces) {
            const int skip = std::max(0, begin - p.column), size = std::min(p.size, end - p.column) - skip;
            add(size, values + p.at + skip, from + p.row + skip, to + p.column + skip);
        }
        const LightRows::Columns::Entry *e = A.entries.data(), *last = e + A.entries.size();
        while (e < last) {
            const int column = e->column;
            double sum = 0.0;
            for (; e < last && e->column == column; ++e) sum += values[e->at] * from[e->row];
            if (column >= begin && column < end) to[column] += sum;
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

    // H + E P E' + C S C' of the stage's penalties, lower triangle, into `to`; P (nx, nx) is full. `side` has room for E. controls()
    // comes when the columns before `up` are there, beside the work on others.
    template <class Controls>
    void add(const LightEdge& edge, int up, int n, int columns, int nx, const double* E, const double* P,
             const FurtherFactors& penalties, const double* H, int ldh, double* side, double* to, int ldt,
             const SharedProducts& shared, const Controls& controls) {
        const LightRows& rows = *edge.pattern;
        const int light = rows.light, full = nx - light, fp = padded(full), xp = padded(nx), ld = fp + padded(light);
        const auto evenly = [](int i) { return double(i); };
        shared.blocks_of_rows(fp, evenly, [&](int begin, int end) { move(edge, begin, end, light, full, P, xp, ld); });
        const double *V = E + std::ptrdiff_t(light) * n, *N = F + fp;
        shared.blocks_of_rows(n, evenly, [&](int begin, int end) {
            product<false, true, 1>(end - begin, full, full, V + begin, n, F, ld, nullptr, 0, side + begin, n);
            for (int j = 0; j < full; ++j)
                edge.add_rows(rows.own_columns, N + std::ptrdiff_t(j) * ld, side + std::ptrdiff_t(j) * n, begin, end);
        });
        int first = n;  // row in which D has something
        for (const LightRows::Piece& piece : rows.own) first = std::min(first, piece.column / W * W);
        const std::ptrdiff_t split = first < up ? 0 : up;
        const auto before = [&] {
            product<true, true, 1>(n, split, full, side, n, V, n, H, ldh, to, ldt, 0, penalties);
            if (split) controls();
        };
        const auto work = [&](int i) {  // the triangle, and what D meets of V' N'
            const double below = std::max(0, int(split) + i - first);
            return (full + penalties.depth) * double(i) * i + full * below * below;
        };
        shared.blocks_beside(before, n - split, work, [&](int begin, int end) {
            product_of_rows<1>(begin, end, columns - split, full, side + split, n, V + split, n,
                               H + split + split * ldh, ldh, to + split + split * ldt, ldt,
                               penalties.from(split, split));
            add_own(edge, std::max<int>(first, split + begin), split + end, n, light, full, V, P, xp, ld, to, ldt);
        });
        if (!split) controls();
    }

private:
    // Rows begin to below end of (V' N' + D' P_ll) D, as far as D takes it below the diagonal.
    void add_own(const LightEdge& edge, int begin, int end, int n, int light, int full, const double* V,
                 const double* P, int xp, int ld, double* to, int ldt) {
        const LightRows& rows = *edge.pattern;
        if (begin >= end) return;
        for (int j = 0; j < light; j += TILE_COLUMNS) {
            const int last = std::min(j + TILE_COLUMNS, light), from = std::max(begin, rows.first_of(j, last) / W * W);
            if (from >= end) continue;
            double* to_X = X + std::ptrdiff_t(j) * n;
            product<false, true, 1>(end - from, last - j, full, V + from, n, F + padded(full) + j, ld, nullptr, 0,
                                    to_X + from, n);
            for (int k = j; k < last; ++k, to_X += n)
                edge.add_rows(rows.own_columns, P + std::ptrdiff_t(k) * xp, to_X, from, end);
        }
        edge.each(rows.own, [&](int row, int column, double value) {
            const double* from = X + std::ptrdiff_t(row) * n;
            double* target = to + std::ptrdiff_t(column) * ldt;
            for (int i = std::max(begin, column / W * W); i < end; i += W)
                store(target + i, load(target + i) + value * load(from + i));
        });
    }

    // Columns begin to below end of F <- [M; N]: with P [T; 1] = [N; R], M is R + T' N.
    void move(const LightEdge& edge, int begin, int end, int light, int full, const double* P, int xp, int ld) {
        const int fp = padded(full), last = std::min(end, full);
        for (int j = last; j < end; ++j) fill_zero(ld, F + std::ptrdiff_t(j) * ld);
        for (int j = begin; j < last; ++j) {
            const double* from = P + std::ptrdiff_t(light + j) * xp;
            double *M = F + std::ptrdiff_t(j) * ld, *N = M + fp;
            std::copy_n(from + light, full, M), std::fill(M + full, N, 0.0);
            std::copy_n(from, light, N), std::fill(N + light, M + ld, 0.0);
        }
        edge.each(edge.pattern->following, [&](int row, int column, double value) {
            if (column >= begin && column < last)
                add_column(value, light, full, P + std::ptrdiff_t(row) * xp, ld, column);
        });
        for (int j = begin; j < last; ++j) {
            double* to = F + std::ptrdiff_t(j) * ld;
            edge.add_rows(edge.pattern->following_columns, to + fp, to);
        }
    }

    void add_column(double factor, int light, int full, const double* from, int ld, int j) {
        double* __restrict M = F + std::ptrdiff_t(j) * ld, * __restrict N = M + padded(full);
        for (int i = 0; i < light; ++i) N[i] += factor * from[i];
        for (int i = 0; i < full; ++i) M[i] += factor * from[light + i];
    }

    double *F, *X;
};

}  // namespace trisweep
