#include "worker/loop.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "base/json.h"
#include "base/out_of_memory.h"
#include "measure/busy_time.h"
#include "measure/clock.h"
#include "measure/cores.h"
#include "measure/malloc_libraries.h"
#include "measure/proc_text.h"
#include "record/safetensors.h"
#include "worker/evaluation.h"
#include "worker/initial_values.h"
#include "worker/inputs.h"
#include "worker/program_state.h"
#include "worker/protocol_rows.h"
#include "worker/step_loop.h"

namespace tbd {
namespace {

std::string_view level_name(NodeSupport::Level level) {
  switch (level) {
    case NodeSupport::Level::native:
      return "native";
    case NodeSupport::Level::composed:
      return "composed";
    case NodeSupport::Level::unsupported:
      return "unsupported";
  }
  return "unsupported";
}

constexpr int64_t kLeastRepetitions = 5;  // of an all-reduce, however long they take

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

// "fc.weight" of a weights file is "param/fc.weight" to a session.
TensorMap with_prefixes(TensorMap file, const Program& program, const std::string& where) {
  TensorMap out;
  for (auto& [name, tensor] : file) {
    if (name.ends_with("num_batches_tracked")) continue;  // a counter of the reference's that no network reads
    std::string full = name;
    const auto is = [&](const Parameter& p) { return p.name == name; };
    if (std::ranges::any_of(program.parameters, is)) full = cat("param/", name);
    if (std::ranges::any_of(program.buffers, is)) full = cat("buffer/", name);
    const bool known = starts_with_any(full, {"param/", "buffer/", "state/", "updates/", "scale/"});
    require(known, where, ": '", name, "' is neither a parameter nor a buffer of this network");
    out[full] = std::move(tensor);
  }
  return out;
}

}  // namespace

protocol::Failure failure_of(std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return {.kind = says_out_of_memory(e.what()) ? "oom" : std::string(name(e.kind())), .sentence = e.what()};
  } catch (const std::bad_alloc&) {
    return {.kind = "oom", .sentence = "out of memory: the system refused an allocation"};
  } catch (const std::exception& e) {
    return {.kind = says_out_of_memory(e.what()) ? "oom" : "internal", .sentence = first_line(e.what())};
  } catch (...) {
    return {.kind = "internal", .sentence = "the framework threw something that is no std::exception", .fatal = true};
  }
}

Worker::Worker(Session& session, Channel& channel, int64_t zero_ns)
    : session_(session), channel_(channel), zero_ns_(zero_ns) {}

void Worker::serve() {
  while (const std::optional<Incoming> incoming = channel_.next()) {
    if (const auto* malformed = std::get_if<MalformedLine>(&*incoming)) {
      channel_.send(protocol::Failure{.kind = "invalid", .sentence = malformed->sentence});
      continue;
    }
    const protocol::Request& request = std::get<protocol::Request>(*incoming);
    protocol::Message message = protocol::ByeReply{};
    try {
      message = answer(request);
    } catch (...) {
      protocol::Failure failure = failure_of(std::current_exception());
      if (const int64_t step = channel_.step(); step > 0) failure.step = step;
      message = std::move(failure);
    }
    channel_.enter_step(0);
    channel_.send(message);
    if (std::holds_alternative<protocol::Bye>(request)) return;
  }
}

protocol::Message Worker::answer(const protocol::Request& request) {
  return std::visit([this](const auto& each) { return on(each); }, request);
}

protocol::Message Worker::on(const protocol::Hello&) const {
  const SessionIdentity identity = session_.identity();
  return protocol::HelloReply{.framework = identity.framework,
                              .framework_version = identity.version,
                              .modes = identity.modes,
                              .devices = identity.devices,
                              .precisions = identity.precisions,
                              .layouts = identity.layouts,
                              .passes = identity.passes,
                              .pipeline = true,
                              .exchanges = identity.exchanges,
                              .build = identity.build};
}

protocol::Message Worker::on(const protocol::Check& request) const {
  protocol::CheckReply reply;
  for (const NodeSupport& node : session_.check(request.program))
    reply.nodes.push_back({node.phase, node.node, node.kind, std::string(level_name(node.level)), node.detail});
  return reply;
}

