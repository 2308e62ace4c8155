#include "backends/mxnet/api_store.h"

#include <mxnet/c_api.h>

#include "backends/mxnet/api_check.h"

namespace tbd::mxnet {
namespace {

// In ps-lite's own table, which it reads before the environment.
void take_place(const StorePlace& place) {
  const std::pair<const char*, std::string> settings[] = {{"DMLC_ROLE", place.role},
                                                          {"DMLC_PS_ROOT_URI", place.scheduler},
                                                          {"DMLC_PS_ROOT_PORT", cat(place.port)},
                                                          {"DMLC_NUM_WORKER", cat(place.ranks)},
                                                          {"DMLC_NUM_SERVER", cat(place.ranks)},
                                                          {"DMLC_NODE_HOST", place.host}};
  std::vector<const char*> names, values;
  for (const auto& [name, value] : settings) {
    names.push_back(name);
    values.push_back(value.c_str());
  }
  check(MXInitPSEnv(static_cast<uint32_t>(names.size()), names.data(), values.data()));
}

}  // namespace

KeyValueStore::KeyValueStore(const StorePlace& place) {
  take_place(place);
  void* handle = nullptr;
  check(MXKVStoreCreate("dist_sync", &handle));
  handle_ = {handle, [](void* store) { MXKVStoreFree(store); }};
}

void KeyValueStore::serve() {
  check(MXKVStoreRunServer(
      handle_.get(), [](int, const char*, void*) {}, nullptr));
}

void KeyValueStore::declare(std::span<const int> keys, std::span<const Array> arrays) {
  std::vector<void*> handles;
  for (const Array& array : arrays) handles.push_back(array.handle());
  check(MXKVStoreInit(handle_.get(), static_cast<uint32_t>(keys.size()), keys.data(), handles.data()));
}

void KeyValueStore::sum(int key, const Array& array, int priority) {
  void* own = array.handle();
  check(MXKVStorePushPull(handle_.get(), 1, &key, 1, &key, &own, &own, priority));
  tell(kStoreSum, array);
}

}  // namespace tbd::mxnet
