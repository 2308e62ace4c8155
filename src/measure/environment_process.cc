#include <elf.h>
#include <link.h>

#include <filesystem>

#include "base/json.h"
#include "base/text.h"
#include "measure/cores.h"
#include "measure/environment.h"
#include "measure/malloc_libraries.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"

namespace tbd {
namespace {

// The linker's identity of a loaded object, in hex (its GNU build-id note); empty where it has none.
std::string build_id(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(object.dlpi_addr + header.p_vaddr);
    const char* const end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const char* const name = at + sizeof *note;
      const char* const value = name + (note->n_namesz + 3) / 4 * 4;
      if (note->n_type == NT_GNU_BUILD_ID && std::string_view(name, 3) == "GNU") {
        std::string hex;
        for (size_t byte = 0; byte < note->n_descsz; ++byte) {
          constexpr const char* kDigits = "0123456789abcdef";
          const auto bits = static_cast<unsigned char>(value[byte]);
          hex += {kDigits[bits >> 4], kDigits[bits & 15]};
        }
        return hex;
      }
      at = value + (note->n_descsz + 3) / 4 * 4;
    }
  }
  return "";
}

struct LoadedObject {
  std::string name;  // of the file, without its folder
  std::string build_id;
};

std::vector<LoadedObject> loaded_objects() {
  std::vector<LoadedObject> objects;
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* out) {
        const std::string name = std::filesystem::path(object->dlpi_name).filename();
        if (!name.empty()) static_cast<std::vector<LoadedObject>*>(out)->push_back({name, build_id(*object)});
        return 0;
      },
      &objects);
  return objects;
}

// Names of loaded objects that hold one of `parts`.
Json among(const std::vector<LoadedObject>& objects, std::initializer_list<std::string_view> parts) {
  Json names = Json::array();
  for (const LoadedObject& object : objects)
    for (const std::string_view part : parts)
      if (object.name.find(part) != std::string::npos) {
        names.push_back(object.name);
        break;
      }
  return names;
}

Json threads() {
  Json rows = Json::array();
  for (const pid_t thread : threads_of_this_process()) {
    const std::string folder = cat("/proc/self/task/", thread);
    const auto status = parse_colon_lines(read_system_file(folder + "/status").value_or(""));
    const auto cores = status.find("Cpus_allowed_list");
    rows.push_back({{"name", or_null(read_system_line(folder + "/comm"))},
                    {"cores", cores == status.end() ? Json(nullptr) : Json(cores->second)}});
  }
  return rows;
}

}  // namespace

Json capture_process() {
  const std::vector<LoadedObject> objects = loaded_objects();
  const std::vector<std::string> allocators = malloc_libraries();
  Json list = Json::array();
  for (const LoadedObject& object : objects)
    list.push_back(
        {{"name", object.name}, {"build_id", object.build_id.empty() ? Json(nullptr) : Json(object.build_id)}});
  return {{"threads", threads()},
          {"openmp", among(objects, {"libgomp", "libiomp", "libomp"})},
          {"blas", among(objects, {"mkl_", "openblas", "libblas", "libblis", "libarmpl"})},
          {"allocator", allocators.empty() ? Json("libc") : Json(allocators)},
          {"objects", std::move(list)}};
}

}  // namespace tbd
