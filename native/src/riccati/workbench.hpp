// What one elimination at a time works on, shared by all stages of a tree; letters as `elimination.hpp` has them.
#pragma once

#include <algorithm>

#include "kernels/arena.hpp"

namespace trisweep {

struct Workbench {
    double* H;            // (ld, n)          in: the Hessian, lower triangle
    double* G;            // (n, rows)        in: the rows
    double* rows_beside;  // (n + rows, rows) the rows, each beside one of an identity
    double* size_u;       // (rows)           in: the size of the terms summed into a row, in its u and in its x columns
    double* size_x;
    double* diagonal;  // (nu)             in: the size of the terms summed into the diagonal of H at u
    double* peak;      // (rows)           the largest entry of a row in columns that may still be a pivot's
    double *F, *N, *half, *candidate, *inverse, *threshold;
    double *c, *eta, *y, *t, *along;

    // Room for stages of up to `controls` and `states` (padded) and `rows`.
    void lay_out(Arena& arena, int controls, int states, int rows) {
        const int n = controls + states, ld = n + controls;
        H = arena.matrix(ld, n);
        G = arena.matrix(n, rows);
        rows_beside = arena.matrix(n + padded(rows), rows);
        F = arena.matrix(ld, rows ? n : 0);
        N = arena.matrix(n, padded(std::min(controls, rows)));
        half = arena.matrix(padded(rows), padded(rows));
        for (double** vector : {&size_u, &size_x, &peak, &c, &eta}) *vector = arena.vector(rows);
        for (double** vector : {&diagonal, &along}) *vector = arena.vector(controls);
        for (double** vector : {&inverse, &threshold}) *vector = arena.vector(std::max(controls, states));
        for (double** vector : {&candidate, &y, &t}) *vector = arena.vector(n);
    }
};

}  // namespace trisweep
