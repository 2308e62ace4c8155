# The wheels: downloaded and unpacked beside the build, in the order of the frameworks, by one process.
# $awaited: keys of frameworks (NAME, NAME@VERSION) that are not there yet; $left_out: those that cannot be had.

left_out= awaited= fetching=

# Needs python3 and pip. Where no framework may be left out, one that cannot be had ends the set-up at once.
begin_fetching() {
  [ -n "$wheels_wanted" ] && [ -z "$fetching" ] || return 0
  trap give_up USR1
  set -- --cache "$cache" --status "$work/fetch" $offline
  [ -n "$optional" ] || set -- "$@" --alarm $$
  start python3 "$here/tools/fetch.py" each $wheels_wanted "$@"
  fetching=$job
}

give_up() { fail "$(cat "$work"/fetch/*.done)"; }

# python3 and pip are there and apt-get is not about to change them.
python_is_there() {
  case " $missing " in *" python3 "* | *" python3-pip "*) return 1 ;; esac
  command -v python3 >/dev/null && python3 -c 'import pip' 2>/dev/null
}

# One that is whole already is there; of one that was left out before and is whole now the reason goes.
note_awaited() {
  case $1 in *@[!0-9]*) return ;; esac
  case " $wheels_wanted " in
    *" $(section_name "$1") "*) awaited="$awaited $1" ;;
    *) came "$1" ;;
  esac
}

came() { [ -z "$build" ] || rm -f "$build/absent/$1"; }

# Whether the section of a key is still to come.
is_awaited() {
  own_section=$(section_name "$1")
  for key_awaited in $awaited; do
    [ "$(section_name "$key_awaited")" != "$own_section" ] || return 0
  done
  return 1
}

# await_section SECTION: until it is unpacked or cannot be had; the reason, or nothing, is $reason.
await_section() {
  done_file=$work/fetch/$1.done
  while [ ! -f "$done_file" ]; do
    if ! kill -0 "$fetching" 2>/dev/null && [ ! -f "$done_file" ]; then
      reason="fetching $1 was ended by something else; the same command goes on"
      return
    fi
    sleep 0.2
  done
  reason=$(cat "$done_file")
}

# The package that the build cannot do without.
await_plotly() {
  section=$(section_name plotly)
  case " $wheels_wanted " in *" $section "*) ;; *) return 0 ;; esac
  await_section "$section"
  [ -z "$reason" ] || fail "$reason"
}

# Waits for the first awaited framework, and takes with it the others that are there.
await_framework() {
  waiting=1 still=
  for each in $awaited; do
    section=$(section_name "$each")
    if [ -z "$waiting" ] && [ ! -f "$work/fetch/$section.done" ]; then
      still="$still $each"
      continue
    fi
    await_section "$section"
    waiting=
    if [ -z "$reason" ]; then came "$each"; else leave_out "$each" "$reason"; fi
  done
  awaited=$still
}

# All is there or cannot be had: the process that fetches ends.
end_fetching() {
  [ -z "$fetching" ] || finish "$fetching"
  fetching=
}

await_frameworks() {
  while [ -n "$awaited" ]; do await_framework; done
  end_fetching
}

# Compares all unpacked files with their recorded hashes.
verify_wheels() {
  verified=
  for section in $sections; do
    [ ! -f "$cache/frameworks/$section/.tbd-manifest" ] || verified="$verified $section"
  done
  start python3 "$here/tools/fetch.py" verify $verified --cache "$cache"
  finish "$job" || exit 3
}
