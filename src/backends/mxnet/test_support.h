// What the back-end's tests share, beside what all back-ends' do.
#pragma once
#include "backend_suite/support.h"
#include "backends/mxnet/identity.h"
#include "backends/mxnet/session.h"

namespace tbd::mxnet {

// Every gradient of the program's first phase against central differences, element by element; in double.
inline void expect_gradients(Session& session, const Program& program, const std::string& what) {
  const auto loss = [&] { return session.step(at_step(1, 0.0)).loss; };
  loss();
  const TensorMap before = session.read({"grad/", "param/"});
  ASSERT_FALSE(program.phases[0].wrt().empty()) << what << " trains nothing";
  constexpr double kStep = 1e-5;
  for (const std::string& name : program.phases[0].wrt()) {
    HostTensor moved = before.at("param/" + name), numeric(DType::f64, moved.shape());
    for (size_t i = 0; i < moved.as<double>().size(); ++i) {
      const double x = moved.as<double>()[i];
      const auto loss_at = [&](double value) {
        moved.as<double>()[i] = value;
        session.write({{"param/" + name, moved}});
        return loss();
      };
      const double above = loss_at(x + kStep), below = loss_at(x - kStep);
      numeric.as<double>()[i] = (above - below) / (2 * kStep);
      loss_at(x);
    }
    EXPECT_LT(relative_error(before.at("grad/" + name), numeric), 1e-7) << what << " " << name;
  }
}

}  // namespace tbd::mxnet
