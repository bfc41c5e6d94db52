// Questions about a robot that recursions over its bodies answer, called like compiled code: slopes of inverse and of forward
// dynamics, and forward dynamics by Gauss' principle. Compiled code of the same inputs says where its joints carry its bodies.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "gauss.hpp"
#include "graph.hpp"
#include "kernels/columns.hpp"
#include "kernels/transpose.hpp"
#include "saddle.hpp"

namespace trisweep {

// What is common to them: the arguments of up to W states at a time.
class TreeCode : public Code {
public:
    // inputs: of the compiled arguments, q, v, tau or a, and whatever tau is made of besides.
    TreeCode(Tree tree, Compiled arguments, int inputs) : tree(std::move(tree)), arguments(arguments), inputs(inputs) {}

    void evaluate(const double* const* given, const std::int64_t* strides, double* const* outputs,
                  const std::int64_t* output_strides, std::int64_t count, Memory& memory) const override {
        Given& work = static_cast<Given&>(memory);
        std::vector<const double*>& from = work.from;
        std::vector<double*>& to = work.to;
        for (std::int64_t first = 0; first < count; first += W) {
            const int lanes = int(std::min<std::int64_t>(W, count - first));
            for (int i = 0; i < inputs; ++i) from[i] = given[i] + first * strides[i];
            for (std::size_t k = 0; k < to.size(); ++k) to[k] = outputs[k] + first * output_strides[k];
            double* rows = work.arguments;
            const std::int64_t stride = tree.arguments();
            arguments.address(from.data(), strides, &rows, &stride, lanes, work.numbers);
            answer(work, to.data(), output_strides, lanes);
        }
    }

    const Tree tree;

protected:
    struct Given : Memory {
        Given(const TreeCode& code, std::size_t outputs) : from(std::size_t(code.inputs)), to(outputs) {
            arena.build([&](Arena& a) {
                arguments = a.matrix(std::max(code.tree.arguments(), 1), W);
                numbers = a.matrix(std::size_t(code.arguments.work) + 1, 1);
            });
        }
        std::vector<const double*> from;
        std::vector<double*> to;
        double *arguments, *numbers;

    private:
        Arena arena;
    };

    // The results of so many states, whose arguments stand in rows.
    virtual void answer(Given& memory, double* const* outputs, const std::int64_t* strides, int lanes) const = 0;

private:
    const Compiled arguments;
    const int inputs;
};

// (dID/dq by increments, dID/dv, M), each (nv, nv), of inputs q, v, a. Several states are lanes, one needs none.
class InverseSlopes : public TreeCode {
public:
    using TreeCode::TreeCode;

    std::unique_ptr<Memory> memory() const override { return std::make_unique<Own>(*this); }

private:
    struct Own : Given {
        explicit Own(const InverseSlopes& code) : Given(code, 3), one(code.tree), several(code.tree) {
            arena.build([&](Arena& a) { y = a.matrix(W, std::max(code.tree.dofs(), 1)); });
        }
        TreeDynamics<double> one;
        TreeDynamics<Stages> several;
        double* y;

    private:
        Arena arena;
    };

    void answer(Given& memory, double* const* outputs, const std::int64_t* strides, int lanes) const override {
        Own& own = static_cast<Own&>(memory);
        lanes == 1 ? answer(own, own.one, outputs, strides, lanes) : answer(own, own.several, outputs, strides, lanes);
    }

    template <class Real>
    void answer(Own& own, TreeDynamics<Real>& dynamics, double* const* outputs, const std::int64_t* strides,
                int lanes) const {
        const int nv = tree.dofs();
        const double* a = own.arguments + 12 * tree.bodies() + nv;  // where tau is otherwise
        for (int l = 0; l < LANES<Real>; ++l)
            for (int k = 0; k < nv; ++k)
                own.y[k * LANES<Real> + l] = a[std::min(l, lanes - 1) * std::ptrdiff_t(tree.arguments()) + k];
        for (int part = 0; part < 3; ++part)
            for (int l = 0; l < lanes; ++l) std::fill_n(outputs[part] + l * strides[part], nv * nv, 0.0);
        const auto put = [&](int part, int i, int j, Real value) {
            for (int l = 0; l < lanes; ++l) outputs[part][l * strides[part] + i + j * nv] = lane(value, l);
        };
        dynamics.place(own.arguments, tree.arguments(), lanes);
        dynamics.slopes(own.y, [&](int i, int j, Real value) { put(j < nv ? 0 : 1, i, j < nv ? j : j - nv, value); });
        dynamics.mass_matrix([&](int i, int j, Real value) { put(2, i, j, value); });
    }
};

// Of inputs q, v, tau the slopes of the accelerations by increments of q, by v and by tau, (nv, nv) each, and where rows are held
// those of their forces, (m, nv) each: -(g_y)^-1 g_w. NaN where M or J M^-1 J' is not positive. One state
// after another: the matrices of W states at once would not stay near the processor.
class ForwardSlopes : public TreeCode {
public:
    using TreeCode::TreeCode;

