#include "forests/by_category/bdpt.h"

#include "native/python.h"

namespace dp_replica {

namespace {

bdpt::Plan read_plan(nb::handle plan) {
    return {
        .max_depth = take_levels(plan, "max_depth"),
        .level_epsilon = take<double>(plan, "level_epsilon"),
        .count_epsilon = take_by_level(plan, "count_epsilon"),
        .is_sound = take<bool>(plan, "is_sound"),
    };
}

}  // namespace

void bind_bdpt() {
    define_grower("forests.by_category.bdpt.grow_tree", read_plan,
                  [](const auto&... given) { return bdpt::grow_tree(given...); });
}

}  // namespace dp_replica
