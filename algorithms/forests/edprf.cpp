#include "forests/edprf.h"

#include "native/python.h"

namespace dp_replica {

namespace {

edprf::Plan read_plan(nb::handle plan) {
    return {
        .max_depth = take<int>(plan, "max_depth"),
        .reach = take_reach(plan),
        .split_epsilon = take_matrix<const double>(plan, "split_epsilon"),
        .leaf_epsilon = take_matrix<const double>(plan, "leaf_epsilon"),
        .split_flips = take<bool>(plan, "split_flips"),
        .leaf_flips = take<bool>(plan, "leaf_flips"),
        .count_share = take<double>(plan, "count_share"),
        .is_sound = take<bool>(plan, "is_sound"),
    };
}

}  // namespace

void bind_edprf() {
    define_grower("forests.edprf.grow_tree", read_plan,
                  [](const auto&... given) { return edprf::grow_tree(given...); });
}

}  // namespace dp_replica
