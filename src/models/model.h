// A network with its configurations: what `tbd list` shows, a source of programs, and its oracle numbers.
#pragma once
#include <functional>

#include "graph/program.h"

namespace tbd {

// The published or counted numbers that a model's program must have, exactly (docs/adding-a-model.md).
struct Expected {
  int64_t parameters = 0;  // all elements of parameters
  int64_t trainable_parameters = 0;
  int64_t buffers = 0;       // elements of float buffers
  int64_t forward_macs = 0;  // per sample, at the default shapes
  int64_t train_flops = 0;   // per sample
};

struct Config {
  std::string name;  // "canonical", "tiny", ...
  std::string note;  // one line: what it is
  Expected expected;
  int64_t layers = 0;  // as the network's paper counts them
  std::function<Program()> program;
  std::string tiny = "tiny";   // the configuration made for tests that has all ops of this one; its own name for such
  std::string text = {};       // conventions of its reference's text (data/text/text_spec.h); empty: the usual ones
  std::string detection = {};  // the same of pictures with boxes (data/detection/detection_spec.h)
  // Phases that answer on held-out data, over the program's weights; none: those of training in their evaluation form.
  std::function<Program()> evaluation = {};
  std::string judge = {};  // of the answers (worker/judge.h); empty: the choices that the loss compares
};

struct Model {
  std::string name;             // "resnet50"
  std::string title;            // "ResNet-50 v1.5"
  std::string domain;           // "image classification"
  std::string dominant_layer;   // by FLOPs: "convolution"
  std::string dataset;          // "ImageNet-1k"
  std::string unit;             // headline unit of throughput: "images"
  std::string mlperf = {};      // the name that MLPerf training's rules have for it; empty: they have none
  std::vector<int64_t> sweep;   // batch sizes, smallest first
  std::vector<Config> configs;  // the first is the default
  // What a tensor of an older published file is called here; a name that has not changed stays. Empty: none has.
  std::function<std::string(const std::string&)> current_name = {};
  const Config& config(std::string_view name) const;  // "": the first; Error(not_found) with the nearest names
};

std::vector<Model> model_files();        // each src/models/NAME.cc defines `Model NAME()` (cmake/Registry.cmake)
const std::vector<Model>& all_models();  // in the order of their files' names
const Model& find_model(std::string_view name);  // Error(not_found) with the nearest names

// A model name (with config), or a path to a program file: the program, and the model when it is one of ours.
struct LoadedProgram {
  Program program;
  const Model* model = nullptr;
};
LoadedProgram load_program(const std::string& name_or_path, std::string_view config);

}  // namespace tbd
