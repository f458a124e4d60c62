#include "forests/engine/predictor.h"

#include "native/python.h"

namespace dp_replica {

// Define what adds to sums, by row, what one tree says of the rows.
static void define_sums(
    const char* name, void (*add)(std::span<const Node>, Matrix<const double>, Matrix<double>)) {
    define(name, [add](nb::handle nodes, const Array<const double, 2>& matrix, const Array<double, 2>& sums) {
        const auto tree = take_records<Node>(nodes);
        nb::gil_scoped_release others_run;
        add(tree, as_matrix(matrix), as_matrix(sums));
    });
}

void bind_predictor() {
    define("forests.engine.predictor.find_leaves", [](nb::handle nodes, const Array<const double, 2>& matrix) {
        return give_vector(find_leaves(take_records<Node>(nodes), as_matrix(matrix)));
    });
    define_sums("forests.engine.predictor.add_votes", add_votes);
    define_sums("forests.engine.predictor.add_shares", add_shares);
    define_sums("forests.engine.predictor.add_values", add_values);
}

}  // namespace dp_replica
