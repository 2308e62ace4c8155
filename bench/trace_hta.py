#!/usr/bin/env python3
"""tbd analyze against HolisticTraceAnalysis (HTA) on one rank's trace: time of the same analyses, value by value.

  trace_hta.py TBD TRACE.json [--runs N]     needs a Python with HolisticTraceAnalysis==0.5.0 and pandas<3

HTA reads the trace and computes the temporal breakdown, the overlap of communication, the idle time by stream and the
kernel breakdown; tbd computes these and more in one command. Prints one JSON object.
"""
import argparse
import json
import logging
import statistics
import subprocess
import time
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)


def hta(path):
    from hta.trace_analysis import TraceAnalysis
    begin = time.perf_counter()
    analysis = TraceAnalysis(trace_files={0: path}, trace_dir="/", include_last_profiler_step=True)
    parsed = time.perf_counter()
    temporal = analysis.get_temporal_breakdown(visualize=False)
    overlap = analysis.get_comm_comp_overlap(visualize=False)
    streams = analysis.t.get_trace(0)["stream"].unique()
    idle = analysis.get_idle_time_breakdown(ranks=[0], streams=[int(s) for s in streams if s >= 0], visualize=False)
    kernels = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=1000)
    end = time.perf_counter()
    row = temporal.iloc[0]
    values = {column: float(row[column]) for column in temporal.columns if column != "rank"}
    values["overlap_pctg"] = float(overlap.iloc[0]["comp_comm_overlap_pctg"])
    frame = idle[0] if isinstance(idle, tuple) else idle
    values["idle"] = [[str(x) for x in r] for r in frame.itertuples(index=False)]
    values["kernel_kinds"] = [[str(x) for x in r] for r in kernels[0].itertuples(index=False)]
    return end - begin, parsed - begin, values


def tbd(program, path):
    begin = time.perf_counter()
    done = subprocess.run([program, "analyze", path, "--json", "--quiet"], capture_output=True, text=True, check=True)
    return time.perf_counter() - begin, json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("trace")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    theirs, ours = [], []
    for _ in range(options.runs):
        ours.append(tbd(options.program, options.trace))
        theirs.append(hta(options.trace))
    rank = ours[-1][1]
    mine = {key: rank[key] for key in rank if key.endswith("_ns")}
    mine["streams"] = rank["streams"]
    print(json.dumps({"hta_s": statistics.median(t[0] for t in theirs), "hta_parse_s": statistics.median(t[1] for t in theirs),
                      "tbd_s": statistics.median(t[0] for t in ours), "runs": options.runs,
                      "ratio": statistics.median(t[0] for t in theirs) / statistics.median(t[0] for t in ours),
                      "hta": theirs[-1][2], "tbd": mine}, indent=1))


if __name__ == "__main__":
    main()
