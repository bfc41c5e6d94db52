// Matrix kernels one by one, so that tests can hold each against NumPy at every level.
#include "bind.hpp"
#include "kernels/arena.hpp"
#include "kernels/cholesky.hpp"
#include "kernels/matrix_product.hpp"
#include "kernels/matrix_vector.hpp"

namespace trisweep {
namespace {

// A row-major (rows, columns) array as the padded columns of the core, in an arena of its own.
class Padded {
public:
    Padded(int rows, int columns) : ld(padded(rows)), columns(columns), rows(rows) {
        arena.build([this](Arena& a) { data = a.matrix(ld, this->columns); });
    }
    explicit Padded(const Matrix& from) : Padded(int(from.shape(0)), int(from.shape(1))) {
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j) data[i + j * ld] = from(i, j);
    }
    Array array() const {
        double* to;
        Array out = new_array({std::size_t(rows), std::size_t(columns)}, to);
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j) *to++ = data[i + j * ld];
        return out;
    }
    int ld, columns, rows;
    double* data = nullptr;

private:
    Arena arena;
};

}  // namespace

void bind_kernels(nb::module_& m) {
    m.attr("lanes") = W;
    m.def("product_nt", [](Matrix A, Matrix B, Matrix C, bool lower, int sign) {
        Padded a(A), b(B), c(C);
        expect(a.columns == b.columns && c.rows == a.rows && c.columns == b.rows, "C + A B' does not fit");
        const auto run = [&]<bool LOWER, int SIGN>() {
            product_nt<LOWER, SIGN>(a.ld, b.rows, a.columns, a.data, a.ld, b.data, b.ld, c.data, c.ld, c.data, c.ld);
        };
        if (lower)
            sign > 0 ? run.template operator()<true, 1>() : run.template operator()<true, -1>();
        else
            sign > 0 ? run.template operator()<false, 1>() : run.template operator()<false, -1>();
        return c.array();
    });
    m.def("product_nn", [](Matrix A, Matrix B) {
        Padded a(A), b(B), c(int(A.shape(0)), int(B.shape(1)));
        expect(a.columns == b.rows, "A B does not fit");
        product_nn<1>(a.ld, b.columns, a.columns, a.data, a.ld, b.data, b.ld, nullptr, 0, c.data, c.ld);
        return c.array();
    });
    m.def("multiply_add", [](Matrix A, Matrix x, Matrix y) {
        Padded a(A), b(x), c(y);
        expect(b.rows == a.columns && c.rows == a.rows && b.columns == 1 && c.columns == 1, "y + A x does not fit");
        multiply_add(a.ld, a.columns, a.data, a.ld, b.data, c.data);
        return c.array();
    });
    m.def("transposed_multiply_add", [](Matrix A, Matrix x, Matrix y) {
        Padded a(A), b(x), c(y);
        expect(b.rows == a.rows && c.rows == a.columns && b.columns == 1 && c.columns == 1, "y + A' x does not fit");
        transposed_multiply_add(a.ld, a.columns, a.data, a.ld, b.data, c.data);
        return c.array();
    });
    m.def("square_multiply_add", [](Matrix L, Matrix x, Matrix y) {
        Padded a(L), b(x), c(y);
        expect(a.rows == a.columns && b.rows == a.rows && c.rows == a.rows && b.columns == 1 && c.columns == 1,
               "y + L L' x does not fit");
        square_multiply_add(a.rows, a.data, a.ld, b.data, c.data);
        return c.array();
    });
    // (column that failed or -1, L)
    m.def("cholesky_after", [](Matrix Q, Matrix Z) {
        Padded q(Q), z(Z), l(q.rows, padded(q.rows)), inverse(q.rows, 1), threshold(q.rows, 1);
        expect(q.rows == q.columns && z.rows == q.rows, "Q - Z Z' does not fit");
        const int failed =
            cholesky_after(q.rows, z.columns, z.data, z.ld, q.data, q.ld, l.data, l.ld, inverse.data, threshold.data);
        l.columns = l.rows;
        return nb::make_tuple(failed, l.array());
    });
    // (column that failed or -1, F after the factorization of its first columns, where x starts at padded(columns))
    m.def("cholesky", [](Matrix A, int columns) {
        const int size = int(A.shape(0));
        expect(A.shape(1) == A.shape(0) && columns >= 0 && columns <= size, "A must be square, and columns within it");
        const int at = padded(columns);
        Padded f(at + size - columns, at + size - columns), inverse(size, 1), threshold(size, 1);
        const auto place = [&](int i) { return i < columns ? i : at + i - columns; };
        for (int i = 0; i < size; ++i)
            for (int j = 0; j < size; ++j) f.data[place(i) + place(j) * f.ld] = A(i, j);
        const int failed = cholesky(f.ld, columns, f.data, f.ld, inverse.data, threshold.data);
        Padded plain(size, columns);
        for (int i = 0; i < size; ++i)
            for (int j = 0; j < columns; ++j) plain.data[i + j * plain.ld] = f.data[place(i) + j * f.ld];
        return nb::make_tuple(failed, plain.array());
    });
}

}  // namespace trisweep
