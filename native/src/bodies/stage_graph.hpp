// The rows of a stage that rest on a robot's forward dynamics: values, Jacobian and Hessian without a compiled word of the dynamics.
//
// Rows F(z) and the inputs w_k(z) = (increments of q, v, tau) of node k are compiled expressions of z = (u, x, y_1, ..., y_K), of which
// y_1 to y_(k-1) alone matter to w_k. The nodes come from the recursions over bodies (`TreeDynamics`), their products from the
// dense kernels. With G = dz/d(u, x), Y_k the rows of y_k (Sathya 2024c, Sec. 2.4; `adjoint/graph.py` is the same on symbols):
//
//     W_k = w_k,z G     Y_k = -(g_y)^-1 g_w W_k     J = F,z G
//     mu_k = (g_y)'^-1 L,y_k     nu_k = -g_w' mu_k     L = weights' F + sum nu_k' w_k
//     H = G' L,zz G - sum_k (B_k + B_k'),   B_k = W_k' (1/2 S_ww W_k + S_wy Y_k),   S = d2(mu' g) / d(w, y)2,   S_yy = 0
//
#pragma once

#include "graph_memory.hpp"
#include "kernels/transpose.hpp"

namespace trisweep {

class StageGraph : public GraphPattern {
public:
    static constexpr int INPUTS = 5;  // u, x, shared parameters, those of the stage, those of the child

    explicit StageGraph(Graph given) : GraphPattern(std::move(given)) {}
    StageGraph(const StageGraph&) = delete;

    int rows() const { return graph.rows; }

    // F at `count` stages, a row of `stride` numbers each.
    void evaluate(const double* const* inputs, const std::int64_t* strides, double* rows, std::int64_t stride,
                  int count, GraphMemory& memory) const {
        for (int first = 0; first < count; first += W) {
            const Lanes lanes = group(inputs, strides, first, count);
            solve(memory, lanes, false);
            call(graph.values, memory, lanes, rows + first * stride, stride);
        }
    }

    // The nonzeros of J and of H of the weighted sum of the rows; the weights are the last input.
    void differentiate(const double* const* inputs, const std::int64_t* strides, double* jacobian, double* hessian,
                       int count, GraphMemory& memory) const {
        const double* weights = inputs[INPUTS];
        const std::int64_t weight_stride = strides[INPUTS];
        const auto nj = std::ptrdiff_t(jacobian_rows.size()), nh = std::ptrdiff_t(hessian_rows.size());
        for (int first = 0; first < count; first += W) {
            const Lanes lanes = group(inputs, strides, first, count);
            solve(memory, lanes, true);
            call(graph.slopes, memory, lanes, memory.slopes, graph.slopes.size);
            for (std::size_t k = 0; k < nodes.size(); ++k) node_slopes(memory, int(k));
            for (int l = 0; l < lanes.count; ++l) adjoints(memory, l, weights + (first + l) * weight_stride);
            const double* more[] = {weights + first * weight_stride, memory.nu};
            const std::int64_t steps[] = {weight_stride, inputs_of_nodes};
            call(graph.curvature, memory, lanes, memory.curvature, graph.curvature.size, more, steps);
            for (std::size_t k = 0; graph.exact && k < nodes.size(); ++k) node_curvature(memory, int(k));
            for (int l = 0; l < lanes.count; ++l) {
                sensitivities(memory, l);
                put_jacobian(memory, l, jacobian + (first + l) * nj);
                put_hessian(memory, l, hessian + (first + l) * nh);
            }
        }
    }

private:
    struct Lanes {
        const double* inputs[INPUTS];
        std::int64_t strides[INPUTS];
        int count;
    };

    static Lanes group(const double* const* inputs, const std::int64_t* strides, int first, int count) {
        Lanes lanes{};
        for (int i = 0; i < INPUTS; ++i)
            lanes.inputs[i] = inputs[i] + first * strides[i], lanes.strides[i] = strides[i];
        lanes.count = std::min(W, count - first);
        return lanes;
    }

    void call(const Compiled& function, GraphMemory& memory, const Lanes& lanes, double* to, std::int64_t stride,
              const double* const* more = nullptr, const std::int64_t* more_strides = nullptr) const {
        const double* inputs[INPUTS + 3];
        std::int64_t strides[INPUTS + 3];
        std::copy_n(lanes.inputs, INPUTS, inputs), std::copy_n(lanes.strides, INPUTS, strides);
        inputs[INPUTS] = memory.y, strides[INPUTS] = unknowns;
        for (int i = 0; more && i < 2; ++i) inputs[INPUTS + 1 + i] = more[i], strides[INPUTS + 1 + i] = more_strides[i];
        function.address(inputs, strides, &to, &stride, lanes.count, memory.work);
    }

