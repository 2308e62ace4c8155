# Without root and sudo: the Debian packages that this machine lacks come into a prefix in the cache. apt-get resolves and
# downloads them with folders of its own, dpkg-deb unpacks them, tools/relocate_prefix.py makes them work there.
# Part of tools/setup_lib.sh, whose variables it shares: $cache $here $missing $offline; sets $rootless and $prefix.

# Sudo that asks for a password is asked on a terminal alone.
can_install() {
  [ "$(id -u)" != 0 ] || return 0
  command -v sudo >/dev/null || return 1
  sudo -n true 2>/dev/null && return
  [ -t 0 ] && [ -z "$offline" ] || return 1
  say "sudo is asked for, to install$missing; without it they come into $cache"
  sudo -v
}

# Of $missing, what the prefix has is used; the rest stays in $missing where it cannot be installed.
look_in_prefix() {
  rootless= prefix=$cache/$(. /etc/os-release && echo "$ID-$VERSION_ID") apt=$cache/apt
  # What the prefix has complements this state of the installed packages, and no other.
  ready=$prefix/.tbd-ready/$(stat -c %Y-%s /var/lib/dpkg/status 2>/dev/null)
  lacking=
  for package in $missing; do
    is_provided "$package" || lacking="$lacking $package"
  done
  if [ -n "$lacking" ] && can_install; then return; fi
  rootless=1
  enter_prefix
  missing=$lacking
  [ -z "$missing" ] || ! command -v apt-get >/dev/null || command -v patchelf >/dev/null || missing="$missing patchelf"
}

is_provided() {
  case $1 in
    g++) command -v "${CXX:-g++}" >/dev/null && return ;;
    python3) command -v python3 >/dev/null && return ;;
  esac
  grep -qxF -e "$1" "$ready" 2>/dev/null
}

# The prefix for this process and what it starts: its tools after the system's, but for the wrappers in tools/.
enter_prefix() {
  export TBD_PREFIX="$prefix" PATH="$prefix/tools:$PATH:$prefix/usr/bin:$prefix/usr/games"
  if [ -f "$prefix/etc/ssl/certs/ca-certificates.crt" ] && [ ! -f /etc/ssl/certs/ca-certificates.crt ]; then
    export SSL_CERT_FILE="${SSL_CERT_FILE:-$prefix/etc/ssl/certs/ca-certificates.crt}"
    export PIP_CERT="${PIP_CERT:-$SSL_CERT_FILE}"
  fi
}

# For a script that builds by itself after the set-up; $groups are what it needs.
use_prefix() {
  ! command -v dpkg-query >/dev/null || list_packages
}

# apt-get with folders of its own; the system's package lists until it has fetched some.
own_apt() {
  [ ! -f "$apt/updated" ] || set -- -o "Dir::State::lists=$apt/lists" "$@"
  apt-get -o "Dir::Cache=$apt" -o "Dir::Cache::archives=$apt/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
    -o "Dir::State::extended_states=$apt/extended_states" -o Acquire::GzipIndexes=true -o Acquire::Languages=none \
    -o Debug::NoLocking=1 --no-install-recommends -y "$@"
}

apt_command() { if [ -n "$rootless" ]; then echo own_apt; else echo apt-get; fi; }

# A line for each package that $missing needs and the system lacks: 'address' file bytes SHA256:hash. The C library stays the
# system's: the loader and it belong together.
closure() {
  own_apt -qq --print-uris -o Acquire::ForceHash=SHA256 -o "Dir::Cache::archives=$apt/none" install $missing </dev/null | grep "^'" | grep -v /glibc/
}

is_unpacked() { grep -qxF -e "$1" "$prefix/.tbd-packages" 2>/dev/null; }

# Of the closure on stdin: bytes to download and to unpack.
count_closure() {
  download=0 unpack=0
  while read -r _ file bytes _; do
    ! is_unpacked "$file" || continue
    unpack=$((unpack + bytes))
    [ -f "$apt/archives/$file" ] || download=$((download + bytes))
  done
  echo $download $unpack
}

# $apt_download $apt_disk $prefix_disk
plan_prefix() {
  packages=$(closure 2>/dev/null)
  if [ -n "$packages" ]; then
    set -- $(printf '%s\n' "$packages" | count_closure)
    apt_download=$1 apt_disk=$(($1 + $2 * 4))
  else
    plan_groups
  fi
  prefix_disk=$apt_disk
}

fill_prefix() {
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
    fail "ask for these packages (neither root nor sudo here): apt-get install$missing"
  case " $missing " in
    *' g++ '* | *' python3 '*)
      fail "a C++ compiler and Python must be installed already (neither root nor sudo here): ask for g++ and python3" ;;
  esac
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$prefix/.tbd-ready" "$cache/logs" || fail "$cache cannot be written"
  log=$cache/logs/apt.log
  say "unpacking Debian packages into $prefix (log: $log)"
  : >"$log"
  [ -n "$offline" ] || update_lists
  closure >"$apt/closure" 2>>"$log"
  [ -s "$apt/closure" ] || prefix_failed "apt-get cannot resolve$missing"
  [ -n "$offline" ] || own_apt -d install $missing >>"$log" 2>&1 </dev/null 9>&- || prefix_failed "apt-get could not download$missing"
  unpack_closure
  python3 "$here/tools/relocate_prefix.py" "$prefix" >>"$log" 2>&1 9>&- || prefix_failed "the packages cannot be made to work in $prefix"
  record_closure
}

update_lists() {
  own_apt -o "Dir::State::lists=$apt/lists" update >>"$log" 2>&1 </dev/null 9>&- && touch "$apt/updated"
}

prefix_failed() {
  grep -E '^(E:|patchelf )' "$log" >&2
  if grep -qE 'Could not resolve|Temporary failure|Unable to connect|Failed to fetch' "$log"; then
    fail "the package archive cannot be reached: is the network there? Missing are:$missing"
  fi
  fail "$1; see $log"
}

# All archives are there and as the archive says before the first is unpacked.
unpack_closure() {
  while read -r _ file _ hash; do
    is_unpacked "$file" || check_archive "$file" "$hash"
  done <"$apt/closure"
  while read -r _ file _; do
    is_unpacked "$file" || dpkg-deb -x "$apt/archives/$file" "$prefix" >>"$log" 2>&1 || prefix_failed "$file cannot be unpacked"
  done <"$apt/closure"
}

check_archive() {
  [ -f "$apt/archives/$1" ] || fail "--offline: the Debian package $1 is not in the cache $apt/archives"
  found=$(sha256sum <"$apt/archives/$1") found=${found%% *}
  [ "SHA256:$found" = "$2" ] && return
  rm -f "$apt/archives/$1"
  fail "the Debian package $1 is refused and removed: its sha256 is $found, the package list says ${2#SHA256:}"
}

# Written last: packages that are not recorded are unpacked again.
record_closure() {
  while read -r _ file _; do
    is_unpacked "$file" || echo "$file"
  done <"$apt/closure" >"$apt/unpacked"
  cat "$apt/unpacked" >>"$prefix/.tbd-packages"
  { [ ! -f "$ready" ] || cat "$ready"; printf '%s\n' $missing; } >"$ready.new" && mv "$ready.new" "$ready"
  rm -f "$apt/closure" "$apt/unpacked"
  enter_prefix
}
