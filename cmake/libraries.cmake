# What assay takes from others, and for what:
#   libelf, libdw     ELF, DWARF and call frame information (elfutils)
#   libdebuginfod     symbols by build-id, only when the user asks
#   libiberty         C++ and Rust names
#   jansson           JSON
#   zstd, zlib        compressed records, compressed perf.data
#   liblzma           compressed symbol tables inside stripped programs (.gnu_debugdata)
#   GSL               quantiles of t, chi-squared and F
#   libpfm4           vendors' event names
#   Zydis             x86 instructions
find_package(PkgConfig REQUIRED)
pkg_check_modules(ELFUTILS REQUIRED IMPORTED_TARGET libdw libelf)
pkg_check_modules(DEBUGINFOD REQUIRED IMPORTED_TARGET libdebuginfod)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)
pkg_check_modules(GSL REQUIRED IMPORTED_TARGET gsl)
find_library(PFM_LIBRARY pfm REQUIRED)
find_library(IBERTY_LIBRARY iberty REQUIRED)
find_library(ZYDIS_LIBRARY Zydis REQUIRED)

set(assay_bundle_libraries PkgConfig::JANSSON PkgConfig::ZSTD PkgConfig::ZLIB)
set(assay_event_libraries ${PFM_LIBRARY} m)
set(assay_record_libraries PkgConfig::ELFUTILS m)
set(assay_symbolize_libraries PkgConfig::ELFUTILS PkgConfig::DEBUGINFOD ${IBERTY_LIBRARY}
  PkgConfig::LZMA PkgConfig::ZLIB)
set(assay_estimate_libraries PkgConfig::GSL m)
set(assay_code_libraries ${ZYDIS_LIBRARY})
set(assay_diagnose_libraries ${ZYDIS_LIBRARY} m)
set(assay_until_libraries m)
set(assay_report_libraries PkgConfig::JANSSON m)
set(assay_diff_libraries PkgConfig::JANSSON m)
