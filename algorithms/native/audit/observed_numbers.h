// Many releases of the coefficients of a regression. See experiments/audit/observe/observed_numbers.py.
#pragma once

#include <algorithm>

#include "native/arrays.h"
#include "native/audit/trainings.h"

namespace dp_replica::audit {

// Fill every row of `released` with noisy coefficients, each from the stream of its own training.
template <class AddNoise>
void release_coefficients(
    AddNoise add_noise, const RandomStream& stream, std::uint64_t first, Matrix<double> released) {
    for (std::size_t i = 0; i < released.n_rows; ++i) {
        begin_training(stream, first + i);
        const auto noisy = add_noise(stream.rng);
        check_size("released numbers", noisy.size(), released.n_columns);
        std::ranges::copy(noisy, released.row(i).begin());
    }
}

}  // namespace dp_replica::audit
