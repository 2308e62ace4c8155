# The wheels: downloaded and unpacked beside the build, in the order of the frameworks, by one process.
# $awaited: keys of frameworks (NAME, NAME@VERSION) that are not there yet; $left_out: those that cannot be had.

left_out= awaited= fetching=

# Needs python3 and pip. Where no framework may be left out, one that cannot be had ends the set-up at once.
begin_fetching() {
  [ -n "$wheels_wanted$gpu_wanted" ] && [ -z "$fetching" ] || return 0
  trap give_up USR1
  set -- ${gpu_wanted:+--spare $gpu_wanted} --cache "$cache" --status "$work/fetch" $offline
  [ -n "$optional" ] || set -- "$@" --alarm $$
  start python3 "$here/tools/fetch.py" each $(with_gpu_sections) "$@"
  fetching=$job
}

# $wheels_wanted and $gpu_wanted: what GPUs need of a framework comes right behind it.
with_gpu_sections() {
  for each in $sections; do
    case " $wheels_wanted " in *" $each "*) echo "$each" ;; esac
    case " $gpu_wanted " in *" $each-cuda "*) echo "$each-cuda" ;; esac
  done
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
  if is_coming "$(section_name "$1")" || is_coming "$(section_name "$1")-cuda"; then
    awaited="$awaited $1"
  else
    came "$1"
  fi
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

# is_coming SECTION: this set-up fetches or unpacks it.
is_coming() {
  case " $wheels_wanted $gpu_wanted " in *" $1 "*) return 0 ;; esac
  return 1
}

# has_come SECTION: it was there before, or has come, or cannot be had.
has_come() { ! is_coming "$1" || [ -f "$work/fetch/$1.done" ]; }

# await_section SECTION: until it is unpacked or cannot be had; the reason, or nothing, is $reason.
await_section() {
  reason=
  is_coming "$1" || return 0
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
  await_section "$section"
  [ -z "$reason" ] || fail "$reason"
}

# Waits for the first awaited framework, and takes with it the others that are there.
await_framework() {
  waiting=1 still=
  for each in $awaited; do
    section=$(section_name "$each")
    if [ -z "$waiting" ] && ! { has_come "$section" && has_come "$section-cuda"; }; then
      still="$still $each"
      continue
    fi
    await_section "$section"
    waiting= why_not=$reason
    await_gpu_section "$section-cuda"
    reason=$why_not
    if [ -z "$reason" ]; then came "$each"; else leave_out "$each" "$reason"; fi
  done
  awaited=$still
}

# All is there or cannot be had: the process that fetches ends.
end_fetching() {
  await_gpus
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
