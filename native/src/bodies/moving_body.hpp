// A body and a degree of freedom of a tree in motion, as the recursions of `TreeDynamics` fill them in.
#pragma once

#include "spatial.hpp"

namespace trisweep {

struct MovingBody {
    int first = 0, end = 0;  // its dofs
    Nine R;
    Three p, origin;  // from the root's origin, and that in the world
    RigidInertia I, composite;
    Motion v, a, x;
    Force f, momentum, h, eta, pull;  // composites from here on; momentum = (n, f) of B
    Symmetric T, Tx;
    Three bend;    // g of N
    Three pulled;  // what the targets and gravity make of turns above turns: w_j' A w_k + u_j' (pulled x w_k)
    Nine A;
};

struct Dof {
    int body = 0, axis = 0;
    vec v, tau, a;
    Motion S, u, alpha, alpha_v, x;
    Force IS, BS, turned, sped, to_alpha, to_u, to_S, NS, to_u_v;
};

}  // namespace trisweep
