#include "forests/forest.h"

#include "native/python.h"

namespace dp_replica {

void bind_forest() {
    define("forests.forest._sort_rows", [](const Array<const std::int64_t, 1>& drawn,
                                           const Array<std::uint32_t, 1>& times, const Array<std::uint32_t, 1>& ordered) {
        nb::gil_scoped_release others_run;
        sort_rows(as_span(drawn), as_span(times), as_span(ordered));
    });
}

}  // namespace dp_replica
