// Rows that hold frames of a tree's bodies against the ground: k - K (a_frame) - R f of `TreeDynamics`, in motion, with Baumgarte's
// terms and the turn to a target. All in the world's axes about the root's origin.
#pragma once

#include <vector>

#include "moving_body.hpp"
#include "rotation_vector.hpp"
#include "tree.hpp"

namespace trisweep {

template <class Real>
struct HeldFrame {
    int first = 0;
    Nine<Real> R;
    Three<Real> p, away;  // away: the target's position from the root's origin
    Nine<Real> E, error;  // of the rotation vector to the target, along the frame's axes
};

template <class Real>
struct HeldRow {
    int frame = 0;
    Real k;
    Three<Real> linear, angular;  // the row's own parts along the world's axes
    Force<Real> force;            // about the root's origin
    Force<Real> pull;             // slope of its displacement and of gravity's part by rigid motions
};

template <class Real>
class HeldRows {
    using Three = trisweep::Three<Real>;
    using Nine = trisweep::Nine<Real>;
    using Symmetric = trisweep::Symmetric<Real>;
    using Motion = trisweep::Motion<Real>;
    using Force = trisweep::Force<Real>;
    using MovingBody = trisweep::MovingBody<Real>;
    using HeldFrame = trisweep::HeldFrame<Real>;
    using HeldRow = trisweep::HeldRow<Real>;

public:
    explicit HeldRows(const Tree& tree) : row(tree.rows()), frame(tree.held.size()), tree(tree) {
        int at = 0;
        for (std::size_t c = 0; c < tree.held.size(); ++c) {
            frame[c].first = at;
            for (int r = 0; r < tree.held[c].rows(); ++r) row[at++].frame = int(c);
        }
    }

    int body(const HeldRow& r) const { return tree.held[r.frame].body; }

    // Where frame c is, and its rows, once its body is placed.
    void place(int c, const MovingBody& b, Three a_0) {
        const Held& held = tree.held[c];
        HeldFrame& f = frame[c];
        const double* r = held.R.data();
        const double columns[3][3] = {{r[0], r[3], r[6]}, {r[1], r[4], r[7]}, {r[2], r[5], r[8]}};
        f.R = b.R * Nine{constant<Real>(columns[0]), constant<Real>(columns[1]), constant<Real>(columns[2])};
        f.p = b.p + b.R * constant<Real>(held.p.data());
        const bool turns = held.stiffness != 0.0 && !held.target_R.empty();
        if (held.stiffness != 0.0) f.away = constant<Real>(held.target_p.data()) - b.origin;
        if (turns) find_turn(held, f);
        for (int n = 0; n < held.rows(); ++n) {
            HeldRow& each = row[f.first + n];
            const double* K = held.K.data() + 6 * n;
            each.angular = f.R * constant<Real>(K);
            each.linear = f.R * constant<Real>(K + 3);
            each.force = {each.angular + cross(f.p, each.linear), each.linear};
            each.pull = {-cross(a_0, each.linear), {}};
            if (held.stiffness == 0.0) continue;
            each.pull.n += -held.stiffness * cross(f.away, each.linear);
            each.pull.f += -held.stiffness * each.linear;
            if (turns) each.pull.n += -held.stiffness * (f.R * transposed(f.E, constant<Real>(K)));
        }
    }

    // k - K (a - a_0) with the classical part, less Baumgarte's terms.
    Real missing(const HeldRow& r, const MovingBody& b, Three a_0) const {
        return demanded(r, b, a_0) - dot(b.a, r.force);
    }

    // The same but for a: what `force`' a is to be.
    Real demanded(const HeldRow& r, const MovingBody& b, Three a_0) const {
        const Held& held = tree.held[r.frame];
        const HeldFrame& f = frame[r.frame];
        const Three velocity = b.v.u + cross(b.v.w, f.p);
        Real left = r.k + dot(a_0, r.linear) - held.damping * dot(b.v, r.force);
        if (held.classical) left -= dot(r.linear, cross(b.v.w, velocity));
        if (held.stiffness == 0.0) return left;
        left -= held.stiffness * dot(r.linear, f.p - f.away);
        if (!held.target_R.empty()) left -= held.stiffness * dot(r.angular, f.R * f.error.x);
        return left;
    }

