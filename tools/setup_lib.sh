# The steps of tools/setup.sh, in the order in which they are called. They share its variables.

. "${here:-.}/tools/setup_rootless.sh"
known_frameworks='pytorch tensorflow mxnet'

# The library of a framework, below its root: by it a root is known and a worker is ready.
framework_library() {
  case $1 in
    pytorch) echo torch/lib/libtorch_cpu.so ;;
    tensorflow) echo tensorflow/libtensorflow_cc.so.2 ;;
    mxnet) echo mxnet/libmxnet.so ;;
    *) return 1 ;;
  esac
}

root_variable() {
  case $1 in
    pytorch) echo TBD_TORCH_ROOT ;;
    tensorflow) echo TBD_TENSORFLOW_ROOT ;;
    mxnet) echo TBD_MXNET_ROOT ;;
  esac
}

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
        usage "$1 is not in the lock file; it has $(sed -n "s/^\[\($name\)-\(.*\)\]/\1@\2/p" "$here/deps/frameworks.lock" | tr '\n' ' ')"
      sections="$sections $(section_name "$1")" ;;
    *)
      own_root "$name" "${1#*@}" >/dev/null || usage "no $library in ${1#*@}" ;;
  esac
}

# pytorch -> the newest section, pytorch-2.15.0; pytorch@2.11 -> pytorch-2.11.0; nothing where there is none.
section_name() {
  case $1 in
    *@*) pattern="${1%%@*}-${1#*@}\(\..*\)\{0,1\}" ;;
    *) pattern="$1-.*" ;;
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

# One set-up at a time on a cache; the lock goes with the process.
take_lock() {
  exec 9>"$cache/lock" || fail "the lock $cache/lock cannot be written"
  flock -n 9 && return
  say "another set-up holds $cache/lock; waiting for it"
  flock -w "${TBD_LOCK_WAIT_S:-3600}" 9 || fail "another set-up still holds $cache/lock; try again when it is done"
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

# Download and disk in bytes: $wheel_download $wheel_disk $apt_download $apt_disk $photos_bytes $text_bytes $speech_bytes.
plan() {
  apt_download=0 apt_disk=0 prefix_disk=0 photos_wanted= photos_bytes=0 text_wanted= text_bytes=0 speech_wanted= speech_bytes=0 games_wanted=
  if [ -n "$missing" ]; then
    if [ -n "$rootless" ]; then plan_prefix; else plan_packages; fi
  fi
  if command -v python3 >/dev/null; then
    needs=$(python3 "$here/tools/fetch.py" plan $sections --cache "$cache") || exit 3
    set -- $needs
  else
    set -- $(plan_without_python)
  fi
  wheel_download=$1 wheel_disk=$2 wheels_wanted=
  [ "$wheel_disk" = 0 ] || wheels_wanted=1
  if [ -n "$photos" ] && { [ ! -f "$cache/data/photos/.ready" ] || [ ! -f "$cache/data/crops/.ready" ]; }; then
    photos_wanted=1
    set -- $(grep '^data ' "$here/deps/debian.txt")
    photos_bytes=$5
    [ -f "$cache/debs/$2.deb" ] && photos_bytes=0
  fi
  if [ -n "$text" ] && ! texts_are_made; then
    text_wanted=1
    text_bytes=$(missing_debs messages prose)
  fi
  if [ -n "$speech" ] && [ ! -f "$cache/data/prompts/.ready" ]; then
    speech_wanted=1
    speech_bytes=$(missing_debs prompts)
  fi
  if [ -n "$games" ] && [ ! -f "$cache/data/games/.ready" ]; then games_wanted=1; fi
}

# missing_debs GROUP...: bytes of the groups' packages that are not in the cache.
missing_debs() {
  missing_bytes=0
  while read -r group package _ _ bytes; do
    case " $* " in *" $group "*) [ -f "$cache/debs/$package.deb" ] || missing_bytes=$((missing_bytes + bytes)) ;; esac
  done <"$here/deps/debian.txt"
  echo "$missing_bytes"
}

texts_are_made() {
  for set in messages-de messages-vi prose cloze; do
    [ -f "$cache/data/$set/.ready" ] || return 1
  done
}

# Bytes to download and of disk where nothing can be unpacked yet. In shell: mawk counts in floating point.
plan_without_python() {
  download=0 disk=0 section=
  while read -r name version tag _ bytes unpacked _; do
    case $name in
      '' | '#'*) ;;
      '['*) section=${name#?} section=${section%?} ;;
      *)
        case " $sections " in *" $section "*) ;; *) continue ;; esac
        file=$cache/wheels/$(echo "$name" | tr - _)-$version-$tag.whl
        disk=$((disk + unpacked))
        [ -f "$file" ] || download=$((download + bytes)) disk=$((disk + bytes)) ;;
    esac
  done <"$here/deps/frameworks.lock"
  echo $download $disk
}