protocol::Message Worker::on(const protocol::Load& request) {
  require(!loaded_, "a program is loaded already; a worker loads one");
  const auto& [modes, passes] = std::pair(session_.identity().modes, session_.identity().passes);
  if (std::ranges::find(passes, request.pass) == passes.end())
    fail(ErrorKind::unsupported, "pass ", request.pass,
         " is not among what the worker offers: ", join(texts(passes), ", "));
  if (request.pass == Pass::kMemory) {
    before_load_ = process_memory();
    ledger_.emplace(node_names(request.program));
  }
  if (!request.mode.empty() && std::ranges::find(modes, request.mode) == modes.end())
    fail(ErrorKind::unsupported, "mode ", request.mode,
         " is not among what the worker offers: ", join(texts(modes), ", "));
  if (request.pass == Pass::kTrace) counters_.emplace();
  session_.load(request.program, {.bindings = request.bindings,
                                  .device = request.device,
                                  .threads = request.threads,
                                  .interop = request.interop,
                                  .layout = request.layout,
                                  .mode = request.mode,
                                  .tf32 = request.precision == Precision::kTf32,
                                  .capture = request.capture,
                                  .seed = request.seed,
                                  .world = request.world.value_or(World{}),
                                  .trace = request.pass == Pass::kTrace,
                                  .ledger = ledger_ ? &*ledger_ : nullptr,
                                  .device_memory_bytes = request.device_memory_bytes});
  protocol::LoadReply reply{.batch = request.bindings.contains("N") ? request.bindings.at("N") : 1,
                            .threads = request.threads};
  reply.parameters = write_initial_values(session_, request.program, request.seed, request.threads);
  loaded_ = request;
  if (request.device_memory_bytes) reply.settings[protocol::kDeviceMemorySetting] = cat(*request.device_memory_bytes);
  reply.settings["affinity"] = cpu_list(allowed_cpus());
  reply.seconds = 1e-9 * static_cast<double>(now_ns() - zero_ns_);
  return reply;
}

protocol::Message Worker::on(const protocol::Write& request) {
  require(loaded_.has_value(), "nothing is loaded");
  const TensorMap values = with_prefixes(read_safetensors(request.file), loaded_->program, request.file);
  session_.write(values);
  return protocol::WriteReply{static_cast<int64_t>(values.size())};
}

protocol::Message Worker::on(const protocol::Read& request) {
  require(loaded_.has_value(), "nothing is loaded");
  const TensorMap values = session_.read(request.prefixes);
  write_safetensors(request.file, values);
  return protocol::ReadReply{static_cast<int64_t>(values.size())};
}

protocol::Message Worker::on(const protocol::Run& request) {
  require(loaded_.has_value(), "nothing is loaded");
  require(request.steps >= 1 && request.first_step >= 1, "a run needs a step");
  channel_.enter_step(request.first_step);
  const RankPlace place = loaded_->world.value_or(World{}).place;
  Inputs inputs(input_needs(loaded_->program, loaded_->bindings, place), request.input, loaded_->seed,
                [this](std::span<double> values) { session_.sum_over_ranks(values); });
  if (request.traced && loaded_->pass != Pass::kTrace)
    fail(ErrorKind::usage, "a traced run needs a program loaded for pass trace, not ", loaded_->pass);
  StepLoop loop({.session = session_,
                 .program = loaded_->program,
                 .inputs = inputs,
                 .world = place.world,
                 .zero_ns = zero_ns_,
                 .trace = request.traced ? &trace_in(request.files) : nullptr,
                 .counters = counters_ ? &*counters_ : nullptr,
                 .blocks = blocks_of(request),
                 .stop_requested = [this] { return channel_.stop_requested(); },
                 .done = [this](int64_t step) { channel_.enter_step(step + 1); },
                 .send = [this](std::span<const StepRow> rows) { channel_.send(protocol::pack(rows)); }});
  protocol::RunReply reply = loop.run(request);
  if (request.traced) tracer_->flush();
  if (counters_ && !request.files.empty())
    append_counters(std::filesystem::path(request.files) / "counters.csv", loop.counted());
  if (ledger_ && !request.files.empty()) leave_memory(request.files, *reply.launch);
  return reply;
}

// Steps of a processor on batches in memory: a loader would work during the measurement, and a step of another device
// does not wait for these cores.
StepBlocks* Worker::blocks_of(const protocol::Run& request) {
  if (loaded_->pass != Pass::kClean || loaded_->device != Device::kCpu || request.input.mode == InputMode::kPipeline)
    return nullptr;
  if (!blocks_) blocks_.emplace(allowed_cpus());
  return &*blocks_;
}

Trace& Worker::trace_in(const std::string& folder) {
  if (tracer_) return tracer_->trace();
  Trace& trace = tracer_.emplace(std::filesystem::path(folder) / "trace.tbdt").trace();
  trace.set_rank(static_cast<int32_t>(loaded_->world.value_or(World{}).place.rank));
  trace.base_epoch_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count() -
      now_ns();
  trace.facts = {{"framework", session_.identity().framework}, {"device", loaded_->device.text()}};
  return trace;
}

