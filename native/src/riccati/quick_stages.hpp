// Stages that go by the functions of their sizes (`SmallSweep`): small ones in which no row fixes a control, and those whose own rows
// all do and are substituted, where their child passed them none. Their part of each pass of `Riccati`.
#pragma once

#include <vector>

#include "gathering.hpp"
#include "small_stages.hpp"

namespace trisweep::quick {

using Stage = RiccatiStage;

inline void find(std::vector<Stage>& stages) {
    for (Stage& s : stages) {
        if (s.first_child < 0 || stages[s.first_child].sibling >= 0) continue;
        const int states = stages[s.first_child].nx;
        s.small = SmallSweep::find(s.nu, s.nx, states);
        if (Substitution::has_room(s.nu, s.nx, s.ng)) s.left = SmallSweep::find(s.nu - s.ng, s.nx, states);
    }
}

// Whether the vectors of a stage go this way too: rows are not for it.
inline bool takes_vectors(const Stage& s) { return s.substitution.taken || (s.small && s.sweep.rows == 0); }

inline SmallView view(const Stage& s, const Stage& child) {
    if (s.substitution.taken) return {s.nu - s.ng, s.substitution.E, nullptr};
    return {s.nu, child.E, &child.light};
}

// With the rows substituted if `taken`; the sweep knows then what has become of them.
inline bool eliminate(Stage& s, const Stage& child, const Workbench& bench, double* scratch) {
    if (s.penalties) Gathering::add_penalties(s, bench);
    const double* H = s.penalties ? bench.H : s.H;
    const int ld = s.penalties ? s.sweep.ld : s.n;
    if (s.substitution.taken) {
        s.sweep.rank = s.ng, s.sweep.passed = 0, s.sweep.declined = s.sweep.rooted = false;
        s.left->substitute(s.substitution, H, ld, s.diagonal, child, s.n, bench);
        const int n2 = s.substitution.up2 + s.substitution.xp;
        return s.left->factor(s, child, view(s, child), bench.F, n2, nullptr, bench, scratch);
    }
    for (int i = 0; i < s.nu; ++i) bench.diagonal[i] = std::fabs(H[i + i * ld] + (s.diagonal ? s.diagonal[i] : 0.0));
    return s.small->factor(s, child, view(s, child), H, ld, s.diagonal, bench, scratch);
}

inline void reduce(Stage& s, const Stage& child, const Vectors& rhs, const Workbench& bench, double* Pb,
                   double* gradient, bool again) {
    const double *h = rhs.h + s.at_z, *b = rhs.b + child.at_x;
    if (s.substitution.taken)
        s.left->reduce_substituted(s, child, view(s, child), h, rhs.g + s.at_g, b, bench.y, Pb, gradient, again);
    else
        s.small->reduce(s, child, view(s, child), h, b, Pb, gradient, again);
}

inline void expand(const Stage& s, const Stage& child, const Vectors& rhs, const Workbench& bench,
                   const Unknowns& out) {
    double *z = out.z + s.at_z, *child_x = out.z + child.at_z + child.up;
    if (s.substitution.taken)
        s.left->expand_substituted(s, view(s, child), bench.along, bench.y, z, child_x);
    else
        s.small->expand(s, view(s, child), rhs.b + child.at_x, bench.along, z, child_x);
}

// u(x), or its linear part, of the x in z, where rows were substituted.
inline void find_controls(const Stage& s, const Workbench& bench, double* z, bool affine) {
    const Substitution& by = s.substitution;
    const int nu2 = s.nu - s.ng, n2 = by.up2 + by.xp;
    double *y = bench.y, *along = bench.along;
    for (int i = 0; i < nu2; ++i) along[i] = affine ? s.sweep.y_u[i] : 0.0;
    transposed_multiply_add(by.xp, nu2, s.sweep.ZT, n2, z + s.up, along);
    fill_zero(by.up2, y);
    multiply_add<-1>(by.up2, nu2, s.sweep.ZT + by.xp, n2, along, y);
    for (int i = 0; i < nu2; ++i) z[by.rest[i]] = y[i];
    copy(by.xp, z + s.up, y + by.up2);
    for (int k = 0; k < by.rank; ++k) {
        double& u1 = z[by.fixed[k]];
        u1 = affine ? -by.w[k] : 0.0;
        for (int t = 0; t < n2; ++t) u1 -= by.Y[t + k * n2] * y[t];
    }
}

}  // namespace trisweep::quick
