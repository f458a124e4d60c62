#include "forests/engine/predictor.h"

#include "native/python.h"

namespace dp_replica {

void bind_predictor() {
    define("forests.engine.predictor.find_leaves", [](nb::handle nodes, const Array<const double, 2>& matrix) {
        return give_vector(find_leaves(take_records<Node>(nodes), as_matrix(matrix)));
    });
    define("forests.engine.predictor.add_votes",
           [](nb::handle nodes, const Array<const double, 2>& matrix, const Array<double, 2>& votes) {
               const auto tree = take_records<Node>(nodes);
               nb::gil_scoped_release others_run;
               add_votes(tree, as_matrix(matrix), as_matrix(votes));
           });
    define("forests.engine.predictor.add_values",
           [](nb::handle nodes, const Array<const double, 2>& matrix, const Array<double, 2>& sums) {
               const auto tree = take_records<Node>(nodes);
               nb::gil_scoped_release others_run;
               add_values(tree, as_matrix(matrix), as_matrix(sums));
           });
}

}  // namespace dp_replica
