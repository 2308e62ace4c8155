#include "record/memory_log.h"

#include <algorithm>

#include "base/text.h"
#include "record/safetensors.h"

namespace tbd {
namespace {

constexpr std::string_view kClassNames[] = {"weight",          "weight_grad", "feature_map",      "activation_grad",
                                            "optimizer_state", "workspace",   "temporary",        "input",
                                            "auxiliary",       "comm",        "runtime",          "tool",
                                            "planned",         "unexplained", "library_workspace"};
static_assert(std::size(kClassNames) == kMemoryClasses);
constexpr std::string_view kEvidenceNames[] = {"exact", "partial", "plan"};
constexpr std::string_view kPhaseNames[] = {"setup", "input", "forward", "backward", "update"};

// Rows of whole numbers in tensors (rows, columns).
class Rows {
 public:
  explicit Rows(int64_t columns) : columns_(columns) {}
  void add(std::initializer_list<int64_t> row) { cells_.insert(cells_.end(), row); }
  HostTensor tensor() const {
    const auto rows = static_cast<int64_t>(cells_.size()) / columns_;
    return {DType::i64, {rows, columns_}, std::span<const int64_t>(cells_)};
  }

 private:
  int64_t columns_;
  std::vector<int64_t> cells_;
};

// A table as it was read.
class Table {
 public:
  Table(const TensorMap& tensors, const std::string& name, int64_t columns) : columns_(static_cast<size_t>(columns)) {
    const auto found = tensors.find(name);
    require(found != tensors.end(), "has no '", name, "'");
    const HostTensor& tensor = found->second;
    require(tensor.dtype() == DType::i64 && tensor.shape().rank() == 2 && tensor.shape()[1] == columns, "'", name,
            "' is ", tensor.shape(), " of ", tensor.dtype(), ", expected rows of ", columns, " i64");
    cells_ = tensor.as<int64_t>();
  }
  size_t rows() const { return cells_.size() / columns_; }
  std::span<const int64_t> operator[](size_t row) const { return cells_.subspan(row * columns_, columns_); }

