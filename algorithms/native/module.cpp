// The extension module: what all bindings share, and a list of them.
#include "forests/engine/lazy.h"
#include "native/python.h"

namespace dp_replica {

void bind_clipping();
void bind_c45();
void bind_forest();
void bind_predictor();
void bind_lazy();
void bind_diffpets();
void bind_diffprfs();
void bind_edprf();
void bind_privatree();
void bind_rdt();
void bind_rfdpp_gini();
void bind_thrifty();
void bind_bdpt();
void bind_dpgdf();
void bind_design();
void bind_moments();
void bind_objective();
void bind_audit();

namespace {

// Asks Python's mechanisms, which ask OpenDP where the generator is a SecureGenerator.
class PythonMechanisms : public StandIn {
public:
    explicit PythonMechanisms(nb::handle rng) : rng_(nb::borrow(rng)), mechanisms_(import_ours("mechanisms")) {}

    double laplace(double value, double sensitivity, double epsilon) override {
        nb::gil_scoped_acquire held;
        return nb::cast<double>(mechanisms_.attr("laplace")(value, sensitivity, epsilon, rng_));
    }
    std::vector<double> laplace_vector(std::span<const double> values, double sensitivity, double epsilon) override {
        nb::gil_scoped_acquire held;
        return as_vector(mechanisms_.attr("laplace_vector")(as_array(values), sensitivity, epsilon, rng_));
    }
    std::vector<double> sup_norm_vector(std::span<const double> values, double sensitivity, double epsilon) override {
        nb::gil_scoped_acquire held;
        return as_vector(mechanisms_.attr("sup_norm_vector")(as_array(values), sensitivity, epsilon, rng_));
    }
    std::size_t exponential(std::span<const double> quality, std::span<const double> measure, double sensitivity,
                            double epsilon, bool monotone) override {
        nb::gil_scoped_acquire held;
        return nb::cast<std::size_t>(mechanisms_.attr("exponential")(
            as_array(quality), as_array(measure), sensitivity, epsilon, rng_, monotone));
    }
    std::size_t permute_and_flip(
        std::span<const double> quality, double sensitivity, double epsilon, bool monotone) override {
        nb::gil_scoped_acquire held;
        return nb::cast<std::size_t>(
            mechanisms_.attr("permute_and_flip")(as_array(quality), sensitivity, epsilon, rng_, monotone));
    }

private:
    nb::object rng_, mechanisms_;

    static nb::object as_array(std::span<const double> values) {
        return nb::cast(give_vector(std::vector<double>(values.begin(), values.end())));
    }
    static std::vector<double> as_vector(const nb::object& array) {
        const auto numbers = as_span(nb::cast<Array<const double, 1>>(array));
        return {numbers.begin(), numbers.end()};
    }
};

bool is_secure(nb::handle rng) {
    return !rng.type().is(nb::module_::import_("numpy.random").attr("Generator")) &&
           nb::cast<bool>(import_ours("opendp_noise").attr("is_secure")(rng));
}

std::string& package() {
    static std::string name;
    return name;
}

// Say in Python's words that a tree has too many nodes.
void raise_parameter_error(const std::exception_ptr& raised, void*) {
    try {
        std::rethrow_exception(raised);
    } catch (const TooManyNodes& error) {
        PyErr_SetString(import_ours("parameters").attr("ParameterError").ptr(), error.what());
    }
}

}  // namespace

nb::module_ import_ours(const char* name) { return nb::module_::import_((package() + name).c_str()); }

nb::dict& twins() {
    static nb::dict& all = *new nb::dict();  // to the end of the process
    return all;
}

bool were_checked(nb::handle codes, nb::handle n_codes) {
    static nb::object& last_codes = *new nb::object();  // weakly held, both, to the end of the process
    static nb::object& last_n_codes = *new nb::object();
    const auto is_fixed = [](nb::handle array) { return !nb::cast<bool>(array.attr("flags").attr("writeable")); };
    if (!is_fixed(codes) || !is_fixed(n_codes)) return false;
    if (last_codes.is_valid() && last_codes().is(codes) && last_n_codes().is(n_codes)) return true;
    last_codes = nb::weakref(codes), last_n_codes = nb::weakref(n_codes);
    return false;
}

std::map<std::string, BindGrower>& growers() {
    static std::map<std::string, BindGrower>& all = *new std::map<std::string, BindGrower>();
    return all;
}

HeldGenerator::HeldGenerator(nb::handle rng) {
    if (is_secure(rng)) secure_ = std::make_unique<PythonMechanisms>(rng);
    nb::object capsule = rng.attr("bit_generator").attr("capsule");
    auto* bits = static_cast<bitgen_t*>(PyCapsule_GetPointer(capsule.ptr(), "BitGenerator"));
    if (bits == nullptr) throw nb::python_error();
    generator_ = {bits, secure_.get()};
}

}  // namespace dp_replica

NB_MODULE(kernels, module) {
    using namespace dp_replica;
    const std::string name = nb::cast<const char*>(module.attr("__name__"));
    package() = name.substr(0, name.rfind("native.kernels"));  // "algorithms.", or "dp_replica.algorithms."
    nb::register_exception_translator(raise_parameter_error);
    bind_clipping();
    bind_c45();
    bind_forest();
    bind_predictor();
    bind_lazy();
    bind_diffpets();
    bind_diffprfs();
    bind_edprf();
    bind_privatree();
    bind_rdt();
    bind_rfdpp_gini();
    bind_thrifty();
    bind_bdpt();
    bind_dpgdf();
    bind_design();
    bind_moments();
    bind_objective();
    bind_audit();
    module.attr("twins") = twins();
}
