#include "forests/diffprfs.h"

#include "native/python.h"

namespace dp_replica {

namespace {

diffprfs::Plan read_plan(nb::handle plan) {
    return {
        .max_depth = take_levels(plan, "max_depth"),
        .max_features = take<std::size_t>(plan, "max_features"),
        .count_epsilon = take_by_level(plan, "count_epsilon"),
        .split_epsilon = take_by_level(plan, "split_epsilon"),
        .leaf_epsilon = take_by_level(plan, "leaf_epsilon"),
        .score = Score(take<int>(plan, "score")),
        .sensitivity = take<double>(plan, "sensitivity"),
        .stops_below_noise = take<bool>(plan, "stops_below_noise"),
    };
}

diffprfs::SoundPlan read_sound_plan(nb::handle plan) {
    return {
        .max_depth = take_levels(plan, "max_depth"),
        .reach = take_reach(plan),
        .max_features = take<std::size_t>(plan, "max_features"),
        .split_epsilon = take_by_depth(plan, "split_epsilon", take_reach(plan).most),
        .leaf_epsilon = take_by_depth(plan, "leaf_epsilon", take_reach(plan).most),
        .score = Score(take<int>(plan, "score")),
        .sensitivity = take<double>(plan, "sensitivity"),
    };
}

}  // namespace

void bind_diffprfs() {
    define_grower("forests.diffprfs.grow_as_printed", read_plan,
                  [](const auto&... given) { return diffprfs::grow_as_printed(given...); });
    define_grower("forests.diffprfs.grow_sound", read_sound_plan,
                  [](const auto&... given) { return diffprfs::grow_sound(given...); });
}

}  // namespace dp_replica
