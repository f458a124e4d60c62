#include "forests/engine/lazy.h"

#include "native/python.h"

namespace dp_replica {

void bind_lazy() {
    define("forests.engine.lazy.add_votes_on_demand",
           [](const Array<const std::int64_t, 1>& n_cuts, nb::handle nodes, const Array<const double, 2>& matrix,
              const Array<double, 2>& votes) {
               const auto tree = take_records<Node>(nodes);
               nb::gil_scoped_release others_run;
               add_votes_on_demand(as_span(n_cuts), tree, as_matrix(matrix), as_matrix(votes));
           });
}

}  // namespace dp_replica