megabytes() { echo $((($1 + 999999) / 1000000)); }

announce() {
  build_disk=0
  [ -n "$build" ] && [ ! -d "$build" ] && build_disk=600000000
  download=$((apt_download + wheel_download + photos_bytes + text_bytes + speech_bytes))
  disk=$((apt_disk + wheel_disk + photos_bytes * 4 + text_bytes * 8 + speech_bytes * 5 + build_disk))
  [ -z "$missing" ] || say "Debian packages to install:$missing ($(megabytes $apt_download) MB)"
  [ -z "$wheels_wanted" ] || say "packages to unpack into $cache: $sections ($(megabytes $wheel_download) MB to download)"
  [ -z "$photos_wanted" ] || say "photographs to prepare from a Debian package ($(megabytes $photos_bytes) MB to download)"
  [ -z "$text_wanted" ] || say "text data sets to prepare from Debian packages ($(megabytes $text_bytes) MB to download)"
  [ -z "$games_wanted" ] || say "games of Go to have played by GNU Go (about three minutes)"
  [ -z "$speech_wanted" ] || say "speech data set to prepare from Debian packages ($(megabytes $speech_bytes) MB to download)"
  say "in all $(megabytes $download) MB to download, $(megabytes $disk) MB of disk"
  if [ -n "$offline" ] && [ "$download" -gt 0 ]; then
    [ -z "$missing" ] || fail "--offline forbids to install what is missing:$missing"
    [ "$wheel_download" = 0 ] || [ -n "$optional" ] || python3 "$here/tools/fetch.py" get $sections --cache "$cache" --offline >/dev/null || exit 3
    [ "$photos_bytes" = 0 ] || fail "--offline: the photographs' package is not in the cache $cache/debs"
    [ "$text_bytes" = 0 ] || fail "--offline: packages of the text data sets are not in the cache $cache/debs"
    [ "$speech_bytes" = 0 ] || fail "--offline: packages of the speech data set are not in the cache $cache/debs"
  fi
  need_disk "$cache" $((prefix_disk + wheel_disk + photos_bytes * 4 + text_bytes * 8 + speech_bytes * 5))
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

fetch_wheels() {
  left_out= fetched=$(section_name plotly)
  python3 "$here/tools/fetch.py" get "$fetched" --cache "$cache" $offline || exit 3
  each_framework fetch_framework
  [ -z "$verify" ] || python3 "$here/tools/fetch.py" verify $fetched --cache "$cache" || exit 3
}

fetch_framework() {
  case $1 in *@[!0-9]*) return ;; esac
  section=$(section_name "$1")
  if reason=$(python3 "$here/tools/fetch.py" try "$section" --cache "$cache" $offline); then
    fetched="$fetched $section"
    [ -z "$build" ] || rm -f "$build/absent/$1"
  else
    leave_out "$1" "$reason"
  fi
}

# try_logged NAME COMMAND...: quiet, except for a build on a terminal; the end of $log when it fails.
try_logged() {
  log=$build/$1.log
  shift
  if [ -t 2 ] && [ "${log##*/}" = build.log ]; then
    "$@" >&2 9>&-
  else
    "$@" >"$log" 2>&1 9>&- || { tail -n 40 "$log" >&2; return 1; }
  fi
}

# run_logged NAME WHAT COMMAND...
run_logged() {
  logged=$1 what=$2
  shift 2
  try_logged "$logged" "$@" || fail "$what failed; see $log"
}

sources_changed() {
  [ ! -f "$build/ready/.core" ] ||
    [ -n "$(find "$here/src" "$here/cmake" "$here/deps" "$here/CMakeLists.txt" -type f -newer "$build/ready/.core" -print -quit)" ]
}

# Configures and builds the program, and a worker for each framework; leaves the stamps that ./tbd looks at.
build_program() {
  mkdir -p "$build" || fail "$build cannot be written"
  exec 8>"$build/lock" && flock 8
  ! sources_changed || rm -rf "$build/ready"
  rm -f "$build/ready/.core"
  touch "$build/started"
  set -- -S "$here" -B "$build" -G Ninja -DTBD_TESTS=OFF -DTBD_WERROR=OFF \
    "-DTBD_PLOTLY_JS=$(section_folder plotly)/plotly/package_data/plotly.min.js"
  for name in $known_frameworks; do
    set -- "$@" "-D$(root_variable "$name")=$(framework_root "$name")"
  done
  say "building in $build"
  run_logged configure configuring cmake "$@"
  targets=
  each_framework add_target
  build_targets
  each_framework finish_worker
  mkdir -p "$build/ready"
  mv "$build/started" "$build/ready/.core"
  exec 8>&-
}