    std::unique_ptr<Memory> memory() const override { return std::make_unique<Own>(*this); }

    void evaluate(const double* const* given, const std::int64_t* strides, double* const* outputs,
                  const std::int64_t* output_strides, std::int64_t count, Memory& memory) const override {
        static_cast<Own&>(memory).seen = {};
        TreeCode::evaluate(given, strides, outputs, output_strides, count, memory);
    }

    // Known since the results were given: to read them all again takes a microsecond.
    bool finite(double* const*, const std::int64_t*, std::size_t, std::int64_t, const Memory& memory) const override {
        return bool(static_cast<const Own&>(memory).seen);
    }

private:
    struct Own : Given {
        explicit Own(const ForwardSlopes& code)
            : Given(code, code.tree.held.empty() ? 3 : 6),
              dynamics(code.tree),
              saddle(code.tree),
              y(std::size_t(saddle.size())),
              n(padded(3 * saddle.nv)),
              ld(padded(saddle.size())) {
            arena.build([&](Arena& a) {
                values = a.matrix(W, saddle.values()), lanes = a.matrix(W, saddle.size());
                rows = a.matrix(n, ld), columns = a.matrix(ld, n);
            });
        }
        TreeDynamics<double> dynamics;
        const Saddle saddle;
        std::vector<double> y;
        const int n, ld;
        double *values, *lanes;  // factors, and y in all lanes
        double *rows, *columns;  // dy/dw: a row an unknown, and the same transposed
        Finite seen;             // of all results

    private:
        Arena arena;
    };

    void answer(Given& memory, double* const* outputs, const std::int64_t* strides, int lanes) const override {
        Own& own = static_cast<Own&>(memory);
        for (int l = 0; l < lanes; ++l) {
            find(own, own.arguments + l * std::ptrdiff_t(tree.arguments()));
            for (std::size_t part = 0; part < own.to.size(); ++part) give(own, part, outputs[part] + l * strides[part]);
        }
    }

    // dy/dw at one state, w = (increments of q, v, tau).
    void find(Own& own, const double* state) const {
        const Saddle& s = own.saddle;
        const int nv = s.nv, n = own.n;
        own.dynamics.place(state, 0, 1);
        own.dynamics.assemble(
            [&](int i, int j, double value) { store(own.values + s.entry(i, j) * W, broadcast(value)); },
            [&](int i, double value) { store(own.lanes + i * W, broadcast(-value)); });
        s.factor(own.values);
        s.solve(own.values, own.lanes);
        for (int i = 0; i < s.size(); ++i) own.y[i] = own.lanes[i * W];
        fill_zero(n * own.ld, own.rows);
        own.dynamics.slopes(own.y.data(), [&](int i, int j, double value) { own.rows[i * n + j] = -value; });
        for (int i = 0; i < nv; ++i) own.rows[i * n + 2 * nv + i] = 1.0;  // g = ... - tau
        s.solve(own.values, n, own.rows);
        transpose(n, own.ld, own.rows, n, own.columns, own.ld);
    }

    // Rows of y, accelerations and then forces, by columns of q, v, tau.
    static void give(Own& own, std::size_t part, double* to) {
        const int nv = own.saddle.nv, first = part < 3 ? 0 : nv, rows = part < 3 ? nv : own.saddle.m;
        Finite seen = own.seen;
        for (int j = 0; j < nv; ++j, to += rows) {
            const double* from = own.columns + first + (part % 3 * nv + j) * std::ptrdiff_t(own.ld);
            for (int i = 0; i < rows; ++i) {
                to[i] = from[i];
                seen.see(from[i]);
            }
        }
        own.seen = seen;
    }
};

// Accelerations (nv) of inputs q, v, tau, and the forces of each held frame, by Gauss' principle; NaN where rows contradict each
// other or a joint moves no mass.
class GaussCode : public TreeCode {
public:
    using TreeCode::TreeCode;

    std::unique_ptr<Memory> memory() const override { return std::make_unique<Own>(*this); }

private:
    struct Own : Given {
        explicit Own(const GaussCode& code)
            : Given(code, 1 + code.tree.held.size()), gauss(code.tree), y(code.tree.unknowns()) {}
        Gauss gauss;
        std::vector<double> y;
    };

    void answer(Given& memory, double* const* outputs, const std::int64_t* strides, int lanes) const override {
        Own& own = static_cast<Own&>(memory);
        for (int l = 0; l < lanes; ++l) {
            const double* state = own.arguments + l * std::ptrdiff_t(tree.arguments());
            if (own.gauss.solve(state, own.y.data()) != Gauss::Status::solved)
                std::fill(own.y.begin(), own.y.end(), std::numeric_limits<double>::quiet_NaN());
            const double* next = own.y.data();
            for (std::size_t k = 0; k < own.to.size(); ++k) {
                const int size = k ? tree.held[k - 1].rows() : tree.dofs();
                std::copy_n(next, size, outputs[k] + l * strides[k]);
                next += size;
            }
        }
    }
};

}  // namespace trisweep
