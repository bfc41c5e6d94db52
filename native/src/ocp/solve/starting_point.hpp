// Where a solve starts (Wächter and Biegler 2006, Sec. 3.6 and 3.8): the problem scaled by its derivatives, the guess moved
// inside its bounds, slacks that meet the inequalities, multipliers by least squares or those of an earlier solution, and mu.
#pragma once

#include <algorithm>
#include <span>

#include "far_start.hpp"
#include "interior_point/interior_point.hpp"
#include "jump.hpp"
#include "ocp/stages/structure.hpp"
#include "scaling.hpp"
#include "sizes.hpp"

namespace trisweep {

class StartingPoint {
public:
    StartingPoint(OptimalControl& program, const Packing& packing, const Structure& s)
        : program(program),
          packing(packing),
          jump(program, packing, s.variables),
          sizes(program, packing, s.variables, {&s.turns, &s.durations}),
          scaling(program),
          far_start(program) {
        arena.build([this](Arena& a) {
            const int n = this->program.size_v;
            for (double** vector : {&low, &high, &scaled_low, &scaled_high, &v, &w, &room, &cold})
                *vector = a.vector(n);
            y = a.vector(this->program.size_y);
            cold_stage_parameters = a.vector(this->program.horizon.stage_parameter_count);
        });
    }

    // What has become much steeper since, as `Scaling` has it.
    bool scale_further(const double* z, double matters) { return scaling.run_further(z, matters); }

    // Of all stages' (u, x), and of all stages' inequalities; infinite where there is none.
    void set_bounds(std::span<const double> z_low, std::span<const double> z_high, std::span<const double> c_low,
                    std::span<const double> c_high) {
        std::fill_n(low, program.size_v, -INFINITY);
        std::fill_n(high, program.size_v, INFINITY);
        packing.unpack("z_low", z_low, packing.z, low);
        packing.unpack("z_high", z_high, packing.z, high);
        packing.unpack("c_low", c_low, packing.c, low);
        packing.unpack("c_high", c_high, packing.c, high);
        program.bound_excess(low, high);
    }

    void set_guess(std::span<const double> z) {
        std::fill_n(v, program.size_v, 0.0);
        packing.unpack("z", z, packing.z, v);
        falls_back = false;
    }

    // Where a warm start gives way to a cold one, if the problem has moved far from it.
    void set_fallback(std::span<const double> z, std::span<const double> stage_parameters) {
        packing.unpack("z", z, packing.z, cold);
        Packing::expect_size("parameters of the stages", stage_parameters.size(),
                             program.horizon.stage_parameter_count);
        std::copy(stage_parameters.begin(), stage_parameters.end(), cold_stage_parameters);
        falls_back = true;
    }

    // As in `Result`; used where the settings ask for a warm start.
    void set_multipliers(std::span<const double> rows, std::span<const double> bounds) {
        std::fill_n(y, program.size_y, 0.0);
        std::fill_n(w, program.size_v, 0.0);
        packing.unpack("y", rows, packing.y, y);
        packing.unpack("w", bounds, packing.z, w);
        packing.unpack("multipliers of inequalities", rows.last(packing.c.size()), packing.c, w);
    }

    // Less room beyond the limits of entry i of v: clearly within the tolerance, of something of this size. The point stays inside.
    void limit_room(int i, double size, Iterate& point) {
        const int slack = i - program.at_slack();
        const double d = slack < 0 ? 1.0 : program.horizon.inequality_scale[slack];
        room[i] = std::min(room[i], CLEARLY * tolerance * size);
        if (program.lower.there[i] != 0.0) {
            program.lower.bound[i] = d * low[i] - room[i];
            point.v[i] = std::max(point.v[i], d * low[i] - 0.5 * room[i]);
        }
        if (program.upper.there[i] != 0.0) {
            program.upper.bound[i] = d * high[i] + room[i];
            point.v[i] = std::min(point.v[i], d * high[i] + 0.5 * room[i]);
        }
    }

