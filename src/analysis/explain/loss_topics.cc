// The parts of the loss bar: they add up to the traced window to the nanosecond.
#include "analysis/explain/topic.h"

namespace tbd {
namespace {

constexpr std::string_view kHow =
    "Trace pass; all parts of the bar are integers of nanoseconds and add up to the window.";
constexpr std::string_view kIdle =
    "Idle: no op computed. What the thread that runs the next op did at that instant; the first cause that applies.";

constexpr Topic kLossTopics[] = {
    {"loss.ideal", "ns", "Time that the ops would take at their roofs.", "sum over ops of max(FLOPs / R, bytes / B)",
     "At most the busy time.", kHow, "Roofline: Williams et al. 2009, CACM 52(4).", "0 without measured peaks."},
    {"loss.system_time", "ns", "Part of the busy time that the kernel took: page faults above all.",
     "min(P - ideal - layout, P * system_share)", "An estimate: the share of CPU time, applied to busy time.", kHow, "",
     "0 where system_share is not known."},
    {"loss.layout", "ns", "Busy with casts, transposes, reorders and copies of tensors, beyond their ideal time.",
     "sum over ops of layout time - what of the op's ideal time its other leaves do not hold",
     "Leaves of class layout (docs/trace.md), by their names. Page faults in them are not apart.", kHow, "",
     "Not where a kernel changes the layout inside."},
    {"loss.kernel_inefficiency", "ns", "The rest of the busy time: kernels slower than their roofs.",
     "P - ideal - system time - layout", "Small shapes, imbalance of threads.", kHow, "", ""},
    {"loss.exposed_communication", "ns", "Communication while nothing computed.", "|comm| - |comm and compute|", "",
     kHow, "", "0 with one worker."},
    {"loss.copies", "ns", "Copies while nothing else was active.", "", "", kHow, "", ""},
    {"idle.input", "ns", "The loop fetched a batch.", "", kIdle, kHow, "", "Large: see input_wait."},
    {"idle.sync", "ns", "It waited for the device.", "", kIdle, kHow, "", ""},
    {"idle.alloc", "ns", "It allocated or freed memory.", "", kIdle, kHow, "", ""},
    {"idle.compile", "ns", "It built, loaded or tuned code.", "", kIdle, kHow, "", "Belongs into warm-up."},
    {"idle.overhead", "ns", "The recording tool worked.", "", kIdle, kHow, "", "Not lost without the trace."},
    {"idle.collective_wait", "ns", "It waited in a collective operation.", "", kIdle, kHow, "", ""},
    {"idle.off_cpu", "ns", "It could have run, and had no processor: preempted by another thread, or throttled.", "",
     "Inside ops, too: an op does not compute while its thread has no processor. A wait of the thread's own will is "
     "none.",
     kHow, "perf_event_open(2), PERF_RECORD_SWITCH.",
     "Large: other work shares the cores, or more threads than cores. 0 where the trace records no scheduling (the "
     "note "
     "below the table says so) or not the threads of ops (TensorFlow)."},
    {"idle.dispatch", "ns", "It was inside an op, outside its leaves: the framework's own work.", "", kIdle, kHow, "",
     ""},
    {"idle.host_other", "ns", "Anything else that the host did.", "", kIdle, kHow, "", ""},
    {"idle.launch", "ns", "It was inside the call that launches a kernel.", "", kIdle, kHow, "", "Devices only."},
    {"idle.latency", "ns", "After the launch, up to the delay that is usual in this trace.", "", kIdle, kHow, "",
     "Devices only."},
    {"idle.dependency", "ns", "Beyond that, while another stream was waited for.", "", kIdle, kHow, "",
     "Devices only."},
    {"idle.device_other", "ns", "Beyond that, for no reason that the trace shows.", "", kIdle, kHow, "",
     "Devices only."},
    {"idle.unattributed", "ns", "Idle without a launch that ended it.", "", kIdle, kHow, "",
     "The end of a window, or a trace with holes."},
};

}  // namespace

std::span<const Topic> loss_topics() { return kLossTopics; }

}  // namespace tbd
