// The optimal-control problem as a `Program`: slacks for the inequalities, linear systems by the Riccati sweep.
//
//     v = (z of all stages, slacks s, excess p over and n under soft limits),
//     y = (lambda of the edges, eta of the equalities, nu of the inequalities)
//     r = (d (F(z) - x_child), g(z), c(z) - s - p + n)
//
// The scale d of the dynamics' rows stays out of the sweep, whose multipliers are d lambda.
// Slacks and nu are eliminated stage by stage (Sathya 2024c eq. 35):
//     ds = C' dz + r_c,   nu = S ds + h_s,   H += C S C',   h_z += C (S r_c + h_s),   S = Sigma_s + delta
// Excess goes the same way, before them (`excess.hpp`).
#pragma once

#include "excess.hpp"
#include "interior_point/program.hpp"
#include "shortfall.hpp"
#include "soft_system.hpp"

namespace trisweep {

class OptimalControl : public Program {
public:
    // `root_fixed`: entries of the root's state that never move. They have no row, no bound and no multiplier; what the
    // gradient of the Lagrangian has there counts for nothing.
    // `softness`: any inequality has soft limits; `set_price` says which.
    OptimalControl(Riccati& riccati, Horizon& horizon, const std::vector<int>& root_fixed, bool softness)
        : horizon(horizon),
          riccati(riccati),
          excess(horizon, softness),
          soft(riccati, horizon, root_fixed),
          shortfall(riccati) {
        riccati.fixed = root_fixed;
        for (int i : root_fixed) fixed.push_back(riccati.stages[0].at_z + riccati.stages[0].up + i);
        size_v = riccati.size_z + horizon.size_c + 2 * excess.size;
        size_place = horizon.recentrings.empty() ? 0 : horizon.stage_parameter_count;
        size_y = riccati.size_x + riccati.size_g + horizon.size_c;
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            variables += s.nu + s.nx + horizon.inequality_count[k];
            rows += (k ? s.nx : 0) + s.ng + horizon.inequality_count[k];
        }
        arena.build([this](Arena& a) { lay_out(a); });
    }

    // Offsets of the parts of v and y.
    int at_slack() const { return riccati.size_z; }
    int at_over() const { return riccati.size_z + horizon.size_c; }
    int at_under() const { return at_over() + excess.size; }
    int at_eta() const { return riccati.size_x; }
    int at_nu() const { return riccati.size_x + riccati.size_g; }

    // The inequality whose slack or excess entry i of v is; of z, below 0.
    int inequality_of(int i) const {
        return i < at_over() ? i - at_slack() : (i - at_over()) % std::max(1, horizon.size_c);
    }

    // Whether entry i of v is the slack of soft limits.
    bool gives_way(int i) const {
        return excess.size && i >= at_slack() && i < at_over() && excess.has_price(i - at_slack());
    }

    // Bounds of excess that go with those of the slacks, in the layout of v.
    void bound_excess(double* low, const double* high) const {
        for (int i = 0; i < excess.size; ++i) {
            const bool soft_row = excess.has_price(i);
            low[at_over() + i] = soft_row && high[at_slack() + i] < INFINITY ? 0.0 : -INFINITY;
            low[at_under() + i] = soft_row && low[at_slack() + i] > -INFINITY ? 0.0 : -INFINITY;
        }
    }

    // Excess that takes up what rows r lack, and a little more; r follows.
    void set_excess(double least, double* v, double* r) const {
        for (int i = 0; i < excess.size; ++i) {
            double &over = v[at_over() + i], &under = v[at_under() + i], &row = r[at_nu() + i];
            const double lacking = row;
            over = lower.there[at_over() + i] * (std::max(lacking, 0.0) + least);
            under = lower.there[at_under() + i] * (std::max(-lacking, 0.0) + least);
            row -= over - under;
        }
    }

    // Bounds of z, of the slacks and of excess, in the layout of v; infinite where there is none.
    void set_bounds(const double* low, const double* high) { lower.set(low), upper.set(high); }

    // unit_of(i) and size_of(i): of the variable that stands at entry i of all stages' (u, x), what it is given in and how large it
    // is.
    template <class Unit, class Size>
    void set_sizes(const std::vector<int>& places, const Unit& unit_of, const Size& size_of) {
        for (std::size_t i = 0; i < places.size(); ++i) {
            const double one = size_of(i);
            size[places[i]] = one, weight[places[i]] = 1.0 / (one * one), unit[places[i]] = unit_of(i);
        }
    }

