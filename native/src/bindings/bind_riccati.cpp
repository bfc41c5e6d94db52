// `Riccati` as Python sees it: plain row-major arrays in, plain arrays out, every shape checked.
#include "bind.hpp"
#include "riccati/riccati.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <memory>

namespace trisweep {
namespace {

// The core with its vectors, which a caller in C++ keeps itself.
class Problem {
public:
    Problem(const std::vector<int>& nx, const std::vector<int>& nu, const std::vector<int>& ng,
            const std::vector<int>& parent, bool free_root) {
        const std::size_t count = nx.size();
        expect(count > 0 && nu.size() == count && ng.size() == count && parent.size() == count,
               "nx, nu, ng and parent must have one entry for each stage");
        for (std::size_t k = 0; k < count; ++k) {
            expect(nx[k] >= 0 && nu[k] >= 0 && ng[k] >= 0, "stage " + std::to_string(k) + ": a size is negative");
            expect(k == 0 ? parent[k] == -1 : parent[k] >= 0 && std::size_t(parent[k]) < k,
                   "stage " + std::to_string(k) + ": parent must be an earlier stage, or -1 at the root");
        }
        core = std::make_unique<Riccati>(nx, nu, ng, parent, free_root);
        memory.build([this](Arena& a) {
            const auto vector = [&](int size) { return a.vector(size); };
            rhs = {vector(core->size_z), vector(core->size_x), vector(core->size_g), vector(core->stages[0].nx)};
            point = {vector(core->size_z), vector(core->size_x), vector(core->size_g)};
        });
    }

    // H (nu + nx, nu + nx) symmetric, G (ng, nu + nx), E (nx, nu + nx of the parent): columns in the order (u, x).
    void set_stage(int k, Matrix H, Matrix G, Matrix E) {
        Riccati::Stage& s = at(k);
        const std::size_t z = s.nu + s.nx;
        expect(H.shape(0) == z && H.shape(1) == z, "H has the wrong shape");
        expect(G.shape(0) == std::size_t(s.ng) && G.shape(1) == z, "G has the wrong shape");
        scatter(H.data(), s.nu + s.nx, s.nu, s.nx, s.up, s.H, s.n, true);
        scatter(G.data(), s.ng, s.nu, s.nx, s.up, s.G, s.n, false);
        if (s.parent < 0) return;
        const Riccati::Stage& p = core->stages[s.parent];
        expect(E.shape(0) == std::size_t(s.nx) && E.shape(1) == std::size_t(p.nu + p.nx), "E has the wrong shape");
        scatter(E.data(), s.nx, p.nu, p.nx, p.up, s.E, p.n, false);
    }

    // All stages' h (u, x), b (nothing at the root) and g in a row, and the root's state (empty where it is free).
    void set_vectors(Vector h, Vector b, Vector g, Vector initial) {
        std::size_t sizes[3] = {0, 0, 0};
        for (const Riccati::Stage& s : core->stages)
            sizes[0] += s.nu + s.nx, sizes[1] += s.parent < 0 ? 0 : s.nx, sizes[2] += s.ng;
        expect(h.size() == sizes[0] && b.size() == sizes[1] && g.size() == sizes[2],
               "a right-hand side has the wrong length");
        expect(initial.size() == std::size_t(core->free_root ? 0 : core->stages[0].nx), "initial has the wrong length");
        const double *from_h = h.data(), *from_b = b.data(), *from_g = g.data();
        for (const Riccati::Stage& s : core->stages) {
            from_h = take(from_h, s.nu, rhs.h + s.at_z);
            from_h = take(from_h, s.nx, rhs.h + s.at_z + s.up);
            if (s.parent >= 0) from_b = take(from_b, s.nx, rhs.b + s.at_x);
            from_g = take(from_g, s.ng, rhs.g + s.at_g);
        }
        take(initial.data(), int(initial.size()), rhs.initial);
    }

