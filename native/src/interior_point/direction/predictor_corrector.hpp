// The step of a convex quadratic program: Mehrotra's predictor-corrector (Mehrotra 1992, "On the implementation of a primal-dual
// interior point method", Sec. 2; Nocedal and Wright 2006, Algorithm 16.4), two or more directions from one
// factorization.
//
//     predictor   towards gap * dual = 0
//     corrector   towards gap * dual = sigma mu - dgap * ddual of the predictor,      sigma = (mu after the predictor / mu)^3
//     laggards    where gap and multiplier both become small, each goes halfway at a time, and a product that is above the others
//                 stays so: a pair that loses the shares a and 1 - a by the predictor is to go s times as far, with
//                 (1 - a s) (1 - (1 - a) s) gap * dual = sigma mu, of which the corrector's target is the first term of a series
//     centring    where that leads nowhere, or would let mu grow though the residuals do not ask for it (Mehrotra's rule may
//                 cycle: Cartis 2009, "Some disadvantages of a Mehrotra-type primal-dual corrector interior point algorithm")
//     again       where that step is short: products that a longer step would leave far from sigma mu are drawn back
//                 (Gondzio 1996, "Multiple centrality corrections in a primal-dual method for linear programming", Sec. 3)
//
// No product is aimed below the least mu of a solve: what is small near a solution is then small in the linear system too.
// Variables and multipliers go the same length, so that every linear residual falls by it: as long as directions are precise,
// residuals are carried along and no function is called. No search: where steps stay short the rule gives up, and the loop goes
// on with its filter.
#pragma once

#include <algorithm>
#include <array>

#include "interior_point/convergence.hpp"
#include "interior_point/settings.hpp"
#include "refinement.hpp"

namespace trisweep {

class PredictorCorrector {
public:
    PredictorCorrector(Iterate& point, const Settings& settings)
        : point(point), settings(settings), program(point.program), refinement(program) {
        arena.build([this](Arena& a) {
            for (double** vector : {&h, &sigma, &target[0], &target[1], &kept[0], &kept[1], &dv_again})
                *vector = a.vector(program.size_v);
            dy_again = a.vector(program.size_y);
        });
    }

    bool on = false;
    double alpha = 0.0;     // length of the last step
    bool may_carry = true;  // whether residuals may be carried along

    void start() {
        on = program.convex;
        carried = false, trusted = true;
        short_steps = steps = 0;
        fallen = 1.0;
        refinement.reset();
    }

    // A step from the point along (dv, dy), which are left there. `residual`: of `Convergence`. False where there is none: it is
    // then off for the rest of the solve.
    bool step(const double* residual, double* dv, double* dy) {
        on = ++steps <= MOST_STEPS && factor(residual) && predict(dv, dy);
        if (!on) return false;
        if (bound_count(program) > 0) {
            correct(residual, dv, dy);
            if (leads_nowhere(residual)) centralize(residual, dv, dy);
            for (int i = 0; i < MOST_AGAIN && correct_again(residual, dv, dy); ++i) {
            }
        }
        refinement.complete(program, dv, dy);
        on = take(residual, dv, dy);
        return on;
    }

    // Whether the last step was nearly whole and the products fell fast: where they are small only beside large multipliers, in
    // units of its own, another step makes them so.
    bool falls_fast() const { return on && alpha >= WHOLE && fallen <= FAST; }

    // Whether f, r and the gradient of the Lagrangian after the last step are known from it, and no function was called. Once
    // they were looked at they are no longer trusted.
    bool carries() const { return on && carried; }
    void carry_no_more() { carried = trusted = false; }

private:
    static constexpr double BOUNDARY = 0.995;              // share of the way to a bound, at least
    static constexpr double SHORT = 0.05;                  // a short step
    static constexpr double WHOLE = 0.99, FAST = 0.1;      // one that is nearly whole, and the share of mu after it
    static constexpr int MOST_SHORT = 4, MOST_STEPS = 50;  // short ones, and steps in all, that end it
    static constexpr double TOO_SHORT = 0.1,
                            PROGRESS = 0.9;         // steps, and shares of mu after them, that ask for centring
    static constexpr double CENTRAL = 0.3;          // to this share of mu
    static constexpr double LARGEST_PRODUCT = 1e3;  // of dgap * ddual, relative to mu
    static constexpr double LAGGING = 3.0;          // a product, relative to mu
    // Of the corrections that follow: how many, from which length on none is worth it, how much longer a step they aim at, how
    // much longer it has to become, and the products, relative to sigma mu, that they leave alone.
    static constexpr int MOST_AGAIN = 2;
    static constexpr double LONG = 0.9, LONGER = 0.1, WORTH = 0.01, LEAST_PRODUCT = 0.1, MOST_PRODUCT = 10.0;

