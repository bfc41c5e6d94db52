// The residual of a robot's forward dynamics, and its first and second derivatives, by recursions over the bodies.
//
//     g = (ID(q, v, a) - J' f - tau,  k - K (a_frame) - R f),   y = (a, f),   dg/dy = [M -J'; -J -R]
//
// With multipliers mu = (lambda, m) it is a virtual power, a sum over bodies of products of their own motions
//
//     mu' g = sum_i  x_i' (I_i a_i + v_i x* I_i v_i - F_i) - phi_i' (a_i - a_0 + ...) ,   x_i = sum S_j lambda_j,
//
// F the forces f of the held rows and phi those of m; Singh, Russell and Wensing 2022 have the same structure for free robots.
// Whatever turns or speeds up joint k reaches the bodies that it carries as one rigid change, of velocity u, of acceleration
// alpha + u x v_i and of virtual velocity x:
//
//     increment of q_k     u = v x S         alpha = a x S + v x u      x = x_parent x S        (v, a of the parent)
//     velocity             u = S             alpha = (v_parent + v) x S
//     acceleration                           alpha = S
//
// so that first derivatives need the composites f, h, eta of all that joint k carries, and second ones of j above k their matrices
//
//     I,   B = v x* I - I v x + (I v) x',   N = I x x - x x* I          B = [T - nx 0; -2 fx 0],  N = [-T -gx; gx 0]
//
// a few products of six numbers for each pair of joints on one path to the root. An increment acts after its joint, in the child's
// frame; several of one joint act one after another, and three turns are made symmetric at the end (a rotation vector).
// All in the world's axes about the root's origin; a_0 = -gravity.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "held_rows.hpp"

namespace trisweep {

template <class Real>
class TreeDynamics {
    using Three = trisweep::Three<Real>;
    using Nine = trisweep::Nine<Real>;
    using Symmetric = trisweep::Symmetric<Real>;
    using Motion = trisweep::Motion<Real>;
    using Force = trisweep::Force<Real>;
    using RigidInertia = trisweep::RigidInertia<Real>;
    using MovingBody = trisweep::MovingBody<Real>;
    using Dof = trisweep::Dof<Real>;
    using HeldRow = trisweep::HeldRow<Real>;

public:
    explicit TreeDynamics(const Tree& tree) : tree(tree), body(tree.bodies()), dof(tree.dofs()), held(tree) {
        int at = 0;
        for (int i = 0; i < tree.bodies(); ++i) {
            body[i].first = at;
            for (int axis : tree.axes[i]) dof[at].body = i, dof[at++].axis = axis;
            body[i].end = at;
        }
    }

    // Arguments of the lanes' stages, as `Tree` says; the lanes from `count` on repeat the last.
    void place(const double* arguments, std::ptrdiff_t stride, int count) {
        int at = 0;
        const auto take = [&] {
            Real v{};
            for (int l = 0; l < LANES<Real>; ++l) set_lane(v, l, arguments[(l < count ? l : count - 1) * stride + at]);
            ++at;
            return v;
        };
        const auto three = [&] {
            const Real x = take(), y = take(), z = take();
            return Three{x, y, z};
        };
        for (int i = 0; i < tree.bodies(); ++i) {
            MovingBody& b = body[i];
            const Three x = three(), y = three(), z = three(), p = three();
            const Nine R{x, y, z};
            const int parent = tree.parent[i];
            b.R = parent < 0 ? R : body[parent].R * R;
            b.p = parent < 0 ? Three{} : body[parent].p + body[parent].R * p;
            b.origin = parent < 0 ? p : body[parent].origin;
            b.I = inertia(i);
        }
        for (Dof& d : dof) {
            const MovingBody& b = body[d.body];
            const Three axis = d.axis % 3 == 0 ? b.R.x : d.axis % 3 == 1 ? b.R.y : b.R.z;
            d.S = d.axis < 3 ? Motion{axis, cross(b.p, axis)} : Motion{{}, axis};
        }
        for (Dof& d : dof) d.v = take();
        for (Dof& d : dof) d.tau = take();
        for (HeldRow& r : held.row) r.k = take();
        for (std::size_t c = 0; c < tree.held.size(); ++c) held.place(int(c), body[tree.held[c].body], a0());
        velocities();
    }

