// The generalized Riccati sweep on a tree of stages (Sathya 2024c Sec. 3; `riccati/reference.py` is the same in NumPy).
//
//     stage k:   H z + h + sum over children c of E_c lambda_c + G eta - (0, lambda_k) = 0,     z = (u, x)
//     edge:      E_c' z + b_c - x_c = 0
//     rows:      G' z + g = 0
//     root:      initial - x_0 = 0, or lambda_0 = 0 where it is free; a free root may hold some entries of x_0 at zero
//
// E_c = [B A]' of the edge to child c and G = [Gu Gx]' are stored transposed: their columns run along z.
// All memory is laid out by `build`; factor, solve, measure and refine allocate nothing.
#pragma once

#include <vector>

#include "gathering.hpp"
#include "kernels/pace.hpp"
#include "quick_stages.hpp"
#include "residual.hpp"

namespace trisweep {

class Riccati {
public:
    using Stage = RiccatiStage;

    enum class Status { solved, inconsistent, inaccurate };

    // A relative KKT residual above the first asks for a step of refinement; above the second it is not a solution.
    static constexpr double REFINEMENT_TOLERANCE = 1e-12;
    static constexpr double ACCURACY_TOLERANCE = 1e-9;
    // Memory above this leaves the caches between two sweeps: a stage's matrices are then asked for a stage ahead.
    static constexpr std::size_t STREAMED_BYTES = 8 << 20;
    // From so many states on a cost-to-go is kept as its Cholesky factor: that saves more products than it takes.
    static constexpr int SQUARE_ROOT_STATES = 28;
    // Steps of refinement at most, and the share of the residual that a step may leave for another to follow it.
    static constexpr int MOST_REFINEMENTS = 8;
    static constexpr double WORTHWHILE = 0.5;

    Riccati(const std::vector<int>& nx, const std::vector<int>& nu, const std::vector<int>& ng,
            const std::vector<int>& parent, bool free_root)
        : free_root(free_root), stages(nx.size()) {
        for (std::size_t k = 0; k < stages.size(); ++k) {
            Stage& s = stages[k];
            s.nx = nx[k];
            s.nu = nu[k];
            s.ng = ng[k];
            s.parent = parent[k];
            s.up = padded(s.nu), s.n = s.up + padded(s.nx);
        }
        for (int k = int(stages.size()) - 1; k > 0; --k) {
            Stage& parent_stage = stages[stages[k].parent];
            stages[k].sibling = parent_stage.first_child;
            parent_stage.first_child = k;
        }
        quick::find(stages);
        arena.build([this](Arena& a) { lay_out(a); });
        streamed = arena.bytes() > STREAMED_BYTES;
    }

    // Backward over the matrices. Returns the stage whose reduced Hessian is not positive definite, -1 if all are.
    // The root's own state counts as stage 0. Where a row that a stage declined to meet is met nowhere, small pivots are taken.
    int factor(double smallest_pivot = COMFORTABLE_PIVOT) {
        sharing.threads = shared.several() && pace.begin() ? shared.threads : nullptr;
        const int indefinite = eliminate(smallest_pivot);
        if (shared.several() && indefinite < 0) pace.end();
        return indefinite < 0 && loses_declined_rows() ? eliminate(RANK_TOLERANCE) : indefinite;
    }

    // Backward over the vectors, forward over the unknowns.
    void solve(const Vectors& rhs, const Unknowns& out) {
        begin_solve(rhs);
        end_solve(rhs, out);
        find_costates(out);
    }

    // The same in two parts: the first goes back to the root's children, and takes nothing of the root's, nor of the edges
    // from it. `again`: b is that of the last solve after the same factorization.
    void begin_solve(const Vectors& rhs, bool again = false) {
        const bool ahead = !again && shared.several();
        if (ahead)
            shared.each(1, int(stages.size()), [&](int k) {
                if (stages[k].parent > 0 && !stages[stages[k].parent].substitution.taken) find_Pb(stages[k], rhs);
            });
        for (int k = int(stages.size()) - 1; k > 0; --k) {
            if (streamed) {
                stages[k].sweep.prefetch_cost(), prefetch_edge(k);
                stages[k - 1].sweep.prefetch_gains();
            }
            reduce(stages[k], rhs, again || (ahead && !stages[k].substitution.taken));
        }
    }