    // For a new solve: no scales, and `convex` is known.
    void renew() { convex = horizon.renew(); }

    // Zeros where the root's entries are fixed.
    void leave_out_fixed(double* along_v) const {
        for (int i : fixed) along_v[i] = 0.0;
    }

    // The gradient of z as it was linearized last.
    void take_gradient() { copy(padded(riccati.size_z), horizon.gradient, gradient_v); }

    double cost_scale() const override { return horizon.objective_scale; }
    void scale_cost(double factor) override { horizon.objective_scale *= factor; }

    bool evaluate(const double* v, double& f, double* r) override {
        Values values{0.0, r, r + at_eta(), r + at_nu()};
        const bool finite = horizon.evaluate(v, values);
        f = values.objective;
        const double* s = v + at_slack();
        for (int i = 0; i < horizon.size_c; ++i) values.c[i] -= s[i];
        excess.add_values(lower.there + at_over(), v + at_over(), f, values.c);
        return finite;
    }

    bool differentiate(const double* v, const double* y) override {
        const bool finite = horizon.differentiate(v, {y, y + at_eta(), y + at_nu()}, damps);
        leave_out_fixed(horizon.gradient);
        take_gradient();
        differentiate_excess(v);
        return finite;
    }

    bool damp(const double* v, double share) override {
        shortfall.forget();
        return horizon.damp(v, share);
    }

    // The part of `differentiate` that excess has, which scaling leaves out: it is not known then.
    void differentiate_excess(const double* v) {
        excess.differentiate(lower.there + at_over(), v + at_over(), gradient_v + at_over());
    }

    double row_terms(const double* v) const override {
        return horizon.row_terms(v, sum_of_sizes(size_v - at_slack(), v + at_slack()));
    }

    // Whether entry i of z is a variable that is not given.
    bool moves(int i) const { return real[i] != 0.0 && std::find(fixed.begin(), fixed.end(), i) == fixed.end(); }

    // Where the root's fixed entries stand in v.
    const std::vector<int>& fixed_places() const { return fixed; }

    // What h and r become where the root's fixed entries move by `root` (along v, zero elsewhere), after `factor`.
    void move_root(const double* root, double* h, double* r) const {
        const Riccati::Stage& s = riccati.stages[0];
        const double* z = root + s.at_z;
        symmetric_multiply_add(s.n, s.H, s.n, z, h + s.at_z);
        leave_out_fixed(h);
        horizon.add_stage_product(0, z, r);
    }

    void recentre(double* v) override { horizon.recentre(v); }
    void copy_place(double* to) const override { std::copy_n(horizon.stage_parameters, size_place, to); }
    void set_place(const double* from) override { std::copy_n(from, size_place, horizon.stage_parameters); }

    const double* gradient() const override { return gradient_v; }

    void add_transposed_product(const double* y, double* out) const override {
        const double* nu = y + at_nu();
        horizon.add_transposed_product(y, out);
        for (int i = 0; i < horizon.size_c; ++i) out[at_slack() + i] -= nu[i];
        for (int i = 0; i < excess.size; ++i) {
            out[at_over() + i] -= lower.there[at_over() + i] * nu[i];
            out[at_under() + i] += lower.there[at_under() + i] * nu[i];
        }
        leave_out_fixed(out);
    }

    void clear_hessian() override {
        excess.clear_hessian();
        horizon.clear_hessian();
    }

    void take_sigma(const double* sigma) override {
        std::copy_n(sigma + at_slack(), horizon.size_c, sigma_s);
        excess.add_barrier(sigma + at_over());
        copy(riccati.size_z, sigma, sigma_z);
        shortfall.forget();
    }

    bool factor(double delta, double delta_c) override {
        softness = delta_c;
        shift_diagonal(delta, spares);
        if (delta_c > 0.0) {
            std::fill_n(uniform, size_y, delta_c);
            return soft.factor(S, uniform);
        }
        weigh_penalties();
        return riccati.factor() < 0;
    }

