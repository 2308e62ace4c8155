# Processes that the set-up starts, and how they end with it. Each has a process group of its own: an interrupt that the
# terminal sends reaches the set-up alone, which ends the groups one by one.

jobs= reporter= photos_job=

# start COMMAND...: runs it beside the set-up; its id, and its group's, is $job.
start() {
  setsid "$@" &
  job=$!
  jobs="$jobs $job"
}

# finish JOB: waits for it; its exit code. A signal that comes meanwhile is answered at once.
finish() {
  wait "$1"
  code=$?
  forget "$1"
  return "$code"
}

forget() {
  left=
  for each in $jobs; do
    [ "$each" = "$1" ] || left="$left $each"
  done
  jobs=$left
}

# stop_job JOB: ends it and all that it started; 1 where they had to be killed.
stop_job() {
  forget "$1"
  tries=100
  while kill -s TERM -- "-$1" 2>/dev/null || kill -s TERM "$1" 2>/dev/null; do  # at first it may have no group yet
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || { kill -s KILL -- "-$1"; return 1; }
    sleep 0.1
  done
}

# $work: the folder of what this set-up knows of itself. It is there while the set-up holds the cache.
open_work() {
  work=$cache/setup
  rm -rf "$work" && mkdir -p "$work/fetch" || fail "$work cannot be written"
  : >"$work/journal" && : >"$work/fetch/now" && : >"$work/log"
}

# begin KEY LOG TEXT, end KEY: a stage in the journal, for the progress line; LOG (or nothing) is where it counts.
begin() {
  [ -z "$2" ] || ln -sf "$2" "$work/log"
  echo "begin $1 $(date +%s) $3" >>"$work/journal"
}
end() { echo "end $1 $(date +%s)" >>"$work/journal"; }

# stage KEY LOG TEXT COMMAND...
stage() {
  begin "$1" "$2" "$3"
  key=$1
  shift 3
  "$@"
  end "$key"
}

show_progress() {
  start sh "$here/tools/setup_progress.sh" "$work" $$ 8>&- 9>&-
  reporter=$job
}

hide_progress() {
  [ -n "$reporter" ] || return 0
  stop_job "$reporter"
  reporter=
  [ ! -t 2 ] || printf '\r\033[K' >&2
}

# For the progress line: what is done in this call and was never done before.
plan_stages() {
  {
    [ -z "$missing" ] || echo plan packages
    [ -z "$build" ] || [ -x "$build/bin/tbd" ] || echo plan tbd
    [ -z "$build" ] || each_framework plan_worker
    [ -z "$photos_wanted" ] || echo plan photos
    for set in ${text_wanted:+text} ${speech_wanted:+speech} ${detection_wanted:+detection} ${games_wanted:+games}; do echo "plan $set"; done
  } >>"$work/journal"
}

plan_worker() {
  case $1 in *@*) return ;; esac
  [ -x "$build/bin/tbd-worker-$1" ] || echo "plan tbd-worker-$1 $(section_name "$1")"
}

# begin_data SET: setup_data.sh makes it beside the set-up. finish_data JOB: its failure is the set-up's.
begin_data() {
  export here cache offline work rootless apt prefix
  program=${program:-$build/bin/tbd} start sh "$here/tools/setup_data.sh" "$1"
}

finish_data() {
  finish "$1" && return
  [ ! -f "$work/failed" ] || fail "$(cat "$work/failed")"
  fail "making a data set was ended by something else; the same command goes on"
}

begin_photos() {
  begin_data photos
  photos_job=$job
}

make_photos() {
  [ -n "$photos_job" ] || begin_photos
  finish_data "$photos_job"
}

# Whatever way the set-up ends: nothing that it started is left, nor anything half-made.
end_work() {
  hide_progress
  clean=1
  for each in $jobs; do
    stop_job "$each" || clean=
  done
  jobs=
  [ -n "$work" ] || return 0
  [ -z "$clean" ] || [ -z "$compiling" ] || rm -f "$build/unclean"
  [ ! -f "$work/making" ] || rm -rf "$(cat "$work/making")"
  ! grep -q '^begin tbd' "$work/journal" || { mkdir -p "$cache/logs" && cp "$work/journal" "$cache/logs/stages"; }
  rm -rf "$work" "$cache/data/source" "$cache/debs/incoming"
}

interrupted() {
  trap '' INT TERM HUP
  end_work
  say "interrupted; the same command goes on from here"
  trap - EXIT "$1"
  kill -s "$1" $$
}

catch_interrupts() {
  for signal in INT TERM HUP; do
    trap "interrupted $signal" "$signal"
  done
  trap end_work EXIT
}
