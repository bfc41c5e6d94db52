// Spatial algebra (Featherstone 2008, Ch. 2) on numbers Real: a double, or a vector of lanes, each of them one of W stages.
//
// Motions (w, u) and forces (n, f), angular part first, all about one origin along the world's axes.
#pragma once

#include "kernels/vector.hpp"

namespace trisweep {

// `vec` as templates take it: the right to alias is no part of a template's argument.
typedef double Stages __attribute__((vector_size(W * sizeof(double))));

// How many stages a number holds, one of them, the same for all, and the i-th of numbers that stand one after another in memory.
template <class Real>
inline constexpr int LANES = int(sizeof(Real) / sizeof(double));
inline double lane(double v, int) { return v; }
inline double lane(Stages v, int l) { return v[l]; }
inline void set_lane(double& v, int, double to) { v = to; }
inline void set_lane(Stages& v, int l, double to) { v[l] = to; }
template <class Real>
inline Real same(double s) {
    return s - Real{};
}
template <class Real>
inline Real number(const double* memory, int i) {
    if constexpr (LANES<Real> == 1) {
        return memory[i];
    } else {
        return load(memory + i * W);
    }
}

template <class Real>
struct Three {
    Real x{}, y{}, z{};
};

template <class Real>
inline Three<Real> operator+(Three<Real> a, Three<Real> b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class Real>
inline Three<Real> operator-(Three<Real> a, Three<Real> b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class Real>
inline Three<Real> operator-(Three<Real> a) {
    return {-a.x, -a.y, -a.z};
}
template <class Real, class S>
inline Three<Real> operator*(S s, Three<Real> a) {
    return {s * a.x, s * a.y, s * a.z};
}
template <class Real>
inline Three<Real>& operator+=(Three<Real>& a, Three<Real> b) {
    return a = a + b;
}
template <class Real>
inline Real dot(Three<Real> a, Three<Real> b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class Real>
inline Three<Real> cross(Three<Real> a, Three<Real> b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class Real>
inline Three<Real> constant(const double* a) {
    return {same<Real>(a[0]), same<Real>(a[1]), same<Real>(a[2])};
}

// A matrix by its columns.
template <class Real>
struct Nine {
    Three<Real> x, y, z;
};

template <class Real>
inline Three<Real> operator*(const Nine<Real>& A, Three<Real> b) {
    return b.x * A.x + b.y * A.y + b.z * A.z;
}
template <class Real>
inline Nine<Real> operator*(const Nine<Real>& A, const Nine<Real>& B) {
    return {A * B.x, A * B.y, A * B.z};
}
template <class Real>
inline Three<Real> transposed(const Nine<Real>& A, Three<Real> b) {
    return {dot(A.x, b), dot(A.y, b), dot(A.z, b)};
}
template <class Real>
inline Nine<Real>& operator+=(Nine<Real>& A, const Nine<Real>& B) {
    return A = {A.x + B.x, A.y + B.y, A.z + B.z};
}
template <class Real>
inline Nine<Real> skew(Three<Real> a) {
    return {{Real{}, a.z, -a.y}, {-a.z, Real{}, a.x}, {a.y, -a.x, Real{}}};
}

template <class Real>
struct Symmetric {
    Real xx{}, yy{}, zz{}, xy{}, xz{}, yz{};
};

template <class Real>
inline Symmetric<Real> operator+(const Symmetric<Real>& A, const Symmetric<Real>& B) {
    return {A.xx + B.xx, A.yy + B.yy, A.zz + B.zz, A.xy + B.xy, A.xz + B.xz, A.yz + B.yz};
}
template <class Real>
inline Symmetric<Real> operator-(const Symmetric<Real>& A, const Symmetric<Real>& B) {
    return {A.xx - B.xx, A.yy - B.yy, A.zz - B.zz, A.xy - B.xy, A.xz - B.xz, A.yz - B.yz};
}
template <class Real>
inline Symmetric<Real>& operator+=(Symmetric<Real>& A, const Symmetric<Real>& B) {
    return A = A + B;
}
template <class Real>
inline Three<Real> operator*(const Symmetric<Real>& A, Three<Real> b) {
    return {A.xx * b.x + A.xy * b.y + A.xz * b.z, A.xy * b.x + A.yy * b.y + A.yz * b.z,
            A.xz * b.x + A.yz * b.y + A.zz * b.z};
}

// a b' + b a' - 2 (a' b) 1
template <class Real>
inline Symmetric<Real> spread(Three<Real> a, Three<Real> b) {
    const Real x = a.x * b.x, y = a.y * b.y, z = a.z * b.z;
    return {-2.0 * (y + z),        -2.0 * (x + z),        -2.0 * (x + y),
            a.x * b.y + a.y * b.x, a.x * b.z + a.z * b.x, a.y * b.z + a.z * b.y};
}

// a x J + (a x J)'
template <class Real>
inline Symmetric<Real> turning(Three<Real> a, const Symmetric<Real>& J) {
    const Three<Real> x = cross(a, {J.xx, J.xy, J.xz}), y = cross(a, {J.xy, J.yy, J.yz}),
                      z = cross(a, {J.xz, J.yz, J.zz});
    return {2.0 * x.x, 2.0 * y.y, 2.0 * z.z, x.y + y.x, x.z + z.x, y.z + z.y};
}

template <class Real>
struct Motion {
    Three<Real> w, u;
};
template <class Real>
struct Force {
    Three<Real> n, f;
};

// Motions add up, and so do forces; never one and the other.
template <class V>
inline constexpr bool is_spatial = false;
template <class Real>
inline constexpr bool is_spatial<Motion<Real>> = true;
template <class Real>
inline constexpr bool is_spatial<Force<Real>> = true;
template <class V>
concept Spatial = is_spatial<V>;

template <Spatial V>
inline V operator+(V a, V b) {
    const auto& [a1, a2] = a;
    const auto& [b1, b2] = b;
    return {a1 + b1, a2 + b2};
}
template <Spatial V>
inline V operator-(V a, V b) {
    const auto& [a1, a2] = a;
    const auto& [b1, b2] = b;
    return {a1 - b1, a2 - b2};
}
template <Spatial V>
inline V operator-(V a) {
    const auto& [angular, linear] = a;
    return {-angular, -linear};
}
template <class S, Spatial V>
inline V operator*(S s, V a) {
    const auto& [angular, linear] = a;
    return {s * angular, s * linear};
}
template <Spatial V>
inline V& operator+=(V& a, V b) {
    return a = a + b;
}
template <class Real>
inline Real dot(Motion<Real> m, Force<Real> f) {
    return dot(m.w, f.n) + dot(m.u, f.f);
}
template <class Real>
inline Motion<Real> cross(Motion<Real> a, Motion<Real> b) {
    return {cross(a.w, b.w), cross(a.w, b.u) + cross(a.u, b.w)};
}
template <class Real>
inline Force<Real> cross(Motion<Real> a, Force<Real> b) {
    return {cross(a.w, b.n) + cross(a.u, b.f), cross(a.w, b.f)};
}

// Mass, first moment, and tensor about the origin: [J hx; -hx m].
template <class Real>
struct RigidInertia {
    Real m{};
    Three<Real> h;
    Symmetric<Real> J;
};

template <class Real>
inline Force<Real> operator*(const RigidInertia<Real>& I, Motion<Real> v) {
    return {I.J * v.w + cross(I.h, v.u), I.m * v.u - cross(I.h, v.w)};
}
template <class Real>
inline RigidInertia<Real>& operator+=(RigidInertia<Real>& a, const RigidInertia<Real>& b) {
    a.m += b.m, a.h += b.h, a.J += b.J;
    return a;
}

}  // namespace trisweep