    void direction(const double* h, const double* r, double* dv, double* y) override {
        begin_direction(h, r);
        end_direction(h, r, dv, y);
        complete(dv, y);
    }

    void turn(const double* h, const double* r, bool same_rows, double* dv, double* y) override {
        begin_direction(h, r, same_rows);
        end_direction(h, r, dv, y, same_rows);
    }

    // The costates.
    void complete(const double* dv, double* y) override {
        if (softness > 0.0) return;
        riccati.find_costates({const_cast<double*>(dv), y, y + at_eta()});
        for (int i = 0; i < riccati.size_x; ++i) y[i] /= horizon.dynamics_scale[i];
    }

    // The same in two parts: the first is what does not depend on h of the root's z, on its rows and on those of the edges from
    // it, which may be other ones in the second. What `complete` finds is left out.
    void begin_direction(const double* h, const double* r, bool same_rows = false) {
        if (softness > 0.0) return;
        const double* h_s = slack_slopes(h);
        if (horizon.size_c == 0) copy(riccati.size_z, h, reduced_h);
        for (std::size_t k = 1; horizon.size_c && k < riccati.stages.size(); ++k) reduce_slacks(int(k), h, r, h_s);
        if (!same_rows) {
            std::copy_n(r, at_nu(), right);
            for (int i = 0; i < riccati.size_x; ++i) right[i] /= horizon.dynamics_scale[i];
        }
        riccati.begin_solve({reduced_h, right, right + at_eta(), nullptr}, same_rows);
    }

    void end_direction(const double* h, const double* r, double* dv, double* y, bool same_rows = false) {
        if (softness > 0.0) return direction_soft(h, r, uniform, dv, y);
        const double *r_c = r + at_nu(), *h_s = excess.slopes(h + at_slack());
        reduce_slacks(0, h, r, h_s);
        const Riccati::Stage& root = riccati.stages[0];
        std::copy_n(r + at_eta() + root.at_g, root.ng, right + at_eta() + root.at_g);
        for (int c = root.first_child; c >= 0; c = riccati.stages[c].sibling)
            for (int i = riccati.stages[c].at_x; i < riccati.stages[c].at_x + riccati.stages[c].nx; ++i)
                right[i] = r[i] / horizon.dynamics_scale[i];
        riccati.end_solve({reduced_h, right, right + at_eta(), nullptr}, {dv, y, y + at_eta()}, same_rows);
        double *ds = dv + at_slack(), *nu = y + at_nu();
        std::copy_n(r_c, horizon.size_c, ds);
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            transposed_multiply_add(s.n, horizon.inequality_count[k], horizon.C(int(k)), s.n, dv + s.at_z,
                                    ds + horizon.at_c[k]);
        }
        for (int i = 0; i < horizon.size_c; ++i) nu[i] = S[i] * ds[i] + h_s[i];
        excess.divide(h + at_over(), nu, ds, dv + at_over());
    }

    void add_hessian_product(const double* dv, double* out) const override {
        riccati.shared.each(0, int(riccati.stages.size()), [&](int k) {
            const Riccati::Stage& s = riccati.stages[k];
            symmetric_multiply_add(s.n, s.H, s.n, dv + s.at_z, out + s.at_z);
        });
        for (int i = 0; i < riccati.size_z; i += W) store(out + i, load(out + i) + load(diagonal + i) * load(dv + i));
        const double* of_slack = excess.slack_S(S);
        for (int i = 0; i < horizon.size_c; ++i) out[at_slack() + i] += of_slack[i] * dv[at_slack() + i];
        excess.add_hessian_product(dv + at_over(), out + at_over());
        leave_out_fixed(out);
    }

    void subtract_softness(const double* y, double* out) const override {
        for (int i = 0; softness > 0.0 && i < size_y; ++i) out[i] -= softness * y[i];
    }

    // The same with -D (size_y, positive) in the lower right block.
    bool factor_soft(double delta, const double* D) {
        shift_diagonal(delta, false);
        return soft.factor(S, D);
    }

    void direction_soft(const double* h, const double* r, const double* D, double* dv, double* y) {
        soft.direction(S, h, slack_slopes(h), r, D, dv, y);
        excess.divide(h + at_over(), y + at_nu(), dv + at_slack(), dv + at_over());
    }

    void add_product(const double* dv, double* out) const override {
        horizon.add_product(dv, out);
        for (int i = 0; i < horizon.size_c; ++i) out[at_nu() + i] -= dv[at_slack() + i];
        for (int i = 0; i < excess.size; ++i) out[at_nu() + i] -= dv[at_over() + i] - dv[at_under() + i];
    }

    Horizon& horizon;
    Riccati& riccati;
    Excess excess;

