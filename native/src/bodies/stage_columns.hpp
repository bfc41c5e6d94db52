// What is dense of one stage whose rows rest on nodes: columns along (u, x), Y', W' and those of J', and H. The letters are those of
// `StageGraph`; what a node gives is in lanes, of which stage l has the l-th.
#pragma once

#include "graph_memory.hpp"
#include "kernels/columns.hpp"
#include "kernels/matrix_product.hpp"
#include "kernels/transpose.hpp"

namespace trisweep {

class StageColumns : public GraphPattern {
protected:
    using GraphPattern::GraphPattern;

    // Y of every node at one stage, in columns along (u, x).
    void sensitivities(GraphMemory& memory, int l) const {
        const double* slopes = memory.slopes + std::ptrdiff_t(l) * graph.slopes.size;
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const Node& node = nodes[k];
            GraphMemory::NodeMemory& part = memory.parts[k];
            double* Y = part.Y;  // first -g_w W
            fill_zero(n * node.saddle.size(), Y);
            for (const Entry& e : node.own)
                if (e.row >= node.inputs())
                    Y[e.column + std::ptrdiff_t(e.row - node.inputs()) * n] += slopes[e.from];  // g = ... - tau
            node.fills.subtract(part.fills + l, Y);
            if (!node.earlier.empty()) {
                inputs_along_z(memory, node, part, slopes);
                node.slope.on_columns(part.slope + l, n, part.w_z, Y);
            }
            node.saddle.solve(part.factor + l, n, Y);
        }
    }

    // W of a node that rests on others, and what they add to the right-hand side by its joint forces.
    void inputs_along_z(GraphMemory& memory, const Node& node, GraphMemory::NodeMemory& part,
                        const double* slopes) const {
        const int inputs = node.inputs();
        fill_zero(n * inputs, part.w_z);
        for (const Entry& e : node.own)
            if (e.row < inputs) part.w_z[e.column + std::ptrdiff_t(e.row) * n] = slopes[e.from];
        for (const Part& before : node.earlier)
            for (const Entry& e : before.entries)
                add_scaled(slopes[e.from], column(memory, before.node, e.column),
                           e.row < inputs ? part.w_z + std::ptrdiff_t(e.row) * n
                                          : part.Y + std::ptrdiff_t(e.row - inputs) * n);
    }

    // The row of Y of an unknown.
    const double* column(const GraphMemory& memory, int node, int unknown) const {
        return memory.parts[node].Y + std::ptrdiff_t(unknown) * n;
    }
    const double* column(const GraphMemory& memory, int z) const {
        const int k = node_of(z);
        return column(memory, k, z - nodes[k].at);
    }

    void put_row(GraphMemory& memory, int l, const Row& row, double* to) const {
        const double* slopes = memory.slopes + std::ptrdiff_t(l) * graph.slopes.size;
        if (row.unknown.empty()) fill_zero(n, to);
        for (const Entry& e : row.unknown) {
            const double* from = column(memory, e.row, e.column);
            if (&e == row.unknown.data())
                scale(slopes[e.from], from, to);
            else
                add_scaled(slopes[e.from], from, to);
        }
        for (const Entry& e : row.own) to[e.column] += slopes[e.from];
    }

    void scale(double s, const double* x, double* y) const {
        const vec factor = broadcast(s);
        for (int i = 0; i < n; i += W) store(y + i, factor * load(x + i));
    }
    void add_scaled(double s, const double* x, double* y) const {
        const vec scale = broadcast(s);
        for (int i = 0; i < n; i += W) store(y + i, load(y + i) + scale * load(x + i));
    }

