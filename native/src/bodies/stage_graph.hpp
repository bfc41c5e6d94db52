// The rows of a stage that rest on a robot's forward dynamics: values, Jacobian and Hessian without a compiled word of the dynamics.
//
// Rows F(z) and the inputs w_k(z) = (increments of q, v, tau) of node k are compiled expressions of z = (u, x, y_1, ..., y_K), of which
// y_1 to y_(k-1) alone matter to w_k. The nodes come from the recursions over bodies (`TreeDynamics`), W stages at a time.
// With G = dz/d(u, x), Y_k the rows of y_k (Sathya 2024c, Sec. 2.4; `adjoint/graph.py` is the same on symbols):
//
//     W_k = w_k,z G     Y_k = -(g_y)^-1 g_w W_k     J = F,z G
//     mu_k = (g_y)'^-1 L,y_k     nu_k = -g_w' mu_k     L = weights' F + sum nu_k' w_k
//     H = G' L,zz G - sum_k (B_k + B_k'),   B_k = W_k' (1/2 S_ww W_k + S_wy Y_k),   S = d2(mu' g) / d(w, y)2,   S_yy = 0
//
// g_w, g_y's factors and S have entries for pairs of joints on one path to the root only (`RowSteps`); what is dense of one stage
// is in `StageColumns`.
#pragma once

#include "stage_columns.hpp"

namespace trisweep {

class StageGraph : public StageColumns {
public:
    static constexpr int INPUTS = 5;  // u, x, shared parameters, those of the stage, those of the child

    explicit StageGraph(Graph given) : StageColumns(std::move(given)) {}
    StageGraph(const StageGraph&) = delete;

    int rows() const { return graph.rows; }

    // F at `count` stages, a row of `stride` numbers each.
    void evaluate(const double* const* inputs, const std::int64_t* strides, double* rows, std::int64_t stride,
                  int count, GraphMemory& memory) const {
        for (int first = 0; first < count; first += W) {
            const Lanes lanes = group(inputs, strides, first, count);
            solve(memory, lanes);
            call(graph.values, memory, lanes, rows + first * stride, stride);
        }
    }

    // J and H of the weighted sum of the rows; the weights are the last input. `to` takes them: to.row(k, r) says where row r of J of
    // stage k goes, n numbers along (u, x), to.hessian(k) where H (n, n): its lower triangle, zeros above it in the blocks of PAD on the
    // diagonal, anything elsewhere. When all are there to.done(k, H, slopes) comes, with the compiled slopes. Where to.parts(), there is
    // beside H what `differentiate_bare` gives, before `done`.
    template <class To>
    void differentiate(const double* const* inputs, const std::int64_t* strides, int count, GraphMemory& memory,
                       To& to) const {
        const double* weights = inputs[INPUTS];
        const std::int64_t weight_stride = strides[INPUTS];
        for (int first = 0; first < count; first += W) {
            const Lanes lanes = group(inputs, strides, first, count);
            const double* weights_here = weights + first * weight_stride;
            linearize(memory, lanes);
            bend_lanes(memory, lanes, weights_here, weight_stride, to);
            for (std::size_t k = 0; k < nodes.size(); ++k)
                add_up(nodes[k], memory, memory.parts[k], lanes, graph.exact);
            for (int l = 0; l < lanes.count; ++l) {
                sensitivities(memory, l);
                for (int r = 0; r < graph.rows; ++r) put_row(memory, l, f_rows[r], to.row(first + l, r));
                double* H = to.hessian(first + l);
                const double* bare = to.parts() ? put_bare(memory, first, l, to) : nullptr;
                find_hessian(memory, l, memory.curvature, graph.exact, bare, H);
                to.done(first + l, H, memory.slopes + std::ptrdiff_t(l) * graph.slopes.size);
            }
        }
    }