    // Sigma, and h of the predictor.
    bool factor(const double* residual) {
        for (int i = 0; i < program.size_v; i += W) {
            vec curvature{}, push{};
            for (const Bounds* b : bounds()) {
                const vec dual = load(b->dual + i);
                curvature += dual * load(b->inverse + i), push += b->sign * dual;
            }
            store(sigma + i, curvature);
            store(h + i, load(residual + i) + push);
        }
        Stopwatch watch(point.times.linear);
        program.take_sigma(sigma);
        ++point.times.factorizations;
        return program.factor(0.0, 0.0);
    }

    bool predict(double* dv, double* dy) {
        if (!carried) point.mu = mean_complementarity(program);
        {
            Stopwatch watch(point.times.linear);
            if (!refinement.lead(program, h, point.r, dv, dy)) return false;
        }
        look_ahead<false>(dv);
        return true;
    }

    void correct(const double* residual, double* dv, double* dy) {
        const double share = mean_after(length(1.0)) / point.mu;
        centre = std::max(share * share * share * point.mu, settings.smallest_barrier());
        const double most = LARGEST_PRODUCT * point.mu, behind = LAGGING * point.mu;
        aim(residual, [&](int k, int i) {
            const Bounds& b = *bounds()[k];
            const vec product = load(b.gap + i) * load(b.dual + i), none{};
            const vec lost = -b.sign * load(dv + i) * load(b.inverse + i), both = lost * (1.0 - lost);
            const vec bent = both * product, bounded = bent > most ? most - none : bent < -most ? -most - none : bent;
            const vec there = load(b.there + i), usual = there * (centre - bounded);
            if (!(largest(product) > behind)) return usual;
            const vec root = square_root(1.0 - 4.0 * both * (1.0 - centre / product));
            const vec drawn = product - 2.0 * (product - centre) / (1.0 + root);
            return ((product > behind) & (both > 0.0)) ? drawn : usual;
        });
        turn(dv, dy);
    }

    bool leads_nowhere(const double* residual) const {
        if (largest_step() < TOO_SHORT) return true;
        if (mean_after(largest_step()) <= PROGRESS * point.mu) return false;
        return std::max(largest_size(program.size_v, residual), largest_size(program.size_y, point.r)) <= point.mu;
    }

    // Towards products that are all alike.
    void centralize(const double* residual, double* dv, double* dy) {
        centre = CENTRAL * point.mu;
        aim(residual, [&](int k, int i) { return centre * load(bounds()[k]->there + i); });
        turn(dv, dy);
    }

    // Another direction in place of (dv, dy), if it leads further. False where another one is not worth its time.
    bool correct_again(const double* residual, double* dv, double* dy) {
        const double before = largest_step();
        if (before >= LONG) return false;
        const double longer = std::min(1.0, before + LONGER), least = LEAST_PRODUCT * centre,
                     most = MOST_PRODUCT * centre;
        aim(residual, [&](int k, int i) {
            const Bounds& b = *bounds()[k];
            const vec gap = load(b.gap + i) + longer * b.sign * load(dv + i);
            const vec product = gap * (load(b.dual + i) + longer * load(b.step + i));
            store(kept[k] + i, load(target[k] + i));
            const vec drawn = product < least ? least - product : product > most ? most - product : vec{};
            return load(target[k] + i) + load(b.there + i) * larger(drawn, -most - vec{});
        });
        {
            Stopwatch watch(point.times.linear);
            refinement.complete(program, dv, dy);
        }
        turn(dv_again, dy_again);
        if (largest_step() < before + WORTH) {
            refinement.leave();
            aim(residual, [&](int k, int i) { return load(kept[k] + i); });
            look_ahead<true>(dv);
            return false;
        }
        copy(program.size_v, dv_again, dv);
        copy(program.size_y, dy_again, dy);
        return true;
    }

    bool take(const double* residual, const double* dv, const double* dy) {
        alpha = largest_step();
        if (alpha < SHORT && ++short_steps >= MOST_SHORT) return false;
        carried = may_carry && trusted && refinement.precise();
        const double moved = gained(residual, dv, dy), before = point.mu;
        if (!std::isfinite(moved)) return false;
        move(dv, dy);
        fallen = point.mu / before;
        if (!carried) {
            if (!point.evaluate()) return false;
            point.settle();
            return true;
        }
        point.f += moved;
        for (int i = 0; i < program.size_y; i += W) store(point.r + i, (1.0 - alpha) * load(point.r + i));
        point.violation = point.violation_of(point.r);
        return true;
    }

