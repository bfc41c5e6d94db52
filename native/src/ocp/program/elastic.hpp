// The restoration problem (Wächter and Biegler 2006, Sec. 3.3): a point near the reference with the least violation,
//
//     min rho sum(p + n) + zeta/2 |scale (v - reference)|^2   subject to   r(v) - p + n = 0,   p, n >= 0, bounds of v
//
// p and n are eliminated row by row:  D = 1/S_p + 1/S_n,   dp = (y - h_p)/S_p,   dn = -(y + h_n)/S_n,   S = Sigma + delta.
#pragma once

#include "optimal_control.hpp"

namespace trisweep {

class Elastic : public Program {
public:
    static constexpr double RHO = 1000.0;

    explicit Elastic(OptimalControl& base) : base(base) {
        size_v = base.size_v + 2 * base.size_y;
        size_y = base.size_y;
        size_place = base.size_place ? base.size_place + base.size_v : 0;
        variables = base.variables + 2 * base.rows;
        rows = base.rows;
        curved_cost = true;
        arena.build([this](Arena& a) { lay_out(a); });
    }

    // Start from a point of the base problem, which is the reference too: p and n as the barrier wants them. The duals of the
    // bounds are, the first time, those of the base problem, within rho; then they stay as they are.
    void start(const double* v, const double* r, double mu, double proximity, bool first, double* elastic_v) {
        std::copy_n(v, base.size_v, elastic_v);
        std::copy_n(v, base.size_v, reference);
        std::copy_n(base.size, base.size_v, size);
        std::copy_n(base.unit, base.size_v, unit);
        for (int i = 0; i < base.size_v; ++i) scale[i] = 1.0 / std::max(base.size[i], std::fabs(v[i]));
        zeta = proximity;
        if (first) {
            inherit(base.lower, lower);
            inherit(base.upper, upper);
        }
        balance(r, mu, elastic_v);
    }

    // The p and n that are best for rows r of the base problem and for this mu, and their duals.
    void balance(const double* r, double mu, double* elastic_v) {
        double *p = elastic_v + at_p(), *n = elastic_v + at_n();
        std::fill_n(p, 2 * base.size_y, 0.0);
        lower.count = base.lower.count;
        for (int i = 0; i < base.size_y; ++i) {
            for (int at : {at_p() + i, at_n() + i}) lower.set(at, real_row[i], 0.0);
            if (!real_row[i]) continue;
            const double half = (mu - RHO * r[i]) / (2.0 * RHO);
            n[i] = half + std::sqrt(half * half + mu * r[i] / (2.0 * RHO));
            p[i] = r[i] + n[i];
            for (int at : {at_p() + i, at_n() + i}) lower.dual[at] = mu / elastic_v[at];
        }
    }

    bool evaluate(const double* v, double& f, double* r) override {
        const double *p = v + at_p(), *n = v + at_n();
        const bool finite = base.evaluate(v, f, r);
        base_objective = f;
        base_infeasibility = largest_entry(base.size_y, r);
        f = 0.0;
        for (int i = 0; i < base.size_y; ++i) {
            f += RHO * (p[i] + n[i]);
            r[i] -= p[i] - n[i];
        }
        for (int i = 0; i < base.size_v; ++i) {
            const double away = scale[i] * (v[i] - reference[i]);
            f += 0.5 * zeta * away * away;
        }
        return finite;
    }

    bool differentiate(const double* v, const double* y) override {
        base.damps = damps;
        const bool finite = without_objective([&] { return base.differentiate(v, y); });
        for (int i = 0; i < base.size_v; ++i) gradient_v[i] = zeta * scale[i] * scale[i] * (v[i] - reference[i]);
        for (int i = 0; i < base.size_y; ++i) gradient_v[at_p() + i] = gradient_v[at_n() + i] = real_row[i] ? RHO : 0.0;
        return finite;
    }

    bool damp(const double* v, double share) override {
        return without_objective([&] { return base.damp(v, share); });
    }

    double row_terms(const double* v) const override { return base.row_terms(v); }

    // The reference keeps its distance.
    void recentre(double* v) override {
        for (int i = 0; i < base.size_v; ++i) reference[i] -= v[i];
        base.recentre(v);
        for (int i = 0; i < base.size_v; ++i) reference[i] += v[i];
    }

    void copy_place(double* to) const override {
        if (!size_place) return;
        base.copy_place(to);
        std::copy_n(reference, base.size_v, to + base.size_place);
    }

    void set_place(const double* from) override {
        if (!size_place) return;
        base.set_place(from);
        std::copy_n(from + base.size_place, base.size_v, reference);
    }

    const double* gradient() const override { return gradient_v; }

    double base_objective = 0.0, base_infeasibility = 0.0;  // of the base problem, at the point evaluated last

