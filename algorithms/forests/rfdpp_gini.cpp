#include "forests/rfdpp_gini.h"

#include "native/python.h"

namespace dp_replica {

namespace {

rfdpp_gini::Plan read_plan(nb::handle plan) {
    std::optional<rfdpp_gini::NominalNoise> nominal_noise;
    if (const auto where = take<std::optional<int>>(plan, "nominal_noise"))
        nominal_noise = rfdpp_gini::NominalNoise(*where);
    return {
        .max_depth = take_levels(plan, "max_depth"),
        .reach = take_reach(plan),
        .max_features = take<std::size_t>(plan, "max_features"),
        .count_epsilon = take<double>(plan, "count_epsilon"),
        .split_epsilon = take<double>(plan, "split_epsilon"),
        .leaf_epsilon = take<double>(plan, "leaf_epsilon"),
        .score = Score(take<int>(plan, "score")),
        .sensitivity = take<double>(plan, "sensitivity"),
        .one_draw = take<bool>(plan, "one_draw"),
        .two_calls = take<bool>(plan, "two_calls"),
        .weight = Weight(take<int>(plan, "weight")),
        .nominal_split = take<std::optional<int>>(plan, "nominal_split"),
        .nominal_noise = nominal_noise,
        .min_gini = take<std::optional<double>>(plan, "min_gini"),
        .min_samples = take<double>(plan, "min_samples"),
        .keeps_shares = take<bool>(plan, "keeps_shares"),
    };
}

}  // namespace

void bind_rfdpp_gini() {
    define_grower("forests.rfdpp_gini.grow_as_printed", read_plan,
                  [](const auto&... given) { return rfdpp_gini::grow_as_printed(given...); });
    define_grower("forests.rfdpp_gini.grow_sound", read_plan,
                  [](const auto&... given) { return rfdpp_gini::grow_sound(given...); });
}

}  // namespace dp_replica
