# The agent, the code that runs inside a probed process: compiled freestanding, linked to a piece of code
# without data or relocations, and kept in assay as bytes (agent_code_start). Its sources
# are in the folder's library, too, so that tests reach them.
option(ASSAY_AGENT "build the code for probed processes" ON)

# Stubs call the agent without saving registers for it. x86-64: an attribute makes its functions save all.
# AArch64: x8 to x15 are saved by who uses them, x0 to x7 by entry_aarch64.S, x18 is left alone.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(agent_machine x86_64)
  set(agent_machine_flags -fcf-protection=none)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(agent_machine aarch64)
  set(agent_machine_flags -march=armv8-a -mno-outline-atomics -mbranch-protection=none -ffixed-x18)
  foreach(register RANGE 8 15)
    list(APPEND agent_machine_flags -fcall-saved-x${register})
  endforeach()
endif()

if(ASSAY_AGENT AND agent_machine)
  enable_language(ASM)
  # the script speaks GNU ld; lld, which CMake takes beside clang, understands less
  find_program(ASSAY_LD NAMES ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-ld.bfd ld.bfd ld REQUIRED)
  set(agent_flags -I${CMAKE_SOURCE_DIR}/src -DAGENT_FREESTANDING -std=gnu17 -O2 -ffreestanding -fPIE
    -fvisibility=hidden -mgeneral-regs-only -fno-stack-protector -fno-lto
    -fno-asynchronous-unwind-tables -fno-jump-tables -fno-builtin ${agent_machine_flags})
  # clang 14 makes tail calls out of functions that save all registers, and restores arguments in r8 and r9
  # before the jump
  if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    list(APPEND agent_flags -fno-optimize-sibling-calls)
  endif()
  set(agent_dir ${CMAKE_BINARY_DIR}/agent)
  file(MAKE_DIRECTORY ${agent_dir})
  set(agent_objects)
  # frames_full.c includes frames.c: every file of the folder counts for every object
  file(GLOB agent_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/agent/*.[chS])
  foreach(source entry_${agent_machine}.S frames.c frames_full.c page.c state.c claim.c)
    set(object ${agent_dir}/${source}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_C_COMPILER} ${agent_flags} -c ${CMAKE_SOURCE_DIR}/src/agent/${source} -o ${object}
      DEPENDS ${agent_sources} VERBATIM)
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
