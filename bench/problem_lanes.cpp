// A trial, part of nothing: the Riccati sweep of a chain with lanes = problems, every number a vector of four problems.
//
//     g++ -std=c++20 -O3 -mavx2 -mfma -Wno-psabi bench/problem_lanes.cpp -o problem_lanes && ./problem_lanes
//
// Factorization and one solution of plain stages without rows, in the letters of native/src/riccati; us a problem, best of many.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

typedef double vec __attribute__((vector_size(32)));
constexpr int W = 4;

template <int NX, int NU>
struct Stage {
    static constexpr int N = NU + NX;
    vec H[N * N], E[N * NX], h[N], b[NX];    // given: lower H by columns, E with the rows of the next state as columns
    vec P[NX * NX], K[NU * NU], Z[NX * NU];  // of the factorization
    vec p[NX], y[NU], z[N], lambda[NX];      // of the solution
};

template <int NX, int NU>
using Chain = std::vector<Stage<NX, NU>>;

vec root(vec a) {
    for (int l = 0; l < W; ++l) a[l] = std::sqrt(a[l]);
    return a;
}

// start + sum over l of term(l)
template <class Term>
vec sum(vec start, int count, const Term& term) {
    for (int l = 0; l < count; ++l) start += term(l);
    return start;
}

template <int NX, int NU>
[[gnu::noinline]] void factor(Chain<NX, NU>& stages) {
    constexpr int N = NU + NX;
    for (std::size_t k = stages.size() - 1; k-- > 0;) {
        Stage<NX, NU>& s = stages[k];
        const vec* P = stages[k + 1].P;
        vec M[N * NX], F[N * N];
        for (int j = 0; j < NX; ++j)
            for (int i = 0; i < N; ++i)
                M[i + j * N] = sum(vec{}, NX, [&](int l) { return s.E[i + l * N] * P[l + j * NX]; });
        for (int j = 0; j < N; ++j)
            for (int i = j; i < N; ++i)
                F[i + j * N] = sum(s.H[i + j * N], NX, [&](int l) { return M[i + l * N] * s.E[j + l * N]; });
        for (int j = 0; j < NU; ++j) {
            for (int i = j; i < N; ++i)
                F[i + j * N] = sum(F[i + j * N], j, [&](int l) { return -F[i + l * N] * F[j + l * N]; });
            const vec inverse = 1.0 / root(F[j + j * N]);
            for (int i = j; i < N; ++i) F[i + j * N] *= inverse;
            for (int i = j; i < NU; ++i) s.K[i + j * NU] = F[i + j * N];
            for (int i = 0; i < NX; ++i) s.Z[i + j * NX] = F[NU + i + j * N];
        }
        for (int j = 0; j < NX; ++j)
            for (int i = j; i < NX; ++i)
                s.P[i + j * NX] = s.P[j + i * NX] =
                    sum(F[NU + i + (NU + j) * N], NU, [&](int l) { return -s.Z[i + l * NX] * s.Z[j + l * NX]; });
    }
}

template <int NX, int NU>
[[gnu::noinline]] void solve(Chain<NX, NU>& stages) {
    constexpr int N = NU + NX;
    for (std::size_t k = stages.size() - 1; k-- > 0;) {
        Stage<NX, NU>&s = stages[k], &next = stages[k + 1];
        vec g[NX], f[N];
        for (int i = 0; i < NX; ++i) g[i] = sum(next.p[i], NX, [&](int l) { return next.P[i + l * NX] * s.b[l]; });
        for (int i = 0; i < N; ++i) f[i] = sum(s.h[i], NX, [&](int l) { return s.E[i + l * N] * g[l]; });
        for (int i = 0; i < NU; ++i)
            s.y[i] = sum(f[i], i, [&](int l) { return -s.K[i + l * NU] * s.y[l]; }) / s.K[i + i * NU];
        for (int i = 0; i < NX; ++i) s.p[i] = sum(f[NU + i], NU, [&](int l) { return -s.Z[i + l * NX] * s.y[l]; });
    }
    for (std::size_t k = 0; k + 1 < stages.size(); ++k) {
        Stage<NX, NU>& s = stages[k];
        const vec* x = s.z + NU;
        for (int i = 0; i < NX; ++i) s.lambda[i] = sum(s.p[i], NX, [&](int l) { return s.P[i + l * NX] * x[l]; });
        for (int i = NU - 1; i >= 0; --i) {
            const vec along = sum(-s.y[i], NX, [&](int l) { return -s.Z[l + i * NX] * x[l]; });
            s.z[i] = sum(along, NU - 1 - i, [&](int l) { return -s.K[i + 1 + l + i * NU] * s.z[i + 1 + l]; }) /
                     s.K[i + i * NU];
        }
        for (int i = 0; i < NX; ++i)
            stages[k + 1].z[NU + i] = sum(s.b[i], N, [&](int l) { return s.E[l + i * N] * s.z[l]; });
    }
}

template <int NX, int NU>
void measure(const char* name, int steps) {
    constexpr int N = NU + NX;
    std::mt19937 random(0);
    std::uniform_real_distribution<double> entry(-0.15, 0.15);
    Chain<NX, NU> stages(steps + 1);
    for (Stage<NX, NU>& s : stages) {
        for (vec& a : s.E)
            for (int l = 0; l < W; ++l) a[l] = entry(random);
        for (int i = 0; i < N * N; ++i) s.H[i] = vec{} + (i % (N + 1) ? 0.05 : 1.0);
        for (int i = 0; i < NX * NX; ++i) s.P[i] = vec{} + (i % (NX + 1) ? 0.0 : 1.0);
        for (int i = 0; i < N; ++i) s.h[i] = s.z[i] = vec{} + 0.1;
        for (int i = 0; i < NX; ++i) s.b[i] = s.p[i] = vec{} + 0.1;
    }
    using clock = std::chrono::steady_clock;
    double of_factor = 1e9, of_solve = 1e9;
    for (int round = 0; round < 4000; ++round) {
        const auto begin = clock::now();
        factor(stages);
        const auto middle = clock::now();
        solve(stages);
        const auto end = clock::now();
        of_factor = std::min(of_factor, std::chrono::duration<double>(middle - begin).count());
        of_solve = std::min(of_solve, std::chrono::duration<double>(end - middle).count());
    }
    std::printf("%-10s %2d states %2d controls %3d steps: factor %6.2f us, solve %5.2f us\n", name, NX, NU, steps,
                1e6 * of_factor / W, 1e6 * of_solve / W);
}

int main() {
    measure<4, 1>("cart-pole", 50);
    measure<8, 4>("LQR", 20);
    measure<14, 7>("reach", 50);
}
