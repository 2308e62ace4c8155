# The steps of tools/setup.sh, in the order in which they are called. They share its variables.

# --frameworks -> sections of the lock file to unpack ($sections) and the person's own folders (checked here).
check_frameworks() {
  [ "$frameworks" = none ] && frameworks=
  sections=plotly
  for key in $(echo "$frameworks" | tr ',' ' '); do
    case $key in
      pytorch) sections="$sections pytorch" ;;
      pytorch@[0-9]*)
        grep -q "^\[pytorch-${key#*@}" "$here/deps/frameworks.lock" ||
          usage "$key is not in the lock file; it has $(sed -n 's/^\[pytorch-\(.*\)\]/pytorch@\1/p' "$here/deps/frameworks.lock" | tr '\n' ' ')"
        sections="$sections $key" ;;
      pytorch@?*)
        own_root "${key#*@}" >/dev/null || usage "no torch/lib/libtorch_cpu.so in ${key#*@}" ;;
      *) usage "unknown framework '$key'; known are none, pytorch, pytorch@2.11 and pytorch@DIR" ;;
    esac
  done
}

# The folder that holds torch/: DIR itself, its parent, or the site-packages of an environment.
own_root() {
  for root in "$1" "$1/.." "$1"/lib/python3*/site-packages; do
    if [ -f "$root/torch/lib/libtorch_cpu.so" ]; then
      (cd -- "$root" && pwd)
      return
    fi
  done
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
}

# Download and disk in bytes: $wheel_download $wheel_disk $apt_download $apt_disk $photos_bytes.
plan() {
  apt_download=0 apt_disk=0 photos_wanted= photos_bytes=0
  if [ -n "$missing" ]; then
    sizes=$(apt-get install --no-install-recommends -qq --print-uris $missing 2>/dev/null | awk '$3 {sum += $3} END {printf "%.0f", sum}')
    apt_download=${sizes:-0} apt_disk=$((apt_download * 4))
    if [ "$apt_download" = 0 ]; then  # no package lists on this machine yet
      for group in $groups; do
        set -- $(awk -v g="$group" '$1 == "size" && $2 == g {print $3, $4}' "$here/deps/debian.txt")
        apt_download=$((apt_download + $1 * 1000000)) apt_disk=$((apt_disk + $2 * 1000000))
      done
    fi
  fi
  if command -v python3 >/dev/null; then
    needs=$(python3 "$here/tools/fetch.py" plan $sections --cache "$cache") || exit 3
    set -- $needs
  else
    set -- $(awk -v wanted=" $sections " -v cache="$cache" '
      /^\[/ {name = substr($1, 2); sub(/-.*/, "", name); on = index(wanted, " " name)}
      on && NF > 5 {
        file = $1; gsub("-", "_", file); file = cache "/wheels/" file "-" $2 "-" $3 ".whl"
        if ((getline line < file) < 0) download += $5
        disk += 2 * $5
      }
      END {printf "%.0f %.0f", download, disk}' "$here/deps/frameworks.lock")
  fi
  wheel_download=$1 wheel_disk=$2 wheels_wanted=
  [ "$wheel_disk" = 0 ] || wheels_wanted=1
  if [ -n "$photos" ] && [ ! -f "$cache/data/photos/.ready" ]; then
    photos_wanted=1
    set -- $(grep '^data ' "$here/deps/debian.txt")
    photos_bytes=$5
    [ -f "$cache/debs/$2.deb" ] && photos_bytes=0
  fi
}

megabytes() { echo $((($1 + 999999) / 1000000)); }

announce() {
  build_disk=0
  [ -n "$build" ] && [ ! -d "$build" ] && build_disk=600000000
  download=$((apt_download + wheel_download + photos_bytes))
  disk=$((apt_disk + wheel_disk + photos_bytes * 3 + build_disk))
  [ -z "$missing" ] || say "Debian packages to install:$missing ($(megabytes $apt_download) MB)"
  [ -z "$wheels_wanted" ] || say "packages to unpack into $cache: $sections ($(megabytes $wheel_download) MB to download)"
  [ -z "$photos_wanted" ] || say "photographs to prepare from a Debian package ($(megabytes $photos_bytes) MB to download)"
  say "in all $(megabytes $download) MB to download, $(megabytes $disk) MB of disk"
  if [ -n "$offline" ] && [ "$download" -gt 0 ]; then
    [ -z "$missing" ] || fail "--offline forbids to install what is missing:$missing"
    [ "$wheel_download" = 0 ] || python3 "$here/tools/fetch.py" get $sections --cache "$cache" --offline >/dev/null || exit 3
    [ "$photos_bytes" = 0 ] || fail "--offline: the photographs' package is not in the cache $cache/debs"
  fi
  need_disk "$cache" $((wheel_disk + photos_bytes * 3))
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
  [ -z "$offline" ] || fail "--offline forbids to install what is missing:$missing"
  sudo=
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "ask for these packages (neither root nor sudo here): apt-get install$missing"
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
  python3 "$here/tools/fetch.py" get $sections --cache "$cache" $offline >/dev/null || exit 3
  [ -z "$verify" ] || python3 "$here/tools/fetch.py" verify $sections --cache "$cache" || exit 3
}

section_folder() { echo "$cache/frameworks/$(python3 "$here/tools/fetch.py" name "$1" --cache "$cache")"; }

# run_logged NAME WHAT COMMAND...: quiet, except on a terminal; the end of the log when it fails.
run_logged() {
  log=$build/$1.log what=$2
  shift 2
  if [ -t 2 ] && [ "$what" = building ]; then
    "$@" >&2 9>&- || fail "$what failed"
  elif ! "$@" >"$log" 2>&1 9>&-; then
    tail -n 40 "$log" >&2
    fail "$what failed; see $log"
  fi
}

# Configures and builds the program, and a worker for each framework; leaves the stamps that ./tbd looks at.
build_program() {
  mkdir -p "$build" || fail "$build cannot be written"
  exec 8>"$build/lock" && flock 8
  rm -rf "$build/ready"
  touch "$build/started"
  newest=$(section_folder pytorch)
  [ -f "$newest/.tbd-manifest" ] || newest=
  set -- -S "$here" -B "$build" -G Ninja -DTBD_TESTS=OFF -DTBD_WERROR=OFF "-DTBD_TORCH_ROOT=$newest" \
    "-DTBD_PLOTLY_JS=$(section_folder plotly)/plotly/package_data/plotly.min.js"
  say "building in $build"
  run_logged configure configuring cmake "$@"
  targets=tbd
  case ",$frameworks," in *,pytorch,*) targets="tbd tbd-worker-pytorch" ;; esac
  run_logged build building cmake --build "$build" --target $targets
  for key in $(echo "$frameworks" | tr ',' ' '); do
    case $key in
      pytorch) root=$newest ;;
      pytorch@[0-9]*) root=$(section_folder "$key") ;;
      *) root=$(own_root "${key#*@}") ;;
    esac
    [ "$key" = pytorch ] || build_worker "$key" "$root"
    mkdir -p "$build/ready/$key"
    library=$root/torch/lib/libtorch_cpu.so
    [ -f "$library" ] || fail "$library is not there"
    echo "$(stat -Lc %s "$library") $library" >"$build/ready/$key/.ready"
  done
  mkdir -p "$build/ready"
  mv "$build/started" "$build/ready/.core"
  exec 8>&-
}

