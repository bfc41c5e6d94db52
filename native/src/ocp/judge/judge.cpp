// Apart from its header, so that whoever asks it runs the same machine code.
#include "judge.hpp"

namespace trisweep {

Judge::Judge(const Structure& s) : Summands(s) {
    const std::size_t size_z = slope.size(), inequalities = g.size() - at_inequality[0];
    z_low.assign(size_z, -INFINITY);
    z_high.assign(size_z, INFINITY);
    c_low.assign(inequalities, -INFINITY);
    c_high.assign(inequalities, INFINITY);
    fixed.resize(size_z);
    for (int entry : structure.fixed) fixed[std::size_t(s.nu[0] + entry)] = true;
}

Verdict Judge::measure(const double* z, const double* y, const double* w, const double* shared,
                       const double* stage_parameters) {
    Verdict verdict;
    verdict.objective = add_up(z, y, shared, stage_parameters);
    for (std::size_t i = 0; i < structure.price.size(); ++i) verdict.objective += cost_of_excess(i);
    measure_cost(w);
    products = largest_product = 0.0;
    for (std::size_t i = 0; i < slope.size(); ++i) {
        const double size = slope_size[i] + std::fabs(w[i]);
        verdict.note(&Conditions::stationarity, fixed[i] ? 0.0 : std::fabs(slope[i] + w[i]), size,
                     [&] { return std::max(size, costless ? 1.0 : least_cost / reach[i]); });
        verdict.note(&Conditions::bounds, error_of_bound(i, z[i]), span[i], [&] { return size_of_bound(i, w[i]); });
        complement(z[i], w[i], z_low[i], z_high[i], span[i], reach[i], verdict);
    }
    const std::size_t equalities = at_equality[0], inequalities = at_inequality[0];
    for (std::size_t i = 0; i < inequalities; ++i) {
        verdict.note(i < equalities ? &Conditions::dynamics : &Conditions::equalities, std::fabs(g[i]), row_size[i],
                     [&] { return size_of_row(i, y[i]); });
    }
    for (std::size_t i = inequalities; i < g.size(); ++i) {
        if (is_soft(i - inequalities)) complement_price(i - inequalities, y[i], verdict);
        verdict.note(&Conditions::inequalities, error_of_row(i), row_size[i], [&] { return size_of_row(i, y[i]); });
        complement(g[i], y[i], c_low[i - inequalities], c_high[i - inequalities], row_limited(i), row_reach[i],
                   verdict);
    }
    if (products != 0.0)
        raise(verdict.relative.complementarity, share(std::max(largest_product, products / MANY), cost));
    return verdict;
}

}  // namespace trisweep
