// The problem at a point as the sweep sees it, beside the matrices H, E and G of the sweep's own stages: C of the inequalities,
// the gradient of the objective, by how much objective and rows are scaled, and products with the rows' derivatives J.
#pragma once

#include <algorithm>
#include <climits>
#include <vector>

#include "kernels/unit.hpp"
#include "riccati/riccati.hpp"

namespace trisweep {

class Linearization {
public:
    Linearization(Riccati& riccati, const std::vector<int>& inequalities)
        : riccati(riccati), inequality_count(inequalities) {
        for (int count : inequality_count) {
            at_c.push_back(size_c);
            size_c += padded(count);
        }
        arena.build([this](Arena& a) { lay_out(a); });
        dynamics_scale = row_scale;
        slopes.reserve(std::size_t(riccati.size_g + size_c));
        equality_scale = dynamics_scale + riccati.size_x;
        inequality_scale = equality_scale + riccati.size_g;
    }

    double* C(int stage) const { return inequality_rows[stage]; }  // (n, inequalities): rows as columns along z

    void forget_scales() {
        objective_scale = 1.0;
        std::fill_n(row_scale, riccati.size_x + riccati.size_g + size_c, 1.0);
    }

    // The unit of equalities and inequalities out of their scales. It is told by those of one variable, such as where a motion starts,
    // or by all where there are none of these: by their derivatives times the `unit` (along z) of the variables.
    void leave_out_unit(const double* unit) {
        const auto typical_slope = [&](int fewest) {
            slopes.clear();
            each_stated_row([&](double&, const double* row, int n, int at) {
                const int entries = n - int(std::count(row, row + n, 0.0));
                if (entries >= 1 && entries <= fewest) slopes.push_back(largest_term(n, row, unit + at));
            });
            return quantile(slopes, TYPICAL);
        };
        double typical = typical_slope(1);
        if (typical == 0.0) typical = typical_slope(INT_MAX);
        const double of_rows = typical > 0.0 ? unit_of(typical, LEAST_SLOPE) : 1.0;
        if (of_rows == 1.0) return;
        each_stated_row([&](double& scale, double* row, int n, int) {
            scale /= of_rows;
            for (int i = 0; i < n; ++i) row[i] /= of_rows;
        });
    }

    // Scale the objective and the dynamics to derivatives of at most `largest`, times the `size` (along z) of their variables, and
    // equalities and inequalities to LARGEST_OF_ROWS, where that takes a factor below `matters` (Sathya 2024c Sec. 3.8). Whether that
    // was anywhere. No part of H follows.
    bool reduce_scales(const double* size, double largest, double matters) {
        constexpr double SMALLEST = 1e-8, LARGEST_OF_ROWS = 30.0;
        bool changed = false;
        each_scale(size, [&](double& scale, double entry) {
            const bool stated = &scale >= equality_scale && &scale < inequality_scale + size_c;
            const double factor = std::max((stated ? LARGEST_OF_ROWS : largest) / entry, SMALLEST / scale);
            if (!(factor < matters)) return 1.0;
            changed = true;
            return factor;
        });
        return changed;
    }

    // The same to at least `least`, where there are any.
    void enlarge_scales(const double* size, double least) {
        constexpr double MOST = 1e4, MOST_OF_COST = 1e8;  // by which: what is small at a point may be so by chance
        each_scale(size, [&](double& scale, double entry) {
            const double most = &scale == &objective_scale ? MOST_OF_COST : MOST;
            return entry > 0.0 && entry < least ? std::min(least / entry, most) : 1.0;
        });
    }

    // Equalities and inequalities without any slope, of these values, by how far they are from their limits in their unit.
    void scale_flat_rows(const double* g, const double* c, const double* low, const double* high, double largest) {
        const auto scale_by = [&](double apart, double& scale) {
            if (apart * scale > largest && apart < INFINITY) scale = largest / apart;
        };
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            const auto is_flat = [&](const double* row) { return largest_entry(s.n, row) == 0.0; };
            for (int i = 0, at = s.at_g; i < s.ng; ++i, ++at)
                if (is_flat(s.G + i * s.n)) scale_by(std::fabs(g[at]), equality_scale[at]);
            for (int i = 0, at = at_c[k]; i < inequality_count[k]; ++i, ++at)
                if (is_flat(C(int(k)) + i * s.n))
                    scale_by(std::min(std::fabs(c[at] - low[at]), std::fabs(high[at] - c[at])), inequality_scale[at]);
        }
    }

