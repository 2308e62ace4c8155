// The axes of a workload. Options of the command line, plans and excludes, repro lines, folder names, records, what may
// be compared and labels walk over this table: a new axis is a member of Workload and a row in axes.cc.
#pragma once
#include <initializer_list>
#include <span>
#include <variant>
#include <vector>

#include "record/workload.h"

namespace tbd {

// A part of a folder's name: "-b8".
struct FolderPart {
  int place = 0;  // after parts of lower places and, within one, in the order of the table
  std::string_view prefix;
  std::optional<std::string_view> usual = {};  // is not written, as is nothing; absent: all values are
};

// Where an axis is a word in a label: "batch 8", "2 threads".
struct LabelPart {
  std::string_view before, after;
  std::string around(const std::string& value) const;  // "1 thread"; empty for an empty value
};

// Members of a workload W, of one type each.
template <class W, class... More>
using MemberOf =
    std::variant<std::string W::*, int64_t W::*, uint64_t W::*, std::optional<int64_t> W::*, Precision W::*,
                 Device W::*, Link W::*, ImageLayout W::*, Mode W::*, InputMode W::*, DropoutMode W::*,
                 ExchangeMode W::*, WireType W::*, Allocator W::*, WaitPolicy W::*, Affinity W::*, More...>;

struct Axis {
  using Member = MemberOf<Workload>;
  std::string_view name;  // of the option, of the setting in plans and in a record's request: "input"
  std::string_view help;  // of the option
  Member member;
  std::string_view key;                   // in a record's workload: "input_mode"; empty: in its request alone
  bool tells_apart = true;                // measurements with other values are of other workloads
  bool list = true;                       // a set of workloads may name several values
  int inner = 0;                          // in a product of axes those of higher values vary faster
  std::optional<FolderPart> folder = {};  // absent: not in a folder's name
  LabelPart label = {};
  bool later = false;        // records were kept before there was one: its default is written nowhere
  bool of_several = false;   // how several workers go together: one alone has its default
  bool of_pipeline = false;  // how batches are prepared: resident input has its default
  bool setting = false;      // of speed alone: a row with another value than the default is a tuned one
  bool asked = false;        // people vary it alone to ask what is faster

  // As the command line and plans spell it; a number that was not named is "0", other text is empty.
  std::string value(const Workload& workload) const;
  // The same, empty wherever no value is named and the program chooses.
  std::string print(const Workload& workload) const;
  // Sets the value that print() writes. Throws Error(invalid) that begins with `what` on text of another form. read()
  // takes any name, as records of a later version may hold; parse() throws Error(usage) with the nearest ones on a name
  // that its kind of word does not know.
  void read(Workload& workload, const std::string& text, std::string_view what) const;
  void parse(Workload& workload, const std::string& text, std::string_view what) const;
};
std::span<const Axis> axes();
const Axis* find_axis(std::string_view name);  // nullptr: there is none

// A value under its key in the record.
struct Field {
  using Member = MemberOf<MeasuredWorkload, bool MeasuredWorkload::*, std::optional<std::string> MeasuredWorkload::*>;
  std::string_view key;
  Member member;
  bool tells_apart = true;  // where it differs, two measurements are not of one workload
  bool later = false;       // a record without the key has the default
};
// Axes that have a key, in their order, then all else.
std::span<const Field> fields();

// Whether nothing that tells workloads apart differs, but for the fields of these keys.
bool alike_but(std::span<const std::string_view> keys, const MeasuredWorkload& a, const MeasuredWorkload& b);
bool alike_but(std::initializer_list<std::string_view> keys, const MeasuredWorkload& a, const MeasuredWorkload& b);
// Whether `a` comes first: by these fields, then by all others that tell workloads apart. -1, 0 where they are
// alike, 1.
int compare_by(std::initializer_list<std::string_view> first, const MeasuredWorkload& a, const MeasuredWorkload& b);

}  // namespace tbd