// The log, and what the allocator and the system say at this instant (docs/record.md, host.memory).
void Worker::leave_memory(const std::string& folder, Json& launch) const {
  const std::optional<ProcessMemory> process = process_memory();
  Json& memory = launch["host"]["memory"] = {{"ledger_live_bytes", ledger_->live_bytes()},
                                             {"ledger_held_bytes", ledger_->held_bytes()},
                                             {"ledger_resident_bytes", ledger_->resident_bytes()},
                                             {"tool_bytes", ledger_->own_bytes()}};
  const SessionMemory counted = session_.memory();
  const auto add = [&](const char* key, const std::optional<int64_t>& bytes) {
    if (bytes) memory[key] = *bytes;
  };
  add("allocator_live_bytes", counted.live_bytes);
  add("device_reserved_bytes", counted.reserved_bytes);
  add("device_bytes", counted.device_bytes);
  add("device_context_bytes", counted.context_bytes);
  add("device_library_bytes", counted.library_bytes);
  if (process && before_load_) {
    memory["resident_bytes"] = process->resident_bytes;
    memory["file_bytes"] = process->file_bytes;
    memory["made_code_bytes"] = process->made_code_bytes - before_load_->made_code_bytes;
    memory["mkl_bytes"] = process->mkl_bytes - before_load_->mkl_bytes;
    if (malloc_libraries().empty()) {  // another one's heap cannot be asked
      memory["heap_free_bytes"] = process->heap_free_bytes;
      memory["runtime_bytes"] = before_load_->anonymous_bytes - before_load_->heap_free_bytes;
    }
  }
  write_memory_log(std::filesystem::path(folder) / "memory.safetensors", ledger_->log());
}

protocol::Message Worker::on(const protocol::Evaluate& request) {
  require(loaded_.has_value(), "nothing is loaded");
  return evaluate(session_, *loaded_, request, [this] { return channel_.stop_requested(); });
}

protocol::Message Worker::on(const protocol::Answer& request) {
  require(loaded_.has_value(), "nothing is loaded");
  const TensorMap batch = read_safetensors(request.file);
  const int64_t begin = now_ns();
  const TensorMap answers = session_.evaluate(request.phase, batch);
  const double seconds = 1e-9 * static_cast<double>(now_ns() - begin);
  overwrite_safetensors(request.to, outputs_of(answers));
  return protocol::AnswerReply{seconds};
}

protocol::Message Worker::on(const protocol::Survey& request) const {
  require(loaded_.has_value(), "nothing is loaded");
  return survey(*loaded_, request);
}

protocol::Message Worker::on(const protocol::Gemm& request) {
  return protocol::GemmReply{session_.gemm_rate(request.precision, request.seconds)};
}
// The vote before each all-reduce lets all ranks begin together and end after the same one.
protocol::Message Worker::on(const protocol::Link& request) {
  require(loaded_.has_value(), "nothing is loaded");
  require(loaded_->world.value_or(World{}).place.world > 1, "one rank alone has nothing to exchange");
  require(request.repetitions >= 1, "a sweep needs a repetition");
  require(request.bytes >= size_of(request.dtype) && request.bytes % size_of(request.dtype) == 0, request.bytes,
          " bytes are no whole number of elements of ", request.dtype);
  const std::function<void()> exchange = session_.exchange_of(request.dtype, request.bytes);
  protocol::LinkReply reply;
  const auto ends = [&](int64_t done) {
    const int64_t first = done > 0 ? reply.began_ns.front() : now_ns();
    const bool late =
        request.seconds > 0 && done >= kLeastRepetitions && seconds_of(now_ns() - first) > request.seconds;
    double votes = late || channel_.stop_requested() ? 1 : 0;
    session_.sum_over_ranks(std::span(&votes, 1));
    return votes > 0;
  };
  exchange();  // touches the buffer, opens what the engine opens
  const std::vector<int> cpus = allowed_cpus();
  const std::optional<int64_t> busy = busy_ns(cpus);
  for (int64_t done = 0; done < request.repetitions && !ends(done); ++done) {
    reply.began_ns.push_back(now_ns());
    exchange();
    reply.ended_ns.push_back(now_ns());
  }
  if (busy) reply.busy_ns = std::max<int64_t>(0, busy_ns(cpus).value_or(0) - *busy);
  return reply;
}

// Never: the channel keeps these two to itself.
protocol::Message Worker::on(const protocol::Stop&) const { return protocol::ByeReply{}; }
protocol::Message Worker::on(const protocol::Ping&) const { return protocol::PingReply{channel_.step()}; }

protocol::Message Worker::on(const protocol::Bye&) {
  if (tracer_) tracer_->finish();
  return protocol::ByeReply{};
}

}  // namespace tbd