    // All but the costates.
    void end_solve(const Vectors& rhs, const Unknowns& out, bool again = false) {
        reduce(stages[0], rhs, again);
        solve_root(rhs, out);
        for (std::size_t k = 0; k < stages.size(); ++k) {
            Stage& s = stages[k];
            double* z = out.z + s.at_z;
            if (streamed && k + 2 < stages.size()) {
                stages[k + 1].sweep.prefetch_gains();
                prefetch_edge(k + 2);
            }
            if (quick::takes_vectors(s)) {
                quick::expand(s, stages[s.first_child], rhs, bench, out);
                continue;
            }
            s.sweep.expand(bench, z, s.eta_x, multipliers);
            hand_multipliers(s, out.eta);
            for (int c = s.first_child; c >= 0; c = stages[c].sibling) {
                const Stage& child = stages[c];
                double* x = out.z + child.at_z + child.up;
                copy(padded(child.nx), rhs.b + child.at_x, x);
                child.light.transposed_multiply_add(s.n, child.nx, child.E, z, x);
            }
        }
    }

    // lambda = P x + p + Gx' eta_x of the last solve, and what eta follows from it.
    void find_costates(const Unknowns& out) {
        shared.each(0, int(stages.size()), [&](int k) {
            const Stage& s = stages[k];
            if (streamed && k + 1 < int(stages.size())) stages[k + 1].sweep.prefetch_cost();
            const int xp = padded(s.nx);
            double* lambda = out.lambda + s.at_x;
            copy(xp, s.sweep.p, lambda);
            if (s.small)
                s.small->multiply_cost(s, out.z + s.at_z + s.up, lambda);
            else
                s.sweep.multiply_cost(out.z + s.at_z + s.up, lambda);
            multiply_add(xp, s.sweep.passed, s.sweep.Gx, xp, s.eta_x, lambda);
        });
        if (free_root) std::fill(out.lambda, out.lambda + stages[0].nx, 0.0);
        shared.each(0, int(stages.size()), [&](int k) {
            const Stage& s = stages[k];
            if (s.substitution.taken)
                s.left->find_multipliers(s, out.z + s.at_z, out.lambda + stages[s.first_child].at_x, out.eta + s.at_g);
        });
    }

    // `solve`, judged by the problem's data; refined where the residual asks for it, as long as that helps.
    Status solve_and_judge(const Vectors& rhs, const Unknowns& out, Residual& residual, bool& refined) {
        solve(rhs, out);
        residual = measure(rhs, out, remainder);
        refined = !(residual.worst() <= refined_above);
        for (int step = 0; step < MOST_REFINEMENTS && !(residual.worst() <= refined_above); ++step) {
            const double before = residual.worst();
            refine(remainder, out);
            residual = measure(rhs, out, remainder);
            if (!(residual.worst() < WORTHWHILE * before)) break;
        }
        if (judge.violates_equalities(stages, rhs, out, remainder)) return Status::inconsistent;
        return residual.worst() <= ACCURACY_TOLERANCE ? Status::solved : Status::inaccurate;
    }

    // The KKT residual of `point`, from the data alone; `residual` takes it row by row.
    Residual measure(const Vectors& rhs, const Unknowns& point, const Vectors& residual) {
        return judge.measure(stages, free_root, rhs, point, residual);
    }

