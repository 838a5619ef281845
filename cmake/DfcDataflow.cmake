# Embeds programs of dfc in a CMake project.
#
#   dfc_add_dataflow(<target> <program.dfl>
#                    [PARAMS name=value ...]      values for the program's `param`s
#                    [WORKERS n]                  defines <APP>_WORKERS=n for who links with <target>
#                    [TARGET portable|native]     for any machine of this architecture, or this one (default: portable)
#                    [SHARED])                    the shared library instead of the static one
#
# <target> is an imported library: link with it, include "<app>.h", where <app> is what the program calls itself. The
# library is built again when the program, a file that it imports or a C file that it names has changed.
#
# DFC_EXECUTABLE is the dfc command; it is looked for in PATH.

cmake_minimum_required(VERSION 3.20)

find_program(DFC_EXECUTABLE dfc DOC "The dfc command")
find_package(Threads REQUIRED)

function(dfc_add_dataflow target program)
  cmake_parse_arguments(PARSE_ARGV 2 arg "SHARED" "TARGET;WORKERS" "PARAMS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "dfc_add_dataflow(${target}): unknown words: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT DFC_EXECUTABLE)
    message(FATAL_ERROR "dfc_add_dataflow(${target}): dfc was not found; set DFC_EXECUTABLE")
  endif()
  get_filename_component(program "${program}" ABSOLUTE)
  _dfc_app_name("${program}" app)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.dfc")
  file(MAKE_DIRECTORY "${folder}/include") # an include path must exist when the build files are written

  set(options --target portable)
  if(arg_TARGET)
    set(options --target "${arg_TARGET}")
  endif()
  foreach(param IN LISTS arg_PARAMS)
    list(APPEND options -D "${param}")
  endforeach()

  set(static "${folder}/lib${app}.a")
  set(shared "${folder}/lib${app}.so")
  add_custom_command(
    OUTPUT "${static}" "${shared}"
    BYPRODUCTS "${folder}/include/${app}.h" # or Ninja compiles who includes it before it looks whether it is new
    COMMAND "${DFC_EXECUTABLE}" compile "${program}" --emit lib -o "${folder}" ${options}
    DEPENDS "${program}"
    DEPFILE "${folder}/${app}.d"
    COMMENT "Compiling dataflow ${app}"
    VERBATIM)
  add_custom_target(${target}_dataflow DEPENDS "${static}" "${shared}")

  if(arg_SHARED)
    add_library(${target} SHARED IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${shared}")
  else()
    add_library(${target} STATIC IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${static}")
  endif()
  target_include_directories(${target} INTERFACE "${folder}/include")
  target_link_libraries(${target} INTERFACE Threads::Threads m)
  if(arg_WORKERS)
    string(TOUPPER "${app}" upper)
    target_compile_definitions(${target} INTERFACE "${upper}_WORKERS=${arg_WORKERS}")
  endif()
  add_dependencies(${target} ${target}_dataflow)
endfunction()

# The program's own name, from its line `app NAME`; when that line changes, CMake looks again.
function(_dfc_app_name program out)
  if(NOT EXISTS "${program}")
    message(FATAL_ERROR "dfc_add_dataflow: there is no program ${program}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${program}")
  file(STRINGS "${program}" lines REGEX "^[ \t]*app[ \t]+[A-Za-z_][A-Za-z0-9_]*")
  if(NOT lines)
    message(FATAL_ERROR "dfc_add_dataflow: ${program} has no line `app NAME`")
  endif()
  list(GET lines 0 line)
  string(REGEX REPLACE "^[ \t]*app[ \t]+([A-Za-z_][A-Za-z0-9_]*).*$" "\\1" name "${line}")
  set(${out} "${name}" PARENT_SCOPE)
endfunction()
