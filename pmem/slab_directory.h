#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pmem/persister.h"
#include "pmem/pool_layout.h"

namespace pmcached::pmem {

/// What a directory word says of its slab.
struct SlabEntry {
  SlabState state = SlabState::kFree;
  uint8_t size_class = 0;
  uint16_t generation = 0;

  friend bool operator==(const SlabEntry&, const SlabEntry&) = default;
};

/// The durable table of who carved which slab (pool_layout.h draws the word).
///
/// Purpose: which slabs hold records of which size class, and the generation that every commit
/// word in the slab must carry.
/// Thread safety: load() and store() from any thread; two store() of one slab must not overlap (the
/// slab allocator's lock sees to it). repair() and format() are for opening, before anybody else.
/// Ownership: the words belong to the region, which outlives the directory.
/// Failure: where one copy of a word is bad, the other one counts; where both are, load() reports
/// the slab as damaged and leaves it to the caller, who decides by store().
/// Precondition of every function: the slab number is one of the region's.
class SlabDirectory {
 public:
  /// The words of one extent: `primary` and `mirror` hold one word a slab from `first_slab` on.
  struct Section {
    uint32_t first_slab = 0;
    std::span<uint64_t> primary;
    std::span<uint64_t> mirror;
  };

  /// `sections` are ascending and disjoint. `persister` must outlive the directory.
  SlabDirectory(std::vector<Section> sections, const Persister& persister);

  enum class Health { kIntact, kRepaired, kDamaged };

  /// Reads one slab's entry. kRepaired: one copy is bad and the good one was returned (the next
  /// store() rewrites both). kDamaged: both copies are bad, `entry` is left as it was.
  Health load(uint32_t slab, SlabEntry* entry) const;

  /// Writes one slab's entry durably: primary, fence, mirror, fence. The commit point is the
  /// fence after the primary word.
  void store(uint32_t slab, const SlabEntry& entry);

  /// Writes kFree of generation 0 for every slab: the state of a new pool.
  void format();

  struct Repairs {
    uint32_t repaired = 0;  ///< slabs one of whose copies was bad and has been rewritten
    uint32_t damaged = 0;   ///< slabs both of whose copies are bad; nothing was written
  };
  /// Makes the two copies of every word equal again, durably: a bad copy is replaced by the good
  /// one, and a mirror that a cut left one store() behind by its primary.
  Repairs repair();

 private:
  const Section& section_of(uint32_t slab) const;

  std::vector<Section> sections_;
  const Persister& persister_;
};

}  // namespace pmcached::pmem
