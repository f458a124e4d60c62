// FOR_WIDE_REGISTERS has a function compiled twice, see CMakeLists.txt.
#include "regression/objective.h"

#include "native/python.h"

namespace dp_replica {

namespace {

FOR_WIDE_REGISTERS void sum_pairs(Grid<double>& of_pairs, regression::Tile& line, Matrix<const double> block) {
    regression::sum_pairs(of_pairs, line, block);
}

}  // namespace

void bind_objective() {
    define("regression.objective._sum_few_products", [](const Array<const double, 2>& block) {
        Grid<double> products(0, block.shape(0));
        {
            nb::gil_scoped_release others_run;
            products = regression::sum_few_products(as_matrix(block), sum_pairs);
        }
        return give<double>(std::move(products.values()), {block.shape(0), block.shape(0)});
    });
    define("regression.objective.add_noise",
           [](const Array<const double, 1>& values, const Array<const double, 1>& sensitivity,
              const Array<const double, 1>& epsilon, nb::handle rng) {
               const HeldGenerator generator(rng);
               return give_vector(
                   regression::add_noise(as_span(values), as_span(sensitivity), as_span(epsilon), *generator));
           });
}

}  // namespace dp_replica
