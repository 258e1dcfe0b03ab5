#!/bin/sh
# Counts the instructions of a read outside of isolation, in one binary: from a store that isolated stores can replace, and from a store
# that they can't. Fails if the counts differ by more than 3.
set -eu
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "valgrind is missing: install it"; exit 69; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
swift build -c release --product IsolationProbe
# Valgrind 3.19 can't read the debug information.
objcopy --strip-debug "$(swift build -c release --show-bin-path)/IsolationProbe" "$folder/probe"

# The instructions of a number of reads, with the fixed costs. In an empty home folder: retaining a text that was read from a file takes
# more instructions than retaining the literal that was set.
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
            echo "✘ that is $difference more than from a store that can't be replaced"
            result=1
        fi
        [ "$count" -gt 0 ] || { echo "✘ nothing was counted"; result=1; }
    done
done
exit $result
