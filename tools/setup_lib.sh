# What the set-up knows and plans: frameworks, cache, packages, sizes, memory. Its parts share the variables of
# tools/setup.sh, which calls them in order. ./test uses this file, too.

# On a terminal a progress line may stand where the sentence comes.
say() {
  [ ! -t 2 ] || printf '\r\033[K' >&2
  printf 'tbd setup: %s\n' "$*" >&2
}
fail() { say "error: $*"; exit 3; }
usage() { say "error: $*"; exit 2; }

. "${here:-.}/tools/setup_rootless.sh"
# Column N of deps/frameworks.txt in the row NAME, or in all rows where NAME is empty.
of_framework() { awk -v n="$1" -v name="${2-}" '/^[a-z]/ && (name == "" || $1 == name) {print $n}' "${here:-.}/deps/frameworks.txt"; }
known_frameworks=$(of_framework 1 | paste -sd' ')
root_variable() { of_framework 8 "$1"; }
# The library of a framework, below its root: by it a root is known and a worker is ready.
framework_library() { of_framework 9 "$1" | grep .; }

# Calls COMMAND with each key of $frameworks; a key may hold spaces, but no comma.
each_framework() {
  rest=$frameworks,
  while [ -n "$rest" ]; do
    key=${rest%%,*} rest=${rest#*,}
    [ -z "$key" ] || "$1" "$key"
  done
}

# --frameworks -> sections of the lock file to unpack ($sections) and the person's own folders (checked here).
check_frameworks() {
  [ "$frameworks" = none ] && frameworks=
  sections=$(section_name plotly)
  each_framework check_framework
}

check_framework() {
  name=${1%%@*}
  library=$(framework_library "$name") ||
    usage "unknown framework '$1'; known are none, NAME, NAME@VERSION and NAME@DIR with NAME of $known_frameworks"
  case $1 in
    "$name" | "$name"@[0-9]*)
      [ -n "$(section_name "$1")" ] ||
        usage "$1 is not in the lock file; it has $(sed -n "s/^\[\($name\)-\([0-9a-z.]*\)\]/\1@\2/p" "$here/deps/frameworks.lock" | tr '\n' ' ')"
      sections="$sections $(section_name "$1")" ;;
    *)
      own_root "$name" "${1#*@}" >/dev/null || usage "no $library in ${1#*@}" ;;
  esac
}

# pytorch -> the newest section, pytorch-2.15.0; pytorch@2.11 -> pytorch-2.11.0; nothing where there is none.
section_name() {
  case $1 in
    *@*) pattern="${1%%@*}-${1#*@}\(\.[0-9a-z.]*\)\{0,1\}" ;;
    *) pattern="$1-[0-9][0-9a-z.]*" ;;
  esac
  sed -n "/^\[$pattern\]/{s/^.\(.*\)./\1/p;q;}" "$here/deps/frameworks.lock"
}

section_folder() { echo "$cache/frameworks/$(section_name "$1")"; }

# own_root NAME DIR: the folder that holds torch/ (tensorflow/, mxnet/): DIR, its parent, or an environment's site-packages.
own_root() {
  for root in "$2" "$2/.." "$2"/lib/python3*/site-packages; do
    if [ -f "$root/$(framework_library "$1")" ]; then
      (cd -- "$root" && pwd)
      return
    fi
  done
  return 1
}

# The folder of a key's framework; empty where it is not unpacked.
framework_root() {
  case $1 in
    *@[!0-9]*) own_root "${1%%@*}" "${1#*@}" ;;
    *)
      root=$(section_folder "$1")
      [ -f "$root/.tbd-manifest" ] && [ -f "$root/$(framework_library "${1%%@*}")" ] && echo "$root" ;;
  esac
}

# The framework KEY cannot be had: the end where the command named it; else the others go on and `tbd list` says why.
leave_out() {
  [ -n "$optional" ] || fail "$2"
  say "$1 is left out: $2"
  left_out="$left_out $1"
  [ -z "$build" ] || { mkdir -p "$build/absent" && printf '%s\n' "$2" >"$build/absent/$1"; }
}

