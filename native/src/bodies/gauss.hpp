// Constrained forward dynamics as a linear-quadratic problem on a tree, given to the shared Riccati engine (Sathya 2024c Sec. 5,
// eqs. 37, 38): Gauss' principle of least constraint,
//
//     min  sum_i 1/2 a_i' I_i a_i + (v_i x* I_i v_i)' a_i + 1/2 u_i' armature u_i - tau_i' u_i
//          a_i = x_i + S_i u_i + c_i,   c_i = v_parent x v_i,   force' a_i = demanded   for the rows on body i
//
// Stage i + 1 has the acceleration x of body i's parent for its state and the joint's own u for its control, about the root's
// origin along the world's axes, so that A = 1; stage 0 is the world, which holds a_0 = -gravity. The engine decides ranks as it
// goes, and so takes singular configurations and redundant rows.
#pragma once

#include <vector>

#include "riccati/riccati.hpp"
#include "tree_dynamics.hpp"

namespace trisweep {

class Gauss {
public:
    enum class Status { solved, inconsistent, inaccurate, no_inertia };

    explicit Gauss(const Tree& tree) : dynamics(tree), engine(sizes(tree)), first_row(tree.bodies(), 0) {
        engine.refined_above = 1e-14;  // what was left to refinement is brought back to rounding
        memory.build([this](Arena& a) {
            rhs = {a.vector(engine.size_z), a.vector(engine.size_x), a.vector(engine.size_g), a.vector(6)};
            left = {a.vector(engine.size_z), a.vector(engine.size_x), a.vector(engine.size_g), a.vector(6)};
            point = {a.vector(engine.size_z), a.vector(engine.size_x), a.vector(engine.size_g)};
        });
    }

    // y = (a, f) at one state, whose arguments are as `Tree` says. Where rows depend on each other f is one valid choice.
    Status solve(const double* arguments, double* y) {
        dynamics.place(arguments, 0, 1);
        std::fill_n(rhs.initial, 3, 0.0);
        put(dynamics.a0(), rhs.initial + 3);
        given = 0.0;
        for (int i = 0; i < dynamics.tree.bodies(); ++i) set_stage(i);
        set_rows();
        given = std::max({given, largest_entry(engine.size_g, rhs.g), largest_entry(engine.size_x, rhs.b),
                          largest_entry(6, rhs.initial)});
        Status status = Status::no_inertia;
        for (const Pivots& pivots : ATTEMPTS) {
            if (status == Status::solved) break;
            engine.gathering.beside = pivots.beside;
            if (engine.factor(pivots.smallest) < 0) status = judged();
        }
        double* f = y;
        for (int i = 0; i < dynamics.tree.bodies(); ++i) f = std::copy_n(point.z + stage(i).at_z, stage(i).nu, f);
        each_row([&](std::size_t r, const Riccati::Stage& s, int at) { f[r] = -point.eta[s.at_g + at]; });
        return status;
    }

private:
    // How rows are given to joints, from the first way that holds. A row that a joint hardly feels, beside the row's own size (all
    // are accelerations), takes large gains there, which lose digits; left to joints further up, its entry is left to refinement,
    // which may not converge. Near a singular configuration whatever is well above rounding is taken.
    struct Pivots {
        double smallest, beside;
    };
    static constexpr Pivots ATTEMPTS[] = {{COMFORTABLE_PIVOT, 1.0}, {1e-4, 1.0},           {1e-3, 1.0}, {1e-8, 1.0},
                                          {RANK_TOLERANCE, 1.0},    {RANK_TOLERANCE, 1e-2}};

    Status judged() {
        Residual residual;
        bool refined;
        const Riccati::Status status = engine.solve_and_judge(rhs, point, residual, refined);
        if (status == Riccati::Status::inconsistent && !at_rest()) return Status::inconsistent;
        return residual.worst() <= ROUNDING && resolved() ? Status::solved : Status::inaccurate;
    }

    // Whether the accelerations are of a size that those asked for explain; where rows hold by rounding alone they are larger.
    bool resolved() const { return largest_entry(engine.size_z, point.z) <= LARGEST * given; }

    // The engine compares what a row misses with the row's own terms, of which there are none at rest: whether it is rounding
    // of the largest demand, or of 1.
    bool at_rest() {
        engine.measure(rhs, point, left);
        double largest = 1.0, missed = 0.0;
        for (int i = 0; i < engine.size_g; ++i)
            largest = std::max(largest, std::fabs(rhs.g[i])), missed = std::max(missed, std::fabs(left.g[i]));
        return missed <= REST * largest;
    }
    static constexpr double REST = 1e-13, ROUNDING = 1e-12, LARGEST = 1e8;  // beside the largest terms

