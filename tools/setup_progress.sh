#!/bin/sh
# Says what the set-up is doing, how far it is and what remains: setup_progress.sh FOLDER PARENT, until its parent ends.
# On a terminal one line, rewritten each second and cut to the width; elsewhere a line where a build begins and at most
# one in ten seconds. FOLDER holds
#   journal    plan KEY [SECTION] | begin KEY TIME TEXT | end KEY TIME: the stages that will come, and those that did.
#              A build's KEY is its targets with commas; SECTION of the lock file must be unpacked before it
#   log        what apt-get or ninja wrote
#   fetch/now  what is downloaded (tools/fetch.py each)
set -u
folder=$1 set_up=$2

# Line 1: the stage that counts, if one does. Line 2: the sentence.
describe() {
  awk -v now="$(date +%s)" -v journal="$folder/journal" -v fetch="$folder/fetch/now" '
    # Seconds that a stage takes on a machine with two cores, and translation units. What was measured in this run
    # scales the seconds of what is compiled.
    BEGIN {
      expect("packages", 60)
      expect("tbd", 180, 60)
      expect("photos", 45); expect("text", 30); expect("speech", 15); expect("detection", 15); expect("games", 150)
      damping = 15
    }
    function expect(key, s, n) { seconds[key] = s; units[key] = n }
    function sum(table, keys,    i, n, part, total) {
      n = split(keys, part, ",")
      for (i = 1; i <= n; i++) total += table[part[i]]
      return total + 0
    }
    function later(a, b) { return a > b ? a : b }

    FILENAME == journal && $1 == "plan" {
      stages = split($2, stage, ",")
      for (i = 1; i <= stages; i++)
        if (stage[i] ~ /^tbd-worker-/) expect(stage[i], 45, 10)
    }
    FILENAME == journal && $1 == "plan" { planned[++plans] = $2; section[$2] = $3 }
    FILENAME == journal && $1 == "begin" {
      key = $2; began[key] = $3; is_open[key] = 1; last = key
      n = split(key, part, ","); for (i = 1; i <= n; i++) seen[part[i]] = 1
      $1 = $2 = $3 = ""; sub(/^ +/, ""); text[key] = $0
    }
    FILENAME == journal && $1 == "end" { delete is_open[$2]; spent[$2] = $3 - began[$2] }
    FILENAME == journal { next }
    FILENAME == fetch && FNR == 1 { fetching = $0 }
    FILENAME == fetch { if (FNR > 1) ready[$1] = $2; next }
    /^\[[0-9]+\/[0-9]+\]/ { split(substr($1, 2), part, /[\/\]]/); done = part[1]; all = part[2] }
    /newly installed/ { all = $3 * 3 }
    /^(Get:|Unpacking |Setting up )/ { done++ }

    # Of what is open one counts: packages or a build.
    function counted(key) { return key == "packages" || key ~ /^tbd/ }
    function progress(key) {
      if (!counted(key) || !all) return ""
      if (key == "packages") return ": " int(done / 3) " of " all / 3
      return ": " done " of " all " units"
    }
    # Of a build of few units a part of the time of all.
    function expected(key,    whole) {
      whole = sum(units, key)
      return sum(seconds, key) * ((key in is_open) && whole > 0 && all < whole ? all / whole : 1)
    }
    function fraction(key) {
      if (counted(key)) return all ? later(0, done / all) : 0
      return expected(key) ? (now - began[key]) / expected(key) : 0
    }
    function left(key) { return later(0, expected(key) * (1 - fraction(key))) * (key ~ /^tbd/ ? slowness : 1) }

    END {
      took = due = damping
      for (key in began) if (key ~ /^tbd/) {
        took += (key in is_open) ? now - began[key] : spent[key]
        due += expected(key) * ((key in is_open) ? fraction(key) : 1)
      }
      slowness = took / due
      for (key in is_open) if (counted(key)) { time += left(key); sentence = text[key] progress(key); if (all) counting = key }
      for (i = 1; i <= plans; i++) if (!(planned[i] in seen) && planned[i] != "photos") {
        time = later(time, ready[section[planned[i]]]) + seconds[planned[i]] * (planned[i] ~ /^tbd/ ? slowness : 1)
        if (planned[i] == "tbd") program = time
      }
      for (i = 1; i <= plans; i++) if (planned[i] == "photos" && !("photos" in seen)) time = later(time, program + seconds["photos"])
      for (key in is_open) if (!counted(key)) { time = later(time, left(key)); sentence = sentence (sentence ? "; " : "") text[key] }
      for (key in ready) time = later(time, ready[key])
      if (fetching) sentence = sentence (sentence ? "; " : "") fetching
      if (sentence && time >= 90) sentence = sentence "; about " int(time / 60 + 0.5) " min left"
      else if (sentence && time >= 10) sentence = sentence "; about " int(time / 10 + 0.5) * 10 " s left"
      else if (sentence && time > 0) sentence = sentence "; a few seconds left"
      print counting
      print sentence
    }' "$folder/journal" "$folder/fetch/now" "$folder/log" 2>/dev/null
}

rewrite() {
  width=$(stty size <&2 2>/dev/null | cut -d' ' -f2)
  [ "${width:-0}" -gt 1 ] || width=80
  printf "\r%.$((width - 1))s\033[K" "$1" >&2
}

parent_lives() { read -r _ _ _ parent _ <"/proc/$$/stat" && [ "$parent" = "$set_up" ]; }

said=$(date +%s) was=
while sleep 1 && parent_lives; do
  described=$(describe)
  stage=${described%%"
"*} sentence=${described#*"
"}
  if [ -t 2 ]; then
    rewrite "${sentence:+tbd setup: $sentence}"
  elif [ -n "$sentence" ] && { [ "$stage" != "$was" ] && [ -n "$stage" ] || [ $(($(date +%s) - said)) -ge 10 ]; }; then
    printf 'tbd setup: %s\n' "$sentence" >&2
    said=$(date +%s)
  fi
  [ -z "$stage" ] || was=$stage
done
