// Random trees between Python and the kernels.
#pragma once

#include "forests/rdt.h"
#include "native/python.h"

namespace dp_replica {

inline rdt::Plan read_random_plan(nb::handle plan) {
    return {
        .max_depth = take_levels(plan, "max_depth"),
        .epsilon = take<double>(plan, "epsilon"),
        .n_children = take_span<const std::int64_t>(plan, "n_children"),
        .is_continuous = take_span<const bool>(plan, "is_continuous"),
        .lower = take_span<const double>(plan, "lower"),
        .width = take_span<const double>(plan, "width"),
        .n_classes = take<std::size_t>(plan, "n_classes"),
    };
}

}  // namespace dp_replica
