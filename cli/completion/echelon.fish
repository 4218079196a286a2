# echelon.fish - completes commands, options and some values of echelon in fish. All words come from the help of the
# command.
# SPDX-License-Identifier: Apache-2.0

function __echelon_commands
    echelon --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z0-9]*\)  *\(.*\)/\1\t\2/p'
end

# The command of the line that is being completed.
function __echelon_command
    set -l words (commandline -opc)
    test (count $words) -ge 2; and echo $words[2]
end

function __echelon_options
    echelon help (__echelon_command) 2>/dev/null | grep -oE '^  (-[a-zA-Z],|   ) --[a-z0-9-]+' | grep -oE -e '--[a-z0-9-]+'
end

# Words such as those of "echelon gf2 rref|rank [OPTION]...".
function __echelon_words
    set -l command (__echelon_command)
    test (count (commandline -opc)) -eq 2; or return
    echelon help $command 2>/dev/null | sed -n "s/^  echelon $command \([a-z0-9-]*|[a-z0-9|-]*\).*/\1/p" | tr '|' '\n'
end

function __echelon_types
    echelon help sort | sed -n 's/^.* --type TYPE *element type: //p' | tr ' ' '\n'
end

function __echelon_is_first
    set -l words (commandline -opc)
    test (count $words) -eq 1; or begin; test (count $words) -eq 2; and test $words[2] = help; end
end

complete -c echelon -n __echelon_is_first -f -a '(__echelon_commands)'
complete -c echelon -n 'not __echelon_is_first' -a '(__echelon_words)'
complete -c echelon -n 'not __echelon_is_first; and string match -q -- "-*" (commandline -ct)' -f -a '(__echelon_options)'
complete -c echelon -s D -l device -x -a 'cpu cuda simt'
complete -c echelon -s y -l type -x -a '(__echelon_types)'
