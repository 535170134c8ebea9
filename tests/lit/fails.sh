#!/usr/bin/env bash
# fails.sh PHASELINE-COMMAND...: passes if the command fails as it should: exit code 1, one message
# on standard error that starts with "error: ", nothing on standard output, and nothing left at the
# place after -o. Prints the message.
output= before=
for ((i = 1; i < $#; i++)); do
  next=$((i + 1))
  if [[ "${!i}" == -o || "${!i}" == --outputs ]]; then output=${!next}; fi
done
listing() {
  [[ -n "$output" ]] || return 0
  ls -AR "$output" 2>&1
  ls -Ad "$(dirname "$output")"/.phaseline-* 2> /dev/null
}
before=$(listing)
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
printed=$("$@" 2>"$errors")
code=$?
cat "$errors"
problem() { echo "fails.sh: $1: $*" >&2; exit 1; }
((code == 1)) || problem "exit code $code, expected 1"
[[ -z "$printed" ]] || problem "printed to standard output"
[[ "$(head -c 7 "$errors")" == "error: " ]] || problem "the message does not start with 'error: '"
(($(grep -c '^error: ' "$errors") == 1)) || problem "more than one error"
[[ "$(listing)" == "$before" ]] || problem "left something at $output"
