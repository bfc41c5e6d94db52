// The nonzeros of a graph's compiled derivatives, sorted by what they meet: rows of F or inputs of a node on one side, (u, x) or the
// unknowns of a node on the other.
#pragma once

#include "graph.hpp"
#include "place_sums.hpp"
#include "saddle.hpp"
#include "visited_pairs.hpp"

namespace trisweep {

struct GraphPattern {
    // A nonzero of w_k,z or F,z: its place among the compiled numbers, its row in w_k or F, and its column: along z for (u, x),
    // among its unknowns for a node.
    struct Entry {
        int from, row, column;
    };
    struct Part {  // the columns of one y
        int node;
        std::vector<Entry> entries;
    };
    struct Node {
        Node(const Tree& tree, const Beside& beside, int at, int row)
            : at(at), row(row), saddle(tree), pairs(tree, beside) {
            const int nw = 2 * saddle.nv;
            write(slope, saddle.size(), -1.0, pairs.slope, false);
            write(with_unknown, nw, 1.0, pairs.with_unknown, false);
            write(curvature, nw, 0.5, pairs.curvature, true);
        }

        int at, row;  // its first unknown among the columns of z, its first input among the compiled rows
        Saddle saddle;
        VisitedPairs pairs;
        RowSteps slope, with_unknown, curvature;  // -g_w W; S_wy Y; 1/2 S_ww W: columns of W or Y to rows of g or w
        std::vector<Entry> own;                   // w_k by (u, x)
        PlaceSums fills, bends;                   // g_w W and 1/2 W' S_ww W, where no node is earlier
        std::vector<Part> earlier;                // w_k by the unknowns of earlier nodes
        bool later = false;                       // whether a node rests on this one

        int inputs() const { return 2 * saddle.nv; }  // but for the joint forces

        // Once `own` is whole; n: length of a column along (u, x).
        void list_terms(int n) {
            const int one = int(own.size());  // as a factor
            std::vector<std::vector<int>> of(3 * saddle.nv);
            for (int e = 0; e < one; ++e) of[own[e].row].push_back(e);
            for (std::size_t t = 0; t < pairs.slope.size(); ++t)
                for (int e : of[pairs.slope[t].j]) fills.add(own[e].column + pairs.slope[t].i * n, int(t), e, one, 1.0);
            for (std::size_t t = 0; t < pairs.curvature.size(); ++t) {
                const auto [i, j] = pairs.curvature[t];
                for (int a : of[i])
                    for (int b : of[j]) bends.add(own[a].column + own[b].column * n, int(t), a, b, i == j ? 0.5 : 1.0);
            }
            fills.sort(), bends.sort();
        }

    private:
        // Steps x_i += sign value y_j, and for `both` x_j += sign value y_i.
        static void write(RowSteps& to, int rows, double sign, const std::vector<VisitedPairs::Pair>& pairs,
                          bool both) {
            std::vector<std::vector<std::pair<int, int>>> terms(rows);
            for (std::size_t t = 0; t < pairs.size(); ++t) {
                const auto [i, j] = pairs[t];
                terms[i].push_back({int(t), j});
                if (both && i != j) terms[j].push_back({int(t), i});
            }
            for (int i = 0; i < rows; ++i) {
                if (terms[i].empty()) continue;
                to.begin(i, 1.0, sign);
                for (const auto& [value, source] : terms[i]) to.add(value, source);
            }
        }
    };
    struct Row {  // of F
        std::vector<Entry> own;
        std::vector<Entry> unknown;  // row: the node
    };

    explicit GraphPattern(Graph given) : graph(std::move(given)) {
        up = padded(graph.controls), n = up + padded(graph.variables - graph.controls);
        int at = graph.variables, row = graph.rows;
        graph.beside.resize(graph.trees.size());
        for (std::size_t k = 0; k < graph.trees.size(); ++k) {
            const Tree& tree = graph.trees[k];
            nodes.emplace_back(tree, graph.beside[k], at, row);
            at += tree.unknowns(), row += 3 * tree.dofs();
        }
        unknowns = at - graph.variables, inputs_of_nodes = row - graph.rows;
        sort_slopes(), sort_curvature();
    }

    // Where a variable of (u, x) stands along z, both parts padded.
    int along_z(int column) const { return column < graph.controls ? column : up + column - graph.controls; }