    // M (lower triangle) and J by matrix(i, j, value), row nv + r for row r of J; g at y = 0 by residual(i, value).
    template <class Matrix, class Residual>
    void assemble(const Matrix& matrix, const Residual& residual) {
        for (Dof& d : dof) d.a = Real{};
        accelerations();
        for (MovingBody& b : body) b.composite = b.I, b.f = b.I * b.a + cross(b.v, b.I * b.v);
        for (int i = tree.bodies() - 1; i >= 0; --i) {
            const MovingBody& b = body[i];
            for (int k = b.first; k < b.end; ++k) {
                const Dof& d = dof[k];
                const Force IS = b.composite * d.S;
                for (int j = b.first; j <= k; ++j) matrix(k, j, dot(dof[j].S, IS) + (j == k ? tree.armature[k] : 0.0));
                above(i, [&](int j) { matrix(k, j, dot(dof[j].S, IS)); });
                residual(k, dot(d.S, b.f) - d.tau);
            }
            if (tree.parent[i] < 0) continue;
            body[tree.parent[i]].composite += b.composite;
            body[tree.parent[i]].f += b.f;
        }
        for (std::size_t r = 0; r < held.row.size(); ++r) {
            const HeldRow& row = held.row[r];
            up(held.body(row), [&](int j) { matrix(tree.dofs() + int(r), j, dot(dof[j].S, row.force)); });
            residual(tree.dofs() + int(r), held.missing(row, body[held.body(row)], a0()));
        }
    }

    // g's slope at the unknowns y, a vector of lanes each: slope(i, j, value) is dg_i by the increment of dof j, or by its velocity for
    // j - nv.
    template <class Slope>
    void slopes(const double* y, const Slope& slope) {
        const int nv = tree.dofs();
        for (int k = 0; k < nv; ++k) dof[k].a = number<Real>(y, k);
        accelerations();
        for (MovingBody& b : body) {
            b.composite = b.I;
            const Force Iv = b.I * b.v;
            b.f = b.I * b.a + cross(b.v, Iv);
            b.T = turning(b.v.w, b.I.J) - spread(b.I.h, b.v.u);
            b.momentum = Iv;
        }
        for (std::size_t r = 0; r < held.row.size(); ++r)
            body[held.body(held.row[r])].f += -number<Real>(y, nv + int(r)) * held.row[r].force;
        for (int i = tree.bodies() - 1; i >= 0; --i) {
            const MovingBody& b = body[i];
            for (int k = b.first; k < b.end; ++k) {
                Dof& d = dof[k];
                d.IS = b.composite * d.S;
                d.BS = across(b, d.S);
                d.turned = cross(d.S, b.f) + b.composite * d.alpha + along(b, d.u);
                d.sped = b.composite * d.alpha_v + along(b, d.S);
            }
            for (int k = b.first; k < b.end; ++k) {
                const Dof& d = dof[k];
                up(i, [&](int j) {
                    slope(k, j, dot(dof[j].alpha, d.IS) + dot(dof[j].u, d.BS));
                    slope(k, nv + j, dot(dof[j].alpha_v, d.IS) + dot(dof[j].S, d.BS));
                });
                above(i, [&](int j) {
                    slope(j, k, dot(dof[j].S, d.turned));
                    slope(j, nv + k, dot(dof[j].S, d.sped));
                });
            }
            if (tree.parent[i] < 0) continue;
            MovingBody& p = body[tree.parent[i]];
            p.composite += b.composite, p.f += b.f, p.T += b.T, p.momentum += b.momentum;
        }
        for (std::size_t r = 0; r < held.row.size(); ++r) {
            const HeldRow& row = held.row[r];
            const Force h = -row.force, eta = held.eta(row, body[held.body(row)].v), s = row.pull;
            up(held.body(row), [&](int j) {
                const Dof& d = dof[j];
                slope(nv + int(r), j, dot(d.alpha, h) + dot(d.u, eta) + dot(d.S, s));
                slope(nv + int(r), nv + j, dot(d.alpha_v, h) + dot(d.S, eta));
            });
        }
    }

    // After `slopes`: M, both halves, by matrix(i, j, value).
    template <class Matrix>
    void mass_matrix(const Matrix& matrix) const {
        for (const MovingBody& b : body)
            for (int k = b.first; k < b.end; ++k)
                up(int(&b - body.data()), [&](int j) {
                    const Real value = dot(dof[j].S, dof[k].IS) + (j == k ? tree.armature[k] : 0.0);
                    matrix(k, j, value), matrix(j, k, value);
                });
    }