is_left_out() {
  case " $left_out " in *" $1 "*) return 0 ;; esac
  return 1
}

open_cache() {
  cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/tbd
  mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] || fail "the cache folder $cache cannot be written; set XDG_CACHE_HOME to one that can"
}

# Before anything is downloaded: a folder that cannot be written is known now.
open_build() {
  mkdir -p "$build" 2>/dev/null && touch "$build/lock" 2>/dev/null ||
    fail "$build cannot be written; copy the clone to a folder of yours and run it there"
}

# One set-up at a time on a cache; the lock goes with the process and the downloads that it started.
take_lock() {
  touch "$cache/lock" 2>/dev/null || fail "the lock $cache/lock cannot be written"
  exec 9>"$cache/lock"
  wait_for_lock 9 "another set-up" "$cache/lock"
}

# wait_for_lock FD WHO FILE
wait_for_lock() {
  flock -n "$1" && return
  say "$2 holds $3; waiting for it"
  start flock -w "${TBD_LOCK_WAIT_S:-3600}" "$1"
  finish "$job" || fail "$2 still holds $3; try again when it is done"
}

# Memory in MB that a process may still take: of the machine, and of the control groups that this process is in, whose
# pages of files that are not in use count as free.
proc=/proc cgroups=/sys/fs/cgroup
free_memory() {
  {
    awk '$1 == "MemAvailable:" {printf "%.0f\n", $2 / 1024}' "$proc/meminfo"
    while IFS=: read -r _ controllers path; do
      case ,$controllers, in
        ,,) free_of_cgroups "$cgroups" "$path" memory.max memory.current inactive_file ;;
        *,memory,*) free_of_cgroups "$cgroups/memory" "$path" memory.limit_in_bytes memory.usage_in_bytes total_inactive_file ;;
      esac
    done 2>/dev/null <"$proc/self/cgroup"
  } | sort -n | head -n 1
}

