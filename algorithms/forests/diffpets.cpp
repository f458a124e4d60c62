#include "forests/diffpets.h"

#include "native/python.h"

namespace dp_replica {

namespace {

diffpets::Plan read_plan(nb::handle plan) {
    return {
        .max_depth = take_levels(plan, "max_depth"),
        .reach = take_reach(plan),
        .max_features = take<std::size_t>(plan, "max_features"),
        .epsilon = take<double>(plan, "epsilon"),
        .leaf_epsilon = take<double>(plan, "leaf_epsilon"),
        .sensitivity = take<double>(plan, "sensitivity"),
        .monotone = take<bool>(plan, "monotone"),
        .cut = diffpets::Cut(take<int>(plan, "cut")),
        .is_regression = take<bool>(plan, "is_regression"),
        .score = Score(take<int>(plan, "score")),
        .mean_variance = take<bool>(plan, "mean_variance"),
        .leaf = diffpets::Leaf(take<int>(plan, "leaf")),
        .error_threshold = take<double>(plan, "error_threshold"),
    };
}

}  // namespace

void bind_diffpets() {
    define_grower("forests.diffpets.grow_as_printed", read_plan,
                  [](const auto&... given) { return diffpets::grow_as_printed(given...); });
    define_grower("forests.diffpets.grow_sound", read_plan,
                  [](const auto&... given) { return diffpets::grow_sound(given...); });
}

}  // namespace dp_replica