    void add_transposed_product(const double* y, double* out) const override {
        base.add_transposed_product(y, out);
        for (int i = 0; i < base.size_y; ++i) {
            out[at_p() + i] -= y[i];
            out[at_n() + i] += y[i];
        }
    }

    void clear_hessian() override { base.clear_hessian(); }

    void take_sigma(const double* sigma) override {
        for (int i = 0; i < base.size_v; ++i) base_sigma[i] = sigma[i] + zeta * scale[i] * scale[i];
        base.take_sigma(base_sigma);
        for (int i = 0; i < base.size_y; ++i) {
            sigma_p[i] = real_row[i] ? sigma[at_p() + i] : 1.0;
            sigma_n[i] = real_row[i] ? sigma[at_n() + i] : 1.0;
        }
    }

    // Its rows are soft anyway.
    bool factor(double delta, double) override {
        for (int i = 0; i < base.size_y; ++i) {
            S_p[i] = sigma_p[i] + delta, S_n[i] = sigma_n[i] + delta;
            D[i] = 1.0 / S_p[i] + 1.0 / S_n[i];
        }
        return base.factor_soft(delta, D);
    }

    void direction(const double* h, const double* r, double* dv, double* y) override {
        const double *h_p = h + at_p(), *h_n = h + at_n();
        for (int i = 0; i < base.size_y; ++i) right[i] = r[i] + h_p[i] / S_p[i] - h_n[i] / S_n[i];
        base.direction_soft(h, right, D, dv, y);
        std::fill_n(right, base.size_y, 0.0);
        base.add_product(dv, right);
        double *dp = dv + at_p(), *dn = dv + at_n();
        for (int i = 0; i < base.size_y; ++i) {
            dp[i] = dn[i] = 0.0;
            if (!real_row[i]) continue;
            // The stiffer of the two by its own equation, the other one by the row: nothing is divided by a small number.
            if (S_p[i] < S_n[i]) {
                dn[i] = -(y[i] + h_n[i]) / S_n[i];
                dp[i] = right[i] + r[i] + dn[i];
            } else {
                dp[i] = (y[i] - h_p[i]) / S_p[i];
                dn[i] = dp[i] - right[i] - r[i];
            }
        }
    }

    void add_hessian_product(const double* dv, double* out) const override {
        base.add_hessian_product(dv, out);
        for (int i = 0; i < base.size_y; ++i) {
            out[at_p() + i] += S_p[i] * dv[at_p() + i];
            out[at_n() + i] += S_n[i] * dv[at_n() + i];
        }
    }

    void add_product(const double* dv, double* out) const override {
        base.add_product(dv, out);
        for (int i = 0; i < base.size_y; ++i) out[i] -= dv[at_p() + i] - dv[at_n() + i];
    }

private:
    template <class Job>
    bool without_objective(const Job& job) {
        const double objective = base.horizon.objective_scale;
        base.horizon.objective_scale = 0.0;
        const bool finite = job();
        base.horizon.objective_scale = objective;
        return finite;
    }

    void inherit(const Bounds& from, Bounds& to) const {
        to.count = 0;
        for (int i = 0; i < from.size; ++i) {
            to.set(i, from.there[i] != 0.0, from.bound[i]);
            to.dual[i] = std::min(from.dual[i], RHO / base.size[i]);
        }
    }

    int at_p() const { return base.size_v; }
    int at_n() const { return base.size_v + base.size_y; }

    void lay_out(Arena& a) {
        lower.lay_out(a, size_v);
        upper.lay_out(a, size_v);
        upper.sign = -1.0;
        reference = a.vector(base.size_v), scale = a.vector(base.size_v), base_sigma = a.vector(base.size_v);
        gradient_v = a.vector(size_v), size = a.vector(size_v), unit = a.vector(size_v);
        if (size) std::fill_n(size, size_v, 1.0), std::fill_n(unit, size_v, 1.0);
        for (double** vector : {&sigma_p, &sigma_n, &S_p, &S_n, &D, &right}) *vector = a.vector(size_y);
        real_row = a.indices(size_y);
        if (!real_row) return;
        for (std::size_t k = 0; k < base.riccati.stages.size(); ++k) {
            const Riccati::Stage& s = base.riccati.stages[k];
            if (k) std::fill_n(real_row + s.at_x, s.nx, 1);
            std::fill_n(real_row + base.at_eta() + s.at_g, s.ng, 1);
            std::fill_n(real_row + base.at_nu() + base.horizon.at_c[k], base.horizon.inequality_count[k], 1);
        }
    }

    OptimalControl& base;
    Arena arena;
    double zeta = 0.0;
    double *reference, *scale, *base_sigma, *gradient_v, *sigma_p, *sigma_n, *S_p, *S_n, *D, *right;
    int* real_row;  // 0 in the gaps of y
};

}  // namespace trisweep
