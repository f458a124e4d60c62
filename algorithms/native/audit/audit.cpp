// The audit's loops of a million trainings.
#include <nanobind/stl/string.h>

#include "native/audit/observed_forests.h"
#include "native/audit/observed_numbers.h"
#include "native/random_plan.h"
#include "regression/moments.h"
#include "regression/objective.h"

namespace dp_replica {

namespace {

using audit::RandomStream, audit::Trainings;

using DrawSamples = std::vector<Rows> (*)(std::size_t n_rows, std::size_t n_trees, const Generator& rng);
const std::map<std::string, DrawSamples> SAMPLINGS = {
    {"bootstrap", draw_with_replacement}, {"disjoint", draw_disjoint_parts}, {"all", take_all_rows}};

std::string name_twin(nb::handle function) {
    return nb::cast<std::string>(import_ours("native").attr("name_twin")(function));
}

RandomStream read_stream(nb::handle parts, std::uint64_t key, const HeldGenerator& generator) {
    const auto state = as_span(view_array<std::uint64_t, 1>(parts[1], "state of a generator"));
    const auto rest = as_span(view_array<std::uint64_t, 1>(parts[2], "unused half of a number"));
    check_least("numbers of a state", std::min(state.size(), 2 * rest.size()), 2);
    return {*generator, state, rest, key};
}

std::vector<std::int64_t> read_cuts(nb::handle table) {
    const nb::object n_cuts = import_ours("forests.engine.lazy").attr("public_cuts")(table);
    const auto of_columns = as_span(view_array<const std::int64_t, 1>(n_cuts, "n_cuts"));
    return {of_columns.begin(), of_columns.end()};
}

void train_random_forests(const Trainings& trainings, const RandomStream& stream, nb::handle plan, nb::handle data,
                          Matrix<const double> probes, std::span<const std::int64_t> classes) {
    const auto own_plan = read_random_plan(plan);
    const auto matrix = take_matrix<const double>(data, "matrix");
    const auto labels = take_span<const std::int64_t>(data, "labels");
    const auto take_no_rows = [](std::size_t, std::size_t n_trees, const Generator&) {
        return std::vector<Rows>(n_trees);  // every tree has all rows
    };
    nb::gil_scoped_release others_run;
    audit::train_forests(trainings, stream, take_no_rows, [&](const auto&, auto, auto numbers) {
        audit::note_random_tree(
            rdt::grow_lazily(own_plan, matrix, labels, stream.rng), own_plan, probes, classes, numbers);
    });
}

audit::Probing read_probing(nb::handle plan, nb::handle table, Matrix<const double> probes) {
    auto n_cuts = read_cuts(table);
    check_size("columns of the probes", probes.n_columns, n_cuts.size());
    const auto n_codes = take_span<const std::int64_t>(table, "n_codes");
    const auto is_continuous = take_span<const bool>(table, "is_continuous");
    for (std::size_t p = 0; p < probes.n_rows; ++p)
        for (std::size_t j = 0; j < probes.n_columns; ++j)
            if (!is_continuous[j]) category_of(probes(p, j), n_codes[j]);
    const int most = nb::hasattr(plan, "reach") ? take_reach(plan).most : 0;  // by which a sound tree goes
    return {std::max(take_levels(plan, "max_depth"), most), take<std::size_t>(table, "n_classes"), std::move(n_cuts), probes};
}

void train_forests(const Trainings& trainings, const RandomStream& stream, const BindGrower& bind, DrawSamples sample,
                   nb::handle plan, nb::handle table, Matrix<const double> probes) {
    const auto probing = read_probing(plan, table, probes);
    const Grow grow = bind(plan, table);
    nb::gil_scoped_release others_run;
    audit::train_forests(trainings, stream, sample, [&](const auto& rows, auto codes, auto numbers) {
        audit::note_tree(grow(rows, stream.rng), probing, codes, numbers);
    });
}

void define_trainings() {
    define("experiments.audit.observe.observed_forests.note_tree",
           [](nb::handle nodes, nb::handle plan, nb::handle table, const Array<const double, 2>& probes, nb::handle,
              const Array<std::int64_t, 1>& codes, const Array<double, 1>& numbers) {
               const auto probing = read_probing(plan, table, as_matrix(probes));
               const auto tree = take_records<Node>(nodes);
               find_leaves(tree, as_matrix(probes));  // which checks what the nodes ask
               audit::note_tree(tree, probing, as_span(codes), as_span(numbers));
           });
    define("experiments.audit.observe.observed_forests.train_forests",
           [](nb::handle grow, const char* sampling, nb::handle plan, nb::handle table, std::size_t n_trees,
              const Array<const double, 2>& probes, const Array<const std::int64_t, 1>& classes, nb::handle parts,
              std::uint64_t key, std::uint64_t first, const Array<std::int64_t, 3>& codes,
              const Array<double, 3>& numbers) {
               const HeldGenerator generator(parts[0]);
               const auto stream = read_stream(parts, key, generator);
               const std::size_t n = codes.shape(0), n_rows = nb::len(nb::object(table.attr("labels")));
               const Trainings trainings{n_rows, n_trees, first, n, {codes.data(), n * n_trees, codes.shape(2)},
                                         {numbers.data(), n * n_trees, numbers.shape(2)}};
               const auto name = name_twin(grow);
               if (name == "forests.rdt.grow_lazily")
                   train_random_forests(trainings, stream, plan, table, as_matrix(probes), as_span(classes));
               else
                   train_forests(trainings, stream, growers().at(name), SAMPLINGS.at(sampling), plan, table,
                                 as_matrix(probes));
           });
}

using AddNoise = std::function<std::vector<double>(const Generator& rng)>;

// Bind a way to add noise, by its name in Python, to coefficients that are laid out as it takes them.
AddNoise bind_noise(const std::string& name, nb::handle laid_out) {
    const auto numbers = [=](int i) { return as_span(view_array<const double, 1>(laid_out[i], "coefficients")); };
    const auto values = numbers(0), epsilons = numbers(2);
    if (name == "regression.moments.add_noise_by_group") {
        const auto group = as_span(view_array<const std::int64_t, 1>(laid_out[1], "groups"));
        return [=](const Generator& rng) { return regression::add_noise_by_group(values, group, epsilons, rng); };
    }
    return [=, sensitivities = numbers(1)](const Generator& rng) {
        return regression::add_noise(values, sensitivities, epsilons, rng);
    };
}

void define_releases() {
    define("experiments.audit.observe.observed_numbers.release_coefficients",
           [](nb::handle add_noise, nb::handle laid_out, nb::handle parts, std::uint64_t key, std::uint64_t first,
              const Array<double, 2>& released) {
               const HeldGenerator generator(parts[0]);
               const auto stream = read_stream(parts, key, generator);
               const auto add = bind_noise(name_twin(add_noise), laid_out);
               nb::gil_scoped_release others_run;
               audit::release_coefficients(add, stream, first, as_matrix(released));
           });
}

}  // namespace

void bind_audit() {
    define("experiments.audit.observe.trainings.begin_training",
           [](const Array<std::uint64_t, 1>& state, const Array<std::uint64_t, 1>& rest, std::uint64_t key,
              std::uint64_t training) {
               check_least("numbers of a state", std::min<std::size_t>(state.size(), 2 * rest.size()), 2);
               audit::begin_training({{}, as_span(state), as_span(rest), key}, training);
           });
    define_trainings();
    define_releases();
}

}  // namespace dp_replica
