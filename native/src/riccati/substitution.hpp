// Controls that a small stage's own rows fix, where its child passed it none, substituted before that child is looked at:
//
//     G' z + g = 0   is   u1 = -(Y' y + w),   w = R' g,   y = (u2, x)
//
// What is left is a small stage without rows, of y alone:
//
//     H:   Hyy - Y N' - N Y',   N = Hy1 - 1/2 Y H11          h:   hy - Y h1 - M w,   M = Hy1 - Y H11
//     E:   Ey - Y E1'                                        b:   b - E1 w
//
// and the rows' multipliers follow from the edge's,   eta = -R (h1 - H11 w + M' y + E1' lambda).
// G and E are stored as `Riccati` has them: their columns run along z or y. Products are `SmallStage`'s.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/columns.hpp"
#include "workbench.hpp"

namespace trisweep {

class Substitution {
public:
    static constexpr int LONGEST = 12;             // a row beside what becomes its column of R, in vectors
    static constexpr int MOST_ROWS = LONGEST * W;  // there are fewer

    static bool has_room(int nu, int nx, int ng) {
        return ng > 0 && ng <= nu && (padded(nu) + padded(nx) + padded(ng)) / W <= LONGEST;
    }

    void lay_out(Arena& a, int controls, int states, int rows, int child_states) {
        nu = controls, rank = rows, xp = padded(states);
        up = padded(nu), up2 = padded(nu - rank), rp = padded(rank);
        const int n2 = up2 + xp, cp = padded(child_states);
        Y = a.matrix(n2, rp), M = a.matrix(n2, rp), E = a.matrix(n2, cp);
        E1 = a.matrix(cp, rp), H11 = a.matrix(rp, rp), R = a.matrix(rp, rp);
        w = a.vector(rank), h1 = a.vector(rank), b = a.vector(cp);
        fixed = a.indices(rank), rest = a.indices(nu - rank), place = a.indices(up + xp);
    }

    // Y and R, by Gauss and Jordan with the pivots that `Elimination` would take. False where a row has no comfortable one: it is
    // then to be passed on.
    bool fix_controls(const double* G, double beside, double smallest_pivot, const Workbench& bench) {
        return with_count<LONGEST>((up + xp + rp) / W,
                                   [&]<int V>() { return fix<V>(G, beside, smallest_pivot, bench); });
    }

    bool taken = false;  // in the last factorization
    int nu = 0, rank = 0;
    int up = 0, xp = 0, up2 = 0, rp = 0;  // padded: u, x, u2 and the rows
    double *Y, *M;                        // (y, rows)
    double* E;                            // (y, the child's x)
    double *E1, *H11, *R;                 // (the child's x, rows), (rows, rows)
    double *w, *h1, *b;                   // of the last solve; h1 as it stands in eta
    int *fixed, *rest;                    // u1 and u2 in u
    int* place;                           // of an entry of z in y, or -1 - that in u1

private:
    template <int V>
    bool fix(const double* G, double beside, double smallest_pivot, const Workbench& bench) {
        constexpr int LENGTH = V * W;
        const int n = up + xp;
        double *row[MOST_ROWS], peak[MOST_ROWS], size[MOST_ROWS];
        for (int i = 0; i < rank; ++i) {
            row[i] = bench.rows_beside + i * LENGTH;
            copy(n, G + i * n, row[i]);
            fill_zero(rp, row[i] + n);
            row[i][n + i] = 1.0;
            peak[i] = largest_size(up, row[i]);
            size[i] = std::max(peak[i], beside * largest_size(xp, row[i] + up));
        }
        for (int step = 0; step < rank; ++step) {
            double best = smallest_pivot;
            int chosen = -1;
            for (int i = step; i < rank && best < 1.0; ++i)
                if (peak[i] > best * size[i] && size[i] > 0.0) best = peak[chosen = i] / size[i];
            if (chosen < 0) return false;
            std::swap(row[step], row[chosen]), std::swap(peak[step], peak[chosen]), std::swap(size[step], size[chosen]);
            double* from = row[step];
            int column = 0;
            while (std::fabs(from[column]) != peak[step]) ++column;
            fixed[step] = column;
            const double inverse = 1.0 / from[column], terms = size[step] * std::fabs(inverse);
            vec source[V];
#pragma GCC unroll 16
            for (int t = 0; t < V; ++t) source[t] = inverse * load(from + t * W);
#pragma GCC unroll 16
            for (int t = 0; t < V; ++t) store(from + t * W, source[t]);
            for (int i = 0; i < rank; ++i) {
                const double factor = row[i][column];
                if (i == step || factor == 0.0) continue;
#pragma GCC unroll 16
                for (int t = 0; t < V; ++t) store(row[i] + t * W, load(row[i] + t * W) - factor * source[t]);
                row[i][column] = 0.0;
                if (i < step) continue;
                peak[i] = largest_size(up, row[i]);
                size[i] += std::fabs(factor) * terms;
            }
        }
        find_places();
        for (int k = 0; k < rank; ++k) {
            for (int i = 0; i < nu - rank; ++i) Y[i + k * (up2 + xp)] = row[k][rest[i]];
            copy(xp, row[k] + up, Y + up2 + k * (up2 + xp));
            copy(rp, row[k] + n, R + k * rp);
        }
        return true;
    }

    void find_places() {
        std::fill(place, place + nu, 0);
        for (int k = 0; k < rank; ++k) place[fixed[k]] = -1 - k;
        for (int i = 0, free = 0; i < nu; ++i)
            if (place[i] == 0) place[i] = free, rest[free++] = i;
        for (int i = 0; i < xp; ++i) place[up + i] = up2 + i;
    }
};

}  // namespace trisweep
