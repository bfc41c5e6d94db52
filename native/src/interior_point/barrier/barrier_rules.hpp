// How mu falls from iteration to iteration: the rules, each with its name. All of a rule is here.
//
//     adaptive   Mehrotra's probing rule and his correction, guarded by the KKT error: where that has not fallen below its last
//                few values, mu is held and decreased monotonely until it has (Nocedal, Wächter and Waltz 2009, "Adaptive
//                barrier update strategies for nonlinear interior methods"). Nor does it run far ahead of the error: at a
//                bound that is met too early, degenerate rows leave no way on. Held, it falls by a factor only as long as a
//                delta is needed: faster is for steps that Newton would take. Where it fell too early it is raised (crawl.hpp)
//     monotone   as often as the barrier problem is solved well enough (Wächter and Biegler 2006, eq. 7)
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "crawl.hpp"
#include "interior_point/convergence.hpp"
#include "interior_point/line_search/line_search.hpp"

namespace trisweep {

enum class BarrierRule : int { adaptive, monotone };  // the first is everybody's who asks for none

inline constexpr std::pair<const char*, BarrierRule> BARRIER_RULES[] = {
    {"adaptive", BarrierRule::adaptive},
    {"monotone", BarrierRule::monotone},
};

class Mu {
public:
    Mu(Iterate& point, const Convergence& convergence, Direction& direction, LineSearch& search,
       const Settings& settings)
        : point(point),
          convergence(convergence),
          direction(direction),
          search(search),
          settings(settings),
          program(point.program) {}

    // Whether it is chosen with the direction: that towards complementarity zero then says how far it could fall.
    bool free = false;

    void start() {
        free = is_adaptive();
        errors.fill(INFINITY);
        next = 0;
        at_least = 0;
        crawl.start();
        limit();
    }

    // From here on it stays below what suits the point as it is.
    void limit() { most = MOST * mean_complementarity(program); }

    // f is scaled by this factor from now on: errors and points before that are no measure any more.
    void scale_cost(double factor) {
        errors.fill(INFINITY);
        most *= factor;
        search.forget();
    }

    void set(double mu) {
        const double last = std::exchange(point.mu, std::max(settings.smallest_barrier(), mu));
        if (point.mu != last) search.forget();
    }

    // By complementarity as it is.
    void hold() { set(std::min(most, HELD_SHARE * mean_complementarity(program))); }

    // Before a direction is sought.
    void update() {
        if (is_adaptive()) {
            const bool was_free = free;
            crawl.note(direction.delta(), search.taken.alpha_primal, point.f, convergence.infeasibility);
            free = progress(convergence.mean_error()) && !search.tiny && direction.delta() == 0.0;
            if (free) return;
            if (was_free) hold();
            if (crawl.to_be_left()) return set(std::min(most, RAISED * point.mu));
        }
        while (point.mu > settings.smallest_barrier() &&
               (convergence.error(point.mu) <= settings.barrier_error * point.mu || search.tiny))
            set(std::min(settings.barrier_factor * point.mu,
                         is_shifted() ? INFINITY : std::pow(point.mu, settings.barrier_power)));
    }

    // From the direction towards complementarity zero. A step that a delta has shortened says little. Where it leads far, the
    // direction that is taken is corrected by what the linear system leaves out; not where mu stays at its least, as between rows
    // that depend on each other there the two directions differ, and the correction undoes what the next one does.
    void probe() {
        if (direction.delta() != 0.0) return;
        const double* dv = direction.dv;
        const Outlook ahead = look_ahead(program, dv);
        const double share = std::min(ahead.mean_then / ahead.mean, MOST_SHARE);
        const double error = std::max(convergence.infeasibility, convergence.dual_infeasibility);
        const double least = std::min(LEAD * error, LEAST_SHARE * ahead.mean);
        set(std::min(most, std::max(least, share * share * share * ahead.mean)));
        at_least = point.mu <= settings.smallest_barrier() ? at_least + 1 : 0;
        if (std::min(ahead.primal, ahead.dual) >= FAR && at_least <= MOST_AT_LEAST) set_correction(program, dv);
    }

private:
    static constexpr double MOST = 1e3;                      // times the mean complementarity at the start
    static constexpr double FAR = 0.3;                       // share of a direction
    static constexpr int MOST_AT_LEAST = 3;                  // iterations that are corrected there
    static constexpr double LEAD = 1e-3, LEAST_SHARE = 0.1;  // least mu, of the error and of the mean complementarity
    static constexpr double RAISED = 100.0;                  // a mu that fell too early
    static constexpr double REDUCTION = 0.9999, HELD_SHARE = 0.8, MOST_SHARE = 4.6;  // 4.6^3 is about 100

    bool is_adaptive() const { return settings.barrier == BarrierRule::adaptive && bound_count(program) > 0; }

    // Whether the last direction needed a delta; the monotone rule does not ask.
    bool is_shifted() const { return is_adaptive() && direction.delta() != 0.0; }

    // Whether a point with this KKT error is progress; if it is, it will be compared with later.
    bool progress(double error) {
        if (!(error <= REDUCTION * *std::max_element(errors.begin(), errors.end()))) return false;
        errors[next] = error;
        next = (next + 1) % errors.size();
        return true;
    }

    Iterate& point;
    const Convergence& convergence;
    Direction& direction;
    LineSearch& search;
    const Settings& settings;
    Program& program;
    double most = INFINITY;
    std::array<double, 4> errors{};
    std::size_t next = 0;
    Crawl crawl;
    int at_least = 0;  // iterations, one after the other, with the least mu
};

}  // namespace trisweep
