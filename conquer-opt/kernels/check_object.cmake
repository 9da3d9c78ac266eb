# cmake -DNM=llvm-nm -DOBJECT=cq_<level>.o -DLEVEL=<level> -P check_object.cmake
# A bare-metal object is self-contained (no undefined symbols: the compiler likes to invent calls of memcpy), has no
# globals that can be written, and defines the entry points that the modules call.
execute_process(COMMAND ${NM} ${OBJECT} OUTPUT_VARIABLE symbols RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${NM} ${OBJECT} failed: ${result}")
endif()
if(symbols MATCHES "[^\n]* [UuwvCDBbds] [^\n]*")
  message(FATAL_ERROR "${OBJECT} has an undefined or writable symbol: ${CMAKE_MATCH_0}")
endif()
foreach(entry IN ITEMS conv2d_i8_i8 conv2d_i8_f32 conv2d_f32 depthwise_i8_i8 depthwise_i8_f32 depthwise_f32)
  if(NOT symbols MATCHES " T cq_${entry}_${LEVEL}\n")
    message(FATAL_ERROR "${OBJECT} does not define cq_${entry}_${LEVEL}")
  endif()
endforeach()