    // What the objective becomes more by the step, from the linear system alone: with J dv = -r its slope along dv is that of the
    // Lagrangian with r'y and the bounds' multipliers, its curvature -h'dv - dv'Sigma dv + r'dy.
    double gained(const double* residual, const double* dv, const double* dy) const {
        vec slopes{}, curvature{}, of_rows{}, bent_rows{};
        for (int i = 0; i < program.size_v; i += W) {
            const vec d = load(dv + i);
            vec along = load(residual + i);
            for (const Bounds* b : bounds()) along += b->sign * load(b->dual + i);
            slopes += along * d;
            curvature -= (load(h + i) + load(sigma + i) * d) * d;
        }
        for (int i = 0; i < program.size_y; i += W) {
            of_rows += load(point.r + i) * load(point.y + i);
            bent_rows += load(point.r + i) * load(dy + i);
        }
        return alpha * (sum(slopes) + sum(of_rows) + 0.5 * alpha * (sum(curvature) + sum(bent_rows)));
    }

    // The step itself, of everything that is no value of a function.
    void move(const double* dv, const double* dy) {
        vec products{};
        for (int i = 0; i < program.size_v; i += W) {
            store(point.v + i, load(point.v + i) + alpha * load(dv + i));
            for (Bounds* b : bounds()) {
                const vec gap = b->gaps(point.v, i), dual = load(b->dual + i) + alpha * load(b->step + i);
                store(b->dual + i, dual), store(b->gap + i, gap), store(b->inverse + i, load(b->there + i) / gap);
                products += gap * dual;
            }
        }
        for (int i = 0; i < program.size_y; i += W) store(point.y + i, load(point.y + i) + alpha * load(dy + i));
        point.mu = sum(products) / std::max(1, bound_count(program));
    }

    // The targets from here on, of_entry(k, i) from entry i on of bounds k, and h that goes with them: the gradient of the
    // Lagrangian with target / gap as the bounds' multipliers.
    template <class Target>
    void aim(const double* residual, const Target& of_entry) {
        for (int i = 0; i < program.size_v; i += W) {
            vec slope = load(residual + i);
            for (int k = 0; k < 2; ++k) {
                const Bounds& b = *bounds()[k];
                const vec aimed_at = of_entry(k, i);
                store(target[k] + i, aimed_at);
                slope += b.sign * (load(b.dual + i) - aimed_at * load(b.inverse + i));
            }
            store(h + i, slope);
        }
    }

    // The direction to the targets.
    void turn(double* dv, double* dy) {
        {
            Stopwatch watch(point.times.linear);
            refinement.turn(program, h, point.r, dv, dy);
        }
        look_ahead<true>(dv);
    }

    // Steps of the bounds' multipliers towards the targets, or towards zero where there are none; how far they and dv may go, and
    // what the products of gap and multiplier then are.
    template <bool AIMED>
    void look_ahead(const double* dv) {
        vec rate{}, linear{}, square{};
        for (int i = 0; i < program.size_v; i += W)
            for (int k = 0; k < 2; ++k) {
                Bounds& b = *bounds()[k];
                const vec dual = load(b.dual + i), closer = b.sign * load(dv + i), inverse = load(b.inverse + i);
                const vec aimed_at = AIMED ? load(target[k] + i) : vec{};
                const vec step = inverse * (aimed_at - dual * closer) - dual;
                store(b.step + i, step);
                const vec there = load(b.there + i);
                const vec lost = AIMED ? -step / (dual + (1.0 - there)) : there * (1.0 + closer * inverse);
                rate = larger(rate, larger(-closer * inverse, lost));
                linear += load(b.gap + i) * step + closer * dual;
                square += closer * step;
            }
        fastest = largest(rate), slope = sum(linear), bend = sum(square);
    }

    // The largest step in (0, 1] that keeps the share 1 - tau of every gap and multiplier.
    double length(double tau) const { return tau / std::max(tau, fastest); }
    double largest_step() const { return length(std::max(BOUNDARY, 1.0 - point.mu)); }

    // The mean of gap times multiplier after a step of this length.
    double mean_after(double step) const {
        const double mean = point.mu + step * (slope + step * bend) / std::max(1, bound_count(program));
        return std::max(mean, 0.0);
    }

    std::array<Bounds*, 2> bounds() const { return {&program.lower, &program.upper}; }

    Iterate& point;
    const Settings& settings;
    Program& program;
    Arena arena;
    Refinement refinement;
    int steps = 0, short_steps = 0;
    bool carried = false, trusted = true;
    double fallen = 1.0;                            // share of mu that the last step left
    double centre = 0.0;                            // sigma mu
    double fastest = 0.0, slope = 0.0, bend = 0.0;  // of `look_ahead`: the share of a gap or multiplier that is lost
                                                    // first, and the sum of products along the step
    double *h, *sigma, *dv_again, *dy_again;
    std::array<double*, 2> target;  // of gap times multiplier, of the lower and the upper bounds
    std::array<double*, 2> kept;    // the targets before the last correction
};

}  // namespace trisweep
