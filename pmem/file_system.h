#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pmem/status.h"

namespace pmcached::pmem {

/// What the kernel says of a mounted file system.
struct FileSystem {
  std::string name;                    ///< "ext4", "xfs", "tmpfs"; a hexadecimal number if unknown
  bool in_memory = false;              ///< its files are gone when the machine stops
  std::optional<uint64_t> free_bytes;  ///< for this user; nothing = without a limit
};

/// Looks at the file system that carries `path`, an existing file or folder.
/// Thread safety: any thread.
Status inspect_file_system(const std::string& path, FileSystem* file_system);

/// kNoSpace, naming what is needed, free and missing, unless the file system of `folder` has
/// `bytes` free. `purpose` begins the sentence: "creating pool X".
Status require_free_space(const std::string& folder, uint64_t bytes, const std::string& purpose);

/// The folder that holds `path`; "." if it names none.
std::string folder_of(const std::string& path);

/// Makes the names in `folder` durable. A file system that cannot sync folders counts as success.
Status sync_folder(const std::string& folder);

/// kIo with errno's reason: "cannot <what>: <reason>".
Status io_error(const std::string& what);

}  // namespace pmcached::pmem
