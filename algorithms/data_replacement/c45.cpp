#include "data_replacement/c45.h"

#include "native/python.h"

namespace dp_replica {

void bind_c45() {
    define("data_replacement.c45._cut_nodes",
           [](const Array<const double, 2>& columns, const Array<const std::int64_t, 1>& codes,
              const Array<std::int64_t, 2>& order, std::size_t n_classes, const Array<const double, 1>& logs) {
               c45::Tree tree;
               {
                   nb::gil_scoped_release others_run;
                   const c45::Rows rows{as_matrix(columns), as_span(codes), as_span(logs)};
                   tree = c45::cut_nodes(rows, as_matrix(order), n_classes);
               }
               const std::size_t n_nodes = tree.feature.size();
               return nb::make_tuple(give_vector(std::move(tree.feature)), give_vector(std::move(tree.cut)),
                                     give_vector(std::move(tree.children[0])), give_vector(std::move(tree.children[1])),
                                     give<std::int64_t>(std::move(tree.counts), {n_nodes, n_classes}));
           });
}

}  // namespace dp_replica