# build_worker KEY ROOT: the worker for another torch, in a folder of its own.
build_worker() {
  folder=$build/workers/$(echo "$1" | tr -c 'A-Za-z0-9.\n' '_')
  say "building the worker of $1 in $folder"
  mkdir -p "$folder"
  run_logged configure-worker configuring cmake -S "$here" -B "$folder" -G Ninja -DTBD_ONLY_WORKER=ON -DTBD_WERROR=OFF \
    "-DTBD_TORCH_ROOT=$2" "-DTBD_WORKER_KEY=$1" "-DTBD_WORKER_REGISTRY=$build/workers.json"
  run_logged build-worker building cmake --build "$folder" --target tbd-worker-pytorch
}

# The photographs of a Debian package, fetched and unpacked but not installed, become a data set in the cache.
make_photos() {
  set -- $(grep '^data ' "$here/deps/debian.txt")
  deb=$cache/debs/$2.deb source=$cache/data/source/$2
  mkdir -p "$cache/debs" "$cache/data/source"
  if [ ! -f "$deb" ]; then
    say "downloading the photographs' package $2 $3"
    incoming=$cache/debs/incoming
    rm -rf "$incoming" && mkdir "$incoming"
    (cd "$incoming" && apt-get -qq -o APT::Sandbox::User=root download "$2=$3") >&2 9>&- || fail "cannot download the Debian package $2 $3: is the network there?"
    mv "$incoming"/*.deb "$deb"
    rm -rf "$incoming"
  fi
  found=$(sha256sum "$deb" | cut -d' ' -f1)
  if [ "$found" != "$4" ]; then
    rm -f "$deb"
    fail "the Debian package $2 is refused: its sha256 is $found, deps/debian.txt says $4"
  fi
  rm -rf "$source" "$cache/data/photos"
  dpkg-deb -x "$deb" "$source" || fail "the Debian package $2 cannot be unpacked"
  say "making the photograph data set in $cache/data/photos"
  "$build/bin/tbd" data photos --source "$source/$6" --out "$cache/data/photos" >&2 9>&- || fail "the photograph data set could not be made"
  rm -rf "$source"
  touch "$cache/data/photos/.ready"
}
