# find_package(ojs), then target_link_libraries(program PRIVATE ojs::ojs), or ojs::static.
get_filename_component(_ojs_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_package(Threads REQUIRED)

if(NOT TARGET ojs::ojs)
  add_library(ojs::ojs SHARED IMPORTED)
  set_target_properties(ojs::ojs PROPERTIES
    IMPORTED_LOCATION "${_ojs_prefix}/lib/libojs${CMAKE_SHARED_LIBRARY_SUFFIX}"
    IMPORTED_SONAME "@SONAME@"
    INTERFACE_INCLUDE_DIRECTORIES "${_ojs_prefix}/include")
  add_library(ojs::static STATIC IMPORTED)
  set_target_properties(ojs::static PROPERTIES
    IMPORTED_LOCATION "${_ojs_prefix}/lib/libojs.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_ojs_prefix}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()
unset(_ojs_prefix)
