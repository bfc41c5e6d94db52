// Memory of a graph of a stage.
#pragma once

#include "graph_pattern.hpp"
#include "kernels/arena.hpp"
#include "tree_dynamics.hpp"

namespace trisweep {

// What one caller at a time works in. Matrices of nodes hold W stages one after another.
struct GraphMemory {
    explicit GraphMemory(const GraphPattern& owner) {
        for (const Tree& tree : owner.graph.trees) dynamics.emplace_back(tree);
        for (const GraphPattern::Node& node : owner.nodes) saddles.push_back(node.saddle);
        parts.resize(owner.nodes.size());
        arena.build([&](Arena& a) { lay_out(a, owner); });
    }

    void lay_out(Arena& a, const GraphPattern& owner) {
        const Graph& g = owner.graph;
        std::int64_t most = std::max({g.values.work, g.slopes.work, g.curvature.work});
        int arguments = 1, columns = 1;
        for (std::size_t k = 0; k < parts.size(); ++k) {
            NodeMemory& p = parts[k];
            const Saddle& s = owner.nodes[k].saddle;
            const int inputs = padded(2 * s.nv);
            most = std::max(most, g.arguments[k].work), arguments = std::max(arguments, g.trees[k].arguments());
            columns = std::max({columns, s.size, inputs});
            p.factor = a.matrix(std::size_t(s.ld) * s.nv, W), p.residual = a.matrix(s.size, W);
            p.inverse = a.matrix(std::size_t(s.size) * s.size, W);
            p.slope = a.matrix(std::size_t(s.size) * 2 * s.nv, W);
            p.Sww = a.matrix(std::size_t(inputs) * 2 * s.nv, W), p.Sdy = a.matrix(std::size_t(s.nvp) * s.size, W);
            p.y = a.matrix(W, g.trees[k].unknowns()), p.mu = a.matrix(W, g.trees[k].unknowns());
            p.Y = a.matrix(s.size, owner.n), p.turned = a.matrix(owner.n, s.size);
            saddles[k].lay_out(a);
            most_unknowns = std::max(most_unknowns, s.size);
        }
        y = a.matrix(std::max(owner.unknowns, 1), W), nu = a.matrix(std::max(owner.inputs_of_nodes, 1), W);
        given = a.matrix(arguments, W), slopes = a.matrix(g.slopes.size, W), curvature = a.matrix(g.curvature.size, W);
        b = a.vector(most_unknowns), found = a.vector(most_unknowns);
        z_slope = a.vector(g.variables + owner.unknowns);
        wide = a.matrix(columns, owner.n), C = a.matrix(columns, owner.n), small = a.matrix(columns, columns);
        H = a.matrix(owner.n, owner.n), line = a.vector(owner.n);
        bent = a.matrix(owner.n, padded(std::max(int(owner.bent.size()), 1)));
        picked = a.matrix(owner.n, padded(std::max(int(owner.bent.size()), 1)));
        work = a.matrix(std::size_t(most), 1);
    }

    struct NodeMemory {
        double *factor, *residual, *inverse, *slope, *Sww, *Sdy, *y, *mu, *Y, *turned;  // turned: Y'
    };
    std::vector<TreeDynamics> dynamics;
    std::vector<Saddle> saddles;
    std::vector<NodeMemory> parts;
    int most_unknowns = 1;
    double *y, *nu, *given, *slopes, *curvature, *b, *found, *z_slope, *wide, *C, *small, *H, *line, *bent, *picked,
        *work;
    Arena arena;
};

}  // namespace trisweep
