// The thrifty trees, for classes and for numbers.
#include "forests/thrifty_regressor.h"
#include "native/python.h"

namespace dp_replica {

namespace {

thrifty_tree::Plan read_plan(nb::handle plan) {
    return {
        .max_depth = take_levels(plan, "max_depth"),
        .epsilon = take<double>(plan, "epsilon"),
        .root_epsilon = take<double>(plan, "root_epsilon"),
        .enough = take<double>(plan, "enough"),
        .draws_labels = take<bool>(plan, "draws_labels"),
        .asks_half = take<bool>(plan, "asks_half"),
    };
}

}  // namespace

void bind_thrifty() {
    define_grower("forests.thrifty_tree.grow_tree", read_plan,
                  [](const auto&... given) { return thrifty_tree::grow_tree(given...); });
    define_grower("forests.thrifty_regressor.grow_tree", read_plan,
                  [](const auto&... given) { return thrifty_regressor::grow_tree(given...); });
}

}  // namespace dp_replica
