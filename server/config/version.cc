#include "server/config/version.h"

namespace pmcached::server {

std::string_view program_version() {
  return PMCACHED_VERSION;
}

std::string_view license_text() {
  return "pmcached " PMCACHED_VERSION
         "\n\n"
         "pmcached is under the BSD 3-Clause License, whose text is in the file LICENSE of its\n"
         "source. It stands on these libraries, each under its own licence; Debian keeps the full\n"
         "texts in /usr/share/doc/<package>/copyright.\n\n"
         "  PMDK (libpmem, libpmemobj)  BSD-3-Clause\n"
         "  ndctl (libndctl)            LGPL-2.1\n"
         "  ISA-L (libisal)             BSD-3-Clause\n"
         "  libevent                    BSD-3-Clause\n"
         "  xxHash                      BSD-2-Clause\n"
         "  fmt, spdlog                 MIT\n"
         "  CLI11                       BSD-3-Clause\n";
}

}  // namespace pmcached::server
