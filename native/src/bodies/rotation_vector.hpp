// The rotation vector r = log(R) of a rotation by less than pi, and how it changes with R exp(w x):
//
//     D r = E w,   E = 1 + rx/2 + c rx rx   (the inverse of the right Jacobian of SO(3))
//     c = (1 - (t/2) cot(t/2)) / t^2,   t = |r|
#pragma once

#include <cmath>

namespace trisweep {

struct RotationVector {
    double r[3], c, slope;  // slope: dc/dt / t
    double E[3][3];

    explicit RotationVector(const double (&R)[3][3]) {
        const double w = 0.5 * std::sqrt(1.0 + R[0][0] + R[1][1] + R[2][2]);
        const double xyz[3] = {(R[2][1] - R[1][2]) / (4 * w), (R[0][2] - R[2][0]) / (4 * w),
                               (R[1][0] - R[0][1]) / (4 * w)};
        const double s = std::sqrt(xyz[0] * xyz[0] + xyz[1] * xyz[1] + xyz[2] * xyz[2]);
        const double angle = 2.0 * std::atan2(s, w), ratio = s < 1e-8 ? 2.0 / w : angle / s, t = angle * angle;
        for (int i = 0; i < 3; ++i) r[i] = ratio * xyz[i];
        if (t < 1e-2) {  // the series: what is dropped is below rounding
            c = 1.0 / 12 + t * (1.0 / 720 + t * (1.0 / 30240 + t * (1.0 / 1209600 + t / 47900160)));
            slope = 2.0 * (1.0 / 720 + t * (2.0 / 30240 + t * (3.0 / 1209600 + t * 4.0 / 47900160)));
        } else {
            const double half = 0.5 * angle, sine = std::sin(half), cotangent = std::cos(half) / sine;
            const double k = half * cotangent, dk = (0.5 * cotangent - 0.5 * half / (sine * sine)) / (2.0 * angle);
            c = (1.0 - k) / t;
            slope = 2.0 * (-dk / t - (1.0 - k) / (t * t));
        }
        for (int j = 0; j < 3; ++j) {
            double e[3] = {}, once[3], twice[3];
            e[j] = 1.0;
            cross(r, e, once);
            cross(r, once, twice);
            for (int i = 0; i < 3; ++i) E[i][j] = e[i] + 0.5 * once[i] + c * twice[i];
        }
    }

    // G with b' G a the change of f' E b along D r = E a, for fixed f and b: the second derivative of f' r, the turn a made
    // before (outside of) the turn b.
    void second(const double (&f)[3], double (&G)[3][3]) const {
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                double b[3] = {}, a[3] = {E[0][j], E[1][j], E[2][j]}, rb[3], rrb[3], ab[3], arb[3], rab[3];
                b[i] = 1.0;
                cross(r, b, rb), cross(r, rb, rrb), cross(a, b, ab), cross(a, rb, arb), cross(r, ab, rab);
                const double along = r[0] * a[0] + r[1] * a[1] + r[2] * a[2];
                G[i][j] = 0.0;
                for (int n = 0; n < 3; ++n)
                    G[i][j] += f[n] * (0.5 * ab[n] + c * (arb[n] + rab[n]) + slope * along * rrb[n]);
            }
    }

private:
    static void cross(const double* a, const double* b, double* to) {
        to[0] = a[1] * b[2] - a[2] * b[1];
        to[1] = a[2] * b[0] - a[0] * b[2];
        to[2] = a[0] * b[1] - a[1] * b[0];
    }
};

}  // namespace trisweep