    int factor() {
        factored = false;
        solved = false;
        int stage;
        {
            Unlocked unlocked;
            stage = core->factor();
        }
        factored = stage < 0;
        return stage;
    }

    // ("solved" | "inconsistent" | "inaccurate", residuals of stationarity, dynamics, equalities, refined)
    Tuple<const char*, Tuple<double, double, double>, bool> solve() {
        expect(factored, "solve comes after a factor that succeeded");
        Residual residual;
        bool refined;
        Riccati::Status status;
        {
            Unlocked unlocked;
            status = core->solve_and_judge(rhs, point, residual, refined);
        }
        solved = true;
        const char* name = status == Riccati::Status::solved         ? "solved"
                           : status == Riccati::Status::inconsistent ? "inconsistent"
                                                                     : "inaccurate";
        return nb::make_tuple(name, nb::make_tuple(residual.stationarity, residual.dynamics, residual.equalities),
                              refined);
    }

    // The sweep alone, not judged: leaves feedback and cost-to-go of the vectors that were set.
    void sweep() {
        expect(factored, "sweep comes after a factor that succeeded");
        Unlocked unlocked;
        core->solve(rhs, point);
        solved = true;
    }

    // All stages' u, x, costates and multipliers, each in a row.
    Tuple<Array, Array, Array, Array> unknowns() {
        std::size_t nu = 0, nx = 0, ng = 0;
        for (const Riccati::Stage& s : core->stages) nu += s.nu, nx += s.nx, ng += s.ng;
        double *u, *x, *lambda, *eta;
        Array out_u = new_array({nu}, u), out_x = new_array({nx}, x), out_lambda = new_array({nx}, lambda),
              out_eta = new_array({ng}, eta);
        for (const Riccati::Stage& s : core->stages) {
            u = std::copy_n(point.z + s.at_z, s.nu, u);
            x = std::copy_n(point.z + s.at_z + s.up, s.nx, x);
            lambda = std::copy_n(point.lambda + s.at_x, s.nx, lambda);
            eta = std::copy_n(point.eta + s.at_g, s.ng, eta);
        }
        return nb::make_tuple(out_u, out_x, out_lambda, out_eta);
    }

    // All stages' weights in the contradiction that the last solve met.
    Array conflict() {
        expect(solved, "conflict comes after a solve");
        std::vector<double> weights(core->size_g);
        core->conflict(weights.data());
        std::size_t ng = 0;
        for (const Riccati::Stage& s : core->stages) ng += s.ng;
        double* to;
        Array out = new_array({ng}, to);
        for (const Riccati::Stage& s : core->stages) to = std::copy_n(weights.data() + s.at_g, s.ng, to);
        return out;
    }

    // (K, k) of u = K x + k, for the vectors of the last sweep.
    Tuple<Array, Array> feedback(int k) {
        expect(solved, "feedback comes after a sweep");
        Riccati::Stage& s = at(k);
        double *K, *constant;
        Array out_K = new_array({std::size_t(s.nu), std::size_t(s.nx)}, K),
              out_k = new_array({std::size_t(s.nu)}, constant);
        core->feedback(k, K, constant);
        return nb::make_tuple(out_K, out_k);
    }

    // (P, p, Gx, gx): cost-to-go of a stage and the rows Gx x + gx = 0 left on its state.
    Tuple<Array, Array, Array, Array> cost_to_go(int k) {
        expect(solved, "cost_to_go comes after a sweep");
        const Elimination& e = at(k).sweep;
        const std::size_t nx = e.nx, passed = e.passed, xp = padded(e.nx);
        double *unit, *column;
        Arena room;
        room.build([&](Arena& a) { unit = a.vector(e.nx), column = a.vector(e.nx); });
        double *P, *p, *Gx, *gx;
        Array out_P = new_array({nx, nx}, P), out_p = new_array({nx}, p), out_Gx = new_array({passed, nx}, Gx),
              out_gx = new_array({passed}, gx);
        for (std::size_t j = 0; j < nx; ++j) {
            std::fill_n(column, xp, 0.0);
            unit[j] = 1.0;
            e.multiply_cost(unit, column);
            unit[j] = 0.0;
            std::copy_n(column, nx, P + j * nx);
        }
        for (std::size_t j = 0; j < passed; ++j) std::copy_n(e.Gx + j * xp, nx, Gx + j * nx);
        std::copy_n(e.p, nx, p);
        std::copy_n(e.gx, passed, gx);
        return nb::make_tuple(out_P, out_p, out_Gx, out_gx);
    }

