#!/bin/sh
# Makes small data sets of the cache: setup_data.sh photos|text|speech|detection|games. Run by tools/setup.sh, from which $here,
# $cache, $offline, $program (which makes all but text) and $work come. A set is ready with its file .ready, written last.
# Exit: 0 done, 3 not; then $work/failed says why.
set -u
. "$here/tools/setup_lib.sh"
. "$here/tools/setup_jobs.sh"
fail() { printf '%s\n' "$*" >"$work/failed"; exit 3; }

# fetch_deb PACKAGE VERSION SHA256: a Debian package in the cache, never installed; its file is $deb.
fetch_deb() {
  deb=$cache/debs/$1.deb
  mkdir -p "$cache/debs"
  if [ ! -f "$deb" ]; then
    [ -z "$offline" ] || fail "--offline: the Debian package $1 is not in the cache $cache/debs"
    say "downloading the Debian package $1 $2"
    incoming=$cache/debs/incoming
    rm -rf "$incoming" && mkdir "$incoming"
    (cd "$incoming" && $(apt_command) -qq -o APT::Sandbox::User=root download "$1=$2") >&2 || fail "cannot download the Debian package $1 $2: is the network there?"
    mv "$incoming"/*.deb "$deb"
    rm -rf "$incoming"
  fi
  found=$(sha256sum "$deb" | cut -d' ' -f1)
  if [ "$found" != "$3" ]; then
    rm -f "$deb"
    fail "the Debian package $1 is refused: its sha256 is $found, deps/debian.txt says $3"
  fi
}

# make_set NAME COMMAND...: the data set NAME of the cache by the command, which takes --out.
make_set() {
  set_name=$1 made=
  shift
  rm -rf "$cache/data/$set_name"
  say "making the data set $cache/data/$set_name"
  echo "$cache/data/$set_name" >"$work/making"
  "$@" --out "$cache/data/$set_name" >"$work/made" 2>&1 && made=1
  while IFS= read -r line; do say "$line"; done <"$work/made"
  [ -n "$made" ] || fail "the data set $set_name could not be made"
  touch "$cache/data/$set_name/.ready"
  rm "$work/making"
}

# The photographs of a Debian package become three data sets in the cache.
make_photos() {
  set -- $(grep '^data ' "$here/deps/debian.txt")
  source=$cache/data/source/$2
  fetch_deb "$2" "$3" "$4"
  rm -rf "$source" && mkdir -p "$cache/data/source"
  dpkg-deb -x "$deb" "$source" || fail "the Debian package $2 cannot be unpacked"
  for made in photos crops; do
    [ -f "$cache/data/$made/.ready" ] || make_set "$made" "$program" data "$made" --source "$source/$6"
  done
  [ -f "$cache/data/crops-16/.ready" ] || make_set crops-16 "$program" data crops --size 16 --source "$source/$6"
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
  make_set prompts "$program" data prompts --source "$source/prompts"
  rm -rf "$source"
}

# Cut-out photographs, pasted on others, become data sets with boxes and masks in the cache; the small pictures are for the
# small configurations.
make_detection() {
  source=$cache/data/source/detection
  rm -rf "$source"
  unpack_debs stamps data
  make_stamps stamps
  make_stamps stamps-3 --size 128x128 --categories 3 --images 600 --sides 24-64 --objects 4
  make_stamps stamps-5 --size 128x128 --categories 5 --images 2400 --sides 40-110
  rm -rf "$source"
}
make_stamps() {
  [ ! -f "$cache/data/$1/.ready" ] || return 0
  stamps_name=$1
  shift
  make_set "$stamps_name" "$program" data stamps "$@" --source "$source"
}

# Message catalogues and pages of Debian packages become text data sets in the cache.
make_texts() {
  source=$cache/data/source/text
  rm -rf "$source"
  unpack_debs messages prose
  set -- python3 "$here/tools/make_text_set.py"
  for language in de vi; do
    make_set "messages-$language" "$@" messages --language "$language" --source "$source/messages"
  done
  make_set prose "$@" prose --source "$source/prose"
  make_set cloze "$@" cloze --source "$source/prose"
  rm -rf "$source"
}

case $1 in
  photos) stage photos "" "making the photographs" make_photos ;;
  text) stage text "" "making the text data sets" make_texts ;;
  speech) stage speech "" "making the speech data set" make_speech ;;
  detection) stage detection "" "making the pictures with boxes" make_detection ;;
  games) stage games "" "having games of Go played" make_set games "$program" data games ;;
esac
