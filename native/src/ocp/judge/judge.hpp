// The KKT conditions of a problem at a point, computed again from the compiled functions, apart from the solver: in plain
// vectors, in the units of the statement, by nothing that the solver chose. `ocp/judge` computes the same through CasADi alone.
//
//     minimise f(z)   with   l <= g(z) <= h : y   and   zl <= z <= zh : w        (vectors as in `Result`)
//     stationarity    f'(z) + g'(z)' y + w = 0                 H = f'' + y g''
//     complementarity y, w > 0 only on an upper limit, < 0 only on a lower one
// What is beyond soft limits costs its price: y is that there, and no more on either side of it.
//
// Each is measured relative to the terms that are summed there, at the point itself, so that no change of units (of the
// cost, of a variable, of a row) changes the verdict:
//     a row     |g'| |z| + |g - g' z|, of the dynamics at most OWN times what it is made of, |F| + |x|, L of x or SMALL: a
//               function that bends within a share of its variables is no larger for its slopes
//     a slope   |f'| + |g'|' |y| + |w| + |H| |z|
//     a product of multiplier and gap   C, the cost's scale: the sum of |f' z|, or of |f| where that is less;
//               all of them together MANY times that: each is a part of the cost that is left to gain
// Terms may all be zero at a solution (a motion that ends at rest at the origin). What they are small against is then
//     L   the largest |z| of the same variable on any stage
//     N   the size of a variable that would be a term like the others in all its rows
//     Z   L, at least SMALL of 1, or of N or the largest |z| of all, whichever is less: beside what has other units nothing counts
//     a row     SMALL |g'| Z, Z at least NOTICED of the largest of all and of 1: functions have terms inside that are not
//               seen here, but rounded
//     C         the largest of SMALL times the products of a slope's terms, but |H| |z|, and its variable, of H (SMALL N)^2 with
//               the N of that stage alone, and of ROUNDED |f|. Where a variable and all beside it rest at zero, N says nothing:
//               its limits do, or 1
//     a slope   that / Z
//     a limit   Z, of a row |g'| Z + |g - g' z|: it may be loosened by the tolerance everywhere
// Rows and limits are compared with more than their own terms, and L, only where an error of that size moves the cost by no more
// than the tolerance of C.
// A cost without slopes has no scale: every point that meets the rows is a solution, and C and its slopes count as 1.
#pragma once

#include <span>

#include "summands.hpp"
#include "verdict.hpp"

namespace trisweep {

class Judge : public Summands {
public:
    explicit Judge(const Structure& s);

    double cost = 1.0;  // C, as measured last

    void set_bounds(std::span<const double> z_lower, std::span<const double> z_upper, std::span<const double> c_lower,
                    std::span<const double> c_upper) {
        std::copy(z_lower.begin(), z_lower.end(), z_low.begin());
        std::copy(z_upper.begin(), z_upper.end(), z_high.begin());
        std::copy(c_lower.begin(), c_lower.end(), c_low.begin());
        std::copy(c_upper.begin(), c_upper.end(), c_high.begin());
    }

    // By how much a row, or a value of z, is off; of the rows, as measured last.
    double error_of_row(std::size_t i) const {
        if (i < at_inequality[0]) return std::fabs(g[i]);
        if (is_soft(i - at_inequality[0])) return 0.0;
        return outside(g[i], c_low[i - at_inequality[0]], c_high[i - at_inequality[0]]);
    }
    double error_of_bound(std::size_t i, double value) const { return outside(value, z_low[i], z_high[i]); }

    // What that is compared with, beside its multiplier: the terms or the size of what is limited, or, where that is more and the
    // cost does not mind, what these are small against.
    double size_of_row(std::size_t i, double multiplier) const {
        if (i >= at_inequality[0]) return size_of_limit(row_limited(i), row_reach[i], multiplier);
        const double force = std::fabs(multiplier);
        return std::max(row_size[i],
                        std::min(SMALL * row_reach[i], force * std::fabs(g[i]) > 0.0 ? cost / force : INFINITY));
    }
    double size_of_bound(std::size_t i, double multiplier) const {
        return size_of_limit(span[i], reach[i], multiplier);
    }

    // NaN in a condition where a function is not finite.
    Verdict measure(const double* z, const double* y, const double* w, const double* shared,
                    const double* stage_parameters);

private:
    static constexpr double MANY = 300.0;
    static constexpr double ROUNDED = 1e-5;   // of |f|: the tolerance of that is rounding
    static constexpr double NO_COST = 1e-12;  // the least scale of a cost that has slopes
    static constexpr double AT_REST = 1e-12;  // values, and terms beside them, that are zero but for rounding

    bool is_soft(std::size_t i) const { return i < structure.price.size() && structure.price[i] < INFINITY; }

