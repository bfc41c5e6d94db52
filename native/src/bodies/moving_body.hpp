// A body and a degree of freedom of a tree in motion, as the recursions of `TreeDynamics` fill them in.
#pragma once

#include "spatial.hpp"

namespace trisweep {

template <class Real>
struct MovingBody {
    int first = 0, end = 0;  // its dofs
    Nine<Real> R;
    Three<Real> p, origin;  // from the root's origin, and that in the world
    RigidInertia<Real> I, composite;
    Motion<Real> v, a, x;
    Force<Real> f, momentum, h, eta, pull;  // composites from here on; momentum = (n, f) of B
    Symmetric<Real> T, Tx;
    Three<Real> bend;    // g of N
    Three<Real> pulled;  // what the targets and gravity make of turns above turns: w_j' A w_k + u_j' (pulled x w_k)
    Nine<Real> A;
};

template <class Real>
struct Dof {
    int body = 0, axis = 0;
    Real v, tau, a;
    Motion<Real> S, u, alpha, alpha_v, x;
    Force<Real> IS, BS, turned, sped, to_alpha, to_u, to_S, NS, to_u_v;
};

}  // namespace trisweep
