# Warnings are errors in our own code. conquer_library and conquer_test are the only ways targets are made, so that
# every target gets the same flags.
add_library(conquer_flags INTERFACE)
target_compile_options(conquer_flags INTERFACE -Wall -Wextra -Wshadow -Werror
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(CONQUER_SANITIZE)
  target_compile_options(conquer_flags INTERFACE -fsanitize=${CONQUER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(conquer_flags INTERFACE -fsanitize=${CONQUER_SANITIZE})
endif()

# conquer_library(NAME SOURCES... LINK libs...): a static library of plain C++ (exceptions on, no LLVM).
function(conquer_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE conquer_flags)
endfunction()

# conquer_test(NAME SOURCES... LINK libs...): a GoogleTest program whose cases ctest runs one by one.
function(conquer_test name)
  if(NOT CONQUER_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest_main conquer_flags)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
endfunction()
