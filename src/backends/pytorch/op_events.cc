#include "backends/pytorch/op_events.h"

#include <unistd.h>

#include <optional>

#include "backends/pytorch/op_signature.h"

namespace tbd::pytorch {
namespace {

struct Ids {
  StringId name = 0, shapes = 0, types = 0, math = 0;
};

class OpAppender {
 public:
  OpAppender(Trace& trace, const OpTape& tape, const OpNames& names)
      : trace_(trace),
        tape_(tape),
        names_(names),
        ids_(tape.signatures().size()),
        track_(trace.track({.process = getpid(), .thread = tape.thread()})) {}

  void add(const OpRecord& record) {
    const Ids& ids = ids_of(record.signature);
    if (record.end < record.begin) return trace_.fault("ops without an end", trace_.strings()[ids.name]);
    const OpDetail detail = {
        .node = record.node < 0 ? 0 : trace_.string(names_.nodes[static_cast<size_t>(record.node)]),
        .shapes = ids.shapes,
        .types = ids.types,
        .math = ids.math,
        .forward_thread = forward_thread(record)};
    trace_.add({.begin = record.begin,
                .duration = record.end - record.begin,
                .name = ids.name,
                .link = link_of_sequence(record.sequence),
                .detail = detail == OpDetail{} ? kNoDetail : trace_.detail(detail),
                .track = track_,
                .kind = record.kind,
                .phase = record.phase});
  }

 private:
  const Ids& ids_of(uint32_t signature) {
    std::optional<Ids>& ids = ids_[signature];
    if (ids) return *ids;
    const OpSignature spelled = read_signature(tape_.signatures()[signature]);
    return ids.emplace(Ids{.name = trace_.string(spelled.name),
                           .shapes = trace_.string(spelled.shapes),
                           .types = trace_.string(spelled.types),
                           .math = trace_.string(spelled.math == "fp32" ? names_.fp32_math : spelled.math)});
  }

  int64_t forward_thread(const OpRecord& record) const {
    const auto thread = names_.threads.find(record.forward_thread);
    return thread == names_.threads.end() ? 0 : thread->second;
  }

  Trace& trace_;
  const OpTape& tape_;
  const OpNames& names_;
  std::vector<std::optional<Ids>> ids_;  // by signature
  TrackId track_;
};

}  // namespace

void append_ops(Trace& trace, const OpTape& tape, const OpNames& names) {
  if (tape.records().empty()) return;
  OpAppender appender(trace, tape, names);
  for (const OpRecord& record : tape.records()) appender.add(record);
}

}  // namespace tbd::pytorch
