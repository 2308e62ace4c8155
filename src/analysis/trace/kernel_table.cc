#include "analysis/trace/kernel_table.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.h"

namespace tbd {
namespace {

struct GroupKey {
  uint64_t name_and_detail;
  DeviceClass cls;
  static auto fields(auto& key) { return std::tie(key.name_and_detail, key.cls); }
  bool operator==(const GroupKey&) const = default;
};

struct Members {
  std::vector<int64_t> durations;
  int64_t bytes = 0, gap_ns = 0;
  uint32_t first = 0;  // event
};

// Where the duration of an event that has several stretches is, among its group's; its stretches need not be
// neighbours, since an op may call one of its own name.
class Places {
 public:
  explicit Places(size_t events) : places_(events, kNone) {}
  // Of a first stretch in the window, `next`.
  size_t place(const Activity& stretch, size_t next) {
    uint32_t& place = places_[stretch.event];
    if (!stretch.resumed || place == kNone) place = static_cast<uint32_t>(next);
    return place;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> places_;
};

std::string extents(const std::array<uint32_t, 3>& sizes) { return cat(sizes[0], "x", sizes[1], "x", sizes[2]); }

std::string detail_text(const Trace& trace, uint32_t event) {
  if (const auto kind = trace.kinds()[event]; kind == EventKind::kernel) {
    const auto* kernel = trace.detail_of<KernelDetail>(event);
    return kernel && kernel->grid[0] ? cat("grid ", extents(kernel->grid), " block ", extents(kernel->block)) : "";
  } else if (kind == EventKind::op || kind == EventKind::backward_op) {
    const auto* op = trace.detail_of<OpDetail>(event);
    if (!op) return "";
    const std::string math(trace.strings()[op->math]);
    return cat(trace.strings()[op->shapes], math.empty() ? "" : " ", math);
  }
  return "";
}

int64_t bytes_of(const Trace& trace, uint32_t event) {
  const EventKind kind = trace.kinds()[event];
  if (kind == EventKind::memcpy || kind == EventKind::memset) {
    const auto* copy = trace.detail_of<CopyDetail>(event);
    return copy ? copy->bytes : 0;
  }
  if (kind != EventKind::collective) return 0;
  const auto* collective = trace.detail_of<CollectiveDetail>(event);
  return collective ? collective->bytes : 0;
}

// Copies differ in bytes and collectives in their number: their details do not make groups.
uint32_t grouping_detail(const Trace& trace, uint32_t event) {
  const EventKind kind = trace.kinds()[event];
  const bool groups = kind == EventKind::kernel || kind == EventKind::op || kind == EventKind::backward_op;
  return groups ? trace.detail_ids()[event] : kNoDetail;
}

KernelGroup group_of(const Trace& trace, DeviceClass cls, Members& members) {
  KernelGroup group{.name = std::string(trace.name(members.first)),
                    .detail = detail_text(trace, members.first),
                    .cls = cls,
                    .count = static_cast<int64_t>(members.durations.size()),
                    .bytes = members.bytes,
                    .gap_ns = members.gap_ns};
  for (const int64_t duration : members.durations) group.total_ns += duration;
  const size_t place = (members.durations.size() * 95 + 99) / 100 - 1;  // nearest rank
  std::ranges::nth_element(members.durations, members.durations.begin() + static_cast<std::ptrdiff_t>(place));
  group.p95_ns = members.durations[place];
  group.launch_bound = group.gap_ns > group.total_ns;
  return group;
}

void sort_groups(std::vector<KernelGroup>& groups) {
  std::ranges::sort(groups, {}, [](const KernelGroup& g) {
    return std::tuple<int64_t, const std::string&, const std::string&>(-g.total_ns, g.name, g.detail);
  });
}

// Groups whose details print alike are one: shapes may differ in what is not shown.
std::vector<KernelGroup> merged(std::vector<KernelGroup> groups, bool by_detail) {
  std::map<std::tuple<std::string, std::string, DeviceClass>, KernelGroup> all;
  for (KernelGroup& group : groups) {
    if (!by_detail) group.detail.clear();
    auto [found, is_new] = all.try_emplace({group.name, group.detail, group.cls}, group);
    if (is_new) continue;
    KernelGroup& sum = found->second;
    sum.count += group.count;
    sum.total_ns += group.total_ns;
    sum.bytes = sum_in_range(sum.bytes, group.bytes);
    sum.gap_ns = sum_in_range(sum.gap_ns, group.gap_ns);
    sum.p95_ns = std::max(sum.p95_ns, group.p95_ns);
    sum.launch_bound = sum.gap_ns > sum.total_ns;
  }
  std::vector<KernelGroup> out;
  for (auto& [key, group] : all) out.push_back(std::move(group));
  sort_groups(out);
  return out;
}

// Where the list of a C++ function's arguments begins; the name's end where it has none.
size_t arguments_begin(std::string_view name) {
  if (!name.ends_with(')')) return name.size();
  int open = 0;
  for (size_t i = name.size(); i-- > 0;) {
    open += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
    if (open == 0) return i > 0 && name[i - 1] != ' ' ? i : name.size();
  }
  return name.size();
}

}  // namespace

std::vector<KernelGroup> kernel_groups(const RankEvents& rank, std::span<const Activity> activities, TimeSpan window) {
  const Trace& trace = *rank.trace;
  DetailTable<GroupKey> ids;
  std::vector<Members> groups;  // by id
  std::vector<int64_t> ends(trace.tracks().size(), window.begin);
  Places places(trace.size());
  for (const Activity& activity : activities) {
    int64_t& end = ends[activity.track];
    int64_t gap = std::max<int64_t>(0, activity.begin - end);
    end = std::max(end, activity.end);
    if (activity.begin < window.begin || activity.begin >= window.end) continue;
    const uint32_t event = activity.event;
    const uint32_t id =
        ids.intern({uint64_t{trace.names()[event]} << 32 | grouping_detail(trace, event), activity.cls});
    if (id == groups.size()) groups.emplace_back();
    Members& members = groups[id];
    if (members.durations.empty()) members.first = event;
    const size_t place = places.place(activity, members.durations.size());
    if (place == members.durations.size()) members.durations.push_back(0);
    members.durations[place] += activity.end - activity.begin;
    if (activity.resumed) gap = 0;
    members.bytes = sum_in_range(members.bytes, std::max<int64_t>(0, bytes_of(trace, event)));
    members.gap_ns = sum_in_range(members.gap_ns, gap);
  }
  std::vector<KernelGroup> out;
  for (uint32_t id = 0; id < groups.size(); ++id) out.push_back(group_of(trace, ids.find(id)->cls, groups[id]));
  return merged(std::move(out), true);
}

std::string short_kernel_name(std::string_view name) {
  constexpr size_t kLongest = 80;
  constexpr std::string_view kShared[] = {"at::native::", "(anonymous namespace)::"};
  if (name.starts_with("void ")) name.remove_prefix(5);
  std::string out(name.substr(0, arguments_begin(name)));
  for (const std::string_view part : kShared)
    for (size_t at = out.find(part); at != std::string::npos; at = out.find(part, at)) out.erase(at, part.size());
  if (out.size() <= kLongest) return out;
  size_t end = kLongest - 1;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;  // no half of a character
  return out.substr(0, end) + "…";
}

std::vector<KernelGroup> kernels_by_name(const std::vector<KernelGroup>& groups) {
  std::vector<KernelGroup> kernels;
  for (const KernelGroup& group : groups)
    if (group.cls != DeviceClass::copy) kernels.push_back(group);
  return merged(std::move(kernels), false);
}

}  // namespace tbd
