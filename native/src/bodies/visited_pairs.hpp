// The pairs of dofs, rows and unknowns to which `TreeDynamics` gives values, in the order in which it visits them: it depends on the
// tree alone, so that values can be stored one after another. Those of the terms beside it follow.
#pragma once

#include "graph.hpp"
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

    // Where the recursions' end, and which compiled numbers stand there.
    int slopes_beside = 0, curvature_beside = 0, with_unknown_beside = 0;
    std::vector<int> curvature_from, with_unknown_from;

    VisitedPairs(const Tree& tree, const Beside& beside) {
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
        slopes_beside = int(slope.size()), curvature_beside = int(curvature.size());
        with_unknown_beside = int(with_unknown.size());
        for (std::size_t t = 0; t < beside.slope_rows.size(); ++t)
            slope.push_back({beside.slope_rows[t], beside.slope_columns[t]});
        for (std::size_t t = 0; t < beside.curvature_rows.size(); ++t) {
            const int i = beside.curvature_rows[t], j = beside.curvature_columns[t];
            if (i < 2 * nv)
                curvature.push_back({i, j}), curvature_from.push_back(int(t));
            else
                with_unknown.push_back({j, i - 2 * nv}), with_unknown_from.push_back(int(t));
        }
    }
};

}  // namespace trisweep