    // What was set as new bounds of a point that stays what it is, inside of them; multipliers and scales stay. False where a
    // bound has come or gone.
    bool move_bounds(Iterate& point) {
        for (int i = 0; i < program.size_v; ++i) {
            const int slack = i - program.at_slack();
            const double d = slack < 0 || i >= program.at_over() ? 1.0 : program.horizon.inequality_scale[slack];
            if ((low[i] > -INFINITY) != (program.lower.there[i] != 0.0) ||
                (high[i] < INFINITY) != (program.upper.there[i] != 0.0))
                return false;
            if (program.lower.there[i] != 0.0) program.lower.bound[i] = d * low[i] - room[i];
            if (program.upper.there[i] != 0.0) program.upper.bound[i] = d * high[i] + room[i];
            put_inside(program, i, point.v);
        }
        return true;
    }

    // Bring an interior point here: its f and r are then known. `scaled`: the problem is scaled already. False where a number
    // is not finite.
    bool prepare(InteriorPoint& interior_point, bool scaled) {
        const Settings& settings = interior_point.settings;
        Iterate& point = interior_point.point;
        std::copy_n(v, program.size_v, point.v);
        program.set_bounds(low, high);
        if (!scaled) renew(point);
        const bool far = program.convex && !settings.warm_start;
        const double push = far ? CONVEX_PUSH : settings.warm_start ? WARM_PUSH : settings.bound_push;
        const double narrow = far ? NARROW : 0.0;
        if (!scaled) sizes.find(v, low, high);
        push_inside(program, program.size, push, 0, point.v, narrow);
        if (!scaled && !scale(point)) return false;
        tolerance = settings.tolerance;
        scale_bounds();
        const bool known = !scaled && !program.convex;
        if (known) scaling.copy_values(point.f, point.r);
        if (!set_slacks(point, push, narrow, known)) return false;
        if (settings.warm_start && falls_back && jump.measure(point.v, point.r) > FAR) {
            fall_back(interior_point.settings);
            return prepare(interior_point, false);
        }
        if (settings.warm_start) {
            const double smallest = settings.smallest_barrier();
            point.mu = std::clamp(take_multipliers(point), smallest, std::max(smallest, settings.initial_barrier));
            return true;
        }
        if (program.convex) {
            std::fill_n(point.y, program.size_y, 0.0);
            point.mu = CENTRAL_MU;
            program.refresh_gaps(point.v);
            set_central_duals(program, CENTRAL_MU);
            return !far_start.is_due(point.r) || far_start.run(point, push, narrow);
        }
        for (Bounds* b : {&program.lower, &program.upper})
            for (int i = 0; i < b->size; ++i) b->dual[i] = b->there[i] / program.size[i];
        point.mu = settings.initial_barrier;
        return interior_point.direction.estimate_multipliers(!scaled);
    }

private:
    static constexpr double WARM_PUSH = 1e-8;  // inside its bounds, of a warm start
    // A jump after which a warm start is no better than a cold one, by the 14 families of bench/warm_starts.py.
    static constexpr double FAR = 0.15;
    // A convex quadratic program starts far from its bounds, as Mehrotra's does; what is further apart is as good as none.
    static constexpr double CONVEX_PUSH = 0.3, NARROW = 1e7;
    // Bounds below SMALL_BOUND, but not below LEAST_BOUND, are what the tolerance refers to, and so is this share of large ones.
    static constexpr double SMALL_BOUND = 1e-2, LEAST_BOUND = 1e-8, LARGE_BOUND = 1e-3;
    static constexpr double CLEARLY = 0.1;       // share of the tolerance
    static constexpr double LEAST_DUAL = 1e-12;  // of a bound
    static constexpr double CENTRAL_MU = 1.0;    // where a convex quadratic program starts

    void fall_back(Settings& settings) {
        settings.warm_start = falls_back = false;
        std::copy_n(cold, program.size_v, v);
        std::copy_n(cold_stage_parameters, program.horizon.stage_parameter_count, program.horizon.stage_parameters);
    }

    void renew(Iterate& point) {
        Stopwatch watch(point.times.functions);
        program.renew();
    }

    bool scale(Iterate& point) {
        Stopwatch watch(point.times.functions);
        ++point.times.evaluations;
        ++point.times.differentiations;
        return scaling.run(point.v, low, high);
    }

