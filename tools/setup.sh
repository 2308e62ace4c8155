#!/bin/sh
# The set-up: Debian packages, framework packages, the build, the small data sets. Run by ./tbd and ./test.
#   --build DIR            where the program is built; without it nothing is built
#   --frameworks LIST      none, or comma-separated NAME, NAME@VERSION, NAME@DIR; NAME: pytorch, tensorflow, mxnet
#   --optional             a framework that cannot be had is left out, with the reason; the others are made ready
#   --group test           install what ./test needs, too
#   --photos               make the photograph data set, too
#   --text                 make the small text data sets, too
#   --speech               make the small speech data set, too
#   --games                make the small set of games of Go, too; needs --group test or an installed gnugo
#   --program FILE         the program that makes them, instead of the built one
#   --yes  --offline  --verify
# Says what it does on stderr. Exit: 0 done, 2 bad usage, 3 the set-up cannot go on.
set -u
here=$(cd -- "$(dirname -- "$0")/.." && pwd) || exit 3
build= frameworks=none groups=build optional= photos= text= speech= games= program= yes= offline= verify=
say() { printf 'tbd setup: %s\n' "$*" >&2; }
fail() { printf 'tbd setup: error: %s\n' "$*" >&2; exit 3; }
usage() { printf 'tbd setup: error: %s\n' "$*" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift ;;
    --frameworks) frameworks=$2; shift ;;
    --group) groups="$groups $2"; shift ;;
    --optional) optional=1 ;;
    --photos) photos=1 ;;
    --text) text=1 ;;
    --speech) speech=1 ;;
    --games) games=1 ;;
    --program) program=$2; shift ;;
    --yes) yes=1 ;;
    --offline) offline=--offline ;;
    --verify) verify=1 ;;
    *) usage "unknown option $1" ;;
  esac
  shift
done
case $build in '' | /*) ;; *) build=$PWD/${build#./} ;; esac
case $program in '' | /*) ;; *) program=$PWD/${program#./} ;; esac
. "$here/tools/setup_lib.sh"

check_frameworks
open_cache
take_lock
list_packages
plan
[ -z "$missing$wheels_wanted$photos_wanted$text_wanted$speech_wanted$games_wanted" ] || announce
install_packages
fetch_wheels
[ -z "$build" ] || build_program
[ -z "$photos_wanted" ] || make_photos
[ -z "$text_wanted" ] || make_texts
[ -z "$speech_wanted" ] || make_speech
[ -z "$games_wanted" ] || make_set games games
