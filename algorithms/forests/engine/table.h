// The training table of the forest engine: columns as small integers, one after the other. See engine/table.py.
#pragma once

#include "native/arrays.h"

namespace dp_replica {

template <class Code>  // uint16_t or uint32_t
struct Table {
    Matrix<const Code> codes;             // (k, n): rank, bin or category of each value
    std::span<const std::uint16_t> labels;  // class of each row
    std::span<const double> targets;        // of each row on the scale [0, 1] for a regression, else empty
    std::span<const std::int64_t> n_codes;  // how many codes each column can take
    std::span<const bool> is_continuous;
    std::span<const double> levels;            // the value behind each code, columns one after the other
    std::span<const std::int64_t> first_level;  // where the levels of a column begin
    std::span<const double> lower, width;       // where the public range of a continuous column begins, its length
    std::size_t n_classes;
};

}  // namespace dp_replica
