# completion.cmake - writes the completion that the command prints for a shell.
# SPDX-License-Identifier: Apache-2.0
#
# cmake -DSHELL=bash|fish|zsh -DFILE=... [-DCOMMAND=...] -P completion.cmake
#
# Without COMMAND, or if it cannot run on this machine, the file is a script that runs "echelon completion" when the
# shell reads it.

if(COMMAND)
  execute_process(COMMAND ${COMMAND} completion ${SHELL} OUTPUT_FILE ${FILE} RESULT_VARIABLE result ERROR_VARIABLE why)
  if(result EQUAL 0)
    return()
  endif()
  message(STATUS "The completion for ${SHELL} runs the command, which cannot run here: ${result} ${why}")
endif()
set(bash [[eval "$(echelon completion bash)"]])
set(fish [[echelon completion fish | source]])
# A file of fpath is the body of the function; the script defines the function again.
set(zsh [[#compdef echelon
eval "$(echelon completion zsh)"
_echelon "$@"]])
file(WRITE ${FILE} "${${SHELL}}\n")
