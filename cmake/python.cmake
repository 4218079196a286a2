# python.cmake - ECHELON_PYTHON, the Python 3 of the build and of the tests.
#
# -DECHELON_PYTHON=PATH names an interpreter. The default is the first that has NumPy and pytest, otherwise the first
# that has NumPy, otherwise the first. It is searched for in each configuration, so that packages installed later are
# found. scikit-build-core names its interpreter in Python3_EXECUTABLE. Without Python the variable is empty: the Python package is not built, and tests that need Python do not exist.

if(NOT ECHELON_PYTHON)
  set(ECHELON_PYTHON "")
  find_program(echelon_first_python python3)
  mark_as_advanced(echelon_first_python)
  foreach(modules "numpy, pytest" numpy sys)
    foreach(python ${Python3_EXECUTABLE} ${echelon_first_python} /usr/bin/python3)
      if(NOT ECHELON_PYTHON)
        execute_process(COMMAND ${python} -c "import ${modules}" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
        if(NOT missing)
          set(ECHELON_PYTHON ${python})
        endif()
      endif()
    endforeach()
  endforeach()
endif()