    // Of inequality i: what is beyond its limits, and its price for one more of it.
    double excess(std::size_t i) const { return outside(g[at_inequality[0] + i], c_low[i], c_high[i]); }
    double price(std::size_t i) const { return structure.price[i] + structure.price_growth[i] * excess(i); }

    // Its part of the objective, which is one of the cost's sizes too.
    double cost_of_excess(std::size_t i) {
        if (!is_soft(i)) return 0.0;
        const double beyond = excess(i), part = 0.5 * (structure.price[i] + price(i)) * beyond;
        cost_size += part;
        cost_terms += price(i) * beyond;
        costless &= !(price(i) * beyond > 0.0);
        return part;
    }

    // A multiplier above the price is a slope that nothing balances; one below it leaves something to gain beyond the limit.
    void complement_price(std::size_t i, double multiplier, Verdict& verdict) {
        const double size = size_of_row(at_inequality[0] + i, multiplier);
        const double beyond = excess(i), top = price(i), value = g[at_inequality[0] + i];
        const double pressure = beyond > 0.0 ? (value > c_high[i] ? multiplier : -multiplier) : std::fabs(multiplier);
        verdict.note(&Conditions::stationarity, std::max(pressure - top, 0.0), std::max({pressure, top, cost / size}));
        const double left = std::max(top - pressure, 0.0) * beyond;
        if (left == 0.0) return;
        raise(verdict.residual.complementarity, std::max(top - pressure, 0.0) * std::min(beyond, 1.0));
        take_product(cost * std::min({left / cost, (top - pressure) / top, beyond / size}));
    }

    // S and C from the slopes' terms.
    void measure_cost(const double* w) {
        double steepest = costless ? 1.0 : NO_COST;
        for (std::size_t i = 0; !costless && i < slope.size(); ++i)
            raise(steepest, (slope_size[i] + std::fabs(w[i])) * largest[std::size_t(structure.variables[i])]);
        for (std::size_t i = 0; i < slope.size(); ++i) slope_size[i] += bent[i];
        least_cost = std::max(SMALL * steepest, ROUNDED * cost_size);
        for (std::size_t i = 0; i < slope.size(); ++i) {
            const double size = SMALL * natural_size(i);
            raise(least_cost, curvature[i] * size * size);
        }
        cost = costless ? 1.0 : std::max(std::min(cost_terms, cost_size), least_cost);
    }

    // N of an entry of z, at its own stage; where that is rounding, as at a motion that stays at zero, its nearer limit, at most 1
    // and at most what any other is.
    double natural_size(std::size_t i) const {
        const std::size_t variable = std::size_t(structure.variables[i]);
        if (std::max(natural[variable], largest[variable]) >= AT_REST) return std::min(natural[variable], matters[i]);
        double size = largest_of_all >= AT_REST ? std::min(largest_of_all, 1.0) : 1.0;
        for (double limit : {z_low[i], z_high[i]})
            if (limit != 0.0) size = std::min(size, std::fabs(limit));
        return size;
    }

    double row_limited(std::size_t i) const { return std::max(row_size[i], row_span[i]); }
    double size_of_limit(double size, double reached, double multiplier) const {
        const double allowed = multiplier != 0.0 ? cost / std::fabs(multiplier) : INFINITY;
        return std::max(size, std::min(reached, allowed));
    }

    static double outside(double value, double low, double high) {
        return std::isnan(value) ? value : std::max({low - value, value - high, 0.0});
    }

    // |multiplier| times the distance to the limit it presses on, which counts as 1 at most, also if there is none; a value
    // right on its limit is complementary whatever presses it there.
    void complement(double value, double multiplier, double low, double high, double size, double reached,
                    Verdict& verdict) {
        const double gap = std::max(multiplier > 0.0 ? high - value : value - low, 0.0), force = std::fabs(multiplier);
        const double product = force * std::min(gap, 1.0);
        raise(verdict.residual.complementarity, product);
        if (product == 0.0) return;
        // A limit counts that is no further away than the value is large, and one that is not there as if it were. Beside what is
        // limited the gap may be less than the product is beside C.
        const double whole = force * gap, most = std::max(force * size, std::min(force * reached, cost));
        const double pressed = std::min(whole, most);
        take_product(most > cost && most <= force * LARGEST ? std::min(pressed, whole / most * cost) : pressed);
    }

    void take_product(double product) {
        products += product;
        raise(largest_product, product);
    }

    std::vector<double> z_low, z_high, c_low, c_high;
    double least_cost = 1.0;                       // what C is at least
    double products = 0.0, largest_product = 0.0;  // of multipliers and gaps: all of them together, and one
    std::vector<char> fixed;                       // entries of z that are given
};

}  // namespace trisweep