    // H of the first to.head() rows alone, as if the nodes were not curved: where to.bare(k) says, as H above; then comes
    // to.bare_done(k, H).
    template <class To>
    void differentiate_bare(const double* const* inputs, const std::int64_t* strides, int count, GraphMemory& memory,
                            To& to) const {
        for (int first = 0; first < count; first += W) {
            const Lanes lanes = group(inputs, strides, first, count);
            linearize(memory, lanes);
            curve_head(memory, lanes, inputs[INPUTS] + first * strides[INPUTS], strides[INPUTS], to.head());
            for (std::size_t k = 0; k < nodes.size(); ++k) add_up(nodes[k], memory, memory.parts[k], lanes, false);
            for (int l = 0; l < lanes.count; ++l) {
                sensitivities(memory, l);
                put_bare(memory, first, l, to);
            }
        }
    }

    // The nonzeros of J and H, as `jacobian_rows` and the like have them, of stage after stage; of the bare H where that is wanted.
    struct Packed {
        double* row(int, int r) { return memory.rows + std::ptrdiff_t(r) * owner.n; }
        double* hessian(int) { return memory.H; }
        bool parts() const { return bare_lower; }
        int head() const { return rows; }
        double* bare(int) { return memory.bare; }
        void bare_done(int, const double* H) {
            for (int place : owner.hessian_places) *bare_lower++ = H[place];
        }
        void done(int, const double* H, const double*) {
            for (int place : owner.jacobian_places) *jacobian++ = memory.rows[place];
            for (int place : owner.hessian_places) *lower++ = H[place];
        }
        const StageGraph& owner;
        GraphMemory& memory;
        double *jacobian, *lower, *bare_lower = nullptr;
        int rows = 0;  // whose H the bare one is
    };

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
              int others = 0, const double* const* more = nullptr, const std::int64_t* more_strides = nullptr) const {
        const double* inputs[INPUTS + 3];
        std::int64_t strides[INPUTS + 3];
        std::copy_n(lanes.inputs, INPUTS, inputs), std::copy_n(lanes.strides, INPUTS, strides);
        inputs[INPUTS] = memory.y, strides[INPUTS] = unknowns;
        for (int i = 0; i < others; ++i) inputs[INPUTS + 1 + i] = more[i], strides[INPUTS + 1 + i] = more_strides[i];
        function.address(inputs, strides, &to, &stride, lanes.count, memory.work);
    }

    // Values one after another, as they are visited.
    class InTurn {
    public:
        explicit InTurn(double* to) : next(to) {}
        void operator()(int, int, vec value) const { store(next, value), next += W; }

    private:
        mutable double* next;
    };

