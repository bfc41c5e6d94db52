// Spatial algebra (Featherstone 2008, Ch. 2) on vectors of lanes: every number is one of W stages.
//
// Motions (w, u) and forces (n, f), angular part first, all about one origin along the world's axes.
#pragma once

#include "kernels/vector.hpp"

namespace trisweep {

struct Three {
    vec x{}, y{}, z{};
};

inline Three operator+(Three a, Three b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Three operator-(Three a, Three b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Three operator-(Three a) { return {-a.x, -a.y, -a.z}; }
inline Three operator*(vec s, Three a) { return {s * a.x, s * a.y, s * a.z}; }
inline Three operator*(double s, Three a) { return {s * a.x, s * a.y, s * a.z}; }
inline Three& operator+=(Three& a, Three b) { return a = a + b; }
inline vec dot(Three a, Three b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Three cross(Three a, Three b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline Three constant(const double* a) { return {broadcast(a[0]), broadcast(a[1]), broadcast(a[2])}; }

// A matrix by its columns.
struct Nine {
    Three x, y, z;
};

inline Three operator*(const Nine& A, Three b) { return b.x * A.x + b.y * A.y + b.z * A.z; }
inline Nine operator*(const Nine& A, const Nine& B) { return {A * B.x, A * B.y, A * B.z}; }
inline Three transposed(const Nine& A, Three b) { return {dot(A.x, b), dot(A.y, b), dot(A.z, b)}; }
inline Nine& operator+=(Nine& A, const Nine& B) { return A = {A.x + B.x, A.y + B.y, A.z + B.z}; }
inline Nine skew(Three a) { return {{vec{}, a.z, -a.y}, {-a.z, vec{}, a.x}, {a.y, -a.x, vec{}}}; }

struct Symmetric {
    vec xx{}, yy{}, zz{}, xy{}, xz{}, yz{};
};

inline Symmetric operator+(const Symmetric& A, const Symmetric& B) {
    return {A.xx + B.xx, A.yy + B.yy, A.zz + B.zz, A.xy + B.xy, A.xz + B.xz, A.yz + B.yz};
}
inline Symmetric operator-(const Symmetric& A, const Symmetric& B) {
    return {A.xx - B.xx, A.yy - B.yy, A.zz - B.zz, A.xy - B.xy, A.xz - B.xz, A.yz - B.yz};
}
inline Symmetric& operator+=(Symmetric& A, const Symmetric& B) { return A = A + B; }
inline Three operator*(const Symmetric& A, Three b) {
    return {A.xx * b.x + A.xy * b.y + A.xz * b.z, A.xy * b.x + A.yy * b.y + A.yz * b.z,
            A.xz * b.x + A.yz * b.y + A.zz * b.z};
}

// a b' + b a' - 2 (a' b) 1
inline Symmetric spread(Three a, Three b) {
    const vec x = a.x * b.x, y = a.y * b.y, z = a.z * b.z;
    return {-2.0 * (y + z),        -2.0 * (x + z),        -2.0 * (x + y),
            a.x * b.y + a.y * b.x, a.x * b.z + a.z * b.x, a.y * b.z + a.z * b.y};
}

// a x J + (a x J)'
inline Symmetric turning(Three a, const Symmetric& J) {
    const Three x = cross(a, {J.xx, J.xy, J.xz}), y = cross(a, {J.xy, J.yy, J.yz}), z = cross(a, {J.xz, J.yz, J.zz});
    return {2.0 * x.x, 2.0 * y.y, 2.0 * z.z, x.y + y.x, x.z + z.x, y.z + z.y};
}

struct Motion {
    Three w, u;
};
struct Force {
    Three n, f;
};

inline Motion operator+(Motion a, Motion b) { return {a.w + b.w, a.u + b.u}; }
inline Motion operator*(vec s, Motion a) { return {s * a.w, s * a.u}; }
inline Motion& operator+=(Motion& a, Motion b) { return a = a + b; }
inline Force operator+(Force a, Force b) { return {a.n + b.n, a.f + b.f}; }
inline Force operator-(Force a, Force b) { return {a.n - b.n, a.f - b.f}; }
inline Force operator-(Force a) { return {-a.n, -a.f}; }
inline Force operator*(vec s, Force a) { return {s * a.n, s * a.f}; }
inline Force operator*(double s, Force a) { return {s * a.n, s * a.f}; }
inline Force& operator+=(Force& a, Force b) { return a = a + b; }
inline vec dot(Motion m, Force f) { return dot(m.w, f.n) + dot(m.u, f.f); }
inline Motion cross(Motion a, Motion b) { return {cross(a.w, b.w), cross(a.w, b.u) + cross(a.u, b.w)}; }
inline Force cross(Motion a, Force b) { return {cross(a.w, b.n) + cross(a.u, b.f), cross(a.w, b.f)}; }

// Mass, first moment, and tensor about the origin: [J hx; -hx m].
struct RigidInertia {
    vec m{};
    Three h;
    Symmetric J;
};

inline Force operator*(const RigidInertia& I, Motion v) {
    return {I.J * v.w + cross(I.h, v.u), I.m * v.u - cross(I.h, v.w)};
}
inline RigidInertia& operator+=(RigidInertia& a, const RigidInertia& b) {
    a.m += b.m, a.h += b.h, a.J += b.J;
    return a;
}

}  // namespace trisweep
