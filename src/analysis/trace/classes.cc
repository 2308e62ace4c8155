#include "analysis/trace/classes.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "trace/names.h"

namespace tbd {
namespace {

using Words = std::span<const std::string_view>;

bool begins_with_any(std::string_view name, Words prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}
bool holds_any(std::string_view name, Words parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

constexpr std::string_view kLayoutKernels[] = {
    "nchwToNhwc",          "nhwcToNchw",     "tensorTransform", "transpose_kernel", "direct_copy_kernel",
    "CatArrayBatchedCopy", "nhwcAddPadding", "convertTensor",   "reorder",          "batch_transpose"};
constexpr std::string_view kLayoutOps[] = {
    "aten::copy_", "aten::to", "aten::_to_copy", "aten::contiguous",     "aten::clone", "aten::cat", "aten::to_dense",
    "Transpose",   "Cast",     "transpose",      "aten::mkldnn_reorder", "_MklToTf",    "MklToTf"};
constexpr std::string_view kCommOps[] = {"c10d::",
                                         "gloo:",
                                         "nccl:",
                                         "mpi:",
                                         "record_param_comms",
                                         "Collective",
                                         "HorovodAll",
                                         "KVStore",
                                         "_c10d_functional::"};
constexpr std::string_view kAllocCalls[] = {"cudaMalloc",    "cudaFree",   "cudaHostAlloc", "cudaHostRegister",
                                            "cuMemAlloc",    "cuMemFree",  "cuMemCreate",   "cuMemMap",
                                            "cuMemRelease",  "cuMemUnmap", "hipMalloc",     "hipFree",
                                            "hipHostMalloc", "zeMemAlloc", "zeMemFree"};
constexpr std::string_view kCompileCalls[] = {
    "cuModuleLoad", "cuLibraryLoad", "cudaLibraryLoad", "nvrtc",
    "cuLink",       "hipModuleLoad", "zeModuleCreate",  "cuModuleGetFunction"};
constexpr std::string_view kCompileParts[] = {"CachingAutotuner", "triton_compile", "inductor_compile",
                                              "compile_fx",       "XlaCompile",     "_compile.compile_inner"};
constexpr std::string_view kLaunches[] = {
    "cudaLaunch",      "cuLaunch",           "hipLaunch",      "hipModuleLaunch",
    "hipExtLaunch",    "hipExtModuleLaunch", "cudaMemcpy",     "cudaMemset",
    "cuMemcpy",        "cuMemset",           "hipMemcpy",      "hipMemset",
    "cudaGraphLaunch", "cuGraphLaunch",      "hipGraphLaunch", "zeCommandListAppendLaunch"};
// Each alone or followed by '_' and more.
constexpr std::string_view kHousekeeping[] = {
    "aten::empty",     "aten::new_empty", "aten::resize",       "aten::as_strided",  "aten::view",    "aten::set",
    "aten::t",         "aten::expand",    "aten::reshape",      "aten::_reshape",    "aten::permute", "aten::select",
    "aten::slice",     "aten::squeeze",   "aten::unsqueeze",    "aten::narrow",      "aten::detach",  "detach",
    "aten::transpose", "aten::alias",     "aten::_unsafe_view", "aten::result_type", "aten::stride",  "aten::size",
    "aten::unfold",    "aten::split",     "aten::chunk",        "aten::lift_fresh",  "aten::flatten", "aten::resolve",
    "aten::numpy_T",   "aten::unbind",    "aten::broadcast_to", "aten::conj"};
constexpr std::string_view kComputing[] = {"aten::select_backward", "aten::slice_backward", "aten::slice_scatter",
                                           "aten::unfold_backward", "aten::select_scatter", "aten::view_as_real_copy"};

// Ops that PyTorch defines by other ops alone, or that only choose the kernel. Left out is what computes itself for
// some inputs, as aten::std, aten::mean and aten::zero_ do: such time would be lost among the wrappers' own.
constexpr std::string_view kWrapperOps[] = {"aten::_batch_norm_impl_index",
                                            "aten::_convolution",
                                            "aten::_scaled_dot_product_attention_math",
                                            "aten::_to_copy",
                                            "aten::batch_norm",
                                            "aten::clone",
                                            "aten::contiguous",
                                            "aten::conv1d",
                                            "aten::conv2d",
                                            "aten::conv3d",
                                            "aten::conv_transpose1d",
                                            "aten::conv_transpose2d",
                                            "aten::conv_transpose3d",
                                            "aten::convolution",
                                            "aten::cross_entropy_loss",
                                            "aten::ctc_loss",
                                            "aten::dropout",
                                            "aten::einsum",
                                            "aten::embedding",
                                            "aten::embedding_backward",
                                            "aten::full",
                                            "aten::full_like",
                                            "aten::group_norm",
                                            "aten::gru",
                                            "aten::instance_norm",
                                            "aten::item",
                                            "aten::layer_norm",
                                            "aten::linear",
                                            "aten::log_softmax",
                                            "aten::lstm",
                                            "aten::matmul",
                                            "aten::nll_loss",
                                            "aten::nll_loss_nd",
                                            "aten::ones",
                                            "aten::ones_like",
                                            "aten::relu",
                                            "aten::rnn_relu",
                                            "aten::rnn_tanh",
                                            "aten::scaled_dot_product_attention",
                                            "aten::softmax",
                                            "aten::to",
                                            "aten::zeros",
                                            "aten::zeros_like"};
// Frames of engines and runtimes around the ops that they run.
constexpr std::string_view kWrapperFrames[] = {"autograd::engine::",
                                               "torch::autograd::",
                                               "struct torch::autograd::",
                                               "nn.Module",
                                               "Optimizer.",
                                               "ProfilerStep",
                                               "DataParallel",
                                               "DistributedDataParallel",
                                               "TorchDynamo",
                                               "Torch-Compiled Region",
                                               "CompiledFunction",
                                               "AOTDispatcher",
                                               "SessionRun",
                                               "FunctionRun",
                                               "RunGraph",
                                               "ExecutorState::",
                                               "EagerExecute",
                                               "EagerLocalExecute",
                                               "EagerKernelExecute",
                                               "KernelAndDeviceFunc::",
                                               "PjitFunction",
                                               "PjRtCpu",
                                               "TfrtCpu",
                                               "ThunkExecutor::"};

// A function of PyTorch's differentiation, which calls the ops of its formula: "AddmmBackward0".
bool is_backward_function(std::string_view name) {
  while (!name.empty() && is_digit(name.back())) name.remove_suffix(1);
  return name.ends_with("Backward");
}
bool is_wrapper(std::string_view name) {
  return std::ranges::binary_search(kWrapperOps, name) || begins_with_any(name, kWrapperFrames) ||
         is_backward_function(name) || is_input(name);
}
bool is_housekeeping(std::string_view name) {
  const auto alone = [&](std::string_view word) {
    return name.starts_with(word) && (name.size() == word.size() || name[word.size()] == '_');
  };
  return std::ranges::any_of(kHousekeeping, alone) && !begins_with_any(name, kComputing);
}

}  // namespace

std::string_view name(DeviceClass cls) {
  constexpr std::array<std::string_view, kDeviceClasses> kNames = {"compute", "layout", "communication", "copy"};
  return kNames[static_cast<size_t>(cls)];
}

std::string_view name(IdleCause cause) {
  constexpr std::array<std::string_view, kIdleCauses> kNames = {
      "input",    "sync",       "alloc",  "compile", "overhead",   "collective wait", "off-CPU",
      "dispatch", "host other", "launch", "latency", "dependency", "device other",    "unattributed"};
  return kNames[static_cast<size_t>(cause)];
}

std::string_view key(IdleCause cause) {
  constexpr std::array<std::string_view, kIdleCauses> kKeys = {
      "input",    "sync",       "alloc",  "compile", "overhead",   "collective_wait", "off_cpu",
      "dispatch", "host_other", "launch", "latency", "dependency", "device_other",    "unattributed"};
  return kKeys[static_cast<size_t>(cause)];
}

std::optional<DeviceClass> device_class(EventKind kind, std::string_view name) {
  switch (kind) {
    case EventKind::memcpy:
    case EventKind::memset:
      return DeviceClass::copy;
    case EventKind::collective:
      return DeviceClass::comm;
    case EventKind::kernel:
      if (is_collective_kernel(name)) return DeviceClass::comm;
      return holds_any(name, kLayoutKernels) ? DeviceClass::layout : DeviceClass::compute;
    default:
      return std::nullopt;
  }
}

DeviceClass op_class(std::string_view name) {
  if (holds_any(name, kCommOps)) return DeviceClass::comm;
  return begins_with_any(name, kLayoutOps) ? DeviceClass::layout : DeviceClass::compute;
}

std::string_view engine_of_sum(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kSums[] = {
      {"gloo:all_reduce", "gloo"}, {"CollectiveReduceV2", "grpc"}, {"KVStoreDistDefaultStoragePushPull", "kvstore"}};
  const auto* found = std::ranges::find(kSums, name, [](const auto& each) { return each.first; });
  return found == std::end(kSums) ? "" : found->second;
}

std::optional<IdleCause> host_cause(EventKind kind, std::string_view name) {
  switch (kind) {
    case EventKind::input:
      return IdleCause::input;
    case EventKind::sync:
      return IdleCause::sync;
    case EventKind::compile:
      return IdleCause::compile;
    case EventKind::overhead:
      return IdleCause::overhead;
    case EventKind::off_cpu:
      return is_preemption(kind, name) ? std::optional(IdleCause::off_cpu) : std::nullopt;
    case EventKind::collective:
      return IdleCause::collective_wait;
    case EventKind::api:
      if (is_sync_call(name)) return IdleCause::sync;
      if (begins_with_any(name, kAllocCalls)) return IdleCause::alloc;
      return begins_with_any(name, kCompileCalls) ? std::optional(IdleCause::compile) : std::nullopt;
    case EventKind::op:
    case EventKind::backward_op:
      if (is_input(name)) return IdleCause::input;
      return holds_any(name, kCommOps) ? IdleCause::collective_wait : IdleCause::dispatch;
    case EventKind::annotation:
      if (is_input(name)) return IdleCause::input;
      if (holds_any(name, kCompileParts)) return IdleCause::compile;
      return holds_any(name, kCommOps) ? std::optional(IdleCause::collective_wait) : std::nullopt;
    default:
      return std::nullopt;
  }
}

uint8_t HostCauses::look_up(uint32_t event) const {
  const auto cause = host_cause(trace_.kinds()[event], trace_.name(event));
  return cause ? static_cast<uint8_t>(*cause) : kNone;
}

bool is_launch(std::string_view name) { return begins_with_any(name, kLaunches); }
bool is_stream_wait(std::string_view name) {
  return name.starts_with("cudaStreamWaitEvent") || name.starts_with("cuStreamWaitEvent") ||
         name.starts_with("hipStreamWaitEvent") || name.starts_with("Stream Wait");
}
bool is_preemption(EventKind kind, std::string_view name) { return kind == EventKind::off_cpu && name != kWaiting; }
OpRole op_role(std::string_view name) {
  if (is_housekeeping(name)) return OpRole::housekeeping;
  return is_wrapper(name) ? OpRole::wrapper : OpRole::work;
}

}  // namespace tbd