# The workers of this build folder: those of the newest version of a framework.
add_target() {
  case $1 in *@*) return ;; esac
  is_left_out "$1" || targets="$targets tbd-worker-$1"
}

build_targets() {
  if [ -z "$optional" ]; then
    run_logged build building cmake --build "$build" --target tbd $targets
  elif ! try_logged build-all cmake --build "$build" --target tbd $targets 2>/dev/null; then  # which one was it?
    run_logged build building cmake --build "$build" --target tbd
    for target in $targets; do
      try_logged "build-$target" cmake --build "$build" --target "$target" 2>/dev/null ||
        leave_out "${target#tbd-worker-}" "building its worker failed; see $log"
    done
  fi
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
}

# build_worker KEY ROOT: the worker for another build of a framework, in a folder of its own.
build_worker() {
  folder=$build/workers/$(echo "$1" | tr -c 'A-Za-z0-9.\n' '_')
  say "building the worker of $1 in $folder"
  mkdir -p "$folder"
  run_logged configure-worker configuring cmake -S "$here" -B "$folder" -G Ninja -DTBD_ONLY_WORKER=ON -DTBD_WERROR=OFF \
    "-D$(root_variable "${1%%@*}")=$2" "-DTBD_WORKER_KEY=$1" "-DTBD_WORKER_REGISTRY=$build/workers.json"
  run_logged build-worker building cmake --build "$folder" --target "tbd-worker-${1%%@*}"
}

# fetch_deb PACKAGE VERSION SHA256: a Debian package in the cache, never installed; its file is $deb.
fetch_deb() {
  deb=$cache/debs/$1.deb
  mkdir -p "$cache/debs"
  if [ ! -f "$deb" ]; then
    [ -z "$offline" ] || fail "--offline: the Debian package $1 is not in the cache $cache/debs"
    say "downloading the Debian package $1 $2"
    incoming=$cache/debs/incoming
    rm -rf "$incoming" && mkdir "$incoming"
    (cd "$incoming" && $(apt_command) -qq -o APT::Sandbox::User=root download "$1=$2") >&2 9>&- || fail "cannot download the Debian package $1 $2: is the network there?"
    mv "$incoming"/*.deb "$deb"
    rm -rf "$incoming"
  fi
  found=$(sha256sum "$deb" | cut -d' ' -f1)
  if [ "$found" != "$3" ]; then
    rm -f "$deb"
    fail "the Debian package $1 is refused: its sha256 is $found, deps/debian.txt says $3"
  fi
}

# make_set NAME WORDS...: the data set NAME of the cache by `tbd data WORDS`.
make_set() {
  set_name=$1
  shift
  rm -rf "$cache/data/$set_name"
  say "making the data set $cache/data/$set_name"
  "${program:-$build/bin/tbd}" data "$@" --out "$cache/data/$set_name" >&2 9>&- || fail "the data set $set_name could not be made"
  touch "$cache/data/$set_name/.ready"
}

# The photographs of a Debian package become two data sets in the cache.
make_photos() {
  set -- $(grep '^data ' "$here/deps/debian.txt")
  source=$cache/data/source/$2
  fetch_deb "$2" "$3" "$4"
  rm -rf "$source" && mkdir -p "$cache/data/source"
  dpkg-deb -x "$deb" "$source" || fail "the Debian package $2 cannot be unpacked"
  for made in photos crops; do
    [ -f "$cache/data/$made/.ready" ] || make_set "$made" "$made" --source "$source/$6"
  done
  rm -rf "$source"
}

# unpack_debs GROUP...: the groups' packages as $source/GROUP/PACKAGE.
unpack_debs() {
  while read -r group package version sha256 _; do
    case " $* " in *" $group "*) ;; *) continue ;; esac
    fetch_deb "$package" "$version" "$sha256"
    mkdir -p "$source/$group/$package"
    dpkg-deb -x "$deb" "$source/$group/$package" || fail "the Debian package $package cannot be unpacked"
  done <"$here/deps/debian.txt"
}

# Recordings of Debian packages become a speech data set in the cache.
make_speech() {
  source=$cache/data/source/speech
  rm -rf "$source"
  unpack_debs prompts
  make_set prompts prompts --source "$source/prompts"
  rm -rf "$source"
}

# Message catalogues and pages of Debian packages become text data sets in the cache.
make_texts() {
  source=$cache/data/source/text
  rm -rf "$source"
  unpack_debs messages prose
  for language in de vi; do
    make_set "messages-$language" messages --language "$language" --source "$source/messages"
  done
  make_set prose prose --source "$source/prose"
  make_set cloze cloze --source "$source/prose"
  rm -rf "$source"
}
