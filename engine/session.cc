#include "engine/session.h"

#include "engine/session_registry.h"

namespace pmcached::engine {

Session::Session(EpochRegistry& epochs, SessionRegistry& registry)
    : registry_(registry), participant_(epochs) {
  registry_.add(this);
}

Session::~Session() {
  registry_.remove(this);
}

}  // namespace pmcached::engine