# free_of_cgroups MOUNT PATH LIMIT USED IDLE: of the group and all above it that have a limit, in MB.
free_of_cgroups() {
  group=${2%/}
  while :; do
    if limit=$(cat "$1$group/$3" 2>/dev/null) && [ "$limit" != max ]; then
      awk -v limit="$limit" -v used="$(cat "$1$group/$4")" -v idle="$5" \
        '$1 == idle {used -= $2} END {printf "%.0f\n", (limit - used) / 1048576}' "$1$group/memory.stat"
    fi
    [ -n "$group" ] || return 0
    group=${group%/*}
  done
}

# How many compilers at once: one takes up to $compiler_memory MB.
compiler_memory=1536
compile_jobs() {
  count=$(($(free_memory) / compiler_memory)) cores=$(nproc)
  [ "$count" -le "$cores" ] || count=$cores
  [ "$count" -ge 1 ] || count=1
  echo "$count"
}

# $missing: packages of the groups that are not installed whole.
list_packages() {
  missing=
  if ! command -v dpkg-query >/dev/null; then
    say "this is no Debian machine: its packages are not checked (deps/debian.txt names them)"
    return
  fi
  for group in $groups; do
    for package in $(awk -v g="$group" '$1 == g {print $2}' "$here/deps/debian.txt"); do
      case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
        "install ok installed" | "hold ok installed") ;;
        *) missing="$missing $package" ;;
      esac
    done
  done
  rootless=
  [ -z "$missing" ] || look_in_prefix
}

# $apt_download $apt_disk: what apt-get says, or what deps/debian.txt does where this machine has no package lists yet.
plan_packages() {
  sizes=$(apt-get install --no-install-recommends -qq --print-uris $missing 2>/dev/null | awk '$3 {sum += $3} END {printf "%.0f", sum}')
  apt_download=${sizes:-0} apt_disk=$((apt_download * 4))
  [ "$apt_download" != 0 ] || plan_groups
}

plan_groups() {
  for group in $groups; do
    set -- $(awk -v g="$group" '$1 == "size" && $2 == g {print $3, $4}' "$here/deps/debian.txt")
    apt_download=$((apt_download + $1 * 1000000)) apt_disk=$((apt_disk + $2 * 1000000))
  done
}

# Download and disk in bytes: $wheel_download $wheel_disk $apt_download $apt_disk $photos_bytes $text_bytes
# $speech_bytes $detection_bytes.
# $wheels_wanted: sections of the lock file that are not unpacked.
plan() {
  apt_download=0 apt_disk=0 prefix_disk=0 photos_wanted= photos_bytes=0 text_wanted= text_bytes=0 speech_wanted= speech_bytes=0
  detection_wanted= detection_bytes=0 games_wanted=
  if [ -n "$missing" ]; then
    if [ -n "$rootless" ]; then plan_prefix; else plan_packages; fi
  fi
  if command -v python3 >/dev/null; then
    needs=$(python3 "$here/tools/fetch.py" plan $sections --cache "$cache") || exit 3
    set -- $needs
  else
    set -- $(plan_without_python)
  fi
  wheel_download=$1 wheel_disk=$2
  shift 2
  wheels_wanted=$*
  if [ -n "$photos" ] && ! are_made photos crops crops-16; then
    photos_wanted=1
    set -- $(grep '^data ' "$here/deps/debian.txt")
    photos_bytes=$5
    [ -f "$cache/debs/$2.deb" ] && photos_bytes=0
  fi
  if [ -n "$text" ] && ! are_made messages-de messages-vi prose cloze; then
    text_wanted=1
    text_bytes=$(missing_debs messages prose)
  fi
  if [ -n "$speech" ] && [ ! -f "$cache/data/prompts/.ready" ]; then
    speech_wanted=1
    speech_bytes=$(missing_debs prompts)
  fi
  if [ -n "$detection" ] && ! are_made stamps stamps-3 stamps-5; then
    detection_wanted=1
    detection_bytes=$(missing_debs stamps $([ -n "$photos_wanted" ] || echo data))  # the photographs' package counts once
  fi
  if [ -n "$games" ] && [ ! -f "$cache/data/games/.ready" ]; then games_wanted=1; fi
}

# missing_debs GROUP...: bytes of the groups' packages that are not in the cache.
missing_debs() {
  missing_bytes=0
  while read -r group package _ _ bytes _; do
    case " $* " in *" $group "*) [ -f "$cache/debs/$package.deb" ] || missing_bytes=$((missing_bytes + bytes)) ;; esac
  done <"$here/deps/debian.txt"
  echo "$missing_bytes"
}

# are_made SET...: whether the cache has all of these data sets.
are_made() {
  for set in "$@"; do
    [ -f "$cache/data/$set/.ready" ] || return 1
  done
}

# Bytes to download and of disk, and the sections, where nothing can be unpacked yet. In shell: mawk counts in floating point.
plan_without_python() {
  download=0 disk=0 section=
  while read -r name version tag _ bytes unpacked _; do
    case $name in
      '' | '#'* | cuda | capability | absent) ;;
      '['*) section=${name#?} section=${section%?} ;;
      *)
        case " $sections " in *" $section "*) ;; *) continue ;; esac
        file=$cache/wheels/$(echo "$name" | tr - _)-$version-$tag.whl
        disk=$((disk + unpacked))
        [ -f "$file" ] || download=$((download + bytes)) disk=$((disk + bytes)) ;;
    esac
  done <"$here/deps/frameworks.lock"
  echo $download $disk $sections
}

megabytes() { echo $((($1 + 999999) / 1000000)); }

announce() {
  build_disk=0
  [ -n "$build" ] && [ ! -f "$build/build.ninja" ] && build_disk=600000000
  download=$((apt_download + wheel_download + photos_bytes + text_bytes + speech_bytes + detection_bytes + gpu_download))
  disk=$((apt_disk + wheel_disk + gpu_disk + photos_bytes * 4 + text_bytes * 8 + speech_bytes * 5 + detection_bytes * 3 + build_disk))
  [ -z "$missing" ] || say "Debian packages to install:$missing ($(megabytes $apt_download) MB)"
  [ -z "$wheels_wanted" ] || say "packages to unpack into $cache: $wheels_wanted ($(megabytes $wheel_download) MB to download)"
  [ -z "$photos_wanted" ] || say "photographs to prepare from a Debian package ($(megabytes $photos_bytes) MB to download)"
  [ -z "$text_wanted" ] || say "text data sets to prepare from Debian packages ($(megabytes $text_bytes) MB to download)"
  [ -z "$games_wanted" ] || say "games of Go to have played by GNU Go (about three minutes)"
  [ -z "$speech_wanted" ] || say "speech data set to prepare from Debian packages ($(megabytes $speech_bytes) MB to download)"
  [ -z "$detection_wanted" ] || say "pictures with boxes to make from Debian packages ($(megabytes $detection_bytes) MB to download)"
  say "in all $(megabytes $download) MB to download, $(megabytes $disk) MB of disk"
  if [ -n "$offline" ] && [ "$download" -gt 0 ]; then
    [ -z "$missing" ] || fail "--offline forbids to install what is missing:$missing"
    [ "$wheel_download" = 0 ] || [ -n "$optional" ] || python3 "$here/tools/fetch.py" get $sections --cache "$cache" --offline >/dev/null || exit 3
    [ "$photos_bytes" = 0 ] || fail "--offline: the photographs' package is not in the cache $cache/debs"
    [ "$text_bytes" = 0 ] || fail "--offline: packages of the text data sets are not in the cache $cache/debs"
    [ "$speech_bytes" = 0 ] || fail "--offline: packages of the speech data set are not in the cache $cache/debs"
    [ "$detection_bytes" = 0 ] || fail "--offline: packages of the pictures with boxes are not in the cache $cache/debs"
  fi
  need_disk "$cache" $((prefix_disk + wheel_disk + gpu_disk + photos_bytes * 4 + text_bytes * 8 + speech_bytes * 5 + detection_bytes * 3))
  [ -z "$build" ] || need_disk "$here" $build_disk
  if [ -t 0 ] && [ -z "$yes" ]; then
    printf 'Go on? [Y/n] ' >&2
    read -r answer || answer=n
    case $answer in '' | y* | Y* | j* | J*) ;; *) fail "stopped; nothing was changed" ;; esac
  fi
}

# need_disk FOLDER BYTES
need_disk() {
  free=$(($(df -Pk "$1" | awk 'NR == 2 {print $4}') * 1024))
  [ "$2" -le "$free" ] || fail "$1 has $(megabytes "$free") MB free, $(megabytes "$2") MB are needed"
}

install_packages() {
  [ -n "$missing" ] || return 0
  if [ -n "$rootless" ]; then
    fill_prefix
    return
  fi
  [ -z "$offline" ] || fail "--offline forbids to install what is missing:$missing"
  sudo=
  if [ "$(id -u)" != 0 ]; then
    sudo=sudo
    [ -t 0 ] || sudo="sudo -n"
  fi
  command -v apt-get >/dev/null || fail "ask for these packages (no apt-get here):$missing"
  mkdir -p "$cache/logs"
  log=$cache/logs/apt.log
  say "installing Debian packages (log: $log)"
  {
    [ -z "$(dpkg --audit 2>/dev/null)" ] || $sudo dpkg --configure -a
    $sudo apt-get -o DPkg::Lock::Timeout=600 -y update
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -y --fix-broken --no-install-recommends install $missing
  } >"$log" 2>&1 </dev/null && return 0
  grep -E '^(E|sudo):' "$log" >&2
  if grep -qE 'Could not resolve|Temporary failure|Unable to connect|Failed to fetch' "$log"; then
    fail "the package archive cannot be reached: is the network there? Missing are:$missing"
  fi
  fail "apt-get could not install$missing; see $log"
}
