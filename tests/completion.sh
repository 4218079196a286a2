#!/bin/sh
# completion.sh SOURCE BUILD - completes lines with the completions for bash, fish and zsh, for every command and several options.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2
. "$source/tests/lib.sh"
completion=$source/cli/completion

[ -x "$build/cli/echelon" ] || { skip "the command echelon is not in this build"; finish; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
ln -s "$build/cli/echelon" "$work/echelon"
export PATH="$work:$PATH"
commands=$("$work/echelon" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z0-9]*\) .*/\1/p')

# in_bash WORD...: what bash would offer for the last word, one per line.
in_bash() {
    # shellcheck disable=SC2016  # a program for bash
    bash --norc -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _echelon; printf "%s\n" "${COMPREPLY[@]}"' \
        "$completion/echelon.bash" "$@"
}

in_fish() { # WORD...
    XDG_CONFIG_HOME=$work HOME=$work fish --no-config -c "source $completion/echelon.fish; complete -C '$*'" | cut -f1
}

# The functions of zsh that offer words exist only in an interactive shell: those here print the words.
in_zsh() { # WORD...
    # shellcheck disable=SC2016  # a program for zsh
    zsh -f -c '
        offer() { for match; do [[ $match != $PREFIX* ]] || print -r -- ${match%%:*}; done }
        compadd() { case $1 in -a) offer ${(P)2} ;; --) shift; offer "$@" ;; *) offer "$@" ;; esac }
        _describe() { offer ${(P)2} }
        _files() { :; }
        complete_line() { . $file }
        file=$1; shift; words=("$@"); CURRENT=$#; PREFIX=${@[-1]}
        complete_line' zsh "$completion/_echelon" "$@"
}

# offers SHELL WANTED WORD...: WANTED is one of the words that the shell offers for the line WORD...
offers() {
    by=$1 wanted=$2
    shift 2
    # shellcheck disable=SC2016  # a program for sh
    check "$by: \"$*\" is not completed to $wanted" sh -c 'printf "%s\n" "$0" | grep -qxF -e "$1"' \
        "$("in_$by" "$@")" "$wanted"
}

for shell in bash fish zsh; do
    command -v "$shell" >/dev/null || { skip "$shell is not installed: its completion was not tested"; continue; }
    for name in $commands; do
        offers "$shell" "$name" echelon "$(echo "$name" | cut -c1-2)"
    done
    offers "$shell" sort echelon help so
    offers "$shell" --argsort echelon sort --ar
    offers "$shell" --reverse echelon sort data.npy --re
    offers "$shell" cuda echelon sort --device cu
    offers "$shell" bf16 echelon gen --type bf
    offers "$shell" nullspace echelon gf2 nul
    check "$shell: an option that does not exist is offered" test -z "$("in_$shell" echelon sort --no-such-option)"
done
finish