    // out += J dz of the rows d (E'z - x_child), G'z, C'z, which stand one kind after the other.
    void add_product(const double* dz, double* out) const {
        riccati.shared.each(0, int(riccati.stages.size()), [&](int k) {
            const Riccati::Stage& s = riccati.stages[k];
            for (int c = s.first_child; c >= 0; c = riccati.stages[c].sibling) {
                const Riccati::Stage& child = riccati.stages[c];
                for (int i = 0; i < child.nx; ++i) swept[child.at_x + i] = -dz[child.at_z + child.up + i];
            }
            add_rows(k, dz + s.at_z, out);
        });
    }

    // The same of a change of z of stage k alone, x_child left out.
    void add_stage_product(int k, const double* dz, double* out) const {
        const Riccati::Stage& s = riccati.stages[k];
        for (int c = s.first_child; c >= 0; c = riccati.stages[c].sibling)
            std::fill_n(swept + riccati.stages[c].at_x, riccati.stages[c].nx, 0.0);
        add_rows(k, dz, out);
    }

    // out += J' y
    void add_transposed_product(const double* y, double* out) const {
        const double *eta = y + riccati.size_x, *nu = eta + riccati.size_g;
        for (int i = 0; i < riccati.size_x; i += W) store(swept + i, load(dynamics_scale + i) * load(y + i));
        riccati.shared.each(0, int(riccati.stages.size()), [&](int k) {
            const Riccati::Stage& s = riccati.stages[k];
            double* z = out + s.at_z;
            multiply_add(s.n, s.ng, s.G, s.n, eta + s.at_g, z);
            multiply_add(s.n, inequality_count[k], C(k), s.n, nu + at_c[k], z);
            for (int c = s.first_child; c >= 0; c = riccati.stages[c].sibling) {
                const Riccati::Stage& child = riccati.stages[c];
                child.light.multiply_add(s.n, child.nx, child.E, swept + child.at_x, z);
            }
            double *x = z + s.up, *own = swept + s.at_x;
            for (int i = 0; k > 0 && i < padded(s.nx); i += W) store(x + i, load(x + i) - load(own + i));
        });
    }

    // Whether dynamics and equalities r at z are zero to within `allowed` of what is added up in them.
    bool rows_hold(const double* z, const double* r, double allowed) const {
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            const auto holds = [&](const double* row, double scale, double x, double rest) {
                vec sum{}, size{};
                for (int t = 0; t < s.n; t += W) {
                    const vec term = load(row + t) * load(z + s.at_z + t);
                    sum += term, size += magnitude(term);
                }
                const double summands =
                    trisweep::sum(size) + std::fabs(x) + std::fabs(rest / scale - (trisweep::sum(sum) - x));
                return std::fabs(rest) <= allowed * scale * summands;
            };
            for (int i = 0; i < s.ng; ++i)
                if (!holds(s.G + i * s.n, 1.0, 0.0, r[riccati.size_x + s.at_g + i])) return false;
            for (int c = s.first_child; c >= 0; c = riccati.stages[c].sibling) {
                const Riccati::Stage& child = riccati.stages[c];
                for (int i = 0; i < child.nx; ++i)
                    if (!holds(child.E + i * s.n, dynamics_scale[child.at_x + i], z[child.at_z + child.up + i],
                               r[child.at_x + i]))
                        return false;
            }
        }
        return true;
    }

    // `sum` and the sizes of all terms of J z.
    double row_terms(const double* z, double sum) const {
        vec found{};
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            const auto add = [&](const double* row, double scale) {
                vec terms{};
                for (int t = 0; t < s.n; t += W) terms += magnitude(load(row + t) * load(z + s.at_z + t));
                found += scale * terms;
            };
            for (int i = 0; i < s.ng; ++i) add(s.G + i * s.n, 1.0);
            for (int i = 0; i < inequality_count[k]; ++i) add(C(int(k)) + i * s.n, 1.0);
            for (int c = s.first_child; c >= 0; c = riccati.stages[c].sibling) {
                const Riccati::Stage& child = riccati.stages[c];
                const double *d = dynamics_scale + child.at_x, *x = z + child.at_z + child.up;
                for (int i = 0; i < child.nx; ++i) {
                    sum += d[i] * std::fabs(x[i]);
                    add(child.E + i * s.n, d[i]);
                }
            }
        }
        return sum + trisweep::sum(found);
    }

    Riccati& riccati;
    const std::vector<int> inequality_count;  // of each stage
    std::vector<int> at_c;                    // where they begin
    int size_c = 0;
    double* gradient;  // of the objective, along z
    double objective_scale = 1.0;
    double* row_scale;                                           // of all rows: dynamics, equalities, inequalities
    double *dynamics_scale, *equality_scale, *inequality_scale;  // its parts

