// What crosses between Python and the kernels: arrays are taken as they are, and the interpreter runs meanwhile.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include "forests/engine/depth.h"
#include "forests/engine/tree.h"
#include "mechanisms.h"
#include "native/checks.h"

namespace nb = nanobind;

namespace dp_replica {

template <class T, int n_dims>
using Array = nb::ndarray<T, nb::ndim<n_dims>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<T> as_span(const Array<T, 1>& array) {
    return {array.data(), array.size()};
}

template <class T>
Matrix<T> as_matrix(const Array<T, 2>& array) {
    return {array.data(), array.shape(0), array.shape(1)};
}

// Read an entry of a named tuple.
template <class T>
T take(nb::handle tuple, const char* name) {
    return nb::cast<T>(tuple.attr(name));
}

// View an array that somebody else holds: a copy, which nobody would hold, is not made of one of another type.
template <class T, int n_dims>
Array<T, n_dims> view_array(nb::handle array, const char* name) {
    Array<T, n_dims> viewed;
    if (!nb::try_cast(array, viewed, false))
        refuse(std::string(name) + ": no array of the type, dimensions and order that kernels read");
    return viewed;
}

template <class T>
std::span<T> take_span(nb::handle tuple, const char* name) {
    return as_span(view_array<T, 1>(tuple.attr(name), name));  // the tuple holds the array
}

template <class T>
Matrix<T> take_matrix(nb::handle tuple, const char* name) {
    return as_matrix(view_array<T, 2>(tuple.attr(name), name));
}

// Read a number of levels, which a plan has room for in what it says level by level.
inline int take_levels(nb::handle tuple, const char* name) {
    const int levels = take<int>(tuple, name);
    if (!is_below(levels, MAX_DEPTH + 1)) refuse_number(name, 0, levels, MAX_DEPTH + 1);
    return levels;
}

// Read how deep the tree of a plan may grow.
inline Reach take_reach(nb::handle plan) {
    const auto reach = take<nb::object>(plan, "reach");
    return {take<double>(reach, "epsilon"), take<double>(reach, "n_children"), take_levels(reach, "most")};
}

// Read what a plan has for each level of a tree, the leaves' included.
inline std::span<const double> take_by_level(nb::handle plan, const char* name) {
    const auto by_level = take_span<const double>(plan, name);
    check_least(name, by_level.size(), take_levels(plan, "max_depth") + 1);
    return by_level;
}

// Read the same for a tree of each number of levels up to the most.
inline Matrix<const double> take_by_depth(nb::handle plan, const char* name, int most) {
    const auto by_depth = take_matrix<const double>(plan, name);
    check_least(name, std::min(by_depth.n_rows, by_depth.n_columns), most + 1);
    return by_depth;
}

// Hand a vector over to numpy.
template <class Entry, class T>
nb::ndarray<nb::numpy, Entry> give(std::vector<T> values, std::initializer_list<std::size_t> shape) {
    values.shrink_to_fit();
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); });
    return {reinterpret_cast<Entry*>(kept->data()), shape, owner};
}

template <class T>
nb::ndarray<nb::numpy, T> give_vector(std::vector<T> values) {
    const std::size_t n = values.size();
    return give<T>(std::move(values), {n});
}

inline nb::module_ import_numpy() { return nb::module_::import_("numpy"); }

// Import a module of `algorithms`, wherever this is installed.
nb::module_ import_ours(const char* name);

// View the entries of a structured array of numpy, which the caller holds, as packed structs.
template <class Record>
std::span<const Record> take_records(nb::handle array) {
    if (nb::cast<std::size_t>(array.attr("itemsize")) != sizeof(Record)) refuse("nodes: not of the type that kernels read");
    const auto bytes = view_array<const std::uint8_t, 1>(array.attr("view")("u1"), "nodes");
    return {reinterpret_cast<const Record*>(bytes.data()), bytes.size() / sizeof(Record)};
}

// Hand nodes over to numpy, as a structured array of a type that a module of `algorithms` names.
template <class Record>
nb::object give_records(std::vector<Record> records, const char* module, const char* type) {
    const std::size_t n_bytes = records.size() * sizeof(Record);
    return nb::cast(give<std::uint8_t>(std::move(records), {n_bytes})).attr("view")(import_ours(module).attr(type));
}

inline nb::object give_nodes(std::vector<Node> nodes) {
    return give_records(std::move(nodes), "forests.engine.tree", "node_type");
}

