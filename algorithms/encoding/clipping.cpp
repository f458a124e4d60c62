// FOR_WIDE_REGISTERS has a function compiled twice, see CMakeLists.txt.
#include "encoding/clipping.h"

#include <nanobind/stl/pair.h>

#include "native/python.h"

namespace dp_replica {

namespace {

using ColumnArray = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;  // whose numbers may lie apart

FOR_WIDE_REGISTERS Clipped clip_column(Column<const double> values, double lower, double upper, std::span<double> out) {
    return clip_compiled(values, lower, upper, out);
}

}  // namespace

void bind_clipping() {
    define("encoding.clipping.clip_compiled",
           [](nb::handle given, double lower, double upper, const Array<double, 1>& out) {
               ColumnArray values;
               if (!nb::try_cast(given, values))  // a field of packed records: not whole numbers apart
                   values = nb::cast<ColumnArray>(import_numpy().attr("ascontiguousarray")(given));
               check_size("numbers to clip", values.size(), out.size());
               nb::gil_scoped_release others_run;
               const Column<const double> column{values.data(), values.size(), values.stride(0)};
               const auto [n_clipped, n_missing] = clip_column(column, lower, upper, as_span(out));
               return std::pair(n_clipped, n_missing);
           });
}

}  // namespace dp_replica
