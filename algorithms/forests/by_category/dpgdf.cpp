#include "forests/by_category/dpgdf.h"

#include "native/python.h"

namespace dp_replica {

namespace {

dpgdf::Plan read_plan(nb::handle plan) {
    return {
        .max_depth = take_levels(plan, "max_depth"),
        .level_epsilon = take<double>(plan, "level_epsilon"),
        .leaf_epsilon = take<double>(plan, "leaf_epsilon"),
        .weighs = take<bool>(plan, "weighs"),
        .is_sound = take<bool>(plan, "is_sound"),
    };
}

}  // namespace

void bind_dpgdf() {
    define_grower("forests.by_category.dpgdf.grow_tree", read_plan,
                  [](const auto&... given) { return dpgdf::grow_tree(given...); });
}

}  // namespace dp_replica
