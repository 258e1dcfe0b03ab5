#!/bin/sh
# Counts the instructions of a read outside of isolation, from a store that isolated ones may stand in for (with the feature)
# and from one of the program's own (without it), in one binary. Fails where they differ by more than 3.
set -eu
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "valgrind is missing: install it"; exit 69; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
swift build -c release --product IsolationProbe
# Valgrind 3.19 can't read the debug information.
objcopy --strip-debug "$(swift build -c release --show-bin-path)/IsolationProbe" "$folder/probe"

# Instructions of so many reads, with what a single call costs besides. In a home of its own: a text that was read from a file is
# retained in more instructions than the literal that was set.
collected() {
    HOME=$(mktemp -d "$folder/home.XXXXXX") valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect="*read$2*" \
        "$folder/probe" read "$1" "$2" "$3" 2>&1 | sed -n 's/.*Collected : //p'
}

result=0
for kind in Flag Text; do
    for store in own shared shared-after-a-scope; do
        few=$(collected $store $kind 1000)
        many=$(collected $store $kind 11000)
        count=$(((many - few) / 10000))
        [ $store = own ] && own=$count
        echo "$kind, $store: $count instructions a read"
        difference=$((count - own))
        if [ "$difference" -gt 3 ] || [ "$difference" -lt -3 ]; then
            echo "✘ that is $difference more than from a store of the program's own"
            result=1
        fi
        [ "$count" -gt 0 ] || { echo "✘ nothing was counted"; result=1; }
    done
done
exit $result
