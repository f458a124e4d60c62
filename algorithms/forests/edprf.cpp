#include "forests/edprf.h"

#include "native/python.h"

namespace dp_replica {

namespace {

edprf::Plan read_plan(nb::handle plan) {
    const int max_depth = take_levels(plan, "max_depth");
    check(max_depth > 0, "max_depth: a tree has at least one level of nodes");
    const Reach reach = take_reach(plan);
    const int most = std::max(max_depth - 1, reach.most);
    return {
        .max_depth = max_depth,
        .reach = reach,
        .split_epsilon = take_by_depth(plan, "split_epsilon", most),
        .leaf_epsilon = take_by_depth(plan, "leaf_epsilon", most),
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
