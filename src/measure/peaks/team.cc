#include "measure/peaks/team.h"

#include <algorithm>
#include <barrier>
#include <exception>
#include <thread>

#include "measure/clock.h"
#include "measure/cores.h"

namespace tbd {

namespace {

int64_t thread_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return ns_of(t);
}

}  // namespace

TeamTime run_on_cores(const std::vector<int>& cpus, const std::function<void(int64_t index)>& work) {
  struct Member {
    int64_t begin = 0, end = 0, cpu_ns = 0;
    std::exception_ptr error;
  };
  std::vector<Member> members(cpus.size());
  std::barrier start(static_cast<std::ptrdiff_t>(cpus.size()));
  const auto body = [&](size_t index) {
    Member& self = members[index];
    try {
      bind_thread({cpus[index]});
    } catch (...) {
      self.error = std::current_exception();
    }
    start.arrive_and_wait();
    const int64_t cpu_begin = thread_cpu_ns();
    self.begin = now_ns();
    try {
      if (!self.error) work(static_cast<int64_t>(index));
    } catch (...) {
      self.error = std::current_exception();
    }
    self.end = now_ns();
    self.cpu_ns = thread_cpu_ns() - cpu_begin;
  };
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < cpus.size(); ++i) threads.emplace_back(body, i);
  }
  TeamTime time;
  int64_t begin = INT64_MAX, end = INT64_MIN;
  for (const Member& member : members) {
    if (member.error) std::rethrow_exception(member.error);
    begin = std::min(begin, member.begin);
    end = std::max(end, member.end);
    time.cpu_ns.push_back(member.cpu_ns);
  }
  if (!members.empty()) time.wall_ns = end - begin;
  return time;
}

}  // namespace tbd
