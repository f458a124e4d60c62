#include "native/random_plan.h"

namespace dp_replica {

namespace {

nb::object give_tree(rdt::Tree tree, std::size_t n_classes) {
    const std::size_t n_leaves = tree.noisy_counts.size() / n_classes;
    return import_ours("forests.rdt").attr("RandomTree")(
        import_numpy().attr("uint64")(tree.key),
        give_records(std::move(tree.nodes), "forests.rdt", "question_type"),
        give<double>(std::move(tree.noisy_counts), {n_leaves, n_classes}));
}

// Define a function (plan, data, rows, rng) -> tree; rows are all rows.
template <class Grow>
void define_tree(const char* name, Grow grow) {
    define(name, [grow](nb::handle plan, nb::handle data, nb::handle rows, nb::handle rng) {
        const auto own_plan = read_random_plan(plan);
        const auto matrix = take_matrix<const double>(data, "matrix");
        const auto labels = take_span<const std::int64_t>(data, "labels");
        const HeldGenerator generator(rng);
        rdt::Tree tree;
        {
            nb::gil_scoped_release others_run;
            tree = grow(own_plan, matrix, labels, *generator);
        }
        return give_tree(std::move(tree), own_plan.n_classes);
    });
}

}  // namespace

void bind_rdt() {
    define_tree("forests.rdt.grow_lazily", rdt::grow_lazily);
    define_tree("forests.rdt.grow_in_full", rdt::grow_in_full);
    define("forests.rdt.leaf_keys", [](nb::handle plan, nb::handle root, const Array<const double, 2>& matrix) {
        const auto key = nb::cast<std::uint64_t>(nb::int_(root));
        return give_vector(rdt::leaf_keys(read_random_plan(plan), key, as_matrix(matrix)));
    });
    define("forests.rdt.add_counts",
           [](nb::handle plan, nb::handle tree, const Array<const double, 2>& matrix, const Array<double, 2>& sums) {
               const auto own_plan = read_random_plan(plan);
               const auto key = nb::cast<std::uint64_t>(nb::int_(tree.attr("key")));
               const auto nodes = take_records<rdt::Question>(tree.attr("nodes"));
               const auto noisy_counts = take_matrix<const double>(tree, "noisy_counts");
               nb::gil_scoped_release others_run;
               rdt::add_counts(own_plan, key, nodes, noisy_counts, as_matrix(matrix), as_matrix(sums));
           });
}

}  // namespace dp_replica