    // One step of iterative refinement: solve for the residual that `measure` left and add the answer to the point.
    void refine(const Vectors& residual, const Unknowns& point) {
        solve(residual, correction);
        for (int i = 0; i < size_z; ++i) point.z[i] += correction.z[i];
        for (int i = 0; i < size_x; ++i) point.lambda[i] += correction.lambda[i];
        for (int i = 0; i < size_g; ++i) point.eta[i] += correction.eta[i];
    }

    // After a solve of an inconsistent problem: weights of all equalities (size_g) whose weighted sum has no variable
    // left in it, though its right-hand side is not zero. Rows with a weight are the ones in conflict.
    // What is left over does not depend on the variables, so a refined solution leaves the same as the first one.
    void conflict(double* weights) {
        const Elimination& top = stages[0].sweep;
        if (free_root && top.passed) {
            std::fill(gathered_g, gathered_g + root.most_passed, 0.0);
            root.conflict(bench, root.left_over, gathered_g, stages[0].eta_x);
        } else {
            std::copy(root_left_over, root_left_over + top.passed, stages[0].eta_x);
        }
        for (Stage& s : stages) {
            if (s.substitution.taken)
                std::fill(multipliers, multipliers + s.ng, 0.0);
            else if (s.sweep.rows)
                s.sweep.conflict(bench, s.sweep.left_over, s.eta_x, multipliers);
            hand_multipliers(s, weights);
        }
    }

    // The feedback u = K x + k of a stage after a solve: K (nu, nx) by rows, k (nu).
    void feedback(int k, double* K, double* constant) {
        Stage& s = stages[k];
        std::fill(gathered_h, gathered_h + s.n, 0.0);
        find_controls(s, gathered_h, true);
        std::copy(gathered_h, gathered_h + s.nu, constant);
        gain(k, K);
    }

    // K alone.
    void gain(int k, double* K) {
        Stage& s = stages[k];
        if (s.sweep.rank == 0) return s.sweep.gain(bench, K);
        for (int j = 0; j < s.nx; ++j) {
            std::fill(gathered_h, gathered_h + s.n, 0.0);
            gathered_h[s.up + j] = 1.0;
            find_controls(s, gathered_h, false);
            for (int i = 0; i < s.nu; ++i) K[i * s.nx + j] = gathered_h[i];
        }
    }

    std::size_t bytes() const { return arena.bytes(); }

    const bool free_root;
    double refined_above = REFINEMENT_TOLERANCE;
    Gathering gathering;
    std::vector<int> fixed;  // entries of the free root's state that are held at zero
    std::vector<Stage> stages;
    SharedProducts shared;
    int size_z = 0, size_x = 0, size_g = 0;  // lengths of the arrays in Vectors and Unknowns

private:
    void lay_out(Arena& a) {
        int most_u = free_root ? padded(stages[0].nx) : 0, most_x = 0, most_n = 0, most_rows = 0;
        size_z = size_x = size_g = 0;
        for (int k = int(stages.size()) - 1; k >= 0; --k) {
            Stage& s = stages[k];
            int rows = s.ng;
            for (int c = s.first_child; c >= 0; c = stages[c].sibling) rows += stages[c].sweep.most_passed;
            s.sweep.lay_out(a, s.nu, s.nx, rows);
            if (s.left) s.substitution.lay_out(a, s.nu, s.nx, s.ng, stages[s.first_child].nx);
            s.H = a.matrix(s.n, s.n);
            s.G = a.matrix(s.n, s.ng);
            if (s.parent >= 0) s.E = a.matrix(stages[s.parent].n, padded(s.nx));
            s.eta_x = a.vector(s.sweep.most_passed);
            most_u = std::max(most_u, s.up);
            most_n = std::max(most_n, s.n);
            most_x = std::max(most_x, padded(s.nx));
            most_rows = std::max(most_rows, rows);
        }
        for (Stage& s : stages) {
            s.at_z = size_z;
            s.at_x = size_x;
            s.at_g = size_g;
            size_z += s.n, size_x += padded(s.nx), size_g += padded(s.ng);
        }
        root.lay_out(a, free_root ? stages[0].nx : 0, 0, free_root ? stages[0].sweep.most_passed : 0);
        bench.lay_out(a, most_u, most_x, most_rows);
        gathering.lay_out(a, most_n, most_x);
        gathered_h = a.vector(most_n);
        gathered_g = a.vector(most_rows);
        multipliers = a.vector(most_rows);
        gradient = a.vector(most_x);
        judge.lay_out(a, most_n, most_x, most_rows);
        root_left_over = a.vector(stages[0].sweep.most_passed);
        Pb = a.vector(size_x);
        correction = {a.vector(size_z), a.vector(size_x), a.vector(size_g)};
        remainder = {a.vector(size_z), a.vector(size_x), a.vector(size_g), a.vector(stages[0].nx)};
    }