// A numpy generator for the time of a call.
class HeldGenerator {
public:
    explicit HeldGenerator(nb::handle rng);
    const Generator& operator*() const { return generator_; }

private:
    std::unique_ptr<StandIn> secure_;
    Generator generator_;
};

// Tell whether these are the codes that were checked last, and nobody can have written into them since.
//
// All trees of a forest have them in common: to read them for each would take longer than to grow a small one.
bool were_checked(nb::handle codes, nb::handle n_codes);

// Check that the parts of a table fit together, and that its codes are below their number.
template <class Code>
void check_table(nb::handle given, const Table<Code>& table) {
    const std::size_t n = table.codes.n_columns, k = table.codes.n_rows;
    check_least("columns", k, 1);
    check(n <= std::numeric_limits<std::uint32_t>::max(), "a table has over 4,294,967,295 rows");
    check(table.n_classes > 0 && table.n_classes <= MOST_CLASSES, "a table has no class, or over 65,536");
    check_size("labels", table.labels.size(), n);
    if (!table.targets.empty()) check_size("targets", table.targets.size(), n);
    for (auto size : {table.n_codes.size(), table.is_continuous.size(), table.first_level.size(), table.lower.size(),
                      table.width.size()})
        check_size("columns of a table", size, k);
    for (std::size_t j = 0; j < k; ++j)
        check(table.n_codes[j] >= 0 && table.first_level[j] >= 0 &&
                  std::size_t(table.first_level[j]) + std::size_t(table.n_codes[j]) <= table.levels.size(),
              "levels: not one for each code of a column");
    if (were_checked(given.attr("codes"), given.attr("n_codes"))) return;
    for (std::size_t j = 0; j < k; ++j)
        check_below(("column " + std::to_string(j) + ": code").c_str(), table.codes.row(j), table.n_codes[j]);
}

template <class Code>
Table<Code> read_table(nb::handle table, const Array<const Code, 2>& codes) {
    const Table<Code> read{
        .codes = as_matrix(codes),
        .labels = take_span<const std::uint16_t>(table, "labels"),
        .targets = take_span<const double>(table, "targets"),
        .n_codes = take_span<const std::int64_t>(table, "n_codes"),
        .is_continuous = take_span<const bool>(table, "is_continuous"),
        .levels = take_span<const double>(table, "levels"),
        .first_level = take_span<const std::int64_t>(table, "first_level"),
        .lower = take_span<const double>(table, "lower"),
        .width = take_span<const double>(table, "width"),
        .n_classes = take<std::size_t>(table, "n_classes"),
    };
    check_table(table, read);
    return read;
}

// Call a function with a `Table` of Python, of either type of codes.
template <class Function>
auto with_table(nb::handle table, Function use) {
    nb::object codes = table.attr("codes");
    if (Array<const std::uint16_t, 2> narrow; nb::try_cast(codes, narrow, false))
        return use(read_table<std::uint16_t>(table, narrow));
    return use(read_table<std::uint32_t>(table, view_array<const std::uint32_t, 2>(codes, "codes")));
}

// The functions by which Python calls kernels, by the full name of their twins in `algorithms`.
nb::dict& twins();

template <class Function>
void define(const char* name, Function function) {
    twins()[name] = nb::cpp_function(function);
}

// Grows a tree of some rows; its plan and its table are bound, and held by Python meanwhile.
using Grow = std::function<std::vector<Node>(std::span<const std::uint32_t> rows, const Generator& rng)>;
using BindGrower = std::function<Grow(nb::handle plan, nb::handle table)>;

// All growers by name: an audit calls them a million times from a loop in C++.
std::map<std::string, BindGrower>& growers();

// Define a grower (plan, table, rows, rng) -> nodes by a rule in C++ and by what reads its plan.
template <class ReadPlan, class Rule>
void define_grower(const char* name, ReadPlan read_plan, Rule rule) {
    const BindGrower bind = [=](nb::handle plan, nb::handle table) {
        const auto own_plan = read_plan(plan);
        return with_table(table, [&](const auto& own_table) -> Grow {
            return [=](std::span<const std::uint32_t> rows, const Generator& rng) {
                return rule(own_plan, own_table, rows, rng);
            };
        });
    };
    growers()[name] = bind;
    define(name, [bind](nb::handle plan, nb::handle table, const Array<const std::uint32_t, 1>& rows, nb::handle rng) {
        const Grow grow = bind(plan, table);
        const HeldGenerator generator(rng);
        std::vector<Node> nodes;
        {
            nb::gil_scoped_release others_run;
            nodes = grow(as_span(rows), *generator);
        }
        return give_nodes(std::move(nodes));
    });
}

}  // namespace dp_replica
