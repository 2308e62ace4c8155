// Training to a result: steps on a data set's own batches, and at times a pass over its held-out part.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/course.h"
#include "runner/plan.h"
#include "runner/settings.h"

namespace tbd {

struct Record;

// How long a training is, or how far apart evaluations are.
struct StepsOrEpochs {
  double value = 1;
  bool epochs = false;  // passes over the part of the set that is trained on; else steps
};
// "250" or "250steps"; "2epochs", "1epoch", "0.5epoch". Throws Error(usage) on another form and on 0 or less.
StepsOrEpochs steps_or_epochs_from(const std::string& text);

struct TrainOptions {
  Workload workload;  // its data set has a held-out part; batch 0: the network's usual one
  StepsOrEpochs length;
  std::optional<StepsOrEpochs> evaluate_every;  // nullopt: after the last step alone
  // Peak of a rate that rises over the first twentieth of the steps and falls to 0 by a cosine; nullopt: the network's
  // own schedule.
  std::optional<double> rate;
  std::optional<Goal> until;                     // ends the training at the first evaluation that reaches it
  std::optional<std::filesystem::path> weights;  // to begin with, by parameter and buffer name; nullopt: of the seed
  int64_t pictures = 0;                          // after the last evaluation, where the network's judge draws
  std::filesystem::path out;                     // the record's folder; there is none yet
};

// Continues from the record's last checkpoint, or begins again where it had none yet, with the options that the
// training began with, in a further launch. Throws Error as train does; usage where it had ended, and where the data
// set, the network, an axis of the workload or the framework's version is another one, naming what differs.
TrainResult resume_training(const std::filesystem::path& record, const RunnerSettings& settings, const TrainSink& sink);

// What the record's training was begun with and these options do not say, or say otherwise: "steps 400 there, 800
// here". Empty where it is this training. What the options leave open may be anything; lengths in epochs are not
// compared.
std::string training_difference(const Record& record, const TrainOptions& options);

// Leaves a record as `follow` does, and pictures. Throws Error as prepare and `follow` do; unsupported for a network
// that the data set does not suit.
TrainResult train(const TrainOptions& options, const RunnerSettings& settings, const TrainSink& sink);

struct EvaluateOptions {
  Workload workload;
  std::filesystem::path weights;
  int64_t samples = 0;   // up to a whole batch; 0: all
  int64_t pictures = 0;  // into the folder `pictures` of `out`
  std::filesystem::path out;
};
EvaluationRow evaluate_weights(const EvaluateOptions& options, const RunnerSettings& settings);

}  // namespace tbd