    void prefetch_edge(std::size_t k) const {
        const Stage& s = stages[k];
        const std::ptrdiff_t n = stages[s.parent].n, unread = s.light.pattern ? s.light.pattern->light : 0;
        prefetch(n * (s.nx - unread), s.E + n * unread);
    }

    int eliminate(double smallest_pivot) {
        for (int k = int(stages.size()) - 1; k >= 0; --k) {
            if (streamed && k) {
                prefetch_edge(k);
                const Stage& next = stages[k - 1];
                for (int j = 0; j < next.n; ++j) prefetch(next.n - j, next.H + j + std::ptrdiff_t(j) * next.n);
            }
            if (!eliminate(stages[k], smallest_pivot)) return k;
        }
        if (!free_root) return -1;
        const Elimination& top = stages[0].sweep;
        const int nx = stages[0].nx, xp = padded(nx);
        for (int j = 0; j < nx; ++j) {
            copy(xp, top.P + j * xp, bench.H + j * root.ld);
            bench.diagonal[j] = std::fabs(top.P[j + j * xp]);
        }
        for (int f : fixed) {
            for (int j = 0; j < nx; ++j) bench.H[f + j * root.ld] = bench.H[j + f * root.ld] = 0.0;
            bench.H[f + f * root.ld] = bench.diagonal[f] = 1.0;
        }
        root.rows = top.passed;
        for (int i = 0; i < top.passed; ++i) {
            copy(xp, top.Gx + i * xp, bench.G + i * xp);
            for (int f : fixed) bench.G[f + i * xp] = 0.0;
            bench.size_u[i] = 1.0, bench.size_x[i] = 0.0;
        }
        root.eliminate_rows(bench, RANK_TOLERANCE);
        return root.eliminate(bench, false, sharing) ? -1 : 0;
    }

    // u(x), or its linear part, of the x in z.
    void find_controls(Stage& s, double* z, bool affine) {
        if (s.substitution.taken) return quick::find_controls(s, bench, z, affine);
        s.sweep.expand(bench, z, nullptr, nullptr, affine);
    }

    bool eliminate(Stage& s, double smallest_pivot) {
        s.sweep.rows = s.ng;
        for (int c = s.first_child; c >= 0; c = stages[c].sibling) s.sweep.rows += stages[c].sweep.passed;
        s.substitution.taken =
            s.left && s.sweep.rows == s.ng && s.substitution.fix_controls(s.G, gathering.beside, smallest_pivot, bench);
        if (s.substitution.taken) return quick::eliminate(s, stages[s.first_child], bench, gathering.scratch);
        if (s.sweep.rows) gathering.gather_rows(stages, s, bench);
        s.sweep.eliminate_rows(bench, smallest_pivot);
        const bool fixes = s.sweep.rank > 0;
        if (!s.small || fixes) {
            const bool root = s.nx >= SQUARE_ROOT_STATES && s.parent >= 0 && !s.light.pattern;
            bool positive = false;
            gathering.gather_hessian(stages, s, bench, sharing,
                                     [&] { positive = !fixes && s.sweep.factor_controls(bench); });
            if (fixes) return s.sweep.eliminate(bench, root, sharing);
            if (positive) s.sweep.find_cost_to_go(bench, root, sharing);
            return positive;
        }
        return quick::eliminate(s, stages[s.first_child], bench, gathering.scratch);
    }

