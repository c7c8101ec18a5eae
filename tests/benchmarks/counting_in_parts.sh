#!/bin/sh
# Counts a corpus at once and in eight parts, both with tokens and with pairs, and compares the bytes and the times:
#   sh tests/benchmarks/counting_in_parts.sh CORPUS [FOLDER]
set -e
corpus=$1
folder=${2:-build/parts}
mkdir -p "$folder"

facts() {
    python -c 'import json, sys; f = json.load(sys.stdin); print(f["seconds"], "s,", f["peak_memory_mb"], "MB")'
}

parts() {
    kind=$1
    shift
    for number in 1 2 3 4 5 6 7 8; do
        printf '%s %s/8: ' "$kind" $number
        nlptx cooccur "$corpus" --shard $number/8 "$@" -j 1 -o "$folder/$kind-$number.npz" --json -q | facts
    done
}

printf 'at once, one core: '
nlptx cooccur "$corpus" -j 1 -o "$folder/whole.npz" --json -q | facts
parts tokens
printf 'merge of tokens, one core: '
nlptx merge "$folder"/tokens-*.npz -j 1 -o "$folder/merged.npz" --json -q | facts
cmp "$folder/whole.npz" "$folder/merged.npz"
printf 'merge of words: '
nlptx merge "$folder"/tokens-*.npz --words-only -o "$folder/words.npz" --json -q | facts
parts pairs --vocabulary "$folder/words.npz"
printf 'merge of pairs, one core: '
nlptx merge "$folder"/pairs-*.npz -j 1 -o "$folder/merged.npz" --json -q | facts
cmp "$folder/whole.npz" "$folder/merged.npz"
sha256sum "$folder/whole.npz"
