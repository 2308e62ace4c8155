#include <string_view>

#include "base/json.h"
#include "data/sets/made_set.h"

namespace tbd {
namespace {

struct TextPackage {
  std::string_view name, licence;
};
// As the packages' copyright files say of their text.
constexpr TextPackage kTextPackages[] = {
    {"aptitude-common", "GPL-2+"},
    {"asterisk-core-sounds-en", "CC-BY-SA-3.0"},
    {"asterisk-core-sounds-en-wav", "CC-BY-SA-3.0"},
    {"binutils-common", "GPL-3+"},
    {"coreutils", "GPL-3+"},
    {"debian-faq", "copies and changes under the same notice"},
    {"debian-policy", "GPL-2+"},
    {"debian-reference-en", "GPL-2+"},
    {"developers-reference", "GPL-2+"},
    {"gettext", "GPL-3+"},
    {"gnucash-common", "GPL-2+"},
    {"pocketsphinx-testdata", "BSD-2-Clause"},
};

}  // namespace

Json origin_json(const std::string& file) {
  const std::string below = "/" + file;
  for (const TextPackage& package : kTextPackages)
    if (below.find("/" + std::string(package.name) + "/usr/") != std::string::npos)
      return {{"file", file}, {"package", package.name}, {"licence", package.licence}};
  return {{"file", file}, {"package", nullptr}, {"licence", nullptr}};
}

Json left_out_json(const std::vector<BadFile>& files) {
  Json list = Json::array();
  for (const BadFile& file : files) list.push_back({{"file", file.path}, {"reason", file.reason}});
  return list;
}

}  // namespace tbd
