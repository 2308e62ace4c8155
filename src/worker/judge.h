// Judges what a network says of held-out samples: from the answers of its evaluation phases to metrics of its task.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace tbd {

struct Phase;
struct Picture;
struct SourceSpec;

// The network that is evaluated, for a judge that asks it more than once, as a decoder does: what the phase gives, by
// the names of its outputs, for a batch as the data source gave it, of as many rows. It answers while batches are
// added.
using Network = std::function<TensorMap(const TensorMap& batch)>;

class Judge {
 public:
  virtual ~Judge() = default;
  // The first `samples` rows of a batch as the data source gave it, and of the phase's outputs by their names.
  virtual void add(const TensorMap& batch, const TensorMap& answers, int64_t samples) = 0;
  // Of all that was added, by name, "box_ap"; what has no value is absent.
  virtual std::map<std::string, double> metrics() const = 0;
  // Of the first samples, `most` at most, with what was found in them; none where there is nothing to draw.
  virtual std::vector<Picture> pictures(int64_t most) const;
};

std::vector<std::string> judge_names();
// By the name that a network's Config gives: "anchors" (a detector that scores every anchor), "regions" (one that says
// where its detections are), "moves" (policy and value), "spelling" (labels of a transcript by step), "translation"
// (the words of a sentence one after the other), "spans" (where a paragraph answers a question), "images" (a generator
// and its critic); without a name the choices among classes or words that the phase's own loss compares with labels,
// nullptr where there are none. `data` is the held-out set, `phase` what answers, `network` the same for questions of
// the judge's own. Throws Error(unsupported) where the set cannot tell what is right: data that are made have no
// annotations to keep; Error(not_found) for another name.
std::unique_ptr<Judge> make_judge(const std::string& name, const SourceSpec& data, const Phase& phase,
                                  const Network& network);

}  // namespace tbd
