# The build: the program first, each worker when its framework is unpacked; then the stamps that ./tbd looks at.
# $build/unclean is there while a build runs ($compiling): one that is found at the start was not ended properly.

configured_with= compiling= folder=

sources_changed() {
  [ ! -f "$build/ready/.core" ] ||
    [ -n "$(find "$here/src" "$here/cmake" "$here/deps" "$here/CMakeLists.txt" -type f -newer "$build/ready/.core" -print -quit)" ]
}

build_program() {
  lock_build
  remove_unclean
  ! sources_changed || rm -rf "$build/ready"
  rm -f "$build/ready/.core"
  touch "$build/started"
  build_targets
  each_framework finish_worker
  mkdir -p "$build/ready"
  mv "$build/started" "$build/ready/.core"
  exec 8>&-
}

lock_build() {
  exec 8>"$build/lock"
  wait_for_lock 8 "another build" "$build/lock"
}

# After a build that was killed, or whose machine went down, a file may be there in part: what is newer than its start is
# built again.
remove_unclean() {
  [ -f "$build/unclean" ] || return 0
  say "the last build in $build was not ended properly; what it wrote is built again"
  find "$build" -type f '(' -name '*.gch' -o -name '*.o' -o -name '*.a' -o -path '*/bin/tbd*' ')' \
    '(' -newer "$build/unclean" -o -size 0 ')' -exec rm -f '{}' +
  rm -f "$build/unclean"
}

# What there is to wait for comes after the program: more frameworks, or photographs that it makes beside the workers.
build_targets() {
  targets=tbd
  if [ -n "$awaited$photos_wanted" ]; then
    build_round
    targets=
  fi
  [ -z "$photos_wanted" ] || begin_photos
  built_workers=
  while :; do
    each_framework add_target
    build_round
    [ -n "$awaited" ] || break
    targets=
    await_framework
  done
  end_fetching
}

# The workers of this build folder: those of the newest version of a framework.
add_target() {
  case $1 in *@*) return ;; esac
  is_awaited "$1" || is_left_out "$1" && return
  case " $built_workers " in *" $1 "*) return ;; esac
  targets="$targets tbd-worker-$1" built_workers="$built_workers $1"
}

# Configures with the frameworks that are there and builds $targets; where that is allowed, a worker that does not build
# is left out.
build_round() {
  [ -n "$targets" ] || return 0
  configure
  compile build $targets && return
  [ -n "$optional" ] && [ "$targets" != tbd ] || fail "building failed; see $log"
  for target in $targets; do  # which one was it?
    compile "build-$target" "$target" && continue
    [ "$target" != tbd ] || fail "building failed; see $log"
    leave_out "${target#tbd-worker-}" "building its worker failed; see $log"
  done
}

configure() {
  set -- --preset release -S "$here" -B "$build" \
    "-DTBD_PLOTLY_JS=$(section_folder plotly)/plotly/package_data/plotly.min.js"
  for name in $known_frameworks; do
    root=
    is_awaited "$name" || root=$(framework_root "$name")
    set -- "$@" "-D$(root_variable "$name")=$root"
  done
  [ "$*" != "$configured_with" ] || return 0
  run_logged configure configuring cmake "$@"
  configured_with=$*
}

# compile NAME TARGET...: builds them, in $build/NAME.log, with as many compilers as memory holds; one that is killed
# nevertheless gets another go, alone. 1 where it fails; a full disk or too little memory ends the set-up.
compile() {
  logged=$1 count=$(compile_jobs)
  shift
  try_compile "$@" && return
  ! compiler_was_killed || {
    say "a compiler was killed, most likely for lack of memory; going on with one at a time"
    count=1
    try_compile "$@" && return
  }
  ! compiler_was_killed ||
    fail "a compiler needs up to $compiler_memory MB of memory and was killed with $(free_memory) MB free; end other programs, then the same command goes on"
  ! disk_is_full || fail "the disk of $build is full; make room (a build takes 600 MB), then the same command goes on"
  tail -n 40 "$log" >&2
  return 1
}

# In $folder, else in $build.
try_compile() {
  log=$build/$logged.log
  touch "$build/unclean"
  compiling=1
  targets_key=$(echo "$@" | tr ' ' ,)
  begin "$targets_key" "$log" "building $(echo "$@" | sed 's/ /, /g')"
  start env "NINJA_STATUS=[%f/%t] " cmake --build "${folder:-$build}" -j "$count" --target "$@" >"$log" 2>&1 9>&-
  finish "$job"
  code=$?
  end "$targets_key"
  compiling=
  [ "$code" -gt 128 ] || { [ "$code" != 0 ] && disk_is_full; } || rm -f "$build/unclean"
  return "$code"
}

compiler_was_killed() { grep -qE 'Killed signal terminated program|signal 9|[Ee]rror 137|code=137' "$log"; }

disk_is_full() {
  grep -q 'No space left on device' "$log" || [ "$(df -Pk "$build" | awk 'NR == 2 {print $4}')" -lt 1024 ]
}

# run_logged NAME WHAT COMMAND...: quiet; the end of its output where it fails.
run_logged() {
  log=$build/$1.log what=$2
  shift 2
  start "$@" >"$log" 2>&1 9>&-
  finish "$job" && return
  ! disk_is_full || fail "the disk of $build is full; make room (a build takes 600 MB), then the same command goes on"
  tail -n 40 "$log" >&2
  fail "$what failed; see $log"
}

# Builds the worker of another version, and leaves the stamp of a key's library.
finish_worker() {
  ! is_left_out "$1" || return 0
  root=$(framework_root "$1")
  case $1 in *@*) build_worker "$1" "$root" ;; esac
  library=$root/$(framework_library "${1%%@*}")
  [ -f "$library" ] || fail "$library is not there"
  mkdir -p "$build/ready/$1"
  echo "$(stat -Lc %s "$library") $library" >"$build/ready/$1/.ready"
  stamp_gpus "$1"
}

# build_worker KEY ROOT: the worker for another build of a framework, in a folder of its own.
build_worker() {
  folder=$build/workers/$(echo "$1" | tr -c 'A-Za-z0-9.\n' '_')
  mkdir -p "$folder"
  run_logged configure-worker configuring cmake --preset release -S "$here" -B "$folder" -DTBD_ONLY_WORKER=ON \
    "-D$(root_variable "${1%%@*}")=$2" "-DTBD_WORKER_KEY=$1" "-DTBD_WORKER_REGISTRY=$build/workers.json"
  compile build-worker "tbd-worker-${1%%@*}" || fail "building failed; see $log"
  folder=
}
