#include "worker/world.h"

#include "base/json.h"

namespace tbd {

std::string identity_of_rank(const SessionIdentity& worker, const Program& program, const LoadOptions& options) {
  Json bindings;
  for (const auto& [name, extent] : options.bindings) bindings[name] = extent;
  return Json{{"framework", cat(worker.framework, " ", worker.version)},
              {"program", program_hash(program)},
              {"extents", bindings},
              {"layout", options.layout.text()},
              {"mode", options.mode.text()},
              {"seed", options.seed},
              {"ranks", options.world.place.world},
              {"bytes of a bucket", options.world.bucket_bytes}}
      .dump();
}

void require_alike(const std::vector<std::string>& identities) {
  const Json first = parse_json(identities.at(0), "the identity of rank 0");
  for (size_t rank = 1; rank < identities.size(); ++rank) {
    const Json other = parse_json(identities[rank], cat("the identity of rank ", rank));
    for (const auto& [what, value] : first.items())
      if (const Json found = other.value(what, Json()); found != value)
        fail(ErrorKind::invalid, "rank ", rank, " cannot train with rank 0: its ", what, " is ", found.dump(),
             ", that of rank 0 is ", value.dump());
  }
}

}  // namespace tbd