    // y of every node, in their order; and where derivatives are wanted the inverses.
    void solve(GraphMemory& memory, const Lanes& lanes, bool inverse) const {
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            GraphMemory::NodeMemory& part = memory.parts[k];
            TreeDynamics& dynamics = memory.dynamics[k];
            Saddle& saddle = memory.saddles[k];
            const std::ptrdiff_t step = std::ptrdiff_t(saddle.ld) * saddle.nv;
            call(graph.arguments[k], memory, lanes, memory.given, dynamics.tree.arguments());
            dynamics.place(memory.given, dynamics.tree.arguments(), lanes.count);
            std::fill_n(part.factor, step * W, 0.0);
            dynamics.assemble(
                [&](int i, int j, vec value) { spread_lanes(part.factor + saddle.entry(i, j), step, value); },
                [&](int i, vec value) { spread_lanes(part.residual + saddle.place(i), saddle.size, -value); });
            for (int l = 0; l < W; ++l) {
                if (l < lanes.count) solve_lane(memory, int(k), l, inverse);
                for (int i = 0; i < dynamics.tree.unknowns(); ++i)
                    part.y[i * W + l] = memory.y[std::min(l, lanes.count - 1) * unknowns + offset(int(k)) + i];
            }
        }
    }

    void solve_lane(GraphMemory& memory, int k, int l, bool inverse) const {
        GraphMemory::NodeMemory& part = memory.parts[k];
        Saddle& saddle = memory.saddles[k];
        double* F = part.factor + l * std::ptrdiff_t(saddle.ld) * saddle.nv;
        double* y = memory.y + std::ptrdiff_t(l) * unknowns + offset(k);
        const int size = graph.trees[k].unknowns();
        if (!saddle.factor(F, nodes[k].softness.data(), inverse)) {
            std::fill_n(y, size, std::numeric_limits<double>::quiet_NaN());
            return;
        }
        saddle.solve(F, part.residual + l * saddle.size, memory.found);
        for (int i = 0; i < size; ++i) y[i] = memory.found[saddle.place(i)];
        if (inverse) saddle.invert(F, part.inverse + l * std::ptrdiff_t(saddle.size) * saddle.size);
    }

    int offset(int k) const { return nodes[k].at - graph.variables; }

    static void spread_lanes(double* to, std::ptrdiff_t step, vec value) {
        for (int l = 0; l < W; ++l) to[l * step] = value[l];
    }

    void node_slopes(GraphMemory& memory, int k) const {
        GraphMemory::NodeMemory& part = memory.parts[k];
        const Saddle& saddle = memory.saddles[k];
        const std::ptrdiff_t step = std::ptrdiff_t(saddle.size) * 2 * saddle.nv;
        memory.dynamics[k].slopes(part.y, [&](int i, int j, vec value) {
            spread_lanes(part.slope + saddle.place(i) + std::ptrdiff_t(j) * saddle.size, step, value);
        });
    }

    void node_curvature(GraphMemory& memory, int k) const {
        GraphMemory::NodeMemory& part = memory.parts[k];
        const Saddle& saddle = memory.saddles[k];
        const int nv = saddle.nv, ld = padded(2 * nv);
        const std::ptrdiff_t step = std::ptrdiff_t(ld) * 2 * nv, step_y = std::ptrdiff_t(saddle.nvp) * saddle.size;
        const auto at = [&](int i, int j, vec value) {
            spread_lanes(part.Sww + i + std::ptrdiff_t(j) * ld, step, value);
        };
        memory.dynamics[k].curvature(
            part.mu, at, [&](int i, int j, vec value) { at(i, nv + j, value), at(nv + j, i, value); },
            [&](int i, int j, vec value) { at(nv + i, nv + j, value); },
            [&](int i, int j, vec value) {
                spread_lanes(part.Sdy + i + std::ptrdiff_t(saddle.place(j)) * saddle.nvp, step_y, value);
            });
    }

