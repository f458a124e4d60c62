#include "regression/moments.h"

#include "native/python.h"

namespace dp_replica {

void bind_moments() {
    define("regression.moments.add_noise_by_group",
           [](const Array<const double, 1>& values, const Array<const std::int64_t, 1>& group,
              const Array<const double, 1>& epsilons, nb::handle rng) {
               const HeldGenerator generator(rng);
               return give_vector(
                   regression::add_noise_by_group(as_span(values), as_span(group), as_span(epsilons), *generator));
           });
}

}  // namespace dp_replica
