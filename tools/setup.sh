#!/bin/sh
# The set-up: Debian packages, framework packages, the build, the small data sets. Run by ./tbd and ./test.
#   --build DIR            where the program is built; without it nothing is built
#   --frameworks LIST      none, or comma-separated NAME, NAME@VERSION, NAME@DIR; NAME: of deps/frameworks.txt
#   --device DEVICE        of what is run then: for cpu nothing is fetched that only GPUs need
#   --optional             a framework that cannot be had is left out, with the reason; the others are made ready
#   --group test           install what ./test needs, too
#   --photos               make the photograph data set, too
#   --text                 make the small text data sets, too
#   --speech               make the small speech data set, too
#   --detection            make the small set of pictures with boxes and masks, too
#   --games                make the small set of games of Go, too; needs --group test or an installed gnugo
#   --program FILE         the program that makes all of them but text, instead of the built one
#   --yes  --offline  --verify
#   --then COMMAND...      become this command at the end
# Says what it does on stderr. An interrupt ends all that it started. Exit: 0 done, 2 bad usage, 3 the set-up cannot go on.
set -u
here=$(cd -- "$(dirname -- "$0")/.." && pwd) || exit 3
build= device=auto frameworks=none groups=build optional= photos= text= speech= detection= games= program= yes= offline= verify= work=
rootless= apt= prefix=  # of a machine without root
. "$here/tools/setup_lib.sh"
. "$here/tools/setup_jobs.sh"
. "$here/tools/setup_fetch.sh"
. "$here/tools/setup_gpu.sh"
. "$here/tools/setup_build.sh"
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift ;;
    --frameworks) frameworks=$2; shift ;;
    --device) device=$2; shift ;;
    --group) groups="$groups $2"; shift ;;
    --optional) optional=1 ;;
    --photos) photos=1 ;;
    --text) text=1 ;;
    --speech) speech=1 ;;
    --detection) detection=1 ;;
    --games) games=1 ;;
    --program) program=$2; shift ;;
    --yes) yes=1 ;;
    --offline) offline=--offline ;;
    --verify) verify=1 ;;
    --then) shift; break ;;
    *) usage "unknown option $1" ;;
  esac
  shift
done
case $build in '' | /*) ;; *) build=$PWD/${build#./} ;; esac
case $program in '' | /*) ;; *) program=$PWD/${program#./} ;; esac

check_frameworks
open_cache
[ -z "$build" ] || open_build
catch_interrupts
take_lock
open_work
list_packages
plan
look_for_gpus
[ -z "$missing$wheels_wanted$gpu_wanted$photos_wanted$text_wanted$speech_wanted$detection_wanted$games_wanted" ] || announce
plan_stages
show_progress
# Downloads begin as soon as there is Python, and go on beside all that follows.
[ -z "$missing" ] || ! python_is_there || begin_fetching
[ -z "$missing" ] || stage packages "$cache/logs/apt.log" "installing Debian packages" install_packages
[ -z "$gpu_waits" ] || look_for_gpus
begin_fetching
await_plotly
each_framework note_awaited
[ -z "$verify" ] || { await_frameworks; verify_wheels; }
if [ -n "$build" ]; then build_program; else await_frameworks; fi
[ -z "$photos_wanted" ] || make_photos
for set in ${text_wanted:+text} ${speech_wanted:+speech} ${detection_wanted:+detection} ${games_wanted:+games}; do
  begin_data "$set"
  finish_data "$job"
done
end_work
trap - EXIT INT TERM HUP
exec 9>&-
[ $# = 0 ] || exec "$@"