private:
    // h of a stage without its slacks.
    void reduce_slacks(int k, const double* h, const double* r, const double* h_s) {
        const Riccati::Stage& s = riccati.stages[k];
        const int count = horizon.inequality_count[k], at = horizon.at_c[k];
        const double* r_c = r + at_nu() + at;
        copy(s.n, h + s.at_z, reduced_h + s.at_z);
        for (int i = 0; i < count; ++i) along[i] = S[at + i] * r_c[i] + h_s[at + i];
        multiply_add(s.n, count, horizon.C(k), s.n, along, reduced_h + s.at_z);
    }

    const double* slack_slopes(const double* h) const { return excess.slopes(S, h + at_slack(), h + at_over()); }

    void lay_out(Arena& a) {
        int most_rows = PAD;
        for (std::size_t k = 0; k < riccati.stages.size(); ++k)
            most_rows = std::max({most_rows, riccati.stages[k].ng, horizon.inequality_count[k]});
        lower.lay_out(a, size_v);
        upper.lay_out(a, size_v);
        upper.sign = -1.0;
        gradient_v = a.vector(size_v);
        reduced_h = a.vector(riccati.size_z);
        right = a.vector(size_y);
        sigma_s = a.vector(horizon.size_c), S = a.vector(horizon.size_c);
        excess.lay_out(a);
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            Riccati::Stage& s = riccati.stages[k];
            s.penalties = horizon.inequality_count[k], s.C = horizon.C(int(k));
            s.CS = a.matrix(s.n, s.penalties);
        }
        for (double** vector : {&sigma_z, &diagonal, &real, &weight}) *vector = a.vector(riccati.size_z);
        size = a.vector(size_v), unit = a.vector(size_v);
        if (real) mark_variables();
        along = a.vector(most_rows);
        soft.lay_out(a);
        shortfall.lay_out(a);
        uniform = a.vector(size_y);
    }

    void mark_variables() {
        for (Riccati::Stage& s : riccati.stages) {
            std::fill_n(real + s.at_z, s.nu, 1.0);
            std::fill_n(real + s.at_z + s.up, s.nx, 1.0);
            s.diagonal = diagonal + s.at_z;
        }
        std::copy_n(real, riccati.size_z, weight);
        std::fill_n(size, size_v, 1.0);
        std::fill_n(unit, size_v, 1.0);
    }

    // C S for the sweep, which adds C S C' to H.
    void weigh_penalties() {
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            Riccati::Stage& s = riccati.stages[k];
            const double *C = horizon.C(int(k)), *sigma = S + horizon.at_c[k];
            for (int i = 0; i < s.penalties; ++i)
                for (int t = 0; t < s.n; t += W) store(s.CS + t + i * s.n, sigma[i] * load(C + t + i * s.n));
        }
    }

    // What the sweep adds to the diagonal of H, and of the slacks. `spare`: which lack no curvature then.
    void shift_diagonal(double delta, bool spare) {
        for (int i = 0; i < horizon.size_c; ++i) S[i] = sigma_s[i] + (spare ? 0.0 : delta);
        excess.soften(lower.there + at_over(), delta, S);
        if (spare && delta > 0.0) return shortfall.shift(sigma_z, delta, weight, unit, diagonal);
        for (int i = 0; i < riccati.size_z; i += W)
            store(diagonal + i, load(real + i) * load(sigma_z + i) + load(weight + i) * delta);
    }

    SoftSystem soft;
    Shortfall shortfall;
    std::vector<int> fixed;  // places in v
    Arena arena;
    double softness = 0.0;  // delta_c of the last factorization
    double *gradient_v, *reduced_h, *right, *sigma_s, *S, *along, *uniform;
    double *sigma_z, *diagonal, *real;  // along z: Sigma, with delta, and 1 where there is a variable
    double* weight;                     // of a delta, along z: 1 / size^2
};

}  // namespace trisweep