    // mu and nu of one stage, from the last node to the first.
    void adjoints(GraphMemory& memory, int l, const double* weights) const {
        const double* slopes = memory.slopes + std::ptrdiff_t(l) * graph.slopes.size;
        double* L = memory.z_slope;
        std::fill_n(L, graph.variables + unknowns, 0.0);
        for (std::size_t r = 0; r < f_rows.size(); ++r)
            for (const Entry& e : f_rows[r].unknown) L[e.column] += weights[r] * slopes[e.from];
        for (int k = int(nodes.size()) - 1; k >= 0; --k) {
            const Node& node = nodes[k];
            const Saddle& s = node.saddle;
            GraphMemory::NodeMemory& part = memory.parts[k];
            const int size = graph.trees[k].unknowns();
            double *b = memory.b, *mu = memory.found,
                   *nu = memory.nu + std::ptrdiff_t(l) * inputs_of_nodes + node.row - graph.rows;
            std::fill_n(b, s.size, 0.0), std::fill_n(mu, s.size, 0.0);
            for (int i = 0; i < size; ++i) b[s.place(i)] = L[node.at + i];
            multiply_add(s.size, s.size, part.inverse + l * std::ptrdiff_t(s.size) * s.size, s.size, b, mu);
            for (int i = 0; i < size; ++i)
                for (int lane = l; lane < W; ++lane) part.mu[i * W + lane] = mu[s.place(i)];
            std::fill_n(nu, 2 * s.nv, 0.0);
            transposed_multiply_add<-1>(s.size, 2 * s.nv, part.slope + l * std::ptrdiff_t(s.size) * 2 * s.nv, s.size,
                                        mu, nu);
            for (int i = 0; i < s.nv; ++i) nu[2 * s.nv + i] = mu[i];
            for (const Part& before : node.earlier)
                for (const Entry& e : before.entries) L[nodes[before.node].at + e.column] += nu[e.row] * slopes[e.from];
        }
    }