    // After `slopes`: the second derivatives of mu' g, both halves. turned(i, j, value) by increments, mixed(i, j, value) by increment i
    // and velocity j, sped(i, j, value) by velocities, with_unknown(i, j, value) by increment i and unknown j.
    template <class Turned, class Mixed, class Sped, class WithUnknown>
    void curvature(const double* mu, const Turned& turned, const Mixed& mixed, const Sped& sped,
                   const WithUnknown& with_unknown) {
        const int nv = tree.dofs();
        virtual_motions(mu);
        for (int i = tree.bodies() - 1; i >= 0; --i) {
            const MovingBody& b = body[i];
            for (int k = b.first; k < b.end; ++k) {
                Dof& d = dof[k];
                d.to_alpha = cross(d.S, b.h) + b.composite * d.x;
                d.to_u = cross(d.S, b.eta) + cross(d.u, b.h) + across(b, d.x) + bent(b, d.u);
                d.to_S = {b.A * d.S.w, cross(b.pulled, d.S.w)};
                d.NS = bent(b, d.S);
                d.to_u_v = cross(d.S, b.h) + d.NS;
            }
            for (int k = b.first; k < b.end; ++k) {
                const Dof& d = dof[k];
                const auto turn = [&](int j) {
                    const Dof& o = dof[j];
                    return dot(o.x, d.turned) + dot(o.alpha, d.to_alpha) + dot(o.u, d.to_u) + dot(o.S, d.to_S);
                };
                for (int j = b.first; j <= k; ++j) {
                    turned(j, k, turn(j) + symmetrized(b, j, k));
                    sped(j, k, dot(dof[j].S, d.NS));
                }
                above(i, [&](int j) {
                    turned(j, k, turn(j));
                    sped(j, k, dot(dof[j].S, d.to_u_v));
                    mixed(k, j, dot(dof[j].alpha_v, d.to_alpha) + dot(dof[j].S, d.to_u));
                    with_unknown(k, j, dot(dof[j].S, d.to_alpha));
                });
                up(i, [&](int j) {
                    mixed(j, k, dot(dof[j].x, d.sped) + dot(dof[j].u, d.to_u_v));
                    with_unknown(j, k, dot(dof[j].x, d.IS));
                });
            }
        }
        for (std::size_t r = 0; r < held.row.size(); ++r)
            up(held.body(held.row[r]), [&](int j) { with_unknown(j, nv + int(r), -dot(dof[j].x, held.row[r].force)); });
    }

    // After `place`: where the bodies, dofs and rows are and how fast.
    const std::vector<MovingBody>& bodies() const { return body; }
    const std::vector<Dof>& dofs() const { return dof; }
    const HeldRows<Real>& rows() const { return held; }
    Three a0() const { return -1.0 * constant<Real>(tree.gravity.data()); }

    const Tree& tree;

private:
    template <class Visit>
    void above(int i, const Visit& visit) const {
        for (int p = tree.parent[i]; p >= 0; p = tree.parent[p])
            for (int j = body[p].first; j < body[p].end; ++j) visit(j);
    }
    template <class Visit>
    void up(int i, const Visit& visit) const {
        for (int j = body[i].first; j < body[i].end; ++j) visit(j);
        above(i, visit);
    }

    RigidInertia inertia(int i) const {
        const double* moments = tree.inertia.data() + 10 * i;
        const MovingBody& b = body[i];
        const Three h = b.R * constant<Real>(moments + 1);
        const double* J = moments + 4;
        const Nine tensor{{same<Real>(J[0]), same<Real>(J[3]), same<Real>(J[4])},
                          {same<Real>(J[3]), same<Real>(J[1]), same<Real>(J[5])},
                          {same<Real>(J[4]), same<Real>(J[5]), same<Real>(J[2])}};
        const Nine half = b.R * tensor;  // R J, then R J R'
        const auto at = [](const Three& l, const Three& r) { return dot(l, r); };
        const Three r1{b.R.x.x, b.R.y.x, b.R.z.x}, r2{b.R.x.y, b.R.y.y, b.R.z.y}, r3{b.R.x.z, b.R.y.z, b.R.z.z};
        const Three l1{half.x.x, half.y.x, half.z.x}, l2{half.x.y, half.y.y, half.z.y},
            l3{half.x.z, half.y.z, half.z.z};
        const Symmetric turned{at(l1, r1), at(l2, r2), at(l3, r3), at(l1, r2), at(l1, r3), at(l2, r3)};
        const Real m = same<Real>(moments[0]);
        // -(p x h x + h x p x) - m p x p x
        return {m, h + m * b.p, turned - spread(b.p, h + 0.5 * m * b.p)};
    }

