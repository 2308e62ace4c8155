// A phase in its evaluation form: what it answers, and that it leaves what is trained alone.
#include "backend_suite/support.h"
#include "graph/passes.h"
#include "models/model.h"
#include "toy_programs.h"

namespace tbd {
namespace {

std::function<bool(const std::string&)> of_a_norm(const Phase& form) {
  return [&form](const std::string& parameter) {
    return std::ranges::any_of(form.nodes, [&](const Node& node) {
      return std::holds_alternative<BatchNorm>(node.op) && std::ranges::count(node.inputs, parameter) > 0;
    });
  };
}

// The evaluation form of the toy's first phase as the whole step of a program; a rate of 0 changes nothing.
Program as_a_step(const Program& program) {
  Program out = program;
  Phase form = with_evaluation(program).phases.back();
  form.update = program.phases.front().update;
  for (ParameterGroup& group : form.update.groups) std::erase_if(group.parameters, of_a_norm(form));
  out.phases = {form};
  out.step = {{.phase = form.name}};
  return out;
}

void expect_answers_as_a_step(const std::string& toy) {
  const Program program = with_precision(toy_program(toy), Precision::kFp64);
  if (const std::string why = why_not(program); !why.empty()) GTEST_SKIP() << why;
  ASSERT_EQ(program.phases.size(), 1U);
  const Program both = with_evaluation(program), alone = as_a_step(program);
  auto session = make_session();
  session->load(both, load_options({.capture = false}));
  session->write(initial_weights(program));
  session->stage(random_batch(program));
  session->step(at_step(1));  // moves running statistics
  const TensorMap trained = session->read({"param/", "buffer/", "state/"});
  const TensorMap batch = random_batch(alone);
  const TensorMap answers = session->evaluate(both.phases.back().name, batch);

  auto reference = make_session();
  reference->load(alone, load_options({}));
  TensorMap weights = trained;
  std::erase_if(weights, [](const auto& each) { return each.first.starts_with("state/"); });
  reference->write(weights);
  reference->stage(batch);
  reference->step(at_step(1, 0.0));
  for (const auto& [name, tensor] : reference->read({"term/", "output/"}))
    EXPECT_LT(relative_error(answers.at(name), tensor), 1e-12) << toy << ' ' << name;
  for (const auto& [name, tensor] : session->read({"param/", "buffer/", "state/"}))
    EXPECT_EQ(as_doubles(tensor), as_doubles(trained.at(name))) << toy << ' ' << name << " was changed";
  session->stage(random_batch(program));
  EXPECT_NO_THROW(session->step(at_step(2))) << toy << ": training goes on";
}

class EvaluatedToy : public testing::TestWithParam<const char*> {};

TEST_P(EvaluatedToy, AnswersWithRunningStatisticsAndWithoutDropout) { expect_answers_as_a_step(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, EvaluatedToy, testing::Values("norms", "boxes", "tied", "tokens"),
                         [](const auto& info) { return info.param; });

TEST(Evaluation, NeedsABatchForTheNextStep) {
  const Program program = toy_program("mlp20"), both = with_evaluation(program);
  auto session = make_session();
  session->load(both, load_options({.capture = false}));
  session->write(initial_weights(program));
  session->stage(random_batch(program));
  session->evaluate(both.phases.back().name, random_batch(program));
  EXPECT_THROW(session->step(at_step(1)), Error);
  EXPECT_THROW(session->evaluate("train", random_batch(program)), Error) << "a part of the step";
}

}  // namespace
}  // namespace tbd
