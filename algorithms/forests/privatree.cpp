#include "forests/privatree.h"

#include "native/python.h"

namespace dp_replica {

namespace {

privatree::Plan read_plan(nb::handle plan) {
    return {
        .max_depth = take_levels(plan, "max_depth"),
        .epsilon = take<double>(plan, "epsilon"),
        .count_epsilon = take<double>(plan, "count_epsilon"),
        .leaves_need = take<double>(plan, "leaves_need"),
    };
}

}  // namespace

void bind_privatree() {
    define_grower("forests.privatree.grow_as_programmed", read_plan,
                  [](const auto&... given) { return privatree::grow_as_programmed(given...); });
    define_grower("forests.privatree.grow_sound", read_plan,
                  [](const auto&... given) { return privatree::grow_sound(given...); });
    define_grower("forests.privatree.grow_by_histograms", read_plan,
                  [](const auto&... given) { return privatree::grow_by_histograms(given...); });
}

}  // namespace dp_replica