    static Riccati sizes(const Tree& tree) {
        std::vector<int> nx(tree.bodies() + 1, 6), nu{0}, ng(nx.size(), 0), parent{-1};
        for (int i = 0; i < tree.bodies(); ++i)
            nu.push_back(int(tree.axes[i].size())), parent.push_back(tree.parent[i] + 1);
        for (const Held& held : tree.held) ng[held.body + 1] += held.rows();
        return Riccati(nx, nu, ng, parent, false);
    }

    Riccati::Stage& stage(int body) { return engine.stages[body + 1]; }

    static double* put(Three<double> a, double* to) {
        to[0] = a.x, to[1] = a.y, to[2] = a.z;
        return to + 3;
    }
    template <class Pair>
    static void put_six(const Pair& a, double* to) {
        const auto& [angular, linear] = a;
        put(linear, put(angular, to));
    }

    // H, h and the edge from the parent of one body's stage.
    void set_stage(int i) {
        const MovingBody<double>& b = dynamics.bodies()[i];
        Riccati::Stage& s = stage(i);
        const Motion<double> c = drift(i);
        const Force<double> bias = b.I * c + cross(b.v, b.I * b.v);
        double *h = rhs.h + s.at_z, *x = s.H + s.up + std::ptrdiff_t(s.up) * s.n;
        put_six(bias, h + s.up);
        for (int j = 0; j < 6; ++j) put_six(b.I * unit(j), x + std::ptrdiff_t(j) * s.n);
        for (int k = b.first; k < b.end; ++k) {
            const Dof<double>& d = dynamics.dofs()[k];
            const Force<double> IS = b.I * d.S;
            const int u = k - b.first;
            double* column = s.H + std::ptrdiff_t(u) * s.n;
            put_six(IS, column + s.up);
            for (int j = 0; j < 6; ++j) s.H[u + std::ptrdiff_t(s.up + j) * s.n] = column[s.up + j];
            for (int j = b.first; j < b.end; ++j)
                column[j - b.first] = dot(dynamics.dofs()[j].S, IS) + (j == k ? dynamics.tree.armature[k] : 0.0);
            h[u] = dot(d.S, bias) - d.tau;
            given = std::max(given, std::fabs(h[u] / column[u]));
        }
        set_edge(i, s);
    }

    // x = x_parent + S_parent u_parent + c_parent; all of the world's children have its own.
    void set_edge(int i, Riccati::Stage& s) {
        const int parent = dynamics.tree.parent[i];
        const Riccati::Stage& p = stage(parent);
        for (int j = 0; j < 6; ++j) s.E[p.up + j + std::ptrdiff_t(j) * p.n] = 1.0;
        double* b = rhs.b + s.at_x;
        if (parent < 0) return;
        put_six(drift(parent), b);
        const MovingBody<double>& carrier = dynamics.bodies()[parent];
        for (int k = carrier.first; k < carrier.end; ++k) {
            double S[6];
            put_six(dynamics.dofs()[k].S, S);
            for (int j = 0; j < 6; ++j) s.E[k - carrier.first + std::ptrdiff_t(j) * p.n] = S[j];
        }
    }

    void set_rows() {
        each_row([&](std::size_t r, Riccati::Stage& s, int at) {
            const HeldRow<double>& row = dynamics.rows().row[r];
            const int body = dynamics.rows().body(row);
            const MovingBody<double>& b = dynamics.bodies()[body];
            double* G = s.G + std::ptrdiff_t(at) * s.n;
            for (int k = b.first; k < b.end; ++k) G[k - b.first] = dot(dynamics.dofs()[k].S, row.force);
            put_six(row.force, G + s.up);
            rhs.g[s.at_g + at] = dot(drift(body), row.force) - dynamics.rows().demanded(row, b, dynamics.a0());
        });
    }

    // visit(row, stage of its body, place among that stage's rows)
    template <class Visit>
    void each_row(const Visit& visit) {
        std::fill(first_row.begin(), first_row.end(), 0);
        for (std::size_t r = 0; r < dynamics.rows().row.size(); ++r) {
            const int body = dynamics.rows().body(dynamics.rows().row[r]);
            visit(r, stage(body), first_row[body]++);
        }
    }

    Motion<double> drift(int i) const {
        const int parent = dynamics.tree.parent[i];
        return parent < 0 ? Motion<double>{} : cross(dynamics.bodies()[parent].v, dynamics.bodies()[i].v);
    }

    static Motion<double> unit(int j) {
        double e[6] = {};
        e[j] = 1.0;
        return {constant<double>(e), constant<double>(e + 3)};
    }

    TreeDynamics<double> dynamics;
    Riccati engine;
    std::vector<int> first_row;  // of each body: rows met so far
    double given = 0.0;          // the largest acceleration that forces, velocities, gravity or demands ask for
    Arena memory;
    Vectors rhs, left;
    Unknowns point;
};

}  // namespace trisweep