    // y of every node, in their order.
    void solve(GraphMemory& memory, const Lanes& lanes) const {
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            GraphMemory::NodeMemory& part = memory.parts[k];
            TreeDynamics<Stages>& dynamics = memory.dynamics[k];
            const Saddle& saddle = nodes[k].saddle;
            call(graph.arguments[k], memory, lanes, memory.given, dynamics.tree.arguments());
            dynamics.place(memory.given, dynamics.tree.arguments(), lanes.count);
            dynamics.assemble([&](int i, int j, vec value) { store(part.factor + saddle.entry(i, j) * W, value); },
                              [&](int i, vec value) { store(part.y + i * W, -value); });
            matrix_beside(int(k), memory, lanes);
            saddle.factor(part.factor);
            saddle.solve(part.factor, part.y);
            double* y = memory.y + nodes[k].at - graph.variables;
            for (int l = 0; l < lanes.count; ++l)
                for (int i = 0; i < saddle.size(); ++i) y[std::ptrdiff_t(l) * unknowns + i] = part.y[i * W + l];
        }
    }

    // y, the compiled slopes and those of the nodes.
    void linearize(GraphMemory& memory, const Lanes& lanes) const {
        solve(memory, lanes);
        call(graph.slopes, memory, lanes, memory.slopes, graph.slopes.size);
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            memory.dynamics[k].slopes(memory.parts[k].y, InTurn(memory.parts[k].slope));
            slopes_beside(int(k), memory, lanes);
        }
    }

    // L,zz
    void curve(GraphMemory& memory, const Lanes& lanes, const double* weights, std::int64_t stride, const double* nu,
               std::int64_t nu_stride, double* to) const {
        const double* more[] = {weights, nu};
        const std::int64_t steps[] = {stride, nu_stride};
        call(graph.curvature, memory, lanes, to, graph.curvature.size, 2, more, steps);
    }

    // The same of the first rows alone.
    void curve_head(GraphMemory& memory, const Lanes& lanes, const double* weights, std::int64_t stride,
                    int head) const {
        for (int l = 0; l < lanes.count; ++l)
            std::copy_n(weights + l * stride, head, memory.head_weights + std::ptrdiff_t(l) * graph.rows);
        curve(memory, lanes, memory.head_weights, graph.rows, memory.no_nu, 0, memory.bare_curvature);
    }

    // L,zz, of the first rows apart where there are to be parts, and the curvature of the nodes.
    template <class To>
    void bend_lanes(GraphMemory& memory, const Lanes& lanes, const double* weights, std::int64_t stride,
                    const To& to) const {
        adjoints(memory, lanes, weights, stride);
        curve(memory, lanes, weights, stride, memory.nu, inputs_of_nodes, memory.curvature);
        if (to.parts()) {
            curve_head(memory, lanes, weights, stride, to.head());
            for (int i = 0; i < lanes.count * graph.curvature.size; ++i)
                memory.curvature[i] -= memory.bare_curvature[i];
        }
        for (std::size_t k = 0; graph.exact && k < nodes.size(); ++k) {
            GraphMemory::NodeMemory& part = memory.parts[k];
            const InTurn curved(part.curvature);
            memory.dynamics[k].curvature(part.mu, curved, curved, curved, InTurn(part.with_unknown));
            curvature_beside(int(k), memory, lanes);
        }
    }

    // Of the terms that the recursions of node k leave out: rows of J and what they lack, slopes, curvature.
    void matrix_beside(int k, GraphMemory& memory, const Lanes& lanes) const {
        const Compiled& code = graph.beside[k].matrix;
        if (code.size == 0) return;
        const Tree& tree = graph.trees[k];
        const Saddle& saddle = nodes[k].saddle;
        call(code, memory, lanes, memory.beside, code.size);
        int from = 0, row = tree.dofs() + tree.rows();
        for (const ClosedLoop& loop : tree.loops)
            for (int r = 0; r < loop.rows(); ++r, ++row)
                for (int j : loop.dofs)
                    in_lanes(memory, code, lanes, from++, memory.parts[k].factor + saddle.entry(row, j) * W);
        for (row = tree.dofs() + tree.rows(); row < tree.unknowns(); ++row) {
            double* y = memory.parts[k].y + row * W;
            in_lanes(memory, code, lanes, from++, y);
            store(y, -load(y));
        }
    }

    void slopes_beside(int k, GraphMemory& memory, const Lanes& lanes) const {
        const Compiled& code = graph.beside[k].slopes;
        if (code.size == 0) return;
        call(code, memory, lanes, memory.beside, code.size);
        double* to = memory.parts[k].slope + nodes[k].pairs.slopes_beside * W;
        for (int t = 0; t < code.size; ++t) in_lanes(memory, code, lanes, t, to + t * W);
    }

    void curvature_beside(int k, GraphMemory& memory, const Lanes& lanes) const {
        const Compiled& code = graph.beside[k].curvature;
        if (code.size == 0) return;
        const VisitedPairs& pairs = nodes[k].pairs;
        const std::int64_t size = nodes[k].saddle.size();
        for (int l = 0; l < lanes.count; ++l)
            for (int i = 0; i < size; ++i) memory.weights[l * size + i] = memory.parts[k].mu[i * W + l];
        const double* more[] = {memory.weights};
        call(code, memory, lanes, memory.beside, code.size, 1, more, &size);
        double* to = memory.parts[k].curvature + pairs.curvature_beside * W;
        for (int from : pairs.curvature_from) in_lanes(memory, code, lanes, from, to), to += W;
        to = memory.parts[k].with_unknown + pairs.with_unknown_beside * W;
        for (int from : pairs.with_unknown_from) in_lanes(memory, code, lanes, from, to), to += W;
    }

    // Number t of what is beside; lanes without a stage repeat the last.
    static void in_lanes(const GraphMemory& memory, const Compiled& code, const Lanes& lanes, int t, double* to) {
        for (int l = 0; l < W; ++l) to[l] = memory.beside[std::ptrdiff_t(std::min(l, lanes.count - 1)) * code.size + t];
    }

    // mu and nu, from the last node to the first.
    void adjoints(GraphMemory& memory, const Lanes& lanes, const double* weights, std::int64_t stride) const {
        const auto slopes = [&](int l) { return memory.slopes + std::ptrdiff_t(l) * graph.slopes.size; };
        for (std::size_t k = 0; k < nodes.size(); ++k) std::fill_n(memory.parts[k].mu, nodes[k].saddle.size() * W, 0.0);
        for (int l = 0; l < lanes.count; ++l)
            for (std::size_t r = 0; r < f_rows.size(); ++r)
                for (const Entry& e : f_rows[r].unknown)
                    memory.parts[e.row].mu[e.column * W + l] += weights[l * stride + r] * slopes(l)[e.from];
        for (int k = int(nodes.size()) - 1; k >= 0; --k) {
            const Node& node = nodes[k];
            const Saddle& s = node.saddle;
            GraphMemory::NodeMemory& part = memory.parts[k];
            s.solve(part.factor, part.mu);
            std::fill_n(part.nu, node.inputs() * W, 0.0);
            for (std::size_t t = 0; t < node.pairs.slope.size(); ++t) {
                double* nu = part.nu + node.pairs.slope[t].j * W;
                store(nu, load(nu) - load(part.slope + t * W) * load(part.mu + node.pairs.slope[t].i * W));
            }
            std::copy_n(part.mu, s.nv * W, part.nu + node.inputs() * W);
            double* nu = memory.nu + node.row - graph.rows;
            for (int l = 0; l < lanes.count; ++l) {
                for (int i = 0; i < 3 * s.nv; ++i) nu[std::ptrdiff_t(l) * inputs_of_nodes + i] = part.nu[i * W + l];
                for (const Part& before : node.earlier)
                    for (const Entry& e : before.entries)
                        memory.parts[before.node].mu[e.column * W + l] += part.nu[e.row * W + l] * slopes(l)[e.from];
            }
        }
    }

    // Of all lanes, what is sparse in a node that rests on no other.
    void add_up(const Node& node, GraphMemory& memory, GraphMemory::NodeMemory& part, const Lanes& lanes,
                bool curved) const {
        if (!node.earlier.empty()) return;
        const std::size_t one = node.own.size();
        store(part.own + one * W, broadcast(1.0));
        for (int l = 0; l < W; ++l) {
            const double* slopes = memory.slopes + std::ptrdiff_t(std::min(l, lanes.count - 1)) * graph.slopes.size;
            for (std::size_t e = 0; e < one; ++e) part.own[e * W + l] = slopes[node.own[e].from];
        }
        node.fills.find(part.slope, part.own, part.fills);
        if (curved) node.bends.find(part.curvature, part.own, part.bends);
    }

    // The bare Hessian of lane l.
    template <class To>
    const double* put_bare(GraphMemory& memory, int first, int l, To& to) const {
        double* H = to.bare(first + l);
        find_hessian(memory, l, memory.bare_curvature, false, nullptr, H);
        to.bare_done(first + l, H);
        return H;
    }
};

}  // namespace trisweep