    bool loses_declined_rows() const {
        bool declined = false, lost = free_root ? lost_rows(root) : stages[0].sweep.passed > 0;
        for (const Stage& s : stages) declined |= s.sweep.declined, lost |= lost_rows(s.sweep);
        return declined && lost;
    }

    static bool lost_rows(const Elimination& e) { return e.rows > e.rank + e.passed; }

    // P b of the edge to a stage.
    void find_Pb(const Stage& s, const Vectors& rhs) {
        fill_zero(padded(s.nx), Pb + s.at_x);
        s.sweep.multiply_cost(rhs.b + s.at_x, Pb + s.at_x);
    }

    // What the stage's vectors become once its children are eliminated, and it from them. `again`: P b is there already.
    void reduce(Stage& s, const Vectors& rhs, bool again) {
        if (quick::takes_vectors(s)) {
            const Stage& child = stages[s.first_child];
            return quick::reduce(s, child, rhs, bench, Pb + child.at_x, gradient, again);
        }
        copy(s.n, rhs.h + s.at_z, gathered_h);
        std::copy(rhs.g + s.at_g, rhs.g + s.at_g + s.ng, gathered_g);
        for (int c = s.first_child; c >= 0; c = stages[c].sibling) {
            const Stage& child = stages[c];
            const int xp = padded(child.nx);
            const double* b = rhs.b + child.at_x;
            if (!again) find_Pb(child, rhs);
            for (int i = 0; i < xp; i += W) store(gradient + i, load(child.sweep.p + i) + load(Pb + child.at_x + i));
            child.light.multiply_add(s.n, child.nx, child.E, gradient, gathered_h);
            double* g = gathered_g + child.at_rows;
            std::copy(child.sweep.gx, child.sweep.gx + child.sweep.passed, g);
            transposed_multiply_add(xp, child.sweep.passed, child.sweep.Gx, xp, b, g);
        }
        s.sweep.reduce(bench, gathered_h, gathered_g);
    }

    void solve_root(const Vectors& rhs, const Unknowns& out) {
        Stage& top = stages[0];
        double* x = out.z + top.up;
        if (free_root) {
            copy(padded(top.nx), top.sweep.p, gradient);
            for (int f : fixed) gradient[f] = 0.0;
            root.reduce(bench, gradient, top.sweep.gx);
            root.expand(bench, x, nullptr, top.eta_x);
        } else {
            const int xp = padded(top.nx), passed = top.sweep.passed;
            std::copy(rhs.initial, rhs.initial + top.nx, x);
            std::fill(top.eta_x, top.eta_x + passed, 0.0);
            std::copy(top.sweep.gx, top.sweep.gx + passed, root_left_over);
            transposed_multiply_add(xp, passed, top.sweep.Gx, xp, x, root_left_over);
        }
    }

    // Multipliers of the stage's rows: its own to `eta`, those of the rows its children passed to the children.
    void hand_multipliers(const Stage& s, double* eta) {
        std::copy(multipliers, multipliers + s.ng, eta + s.at_g);
        for (int c = s.first_child; c >= 0; c = stages[c].sibling) {
            const double* passed = multipliers + stages[c].at_rows;
            std::copy(passed, passed + stages[c].sweep.passed, stages[c].eta_x);
        }
    }

    Arena arena;
    Pace pace;
    SharedProducts sharing;  // `shared`, or nobody, as is quicker
    bool streamed = false;
    Elimination root;
    Workbench bench;
    ResidualMeasure judge;
    double* Pb;  // of every edge, of the last solve
    double *gathered_h, *gathered_g, *multipliers, *gradient, *root_left_over;
    Unknowns correction;
    Vectors remainder;  // the residual of the last judged solution
};

}  // namespace trisweep