protected:
    static void scaled(int count, const double* from, const double* scale, double* to) {
        for (int i = 0; i < count; ++i) to[i] = scale[i] * from[i];
    }

private:
    // Slopes of rows that are natural to write down, from this one to 100 times it, and the share of all that is below.
    static constexpr double LEAST_SLOPE = 0.3, TYPICAL = 0.25;

    // Every scale times factor_of(it, the largest derivative of what it scales).
    template <class Factor>
    void each_scale(const double* size, const Factor& factor_of) {
        const auto multiply = [&](double& scale, double entry, int length, double* row) {
            const double factor = factor_of(scale, entry);
            if (factor == 1.0) return;
            scale *= factor;
            for (int i = 0; i < length; ++i) row[i] *= factor;
        };
        multiply(objective_scale, largest_term(riccati.size_z, gradient, size), riccati.size_z, gradient);
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            const double* sizes = size + s.at_z;
            for (int c = s.first_child; c >= 0; c = riccati.stages[c].sibling) {
                const Riccati::Stage& child = riccati.stages[c];
                for (int i = 0; i < child.nx; ++i) {
                    double& scale = dynamics_scale[child.at_x + i];
                    const double next = size[child.at_z + child.up + i];
                    const double term = std::max(next, largest_term(s.n, child.E + i * s.n, sizes));
                    multiply(scale, scale * term, 0, nullptr);
                }
            }
        }
        each_stated_row([&](double& scale, double* row, int n, int at) {
            multiply(scale, largest_term(n, row, size + at), n, row);
        });
    }

    // job(scale, row, its length, where that begins along z) of all equalities and inequalities.
    template <class Job>
    void each_stated_row(const Job& job) {
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            for (int i = 0; i < s.ng; ++i) job(equality_scale[s.at_g + i], s.G + i * s.n, s.n, s.at_z);
            for (int i = 0; i < inequality_count[k]; ++i)
                job(inequality_scale[at_c[k] + i], C(int(k)) + i * s.n, s.n, s.at_z);
        }
    }

    static double largest_term(int length, const double* row, const double* sizes) {
        return largest_over(padded(length), [=](int t) { return magnitude(load(row + t) * load(sizes + t)); });
    }

    // out += J z of the rows that stage k has z in, those of its edges with what `swept` has there.
    void add_rows(int k, const double* z, double* out) const {
        const Riccati::Stage& s = riccati.stages[k];
        double *g = out + riccati.size_x, *c = g + riccati.size_g;
        transposed_multiply_add(s.n, s.ng, s.G, s.n, z, g + s.at_g);
        transposed_multiply_add(s.n, inequality_count[k], C(k), s.n, z, c + at_c[k]);
        for (int i = s.first_child; i >= 0; i = riccati.stages[i].sibling) {
            const Riccati::Stage& child = riccati.stages[i];
            double* x = swept + child.at_x;
            child.light.transposed_multiply_add(s.n, child.nx, child.E, z, x);
            for (int r = 0; r < child.nx; ++r) out[child.at_x + r] += dynamics_scale[child.at_x + r] * x[r];
        }
    }

    void lay_out(Arena& a) {
        gradient = a.vector(riccati.size_z), swept = a.vector(riccati.size_x);
        row_scale = a.vector(riccati.size_x + riccati.size_g + size_c);
        inequality_rows.resize(riccati.stages.size());
        for (std::size_t k = 0; k < riccati.stages.size(); ++k)
            inequality_rows[k] = a.matrix(riccati.stages[k].n, inequality_count[k]);
    }

    Arena arena;
    std::vector<double*> inequality_rows;
    std::vector<double> slopes;  // of rows
    double* swept;               // of the edges' rows, without their scale
};

}  // namespace trisweep
