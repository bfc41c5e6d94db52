// The pairs of dofs, rows and unknowns to which `TreeDynamics` gives values, in the order in which it visits them: it depends on the
// tree alone, so that values can be stored one after another.
#pragma once

#include "kernels/arena.hpp"
#include "tree_dynamics.hpp"

namespace trisweep {

struct VisitedPairs {
    struct Pair {
        int i, j;
    };
    std::vector<Pair> slope;         // residual i by input j
    std::vector<Pair> curvature;     // inputs i and j; each pair once
    std::vector<Pair> with_unknown;  // input i, unknown j

    explicit VisitedPairs(const Tree& tree) {
        const int nv = tree.dofs();
        TreeDynamics<Stages> dynamics(tree);
        Arena arena;
        double* zeros = nullptr;
        arena.build([&](Arena& a) { zeros = a.matrix(W, tree.unknowns()); });
        const auto note = [](std::vector<Pair>& to, int first_i, int first_j) {
            return [&to, first_i, first_j](int i, int j, vec) { to.push_back({first_i + i, first_j + j}); };
        };
        dynamics.slopes(zeros, note(slope, 0, 0));
        dynamics.curvature(zeros, note(curvature, 0, 0), note(curvature, 0, nv), note(curvature, nv, nv),
                           note(with_unknown, 0, 0));
    }
};

}  // namespace trisweep
