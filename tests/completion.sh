#!/bin/sh
# completion.sh SOURCE BUILD - completes lines with the scripts that the command prints for bash, fish and zsh.
# SPDX-License-Identifier: Apache-2.0
set -u
source=$1 build=$2
. "$source/tests/lib.sh"

[ -x "$build/cli/echelon" ] || { skip "the command echelon is not in this build"; finish; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
ln -s "$build/cli/echelon" "$work/echelon"
export PATH="$work:$PATH"
commands=$("$work/echelon" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z0-9]*\) .*/\1/p')

# Lines to complete, each with a word that must be offered, or, after "!", must not be.
lines() {
    for name in $commands; do echo "$name echelon $(echo "$name" | cut -c1-2)"; done
    for name in $commands; do [ "$name" = help ] || echo "--version echelon $name --ver"; done
    cat <<END
--help echelon --he
sort echelon help so
--argsort echelon sort --ar
--reverse echelon sort data.npy --re
--color echelon sort --col
cuda echelon sort --device cu
cuda echelon sort --device=cu
always echelon sort --color al
bf16 echelon gen --type bf
bf16 echelon gen -y bf
npy echelon sort --format n
quiet echelon sort --check=qu
data.file echelon sort --check da
data.file echelon sort --check=quiet da
data.file echelon sort -c da
pbm-text echelon gf2 rref --format pb
nan-last echelon sort --order na
reduced echelon gf2 rref --form r
hazen echelon quantile --method h
bicgstab echelon solve --method bi
cholesky echelon solve --method ch
jacobi echelon solve --precond ja
ignore echelon reduce sum --nan i
msd echelon sort --algorithm ms
gauss echelon gf2 rref --algorithm ga
bitonic echelon ladder bi
uniform echelon gen un
zipf echelon bench --distribution zi
median echelon reduce med !
mean echelon reduce me
nullspace echelon gf2 nul
nullspace echelon gf2 --device cpu nul
nullspace echelon gf2 rref nul !
union echelon set -r un
is_sorted echelon explain is_
fish echelon completion fi
data.file echelon sort da
data.file echelon sort -o da
data.file echelon sort -o out da
data.file echelon sort -- da
--reverse echelon sort -- --re !
folder/ echelon emulate -I fo
folder/ echelon emulate --include fo
data.file echelon emulate -I da !
data.file echelon gen -N da !
END
}

# Each function reads lines from standard input and prints "LINE<tab>WORD" for each word that the shell offers.
in_bash() { # SCRIPT
    # shellcheck disable=SC2016  # a program for bash
    bash --norc -c '
        . "$0"
        compopt() { [ "$*" != "-o dirnames +o default" ] || by=dirnames; [ "$*" != "+o default" ] || by=; }
        while IFS= read -r line; do
            read -r -a COMP_WORDS <<<"${line//=/ = }"
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) by=default
            word=${COMP_WORDS[COMP_CWORD]}
            _echelon
            # What readline adds without a reply.
            if [ ${#COMPREPLY[@]} -eq 0 ]; then
                case $by in
                default) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
                dirnames) mapfile -t COMPREPLY < <(compgen -d -S / -- "$word") ;;
                esac
            fi
            for found in "${COMPREPLY[@]}"; do printf "%s\t%s\n" "$line" "$found"; done
        done' "$1"
}

in_fish() { # SCRIPT
    # shellcheck disable=SC2016  # a program for fish
    XDG_CONFIG_HOME=$work HOME=$work fish --no-config -c '
        source $argv[1]
        while read -l line
            for found in (complete -C "$line")
                printf "%s\t%s\n" $line (string replace -r "^--[a-z]*=" "" -- (string split \t -- $found)[1])
            end
        end' "$1"
}

