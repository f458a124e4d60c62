// FOR_WIDE_REGISTERS has a function compiled twice, see CMakeLists.txt.
#include "regression/design.h"

#include "native/python.h"

namespace dp_replica {

namespace {

FOR_WIDE_REGISTERS void scale(std::span<double> line, double lower, double width, Scaling scaling) {
    scale_line(line, lower, width, scaling);
}

FOR_WIDE_REGISTERS std::int64_t read_rows(Matrix<double> out, const Bounds& bounds, Scaling scaling,
                                          Matrix<const double> values, std::span<std::int64_t> n_clipped) {
    return read_table(out, bounds, scaling, values, n_clipped);
}

}  // namespace

void bind_design() {
    define("regression.design._scale_line",
           [](const Array<double, 1>& line, double lower, double width, double times, double less) {
               nb::gil_scoped_release others_run;
               scale(as_span(line), lower, width, {times, less});
           });
    define("regression.design._read_table",
           [](const Array<double, 2>& out, const Array<const double, 2>& bounds, double times, double less,
              const Array<const double, 2>& values, const Array<std::int64_t, 1>& n_clipped) {
               const auto of_columns = as_matrix(bounds);
               check_size("rows of the bounds", of_columns.n_rows, 3);
               check_size("lines", out.shape(0), values.shape(1));
               check_least("places of a line", out.shape(1), values.shape(0));
               for (auto n : {of_columns.n_columns, n_clipped.size()}) check_size("columns", n, values.shape(1));
               nb::gil_scoped_release others_run;
               return read_rows(as_matrix(out), {of_columns.row(0), of_columns.row(1), of_columns.row(2)},
                                {times, less}, as_matrix(values), as_span(n_clipped));
           });
}

}  // namespace dp_replica
