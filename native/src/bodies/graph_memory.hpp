// Memory of a graph of a stage.
#pragma once

#include <algorithm>

#include "graph_pattern.hpp"
#include "kernels/arena.hpp"

namespace trisweep {

// What one caller at a time works in: of W stages in lanes what the recursions give, of one stage at a time columns along z.
struct GraphMemory {
    explicit GraphMemory(const GraphPattern& owner) {
        for (const Tree& tree : owner.graph.trees) dynamics.emplace_back(tree);
        parts.resize(owner.nodes.size());
        arena.build([&](Arena& a) { lay_out(a, owner); });
    }

    void lay_out(Arena& a, const GraphPattern& owner) {
        const Graph& g = owner.graph;
        const int n = owner.n;
        std::int64_t most = std::max({g.values.work, g.slopes.work, g.curvature.work});
        int arguments = 1, inputs = 1, numbers = 1;
        for (std::size_t k = 0; k < parts.size(); ++k) {
            NodeMemory& p = parts[k];
            const GraphPattern::Node& node = owner.nodes[k];
            const auto lanes = [&](std::size_t count) { return a.matrix(W, count); };
            most = std::max(most, g.arguments[k].work), arguments = std::max(arguments, g.trees[k].arguments());
            inputs = std::max(inputs, node.inputs());
            for (const Compiled* code : {&g.beside[k].matrix, &g.beside[k].slopes, &g.beside[k].curvature})
                most = std::max(most, code->work), numbers = std::max(numbers, code->size);
            numbers = std::max(numbers, node.saddle.size());
            p.factor = lanes(node.saddle.values()), p.slope = lanes(node.pairs.slope.size());
            p.curvature = lanes(node.pairs.curvature.size()), p.with_unknown = lanes(node.pairs.with_unknown.size());
            p.y = lanes(node.saddle.size()), p.mu = lanes(node.saddle.size()), p.nu = lanes(3 * node.saddle.nv);
            p.own = lanes(node.own.size() + 1), p.fills = lanes(node.fills.size()), p.bends = lanes(node.bends.size());
            p.Y = a.matrix(n, node.saddle.size());
            p.D = node.later ? a.matrix(n, node.saddle.size()) : nullptr;
            p.w_z = node.earlier.empty() ? nullptr : a.matrix(n, node.inputs());
        }
        y = a.matrix(std::max(owner.unknowns, 1), W), nu = a.matrix(std::max(owner.inputs_of_nodes, 1), W);
        given = a.matrix(arguments, W), slopes = a.matrix(g.slopes.size, W), curvature = a.matrix(g.curvature.size, W);
        bare_curvature = a.matrix(g.curvature.size, W), head_weights = a.matrix(g.rows, W);
        no_nu = a.vector(std::max(owner.inputs_of_nodes, 1));
        beside = a.matrix(numbers, W), weights = a.matrix(numbers, W);
        C = a.matrix(n, inputs);
        const auto bent_columns = std::max<std::size_t>(owner.bent.size(), 1);
        bent = a.matrix(n, bent_columns), picked = a.matrix(n, bent_columns);
        bent_places = a.indices(int(bent_columns));
        rows = a.matrix(n, g.rows), H = a.matrix(n, n), bare = a.matrix(n, n), sum = a.matrix(n, n);
        work = a.matrix(std::size_t(most), 1);
    }

    struct NodeMemory {
        double *factor, *slope, *curvature, *with_unknown, *y, *mu, *nu;  // vectors of lanes
        double *own, *fills, *bends;                                      // likewise: slopes of w and 1, sums of them
        double *Y, *D, *w_z;                                              // of one stage, transposed
    };
    std::vector<TreeDynamics<Stages>> dynamics;
    std::vector<NodeMemory> parts;
    double *y, *nu, *given, *slopes, *curvature, *beside,
        *weights;                                   // to and from compiled functions, stage after stage
    double *bare_curvature, *head_weights, *no_nu;  // likewise, of the first rows alone; the last is zero
    double *C, *bent, *picked, *sum;
    double *rows, *H, *bare;  // for whoever takes J and H elsewhere
    int* bent_places;
    double* work;
    Arena arena;
};

}  // namespace trisweep