# Offered words exist only within a completion widget: an interactive zsh in a pseudo terminal runs one per line. Its
# compadd prints the words.
in_zsh() { # SCRIPT
    mkdir -p "$work/zsh"
    cp "$1" "$work/zsh/_echelon"
    cat >"$work/zsh/setup" <<'END'
PROMPT= RPROMPT=
stty -echo
fpath=($zsh_folder $fpath)
autoload -Uz compinit
compinit -u -D
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-[OAD]\ * ]]; then
        builtin compadd "$@"
        return
    fi
    local -a hits
    builtin compadd -A hits "$@"
    for hit in $hits; do
        [[ ! -d $hit ]] || hit+=/
        print -r -- "FOUND $line_number $hit" >>$zsh_folder/found
    done
    builtin compadd "$@"
}
complete_line() {
    for (( line_number = 1; line_number <= $#lines; line_number++ )); do
        BUFFER=$lines[line_number]
        CURSOR=$#BUFFER
        zle list-choices
    done
    BUFFER=
    print -r -- "FOUND 0 end" >>$zsh_folder/found
}
zle -N complete_line
bindkey Z complete_line
lines=("${(@f)$(<$zsh_folder/lines)}")
print READY
END
    cat >"$work/zsh/lines"
    : >"$work/zsh/found"
    # shellcheck disable=SC2016  # a program for zsh
    zsh -f -c '
        zmodload zsh/zpty
        export zsh_folder=$1
        zpty shell zsh -f -i
        zpty -w shell "source $zsh_folder/setup"
        zpty -r shell output "*READY*"
        zpty -w -n shell Z
        for (( i = 0; i < 200; i++ )); do
            grep -q "^FOUND 0 end" $zsh_folder/found && break
            zpty -r -t shell output
            sleep 0.1
        done
        zpty -d shell' zsh "$work/zsh"
    awk 'NR == FNR { line[NR] = $0; next } $2 > 0 { print line[$2] "\t" $3 }' "$work/zsh/lines" "$work/zsh/found"
}

mkdir "$work/here" "$work/here/folder"
: >"$work/here/data.file"
lines >"$work/wanted"
sed -e 's/^[^ ]* //' -e 's/ !$//' "$work/wanted" >"$work/lines"
for shell in bash fish zsh; do
    command -v "$shell" >/dev/null || { skip "$shell is not installed: its completion was not tested"; continue; }
    "$work/echelon" completion "$shell" >"$work/script" || fail "echelon completion $shell"
    (cd "$work/here" && "in_$shell" "$work/script" <"$work/lines" >"$work/offered")
    while read -r wanted line; do
        entry=$(printf '%s\t%s' "${line% !}" "$wanted")
        found=no
        grep -qxF -e "$entry" "$work/offered" && found=yes
        case $line in
        *' !') check "$shell: \"$line\" is completed to $wanted" [ $found = no ] ;;
        *) check "$shell: \"$line\" is not completed to $wanted" [ $found = yes ] ;;
        esac
    done <"$work/wanted"
    # What is installed if the command cannot run during the build.
    cmake -DSHELL="$shell" -DFILE="$work/loader" -P "$source/cmake/completion.cmake"
    echo "echelon sort --arg" | (cd "$work/here" && "in_$shell" "$work/loader" >"$work/offered")
    check "$shell: the script that runs the command does not complete" grep -q "$(printf '\t--argsort$')" "$work/offered"
done
# Lists of words that the command has in two places.
"$work/echelon" completion bash >"$work/script"
same() { # COMMAND REFUSED: the words offered for the first operand are those that the message about REFUSED lists
    # shellcheck disable=SC2086  # one or two words
    listed=$("$work/echelon" "$1" $2 2>&1 | sed 's/.*use one of: //')
    offered=$(sed -n "/^    $1)/{n;s/.*operands='\([^']*\)'.*/\1/p;}" "$work/script")
    check "$1: offered \"$offered\", accepted \"$listed\"" [ "$offered" = "$listed" ]
}
same reduce frobnicate
same scan "frobnicate -"
same completion frobnicate
finish