 private:
  size_t columns_;
  std::span<const int64_t> cells_;
};

int64_t within(int64_t value, int64_t low, int64_t high, std::string_view what) {
  require(value >= low && value < high, what, " ", value, " is none of ", low, " to ", high - 1);
  return value;
}

// Each event is the allocation or the release of one block.
void check_events(const MemoryLog& log) {
  std::vector<bool> seen(log.event_ns.size());
  const auto take = [&](uint32_t event) {
    require(!seen[event], "event ", event, " occurs twice");
    seen[event] = true;
  };
  for (const MemoryBlock& block : log.blocks) {
    take(block.born);
    if (block.freed == kNeverFreed) continue;
    require(block.freed > block.born, "event ", block.freed, " releases what event ", block.born, " allocates");
    take(block.freed);
  }
  for (size_t event = 0; event < seen.size(); ++event) require(seen[event], "event ", event, " belongs to no block");
}

MemoryBlock block_from(std::span<const int64_t> row, const MemoryLog& log) {
  const auto events = static_cast<int64_t>(log.event_ns.size());
  require(row[0] >= 0 && row[1] >= row[0], "a block of ", row[0], " bytes in ", row[1]);
  return {.requested = row[0],
          .held = row[1],
          .born = static_cast<uint32_t>(within(row[2], 0, events, "event")),
          .freed = row[3] == -1 ? kNeverFreed : static_cast<uint32_t>(within(row[3], 0, events, "event")),
          .node = static_cast<int32_t>(within(row[4], -1, static_cast<int64_t>(log.nodes.size()), "node")),
          .kind = static_cast<MemoryClass>(within(row[5], 0, kMemoryClasses, "class")),
          .phase = static_cast<MemoryPhase>(within(row[6], 0, std::size(kPhaseNames), "phase"))};
}

std::span<const char> text_of(const TensorMap& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  require(found != tensors.end() && found->second.dtype() == DType::u8, "has no '", name, "' of u8");
  return found->second.as<char>();
}

HostTensor text(std::string_view text) {
  return {DType::u8, {static_cast<int64_t>(text.size())}, std::span<const char>(text)};
}

std::vector<std::string> lines_of(const TensorMap& tensors) {
  const auto bytes = text_of(tensors, "nodes");
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < bytes.size();) {
    const auto end = static_cast<size_t>(std::ranges::find(bytes.subspan(begin), '\n') - bytes.begin());
    lines.emplace_back(bytes.data() + begin, end - begin);
    begin = end + 1;
  }
  return lines;
}

MemoryLog log_from(const TensorMap& tensors) {
  MemoryLog log{.nodes = lines_of(tensors)};
  const Table events(tensors, "event_ns", 1), blocks(tensors, "blocks", 7), marks(tensors, "marks", 4),
      frees(tensors, "unknown_frees", 1), evidence(tensors, "evidence", 1);
  for (size_t i = 0; i < events.rows(); ++i) log.event_ns.push_back(events[i][0]);
  for (size_t i = 0; i < blocks.rows(); ++i) log.blocks.push_back(block_from(blocks[i], log));
  for (size_t i = 0; i < marks.rows(); ++i) {
    const auto row = marks[i];
    log.marks.push_back({.event = static_cast<uint32_t>(within(row[0], 0, events.rows() + 1, "event")),
                         .time_ns = row[1],
                         .step = row[2],
                         .phase = static_cast<MemoryPhase>(within(row[3], 0, std::size(kPhaseNames), "phase"))});
  }
  require(frees.rows() == 1, "'unknown_frees' must be a single number");
  log.unknown_frees = frees[0][0];
  require(evidence.rows() == 1, "'evidence' must be a single number");
  log.evidence = static_cast<MemoryEvidence>(within(evidence[0][0], 0, std::size(kEvidenceNames), "evidence"));
  const auto note = text_of(tensors, "note");
  log.note.assign(note.begin(), note.end());
  check_events(log);
  return log;
}

}  // namespace

std::string_view name(MemoryClass kind) { return kClassNames[static_cast<size_t>(kind)]; }
std::string_view name(MemoryEvidence evidence) { return kEvidenceNames[static_cast<size_t>(evidence)]; }
std::string_view name(MemoryPhase phase) { return kPhaseNames[static_cast<size_t>(phase)]; }

void write_memory_log(const std::filesystem::path& path, const MemoryLog& log) {
  Rows events(1), blocks(7), marks(4), frees(1), evidence(1);
  for (const int64_t time : log.event_ns) events.add({time});
  for (const MemoryBlock& b : log.blocks)
    blocks.add({b.requested, b.held, b.born, b.freed == kNeverFreed ? -1 : int64_t{b.freed}, b.node,
                static_cast<int64_t>(b.kind), static_cast<int64_t>(b.phase)});
  for (const MemoryMark& m : log.marks) marks.add({m.event, m.time_ns, m.step, static_cast<int64_t>(m.phase)});
  frees.add({log.unknown_frees});
  evidence.add({static_cast<int64_t>(log.evidence)});
  std::string lines;
  for (const std::string& node : log.nodes) lines += node + "\n";
  write_safetensors(path, {{"event_ns", events.tensor()},
                           {"blocks", blocks.tensor()},
                           {"marks", marks.tensor()},
                           {"unknown_frees", frees.tensor()},
                           {"evidence", evidence.tensor()},
                           {"note", text(log.note)},
                           {"nodes", text(lines)}});
}

MemoryLog read_memory_log(const std::filesystem::path& path) {
  const TensorMap tensors = read_safetensors(path);
  try {
    return log_from(tensors);
  } catch (const Error& error) {
    throw error.within(path.string());
  }
}

}  // namespace tbd
