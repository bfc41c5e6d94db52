// The nonzeros of a graph's compiled derivatives, sorted by what they meet: rows of F or inputs of a node on one side, (u, x) or the
// unknowns of a node on the other.
#pragma once

#include "graph.hpp"
#include "saddle.hpp"

namespace trisweep {

struct GraphPattern {
    // A nonzero of w_k,z or F,z: its place among the compiled numbers, its row in w_k or F, and its column in the part of z.
    struct Entry {
        int from, row, column;
    };
    struct Part {  // the columns of one y
        int node;
        std::vector<Entry> entries;
    };
    struct Node {
        int at, row;  // its first unknown in z, its first input among the compiled rows
        Saddle saddle;
        std::vector<double> softness;
        std::vector<Entry> own;     // w_k by (u, x)
        std::vector<Part> earlier;  // w_k by the unknowns of earlier nodes
    };
    struct Row {                          // of F
        std::vector<Entry> own, unknown;  // column of `unknown`: in z
        bool dense() const { return !unknown.empty(); }
    };

    explicit GraphPattern(Graph given) : graph(std::move(given)) {
        int at = graph.variables, row = graph.rows;
        for (const Tree& tree : graph.trees) {
            nodes.push_back({at, row, Saddle(tree.dofs(), tree.rows()), {}, {}, {}});
            at += tree.unknowns(), row += 3 * tree.dofs();
            for (const Held& held : tree.held)
                nodes.back().softness.insert(nodes.back().softness.end(), held.softness.begin(), held.softness.end());
            nodes.back().softness.push_back(0.0);
        }
        unknowns = at - graph.variables, inputs_of_nodes = row - graph.rows;
        n = padded(graph.variables);
        sort_slopes(), sort_curvature();
    }

    Graph graph;
    std::vector<Node> nodes;
    std::vector<Row> f_rows;
    std::vector<Entry> both_own, one_own, none_own;  // of L,zz, by how many of its two sides are in (u, x)
    std::vector<int> bent;                           // unknowns, as columns of z, in which L is curved
    int unknowns = 0, inputs_of_nodes = 0, n = 0;

    // Where the nonzeros of J and of the lower triangle of H stand, pairs (row, column).
    std::vector<int> jacobian_rows, jacobian_columns, hessian_rows, hessian_columns;

private:
    int node_of(int z) const {
        int k = int(nodes.size()) - 1;
        while (k >= 0 && nodes[k].at > z) --k;
        return k;
    }

    void sort_slopes() {
        f_rows.resize(graph.rows);
        for (std::size_t t = 0; t < graph.slope_rows.size(); ++t) {
            const int row = graph.slope_rows[t], z = graph.slope_columns[t], from = int(t), other = node_of(z);
            if (row < graph.rows) {
                (other < 0 ? f_rows[row].own : f_rows[row].unknown).push_back({from, row, z});
                continue;
            }
            std::size_t k = nodes.size() - 1;
            while (nodes[k].row > row) --k;
            if (other < 0) {
                nodes[k].own.push_back({from, row - nodes[k].row, z});
                continue;
            }
            std::vector<Part>& parts = nodes[k].earlier;
            if (parts.empty() || parts.back().node != other) parts.push_back({other, {}});
            parts.back().entries.push_back({from, row - nodes[k].row, z - nodes[other].at});
        }
        for (int r = 0; r < graph.rows; ++r) {
            const Row& row = f_rows[r];
            const auto add = [&](int column) { jacobian_rows.push_back(r), jacobian_columns.push_back(column); };
            if (row.dense())
                for (int c = 0; c < graph.variables; ++c) add(c);
            else
                for (const Entry& e : row.own) add(e.column);
        }
    }

    void sort_curvature() {
        std::vector<int> where(std::size_t(graph.variables + unknowns), -1);
        const auto index = [&](int z) {
            if (where[z] < 0) {
                where[z] = int(bent.size());
                bent.push_back(z);
            }
            return where[z];
        };
        for (std::size_t t = 0; t < graph.curvature_rows.size(); ++t) {
            const int i = graph.curvature_rows[t], j = graph.curvature_columns[t];  // i >= j
            if (i < graph.variables)
                both_own.push_back({int(t), i, j});
            else if (j < graph.variables)
                one_own.push_back({int(t), i, j});
            else
                none_own.push_back({int(t), index(i), index(j)});
        }
        for (int j = 0; j < graph.variables; ++j)
            for (int i = j; i < graph.variables; ++i) hessian_rows.push_back(i), hessian_columns.push_back(j);
    }
};

}  // namespace trisweep
