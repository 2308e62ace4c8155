// The main loop of a worker: answers the runner's requests with a session of its framework.
#pragma once
#include <exception>
#include <memory>

#include "measure/counters.h"
#include "measure/memory_ledger.h"
#include "measure/process_memory.h"
#include "measure/step_blocks.h"
#include "trace/file.h"
#include "worker/channel.h"
#include "worker/session.h"

namespace tbd {

class Worker {
 public:
  // `zero_ns`: start of the process on the clock of now_ns().
  Worker(Session& session, Channel& channel, int64_t zero_ns);
  // Until `bye` or the end of input. Every request is answered; a fault becomes a Failure.
  void serve();

 private:
  StepBlocks* blocks_of(const protocol::Run& request);
  Trace& trace_in(const std::string& folder);
  void leave_memory(const std::string& folder, Json& launch) const;
  protocol::Message answer(const protocol::Request& request);
  protocol::Message on(const protocol::Hello&) const;
  protocol::Message on(const protocol::Check& request) const;
  protocol::Message on(const protocol::Load& request);
  protocol::Message on(const protocol::Write& request);
  protocol::Message on(const protocol::Read& request);
  protocol::Message on(const protocol::Run& request);
  protocol::Message on(const protocol::Evaluate& request);
  protocol::Message on(const protocol::Answer& request);
  protocol::Message on(const protocol::Survey& request) const;
  protocol::Message on(const protocol::Gemm& request);
  protocol::Message on(const protocol::Link& request);
  protocol::Message on(const protocol::Stop&) const;
  protocol::Message on(const protocol::Ping&) const;
  protocol::Message on(const protocol::Bye&);

  Session& session_;
  Channel& channel_;
  int64_t zero_ns_;
  std::optional<protocol::Load> loaded_;
  std::optional<MemoryLedger> ledger_;        // of pass memory
  std::optional<ProcessMemory> before_load_;  // of pass memory: the framework without a program
  std::optional<TraceWriter> tracer_;         // of pass trace, from the first traced run on
  std::optional<Counters> counters_;          // of pass trace: of all threads, those that the load starts too
  std::optional<StepBlocks> blocks_;          // of pass clean, from the first run on
};

// What a fault means to the runner: out of memory is told apart from the rest.
protocol::Failure failure_of(std::exception_ptr error);

}  // namespace tbd