    Graph graph;
    std::vector<Node> nodes;
    std::vector<Row> f_rows;
    std::vector<Entry> both_own, one_own, none_own;  // of L,zz, by how many of its two sides are in (u, x)
    std::vector<int> bent;                           // unknowns, as columns of z, in which L is curved, in order
    std::vector<int> bent_alone;                     // of each, the place of its own entry on the diagonal, -1: none
    bool side_by_side = false;                       // whether they are neighbours, of one node
    int unknowns = 0, inputs_of_nodes = 0;
    int up = 0, n = 0;  // where x starts along z; padded length of (u, x)

    // Where the nonzeros of J and of the lower triangle of H stand, pairs (row, column).
    std::vector<int> jacobian_rows, jacobian_columns, hessian_rows, hessian_columns;
    std::vector<int> jacobian_places,
        hessian_places;  // of each, where rows of J, or columns of H, of length n follow each other

protected:
    int node_of(int z) const {
        int k = int(nodes.size()) - 1;
        while (k >= 0 && nodes[k].at > z) --k;
        return k;
    }

private:
    void sort_slopes() {
        f_rows.resize(graph.rows);
        for (std::size_t t = 0; t < graph.slope_rows.size(); ++t) {
            const int row = graph.slope_rows[t], z = graph.slope_columns[t], from = int(t), other = node_of(z);
            if (row < graph.rows) {
                if (other < 0)
                    f_rows[row].own.push_back({from, row, along_z(z)});
                else
                    f_rows[row].unknown.push_back({from, other, z - nodes[other].at});
                continue;
            }
            std::size_t k = nodes.size() - 1;
            while (nodes[k].row > row) --k;
            if (other < 0) {
                nodes[k].own.push_back({from, row - nodes[k].row, along_z(z)});
                continue;
            }
            std::vector<Part>& parts = nodes[k].earlier;
            if (parts.empty() || parts.back().node != other) parts.push_back({other, {}});
            parts.back().entries.push_back({from, row - nodes[k].row, z - nodes[other].at});
            nodes[other].later = true;
        }
        for (Node& node : nodes)
            if (node.earlier.empty()) node.list_terms(n);
        list_jacobian();
    }

    // Column after column.
    void list_jacobian() {
        std::vector<std::vector<int>> columns(n);
        for (int r = 0; r < graph.rows; ++r) {
            if (f_rows[r].unknown.empty())
                for (const Entry& e : f_rows[r].own) columns[e.column].push_back(r);
            else
                for (int c = 0; c < graph.variables; ++c) columns[along_z(c)].push_back(r);
        }
        for (int c = 0; c < graph.variables; ++c)
            for (int r : columns[along_z(c)]) {
                jacobian_rows.push_back(r), jacobian_columns.push_back(c);
                jacobian_places.push_back(r * n + along_z(c));
            }
    }

    void sort_curvature() {
        std::vector<int> where(std::size_t(graph.variables + unknowns), -1);
        for (std::size_t t = 0; t < graph.curvature_rows.size(); ++t)
            if (graph.curvature_columns[t] >= graph.variables)  // no row is above its column
                where[graph.curvature_rows[t]] = where[graph.curvature_columns[t]] = 0;
        for (int z = graph.variables; z < graph.variables + unknowns; ++z)
            if (where[z] == 0) where[z] = int(bent.size()), bent.push_back(z);
        bent_alone.assign(bent.size(), -1);
        side_by_side = !bent.empty() && bent.back() - bent.front() + 1 == int(bent.size()) &&
                       node_of(bent.front()) == node_of(bent.back());
        for (std::size_t t = 0; t < graph.curvature_rows.size(); ++t) {
            const int i = graph.curvature_rows[t], j = graph.curvature_columns[t];
            if (i < graph.variables)
                both_own.push_back({int(t), along_z(i), along_z(j)});
            else if (j < graph.variables)
                one_own.push_back({int(t), i, along_z(j)});
            else
                none_own.push_back({int(t), where[i], where[j]});
            if (i == j && i >= graph.variables) bent_alone[where[i]] = int(t);
        }
        for (int j = 0; j < graph.variables; ++j)
            for (int i = j; i < graph.variables; ++i) {
                hessian_rows.push_back(i), hessian_columns.push_back(j);
                hessian_places.push_back(along_z(i) + along_z(j) * n);
            }
    }
};

}  // namespace trisweep
