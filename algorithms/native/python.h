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
#include "native/arrays.h"

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

template <class T>
std::span<T> take_span(nb::handle tuple, const char* name) {
    return as_span(take<Array<T, 1>>(tuple, name));  // the tuple holds the array
}

template <class T>
Matrix<T> take_matrix(nb::handle tuple, const char* name) {
    return as_matrix(take<Array<T, 2>>(tuple, name));
}

// Read how deep the tree of a plan may grow.
inline Reach take_reach(nb::handle plan) {
    const auto reach = take<nb::object>(plan, "reach");
    return {take<double>(reach, "epsilon"), take<double>(reach, "n_children"), take<int>(reach, "most")};
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
    const auto bytes = nb::cast<Array<const std::uint8_t, 1>>(array.attr("view")("u1"));
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

template <class Code>
Table<Code> read_table(nb::handle table, const Array<const Code, 2>& codes) {
    return {
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
}

// Call a function with a `Table` of Python, of either type of codes.
template <class Function>
auto with_table(nb::handle table, Function use) {
    nb::object codes = table.attr("codes");
    if (Array<const std::uint16_t, 2> narrow; nb::try_cast(codes, narrow, false))
        return use(read_table<std::uint16_t>(table, narrow));
    return use(read_table<std::uint32_t>(table, nb::cast<Array<const std::uint32_t, 2>>(codes)));
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