    // What a row of unit force adds to eta: -v x* force, damping, and the slope of the classical part.
    Force eta(const HeldRow& r, Motion v) const {
        const Held& held = tree.held[r.frame];
        Force found = -(cross(v, r.force) + held.damping * r.force);
        if (held.classical) found += classical(r.linear, frame[r.frame].p, v);
        return found;
    }

    // What multipliers mu (of all rows) of the rows of frame c press on its body.
    void press(int c, const double* mu, MovingBody& b, Three a_0) const {
        const Held& held = tree.held[c];
        const HeldFrame& f = frame[c];
        Three linear, angular;
        Force force;
        for (int r = f.first; r < f.first + held.rows(); ++r) {
            const Real m = number<Real>(mu, r);
            linear += m * row[r].linear, angular += m * row[r].angular;
            force += m * row[r].force;
            b.pull += m * row[r].pull;
        }
        b.h += -force;
        b.eta += -(cross(b.v, force) + held.damping * force);
        if (held.classical) {
            b.eta += classical(linear, f.p, b.v);
            b.bend += -linear;
            b.Tx += Symmetric{} - spread(f.p, linear);
        }
        const Nine out = skew(a_0 + held.stiffness * f.away), in = skew(linear);
        b.A += out * in;
        b.pulled += held.stiffness * linear;
        if (held.stiffness != 0.0 && !held.target_R.empty()) b.A += turn_curvature(held, f, transposed(f.R, angular));
    }

    std::vector<HeldRow> row;
    std::vector<HeldFrame> frame;

private:
    void find_turn(const Held& held, HeldFrame& f) {
        const Three columns[3] = {f.R.x, f.R.y, f.R.z};
        Three found[3];
        for (int l = 0; l < LANES<Real>; ++l) {
            const RotationVector turn = to_target(held, columns, l);
            for (int j = 0; j < 3; ++j) {
                set_lane(found[j].x, l, turn.E[0][j]), set_lane(found[j].y, l, turn.E[1][j]),
                    set_lane(found[j].z, l, turn.E[2][j]);
            }
            set_lane(f.error.x.x, l, turn.r[0]), set_lane(f.error.x.y, l, turn.r[1]),
                set_lane(f.error.x.z, l, turn.r[2]);
        }
        f.E = {found[0], found[1], found[2]};
    }

    // The slope of -f' (w x (u + w x p)) by the velocity.
    static Force classical(Three f, Three p, Motion v) { return {cross(f, v.u) - spread(p, f) * v.w, -cross(f, v.w)}; }

    // -1/T^2 of the second derivative of a row's rotation vector, along the world's axes: w_j' A w_k with j above k.
    Nine turn_curvature(const Held& held, const HeldFrame& f, Three angular) const {
        const Three columns[3] = {f.R.x, f.R.y, f.R.z};
        Three found[3];
        for (int l = 0; l < LANES<Real>; ++l) {
            double G[3][3];
            const double weight[3] = {-held.stiffness * lane(angular.x, l), -held.stiffness * lane(angular.y, l),
                                      -held.stiffness * lane(angular.z, l)};
            to_target(held, columns, l).second(weight, G);
            for (int j = 0; j < 3; ++j) {  // column j of A: rows are the outer turn
                set_lane(found[j].x, l, G[j][0]), set_lane(found[j].y, l, G[j][1]), set_lane(found[j].z, l, G[j][2]);
            }
        }
        const Nine A{found[0], found[1], found[2]};
        const Nine left = f.R * A;  // R A R'
        const Nine back{{f.R.x.x, f.R.y.x, f.R.z.x}, {f.R.x.y, f.R.y.y, f.R.z.y}, {f.R.x.z, f.R.y.z, f.R.z.z}};
        return left * back;
    }

    // The turn from a target to a frame, given by its columns, in one lane.
    static RotationVector to_target(const Held& held, const Three* columns, int l) {
        double R[3][3];
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                R[i][j] = held.target_R[i] * lane(columns[j].x, l) + held.target_R[3 + i] * lane(columns[j].y, l) +
                          held.target_R[6 + i] * lane(columns[j].z, l);
        return RotationVector(R);
    }

    const Tree& tree;
};

}  // namespace trisweep
