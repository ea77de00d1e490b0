# The agent, the code that runs inside a probed process: compiled freestanding, linked to a piece of code
# without data or relocations, and kept in assay as bytes (agent_code_start). Its sources
# are in the folder's library, too, so that tests reach them.
option(ASSAY_AGENT "build the code for probed processes" ON)

if(ASSAY_AGENT AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  enable_language(ASM)
  # the script speaks GNU ld; lld, which CMake takes beside clang, understands less
  find_program(ASSAY_LD NAMES ld.bfd ld REQUIRED)
  set(agent_flags -I${CMAKE_SOURCE_DIR}/src -DAGENT_FREESTANDING -std=gnu17 -O2 -ffreestanding -fPIE
    -fvisibility=hidden -mgeneral-regs-only -fno-stack-protector -fcf-protection=none -fno-lto
    -fno-asynchronous-unwind-tables -fno-jump-tables -fno-builtin)
  set(agent_dir ${CMAKE_BINARY_DIR}/agent)
  file(MAKE_DIRECTORY ${agent_dir})
  set(agent_objects)
  foreach(source entry_x86_64.S frames.c claim.c)
    set(object ${agent_dir}/${source}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_C_COMPILER} ${agent_flags} -MMD -MF ${object}.d -c
        ${CMAKE_SOURCE_DIR}/src/agent/${source} -o ${object}
      DEPENDS ${CMAKE_SOURCE_DIR}/src/agent/${source} DEPFILE ${object}.d VERBATIM)
    list(APPEND agent_objects ${object})
  endforeach()
  set(agent_script ${CMAKE_SOURCE_DIR}/src/agent/agent.ld)
  add_custom_command(OUTPUT ${agent_dir}/agent.bin
    COMMAND ${ASSAY_LD} -nostdlib -static -T ${agent_script} -e 0x2000 ${agent_objects}
      -o ${agent_dir}/agent.elf
    COMMAND ${CMAKE_OBJCOPY} -O binary -j .code ${agent_dir}/agent.elf ${agent_dir}/agent.bin
    DEPENDS ${agent_objects} ${agent_script} VERBATIM)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/agent/bytes.S PROPERTIES
    OBJECT_DEPENDS ${agent_dir}/agent.bin)
  target_sources(assay_agent PRIVATE src/agent/bytes.S)
  target_compile_definitions(assay_agent PRIVATE ASSAY_AGENT_BYTES)
  target_include_directories(assay_agent PRIVATE ${agent_dir})
endif()