    // Best times in seconds of factor, solve and the judged solve over some repetitions, without Python.
    Tuple<double, double, double> time(int repetitions) {
        using clock = std::chrono::steady_clock;
        double best[3] = {1e99, 1e99, 1e99};
        {
            Unlocked unlocked;
            for (int r = 0; r < repetitions; ++r) {
                const auto t0 = clock::now();
                factored = core->factor() < 0;
                if (!factored) break;
                const auto t1 = clock::now();
                core->solve(rhs, point);
                const auto t2 = clock::now();
                Residual residual;
                bool refined;
                core->solve_and_judge(rhs, point, residual, refined);
                const auto t3 = clock::now();
                const clock::duration times[3] = {t1 - t0, t2 - t1, t3 - t2};
                for (int i = 0; i < 3; ++i)
                    best[i] = std::min(best[i], std::chrono::duration<double>(times[i]).count());
            }
        }
        expect(factored, "the problem is not positive definite");
        return nb::make_tuple(best[0], best[1], best[2]);
    }

    std::size_t bytes() const { return core->bytes(); }

private:
    Riccati::Stage& at(int k) {
        if (k < 0 || std::size_t(k) >= core->stages.size()) throw nb::index_error("no such stage");
        return core->stages[k];
    }

    static const double* take(const double* from, int count, double* to) {
        std::copy_n(from, count, to);
        return from + count;
    }

    // `rows` rows of length nu + nx into columns of padded z's; with `square` the columns have gaps like the rows.
    static void scatter(const double* from, int rows, int nu, int nx, int up, double* to, int n, bool square) {
        for (int i = 0; i < rows; ++i) {
            double* column = to + std::ptrdiff_t(square && i >= nu ? up + i - nu : i) * n;
            from = take(from, nu, column);
            from = take(from, nx, column + up);
        }
    }

    std::unique_ptr<Riccati> core;
    Arena memory;
    Vectors rhs;
    Unknowns point;
    bool factored = false, solved = false;
};

}  // namespace

void bind_riccati(nb::module_& m) {
    m.attr("RANK_TOLERANCE") = RANK_TOLERANCE;
    m.attr("CURVATURE_TOLERANCE") = CURVATURE_TOLERANCE;
    m.attr("CONSISTENCY_TOLERANCE") = ResidualMeasure::CONSISTENCY_TOLERANCE;
    m.attr("ACCURACY_TOLERANCE") = Riccati::ACCURACY_TOLERANCE;
    nb::class_<Problem>(m, "Riccati", "The sweep on a tree of stages; `trisweep.riccati` is its public face.")
        .def(nb::init<const std::vector<int>&, const std::vector<int>&, const std::vector<int>&,
                      const std::vector<int>&, bool>(),
             nb::arg("nx"), nb::arg("nu"), nb::arg("ng"), nb::arg("parent"), nb::arg("free_root"))
        .def("set_stage", &Problem::set_stage)
        .def("set_vectors", &Problem::set_vectors)
        .def("factor", &Problem::factor)
        .def("solve", &Problem::solve)
        .def("sweep", &Problem::sweep)
        .def("unknowns", &Problem::unknowns)
        .def("conflict", &Problem::conflict)
        .def("feedback", &Problem::feedback)
        .def("cost_to_go", &Problem::cost_to_go)
        .def("time", &Problem::time)
        .def_prop_ro("bytes", &Problem::bytes);
}

}  // namespace trisweep
