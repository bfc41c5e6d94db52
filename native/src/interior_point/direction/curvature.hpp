// Where the Hessian curves down along a direction that the rows leave open, it is changed until it does not. The rules, each
// with its name; all of a rule is here.
//
//     damped     where the cost alone curves up along all such directions, the rows' own curvature y'r'' counts by a half, then
//                not at all: what is left is as convex as the cost and in its units, and near a solution nothing is changed.
//                Nor does so much of the cost's as comes from dynamics inside of it: a square of accelerations is then as
//                convex as Gauss and Newton would have it. Where that has been needed many times running, what is left out is
//                what matters: as "shifted" then, with an eager delta.
//                Other costs likewise, but no variable gets more of delta than its curvature lacks (shortfall.hpp), unless the
//                search turns steps down: then it is a tie to the point, for all.
//                Where all that is sought is to meet the rows (restoration), their curvature is left out from a step that was
//                cut short until most of one can be taken again
//     shifted    the least delta on the diagonal that serves (regularization.hpp)
//
// Where many rows are met by few controls, one step after the other, the sweep may see a direction that curves down where there is
// none: its numbers have grown until nothing of the Hessian is left in them. It is asked now and then whether it is that.
#pragma once

#include <algorithm>
#include <utility>

#include "interior_point/iterate.hpp"
#include "regularization.hpp"

namespace trisweep {

enum class CurvatureRule : int { damped, shifted };  // the first is everybody's who asks for none

inline constexpr std::pair<const char*, CurvatureRule> CURVATURE_RULES[] = {
    {"damped", CurvatureRule::damped},
    {"shifted", CurvatureRule::shifted},
};

class Curvature {
public:
    explicit Curvature(Iterate& point) : point(point), program(point.program) {
        arena.build([this](Arena& a) { no_sigma = a.vector(program.size_v); });
    }

    Regularization regularization;

    void start() {
        regularization = {};
        running = failures = 0;
        next_look = FIRST_LOOK;
        cut = turned_down = softly = false;
        program.damps = program.spares = false;
        cost = program.curved_cost ? Cost::convex : Cost::unknown;
    }

    // Of the Hessian that was computed last, with this Sigma. False where nothing serves.
    bool factor(const double* sigma, CurvatureRule rule) {
        program.take_sigma(sigma);
        regularization.clear();
        regularization.eager = rule == CurvatureRule::damped;
        program.damps = rule == CurvatureRule::damped && program.curved_cost && cut;
        if (program.damps && !point.damp(0.0)) return false;
        if (serves()) {
            running = 0;
            return true;
        }
        const bool doubted = softly || ++failures >= next_look;
        if (doubted && serves_softly()) return true;
        if (rule == CurvatureRule::damped && ++running <= MOST_RUNNING) {
            if (cost == Cost::unknown && !look_at_cost(sigma)) return false;
            program.damps = cost == Cost::convex;
            if (program.damps)
                for (const double share : SHARES) {
                    if (!point.damp(share)) return false;
                    if (serves()) return true;
                }
        }
        program.spares = cost == Cost::other && !turned_down;
        return increase(doubted);
    }

    // The share of its direction that a step took, from rows so far off; `shortened`: the search had turned down longer ones.
    void note(double alpha, double infeasibility, bool shortened) {
        regularization.note(alpha, infeasibility);
        if (alpha < SHORT) cut = true, turned_down |= shortened;
        if (alpha > LONG) cut = turned_down = false;
    }

private:
    static constexpr double SHARES[] = {0.5, 0.0};
    static constexpr double SHORT = 0.1, LONG = 0.5;  // shares of a direction
    static constexpr int MOST_RUNNING = 20;           // iterations
    static constexpr int FIRST_LOOK = 4,
                         LATER = 2;  // failures until the sweep is doubted, and how many times more until again
    static constexpr double SUSPICIOUS = 1e4;  // a delta, where the scaled cost has curvature of about 1

    enum class Cost { unknown, convex, other };

    bool serves() {
        Stopwatch watch(point.times.linear);
        return program.factor(0.0, 0.0);
    }

    // Whether the Hessian serves after all, where rows may be missed by a little.
    bool serves_softly() {
        Stopwatch watch(point.times.linear);
        softly = regularization.soften(program, point.mu);
        if (softly) return true;
        regularization.clear();
        next_look = LATER * failures;
        return false;
    }

    // With a delta; where it takes one that no Hessian should need, the sweep is doubted first.
    bool increase(bool doubted) {
        const Regularization before = regularization;
        if (!finds_delta()) return false;
        if (doubted || regularization.delta_c > 0.0 || regularization.delta <= SUSPICIOUS) return true;
        const Regularization with_delta = std::exchange(regularization, before);
        if (serves_softly()) return true;
        regularization = with_delta;
        Stopwatch watch(point.times.linear);
        return program.factor(regularization.delta, 0.0);
    }

    bool finds_delta() {
        Stopwatch watch(point.times.linear);
        return regularization.increase(program) || regularization.strengthen(program, point.mu);
    }

    // The kind of the cost, once in a solve.
    bool look_at_cost(const double* sigma) {
        if (!point.damp(0.0)) return false;
        program.take_sigma(no_sigma);
        cost = serves() ? Cost::convex : Cost::other;
        program.take_sigma(sigma);
        return cost == Cost::convex || point.damp(1.0);
    }

    Iterate& point;
    Program& program;
    Arena arena;
    Cost cost = Cost::unknown;
    int running = 0;   // iterations, one after the other, whose Hessian was changed
    int failures = 0;  // of the Hessian as it is, in a solve
    int next_look = FIRST_LOOK;
    bool softly = false;       // it served so when it was doubted last
    bool cut = false;          // steps are short
    bool turned_down = false;  // by the search
    double* no_sigma;
};

}  // namespace trisweep