    // From L,zz and, where `curved`, the curvature of the nodes; on top of `bare`, where that is given.
    void find_hessian(GraphMemory& memory, int l, const double* curvature, bool curved, const double* bare,
                      double* H) const {
        const double* L = curvature + std::ptrdiff_t(l) * graph.curvature.size;
        if (!curved && !bare &&
            std::all_of(one_own.begin(), one_own.end(), [&](const Entry& e) { return L[e.from] == 0.0; })) {
            curve_in_unknowns(memory, L, nullptr, H);
            for (const Entry& e : both_own) H[e.row + std::ptrdiff_t(e.column) * n] += L[e.from];
        } else {
            double* sum = memory.sum;  // what is added with its transpose
            fill_zero(n * n, sum);
            for (const Entry& e : both_own)
                sum[e.row + std::ptrdiff_t(e.column) * n] += (e.row == e.column ? 0.5 : 1.0) * L[e.from];
            for (const Entry& e : one_own)
                add_scaled(L[e.from], column(memory, e.row), sum + std::ptrdiff_t(e.column) * n);
            if (curved) bend(memory, l, sum);
            fold(n, sum, bare, H, n);
            curve_in_unknowns(memory, L, H, H);
        }
        for (int j = 0; j < n; ++j)
            std::fill(H + std::ptrdiff_t(j) * n + j / PAD * PAD, H + std::ptrdiff_t(j) * n + j, 0.0);
    }

    // H = before + Y' L,yy Y; `before` may be null, or H itself.
    void curve_in_unknowns(GraphMemory& memory, const double* L, const double* before, double* H) const {
        int* place = memory.bent_places;  // among the unknowns in which L is curved at this stage
        std::fill_n(place, bent.size(), -1);
        for (const Entry& e : none_own)
            if (L[e.from] != 0.0) place[e.row] = place[e.column] = 0;
        int count = 0;
        for (std::size_t i = 0; i < bent.size(); ++i)
            if (place[i] == 0) place[i] = count++;
        if (count == 0 && before) return;
        const auto at = [&](int i) { return std::ptrdiff_t(i) * n; };
        const double* Y = memory.picked;
        if (side_by_side && count == int(bent.size()))
            Y = column(memory, bent[0]);
        else
            for (std::size_t i = 0; i < bent.size(); ++i)
                if (place[i] >= 0) copy(n, column(memory, bent[i]), memory.picked + at(place[i]));
        for (std::size_t i = 0; i < bent.size(); ++i)
            if (place[i] >= 0)
                scale(bent_alone[i] < 0 ? 0.0 : L[bent_alone[i]], Y + at(place[i]), memory.bent + at(place[i]));
        for (const Entry& e : none_own) {
            if (e.row == e.column || L[e.from] == 0.0) continue;
            add_scaled(L[e.from], Y + at(place[e.row]), memory.bent + at(place[e.column]));
            add_scaled(L[e.from], Y + at(place[e.column]), memory.bent + at(place[e.row]));
        }
        product_nt<true, 1>(n, n, count, memory.bent, n, Y, n, before, n, H, n);
    }

    // H -= sum_k C_k' W_k with C_k = 1/2 S_ww W_k + S_wy Y_k. What goes by way of earlier nodes is gathered for each of them, in D.
    void bend(GraphMemory& memory, int l, double* H) const {
        const double* slopes = memory.slopes + std::ptrdiff_t(l) * graph.slopes.size;
        for (std::size_t k = 0; k < nodes.size(); ++k)
            if (nodes[k].later) fill_zero(n * nodes[k].saddle.size(), memory.parts[k].D);
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const Node& node = nodes[k];
            const GraphMemory::NodeMemory& part = memory.parts[k];
            const bool direct = node.earlier.empty();
            const int inputs = direct ? node.saddle.nv : node.inputs();
            fill_zero(n * inputs, memory.C);
            node.with_unknown.on_columns(part.with_unknown + l, n, part.Y, memory.C);
            if (direct)
                node.bends.subtract(part.bends + l, H);
            else
                node.curvature.on_columns(part.curvature + l, n, part.w_z, memory.C);
            for (const Entry& e : node.own)
                if (e.row < inputs)
                    add_scaled(-slopes[e.from], memory.C + std::ptrdiff_t(e.row) * n, H + std::ptrdiff_t(e.column) * n);
            for (const Part& before : node.earlier)
                for (const Entry& e : before.entries)
                    if (e.row < inputs)
                        add_scaled(slopes[e.from], memory.C + std::ptrdiff_t(e.row) * n,
                                   memory.parts[before.node].D + std::ptrdiff_t(e.column) * n);
        }
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const GraphMemory::NodeMemory& part = memory.parts[k];
            if (nodes[k].later) product_nt<false, -1>(n, n, nodes[k].saddle.size(), part.D, n, part.Y, n, H, n, H, n);
        }
    }
};

}  // namespace trisweep