    // Y of every node at one stage.
    void sensitivities(GraphMemory& memory, int l) const {
        const double* slopes = memory.slopes + std::ptrdiff_t(l) * graph.slopes.size;
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const Node& node = nodes[k];
            const Saddle& s = node.saddle;
            GraphMemory::NodeMemory& part = memory.parts[k];
            const double* slope = part.slope + l * std::ptrdiff_t(s.size) * 2 * s.nv;
            double* R = memory.wide;  // -g_w W
            const auto add = [&](const std::vector<Entry>& entries, double* to, const auto& place) {
                for (const Entry& e : entries) {
                    double* column = to + std::ptrdiff_t(place(e.column)) * s.size;
                    if (e.row >= 2 * s.nv)
                        column[e.row - 2 * s.nv] += slopes[e.from];  // g = ... - tau
                    else
                        add_scaled(s.size, -slopes[e.from], slope + std::ptrdiff_t(e.row) * s.size, column);
                }
            };
            std::fill_n(R, std::ptrdiff_t(s.size) * n, 0.0);
            add(node.own, R, [](int c) { return c; });
            for (const Part& before : node.earlier) {
                const Saddle& other = nodes[before.node].saddle;
                std::fill_n(memory.small, std::ptrdiff_t(s.size) * other.size, 0.0);
                add(before.entries, memory.small, [&](int c) { return other.place(c); });
                product_nn<1>(s.size, n, other.size, memory.small, s.size, memory.parts[before.node].Y, other.size, R,
                              s.size, R, s.size);
            }
            product_nn<1>(s.size, n, s.size, part.inverse + l * std::ptrdiff_t(s.size) * s.size, s.size, R, s.size,
                          nullptr, 0, part.Y, s.size);
            transpose(s.size, n, part.Y, s.size, part.turned, n);
        }
    }

    // The row of Y that belongs to a column of z beyond (u, x).
    const double* column(const GraphMemory& memory, int z) const {
        int k = int(nodes.size()) - 1;
        while (nodes[k].at > z) --k;
        return memory.parts[k].turned + std::ptrdiff_t(nodes[k].saddle.place(z - nodes[k].at)) * n;
    }

    void put_jacobian(GraphMemory& memory, int l, double* to) const {
        const double* slopes = memory.slopes + std::ptrdiff_t(l) * graph.slopes.size;
        for (const Row& row : f_rows) {
            if (!row.dense()) {
                for (const Entry& e : row.own) *to++ = slopes[e.from];
                continue;
            }
            fill_zero(n, memory.line);
            for (const Entry& e : row.own) memory.line[e.column] = slopes[e.from];
            for (const Entry& e : row.unknown) add_scaled(n, slopes[e.from], column(memory, e.column), memory.line);
            to = std::copy_n(memory.line, graph.variables, to);
        }
    }

    static void add_scaled(int size, double s, const double* x, double* y) {
        const vec scale = broadcast(s);
        for (int i = 0; i < size; i += W) store(y + i, load(y + i) + scale * load(x + i));
    }

    void put_hessian(GraphMemory& memory, int l, double* to) const {
        const double* L = memory.curvature + std::ptrdiff_t(l) * graph.curvature.size;
        double* H = memory.H;  // the sum of what is added with its transpose
        std::fill_n(H, std::ptrdiff_t(n) * n, 0.0);
        for (const Entry& e : both_own)
            H[e.row + std::ptrdiff_t(e.column) * n] += (e.row == e.column ? 0.5 : 1.0) * L[e.from];
        for (const Entry& e : one_own)
            add_scaled(n, L[e.from], column(memory, e.row), H + std::ptrdiff_t(e.column) * n);
        if (!bent.empty()) {
            std::fill_n(memory.bent, std::ptrdiff_t(n) * std::ptrdiff_t(bent.size()), 0.0);
            for (const Entry& e : none_own)
                add_scaled(n, (e.row == e.column ? 0.5 : 1.0) * L[e.from], column(memory, bent[e.row]),
                           memory.bent + std::ptrdiff_t(e.column) * n);
            for (std::size_t i = 0; i < bent.size(); ++i)
                copy(n, column(memory, bent[i]), memory.picked + std::ptrdiff_t(i) * n);
            product_nt<false, 1>(n, n, int(bent.size()), memory.bent, n, memory.picked, n, H, n, H, n);
        }
        for (std::size_t k = 0; graph.exact && k < nodes.size(); ++k) bend(memory, int(k), l);
        fold(n, H, n);
        for (int j = 0; j < graph.variables; ++j)
            to = std::copy_n(H + j + std::ptrdiff_t(j) * n, graph.variables - j, to);
    }

    // H -= C' W of a node, with C = 1/2 S_ww W + S_wy Y.
    void bend(GraphMemory& memory, int k, int l) const {
        const double* slopes = memory.slopes + std::ptrdiff_t(l) * graph.slopes.size;
        const Node& node = nodes[k];
        const Saddle& s = node.saddle;
        const GraphMemory::NodeMemory& part = memory.parts[k];
        const int nv = s.nv, ld = padded(2 * nv);
        const double* Sww = part.Sww + l * std::ptrdiff_t(ld) * 2 * nv;
        double *C = memory.wide, *turned = memory.C, *H = memory.H;
        const auto half = [&](const std::vector<Entry>& entries, double* to, const auto& place) {
            for (const Entry& e : entries)
                if (e.row < 2 * nv)
                    add_scaled(ld, 0.5 * slopes[e.from], Sww + std::ptrdiff_t(e.row) * ld,
                               to + std::ptrdiff_t(place(e.column)) * ld);
        };
        std::fill_n(C, std::ptrdiff_t(ld) * n, 0.0);
        half(node.own, C, [](int c) { return c; });
        for (const Part& before : node.earlier) {
            const Saddle& other = nodes[before.node].saddle;
            std::fill_n(memory.small, std::ptrdiff_t(ld) * other.size, 0.0);
            half(before.entries, memory.small, [&](int c) { return other.place(c); });
            product_nn<1>(ld, n, other.size, memory.small, ld, memory.parts[before.node].Y, other.size, C, ld, C, ld);
        }
        product_nn<1>(s.nvp, n, s.size, part.Sdy + l * std::ptrdiff_t(s.nvp) * s.size, s.nvp, part.Y, s.size, C, ld, C,
                      ld);
        transpose(ld, n, C, ld, turned, n);
        for (const Entry& e : node.own)
            if (e.row < 2 * nv)
                add_scaled(n, -slopes[e.from], turned + std::ptrdiff_t(e.row) * n, H + std::ptrdiff_t(e.column) * n);
        for (const Part& before : node.earlier) {
            const Saddle& other = nodes[before.node].saddle;
            double* D = memory.wide;
            std::fill_n(D, std::ptrdiff_t(n) * other.size, 0.0);
            for (const Entry& e : before.entries)
                if (e.row < 2 * nv)
                    add_scaled(n, slopes[e.from], turned + std::ptrdiff_t(e.row) * n,
                               D + std::ptrdiff_t(other.place(e.column)) * n);
            product_nn<-1>(n, n, other.size, D, n, memory.parts[before.node].Y, other.size, H, n, H, n);
        }
    }
};

}  // namespace trisweep
