# echelon.bash - completes commands, options and some values of echelon in bash. All words come from the help of the
# command, so that they are those of the version that is installed.
# SPDX-License-Identifier: Apache-2.0

_echelon()
{
    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]}
    local previous=${COMP_WORDS[COMP_CWORD-1]} help words
    if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$command" = help ]; }; then
        words=$("$program" --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z0-9]*\) .*/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$words --help --version" -- "$word")
        return
    fi
    help=$("$program" help "$command" 2>/dev/null)
    case $previous in
    -D | --device) words="cpu cuda simt" ;;
    -y | --type) words=$("$program" help sort | sed -n 's/^.* --type TYPE *element type: //p') ;;
    *)
        case $word in
        -*) words=$(printf '%s\n' "$help" | grep -oE '^  (-[a-zA-Z],|   ) --[a-z0-9-]+' | grep -oE -e '--[a-z0-9-]+') ;;
        *)  # words such as those of "echelon gf2 rref|rank [OPTION]..."
            [ "$COMP_CWORD" -eq 2 ] || return
            words=$(printf '%s\n' "$help" | sed -n "s/^  echelon $command \([a-z0-9-]*|[a-z0-9|-]*\).*/\1/p" | tr '|' ' ') ;;
        esac ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

# Without a match the default completes names of files.
complete -o default -F _echelon echelon