    // With room beyond every bound: an equality may hold a variable right on it (Sec. 3.5 there). That is the tolerance; less
    // beside a small bound, and more beside one whose rounding is near it.
    void scale_bounds() {
        std::copy_n(low, program.size_v, scaled_low);
        std::copy_n(high, program.size_v, scaled_high);
        for (int i = 0; i < program.horizon.size_c; ++i) {
            scaled_low[program.at_slack() + i] *= program.horizon.inequality_scale[i];
            scaled_high[program.at_slack() + i] *= program.horizon.inequality_scale[i];
        }
        for (int i = 0; i < program.size_v; i += W) {
            const vec low_here = load(scaled_low + i), high_here = load(scaled_high + i), none{};
            const auto finite = [&](vec bound) { return magnitude(bound) < INFINITY ? magnitude(bound) : none; };
            const vec bound = larger(finite(low_here), finite(high_here)), one = load(program.size + i);
            const vec small = larger(bound, LEAST_BOUND * one), large = larger(one, LARGE_BOUND * bound);
            store(room + i, tolerance * (((bound > 0.0) & (bound < SMALL_BOUND * one)) ? small : large));
        }
        std::fill(room + program.at_over(), room + program.size_v, 0.0);
        for (int i = program.at_slack(); i < program.at_over(); ++i)
            if (program.gives_way(i)) room[i] = 0.0;
        for (int i = 0; i < program.size_v; i += W) {
            store(scaled_low + i, load(scaled_low + i) - load(room + i));
            store(scaled_high + i, load(scaled_high + i) + load(room + i));
        }
        program.set_bounds(scaled_low, scaled_high);
    }

    // `known`: f and r, with slacks of zero.
    bool set_slacks(Iterate& point, double push, double narrow, bool known) {
        const int count = program.horizon.size_c;
        double *slack = point.v + program.at_slack(), *r_c = point.r + program.at_nu();
        std::fill_n(slack, program.size_v - program.at_slack(), 0.0);
        if (!known && !program.evaluate(point.v, point.f, point.r)) return false;
        std::copy_n(r_c, count, slack);
        push_inside(program, program.size, push, program.at_slack(), point.v, narrow);
        for (int i = 0; i < count; ++i) r_c[i] -= slack[i];
        program.set_excess(push, point.v, point.r);
        program.differentiate_excess(point.v);
        if (program.excess.size == 0) return true;
        return program.evaluate(point.v, point.f, point.r);
    }

    // The multipliers that were set, scaled like the problem. Returns the mean of gap times multiplier over all bounds: the mu
    // that they speak of.
    double take_multipliers(Iterate& point) {
        const Horizon& horizon = program.horizon;
        const double f = horizon.objective_scale;
        for (int i = 0; i < program.size_y; ++i) point.y[i] = f * y[i] / horizon.row_scale[i];
        double sum = 0.0;
        program.refresh_gaps(point.v);
        for (Bounds* b : {&program.lower, &program.upper})
            for (int i = 0; i < b->size; ++i) {
                if (b->there[i] == 0.0) continue;
                const int slack = program.inequality_of(i);
                const double scale = slack < 0 ? f : f / horizon.inequality_scale[slack];
                double dual = scale * std::max(-b->sign * w[i], 0.0);
                if (i >= program.at_over()) {  // what of the price the row's multiplier leaves
                    const double nu = point.y[program.at_nu() + slack];
                    dual = program.excess.price(slack, point.v[i]) + (i < program.at_under() ? -nu : nu);
                }
                b->dual[i] = std::max(dual, LEAST_DUAL);
                sum += b->dual[i] * b->gap[i];
            }
        return sum / std::max(1, bound_count(program));
    }

    OptimalControl& program;
    const Packing& packing;
    Jump jump;
    Sizes sizes;
    Scaling scaling;
    FarStart far_start;
    Arena arena;
    double *low, *high, *v, *w, *y;  // what was set: bounds, guess, multipliers of the bounds and of the rows
    bool falls_back = false;         // there is a cold start beside the warm one
    double *cold, *cold_stage_parameters;
    double *scaled_low, *scaled_high;
    double tolerance = 0.0, *room;  // beyond the scaled bounds
};

}  // namespace trisweep
