#!/bin/sh
# What a clean build costs: compiler CPU seconds, wall time and peak memory by target, and the 20 most expensive files and
# headers. The compiler cache is off. Headers are ranked by the lines that they bring into the build: their preprocessed
# lines, with those of what they include, in every unit that includes them.
#   bench/clean_build.sh BUILD [CMAKE-ARGUMENT ...]    e.g. bench/clean_build.sh BUILD --preset release
#   TARGETS="tbd tbd-worker-pytorch" names what is built [all]; HEADERS=none leaves the headers out
# BUILD must not exist or be a former build of this script, and is built anew. Exit: 0 done, else what failed.
set -eu
here=$(cd -- "$(dirname -- "$0")/.." && pwd)
build=${1:?usage: bench/clean_build.sh BUILD [CMAKE-ARGUMENT ...]}
shift
[ ! -e "$build" ] || [ -f "$build/compiler_cost.jsonl" ] || { echo "clean_build: $build is no build of this script" >&2; exit 2; }
rm -rf "$build" && mkdir -p "$build"
build=$(cd -- "$build" && pwd)
cost=$build/compiler_cost.jsonl
: >"$cost"
export CCACHE_DISABLE=1
cmake -S "$here" -B "$build" "$@" "-DCMAKE_CXX_COMPILER_LAUNCHER=python3;$here/bench/compiler_cost.py;run;$cost" >"$build/configure.log"
began=$(date +%s)
cmake --build "$build" ${TARGETS:+--target $TARGETS} >"$build/build.log" || { tail -n 40 "$build/build.log"; exit 1; }
echo "whole build: $(($(date +%s) - began)) s of wall time, $(nproc) processors"
[ "${HEADERS-}" = none ] && headers= || headers=$build/compile_commands.json
python3 "$here/bench/compiler_cost.py" report "$cost" $headers