    void velocities() {
        for (int i = 0; i < tree.bodies(); ++i) {
            MovingBody& b = body[i];
            const Motion parent = tree.parent[i] < 0 ? Motion{} : body[tree.parent[i]].v;
            b.v = parent;
            for (int k = b.first; k < b.end; ++k) b.v += dof[k].v * dof[k].S;
            for (int k = b.first; k < b.end; ++k) {
                dof[k].u = cross(parent, dof[k].S);
                dof[k].alpha_v = cross(parent + b.v, dof[k].S);
            }
        }
    }

    void accelerations() {
        for (int i = 0; i < tree.bodies(); ++i) {
            MovingBody& b = body[i];
            const bool root = tree.parent[i] < 0;
            const Motion v = root ? Motion{} : body[tree.parent[i]].v;
            const Motion a = root ? Motion{{}, a0()} : body[tree.parent[i]].a;
            b.a = a + cross(v, b.v);
            for (int k = b.first; k < b.end; ++k) {
                Dof& d = dof[k];
                b.a += d.a * d.S;
                d.alpha = cross(a, d.S) + cross(v, d.u);
            }
        }
    }

    // B m, B' m and N m of a composite.
    static Force along(const MovingBody& b, Motion m) {
        return {b.T * m.w - cross(b.momentum.n, m.w), -2.0 * cross(b.momentum.f, m.w)};
    }
    static Force across(const MovingBody& b, Motion m) {
        return {b.T * m.w + cross(b.momentum.n, m.w) + 2.0 * cross(b.momentum.f, m.u), {}};
    }
    static Force bent(const MovingBody& b, Motion m) { return {b.Tx * m.w - cross(b.bend, m.u), cross(b.bend, m.w)}; }

    // What mu moves and presses: x of the bodies and dofs, and the composites that hold it.
    void virtual_motions(const double* mu) {
        for (int i = 0; i < tree.bodies(); ++i) {
            MovingBody& b = body[i];
            const Motion parent = tree.parent[i] < 0 ? Motion{} : body[tree.parent[i]].x;
            b.x = parent;
            for (int k = b.first; k < b.end; ++k) {
                b.x += number<Real>(mu, k) * dof[k].S;
                dof[k].x = cross(parent, dof[k].S);
            }
            b.h = b.I * b.x;
            b.bend = b.h.f;
            b.Tx = spread(b.I.h, b.x.u) - turning(b.x.w, b.I.J);
            const Force Iv = b.I * b.v;
            b.eta = cross(b.v, b.h) - cross(b.x, Iv) - b.I * cross(b.v, b.x);
            b.pull = {}, b.pulled = {}, b.A = {};
        }
        for (std::size_t c = 0; c < tree.held.size(); ++c)
            held.press(int(c), mu + tree.dofs() * LANES<Real>, body[tree.held[c].body], a0());
        for (int i = tree.bodies() - 1; i > 0; --i) {
            if (tree.parent[i] < 0) continue;
            const MovingBody& b = body[i];
            MovingBody& p = body[tree.parent[i]];
            p.h += b.h, p.bend += b.bend, p.Tx += b.Tx, p.eta += b.eta;
            p.pull += b.pull, p.pulled += b.pulled, p.A += b.A;
        }
    }

    // Three turns of a joint, one after another, against a rotation vector: half of what exchanging two of them changes, which is the
    // slope along the third.
    Real symmetrized(const MovingBody& b, int j, int k) const {
        if (j == k || dof[j].axis > 2 || dof[k].axis > 2) return Real{};
        const int axis = 3 - dof[j].axis - dof[k].axis;
        for (int n = b.first; n < b.end; ++n) {
            if (dof[n].axis != axis) continue;
            const Dof& d = dof[n];
            const Real slope = dot(d.x, b.f) + dot(d.alpha, b.h) + dot(d.u, b.eta) + dot(d.S, b.pull);
            return ((dof[k].axis - dof[j].axis + 3) % 3 == 1 ? -0.5 : 0.5) * slope;
        }
        return Real{};
    }

    std::vector<MovingBody> body;
    std::vector<Dof> dof;
    HeldRows<Real> held;
};

}  // namespace trisweep
