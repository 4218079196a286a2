# completion.cmake - writes a completion that runs "echelon completion" when the shell reads it.
# SPDX-License-Identifier: Apache-2.0
#
# cmake -DSHELL=bash|fish|zsh -DFILE=... -P completion.cmake

set(bash [[eval "$(echelon completion bash)"]])
set(fish [[echelon completion fish | source]])
# A file of fpath is the body of the function; the script defines the function again.
set(zsh [[#compdef echelon
eval "$(echelon completion zsh)"
_echelon "$@"]])
file(WRITE ${FILE} "${${SHELL}}\n")
