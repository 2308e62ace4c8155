// TensorFlow's own optimizer kernels in single precision.
#include "backend_suite/update_reference.h"
#include "backends/tensorflow/test_support.h"

namespace tbd::tensorflow {
namespace {

// In fp32 the kernel's 1 - beta2 is off by 1.3e-5 for beta2 = 0.999: neither weights nor averages may show it.
TEST(TensorFlowAdam, InSinglePrecisionMovesWeightsAndAveragesAsTheFormulaSays) {
  Program program = toy_program("elementwise");
  program.phases[0].update.groups[0].weight_decay = 0;
  auto session = ready(program);
  const TensorMap before = session->read({"param/"});
  session->step(at_step(1));
  const TensorMap after = session->read({"param/", "grad/", "state/"});
  session->write({{"state/fc1.bias/exp_avg_sq", after.at("state/fc1.bias/exp_avg_sq")}});
  const TensorMap written = session->read({"state/fc1.bias/"});
  EXPECT_LT(relative_error(written.at("state/fc1.bias/exp_avg_sq"), after.at("state/fc1.bias/exp_avg_sq")), 1e-7);
  for (const auto& [name, weight] : before) {
    const Vector w = as_doubles(weight), g = as_doubles(after.at("grad/" + name.substr(6)));
    const Vector now = as_doubles(after.at(name));
    const double lr = learning_rate(program.phases[0].update.schedule, 1, 4);
    Vector squares;
    for (const double each : g) squares.push_back(0.001 * each * each);
    expect_close(after.at(cat("state/", name.substr(6), "/exp_avg_sq")), squares, name, 3e-7);
    for (size_t i = 0; i < w.size(); ++i)
      EXPECT_NEAR(now[i] - w[i], -lr * g[i] / (std::abs(g[i]) + 1e-6), 1e-6 * lr + 1e-7 * std::abs(w[i])) << name;
  }
}

}  // namespace
}  // namespace tbd::tensorflow
