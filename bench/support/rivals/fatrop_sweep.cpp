// FATROP's own sweep on the problems of `tuned_hpipm.py`, by its solver of the linear systems of an optimal-control problem:
//
//     fatrop_sweep FOLDER nx nu N ...
//
// speaks as `hpipm_bench` does. A time covers factor and solve; the first state is eliminated before, as for the others. Variants:
// with and without the accuracy that FATROP's interior point asks for.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "fatrop/linear_algebra/linear_algebra.hpp"
#include "fatrop/ocp/aug_system_solver.hpp"
#include "fatrop/ocp/dims.hpp"
#include "fatrop/ocp/hessian.hpp"
#include "fatrop/ocp/jacobian.hpp"
#include "fatrop/ocp/problem_info.hpp"
#include "fatrop/ocp/type.hpp"

using namespace fatrop;

struct Chain {
    ProblemDims<OcpType> dims;
    ProblemInfo<OcpType> info;
    Jacobian<OcpType> jacobian;
    Hessian<OcpType> hessian;
    AugSystemSolver<OcpType> solver;
    VecRealAllocated x, multipliers, h, rows, shift, slack_shift, product;
    double apart = 0.0;  // of the objective, by the first state

    static std::vector<Index> counts(int stages, int first, int middle, int last) {
        std::vector<Index> made(stages, middle);
        made.front() = first, made.back() = last;
        return made;
    }

    Chain(std::FILE* file, int nx, int nu, int steps)
        : dims(steps + 1, counts(steps + 1, nu, nu, 0), counts(steps + 1, 0, nx, nx), counts(steps + 1, 0, 0, 0),
               counts(steps + 1, 0, 0, 0)),
          info(dims),
          jacobian(dims),
          hessian(dims),
          solver(info),
          x(info.number_of_primal_variables),
          multipliers(info.number_of_eq_constraints),
          h(info.number_of_primal_variables),
          rows(info.number_of_eq_constraints),
          shift(info.number_of_primal_variables),
          slack_shift(info.number_of_slack_variables),
          product(info.number_of_primal_variables) {
        const auto read = [&](int count) {
            std::vector<double> numbers(count);
            if (std::fread(numbers.data(), sizeof(double), count, file) != std::size_t(count)) std::exit(1);
            return numbers;
        };
        struct Step {
            std::vector<double> A, B, b, Q, R, S, q, r;
        };
        std::vector<Step> all;
        for (int k = 0; k < steps; ++k) {
            Step s;
            s.A = read(nx * nx), s.B = read(nx * nu), s.b = read(nx), s.Q = read(nx * nx), s.R = read(nu * nu);
            s.S = read(nx * nu), s.q = read(nx), s.r = read(nu);
            all.push_back(s);
        }
        Step end;
        end.Q = read(nx * nx), end.q = read(nx);
        all.push_back(end);
        const std::vector<double> x0 = read(nx);
        for (int i = 0; i < nx; ++i) {
            apart += all[0].q[i] * x0[i];
            for (int j = 0; j < nx; ++j) {
                apart += 0.5 * x0[i] * all[0].Q[i + j * nx] * x0[j];
                all[0].b[i] += all[0].A[i + j * nx] * x0[j];
            }
            for (int j = 0; j < nu; ++j) all[0].r[j] += all[0].S[i + j * nx] * x0[i];
        }
        hessian.set_zero();
        for (int k = 0; k <= steps; ++k) {
            const Step& s = all[k];
            const int u = k < steps ? nu : 0, n = k > 0 ? nx : 0;
            auto& H = hessian.RSQrqt[k];
            for (int j = 0; j < u; ++j) {
                for (int i = 0; i < u; ++i) H(i, j) = s.R[i + j * nu];
                for (int i = 0; i < n; ++i) H(u + i, j) = H(j, u + i) = s.S[i + j * nx];
                H(u + n, j) = s.r[j];
            }
            for (int j = 0; j < n; ++j) {
                for (int i = 0; i < n; ++i) H(u + i, u + j) = s.Q[i + j * nx];
                H(u + n, u + j) = s.q[j];
            }
            if (k == steps) break;
            auto& E = jacobian.BAbt[k];
            for (int j = 0; j < nx; ++j) {
                for (int i = 0; i < u; ++i) E(i, j) = s.B[j + i * nx];
                for (int i = 0; i < n; ++i) E(u + i, j) = s.A[j + i * nx];
                E(u + n, j) = s.b[j];
            }
        }
        hessian.get_rhs(info, h);
        jacobian.get_rhs(info, rows);
        shift = 0.0, slack_shift = 0.0, x = 0.0, multipliers = 0.0;
    }

    bool solve() {
        return solver.solve(info, jacobian, hessian, shift, slack_shift, h, rows, x, multipliers) ==
               LinsolReturnFlag::SUCCESS;
    }

    double objective() {
        hessian.apply_on_right(info, x, 0.0, product, product);
        double sum = apart;
        for (Index i = 0; i < info.number_of_primal_variables; ++i) sum += (0.5 * product(i) + h(i)) * x(i);
        return sum;
    }
};

int main(int count, char** words) {
    constexpr double SECONDS = 0.02;  // of a problem, a variant and a round
    struct Named {
        std::string name;
        std::unique_ptr<Chain> chain;
    };
    std::vector<Named> all;
    for (int i = 2; i + 2 < count; i += 3) {
        const std::string path =
            std::string(words[1]) + "/lq_" + words[i] + "_" + words[i + 1] + "_" + words[i + 2] + ".bin";
        std::FILE* file = std::fopen(path.c_str(), "rb");
        std::int32_t head[4];
        if (!file || std::fread(head, sizeof(std::int32_t), 4, file) != 4) return 1;
        all.push_back({"lq " + std::string(words[i]) + " " + words[i + 1] + " " + words[i + 2],
                       std::make_unique<Chain>(file, head[0], head[1], head[2])});
        std::fclose(file);
    }
    using clock = std::chrono::steady_clock;
    for (std::string line; std::getline(std::cin, line);) {
        std::printf("{");
        for (std::size_t i = 0; i < all.size(); ++i) {
            Chain& chain = *all[i].chain;
            std::printf("%s\"%s\": [", i ? ", " : "", all[i].name.c_str());
            for (int accurate = 0; accurate < 2; ++accurate) {
                chain.solver.set_increased_accuracy(accurate);
                double best = 1e9;
                bool fine = true;
                const auto begin = clock::now();
                do {
                    const auto from = clock::now();
                    fine = chain.solve();
                    best = std::min(best, std::chrono::duration<double>(clock::now() - from).count());
                } while (fine && clock::now() - begin < std::chrono::duration<double>(SECONDS));
                std::printf("%s[%.9g, 1, \"%s\", %.17g]", accurate ? ", " : "", fine ? best : 1e9,
                            accurate ? "accurate" : "quick", chain.objective());
            }
            std::printf("]");
        }
        std::printf("}\n");
        std::fflush(stdout);
    }
}
